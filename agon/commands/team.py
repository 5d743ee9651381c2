"""`team` and `sign`: the steps that are required before you can download data and submit runs."""

import argparse

from agon.answers import Question, Team
from agon.commands import (
    chosen_task,
    confirmed,
    declare,
    done,
    keyed_texts,
    note,
    portal_of,
    show,
    task_argument,
    task_option,
)
from agon.errors import AgonError, WrongUsage
from scoring.commands.parser import Parser

ACTIONS = {
    "show": "show your team, its members and its invitation code",
    "create": "create a team with you as its captain",
    "join": "join a team with its invitation code",
    "invite": "invite someone to your team by email",
    "leave": "leave your team",
}


def add_options(parser: Parser, command: str) -> None:
    if command == "sign":
        task_argument(parser)
        parser.add_argument("--name", metavar="NAME", help="sign the agreement with your full name")
        parser.add_argument(
            "--yes",
            action="store_true",
            help="sign without being asked; by using this option, you confirm that you have read the agreement",
        )
        declare(parser, sign)
        return
    actions = parser.add_actions()
    for action, purpose in ACTIONS.items():
        own = actions.add_parser(action, help=purpose, description=f"{purpose[0].upper()}{purpose[1:]}.")
        task_option(own)
        if action == "create":
            own.add_argument("name", metavar="NAME", help="name of the new team")
            own.add_argument("--affiliation", default="", metavar="TEXT", help="university or company of the team")
            answers = "answer one of the organizers' questions; repeat this option for each question"
            own.add_argument("--answer", action="append", default=[], metavar="KEY=TEXT", help=answers)
        if action == "join":
            own.add_argument(
                "code", metavar="CODE", help="the team's invitation code, which members can see with “agon team show”"
            )
        if action == "invite":
            own.add_argument("address", metavar="ADDRESS", help="email address of the person to invite")
        if action == "leave":
            own.add_argument("--yes", action="store_true", help="do not ask for confirmation")
        declare(own, globals()[f"_{action}"])


def _show(options: argparse.Namespace) -> int:
    team = portal_of(options).team(chosen_task(options.slug))
    show(options, team, lambda: _text(team))
    return 0


def _text(team: Team) -> str:
    members = ", ".join(f"{one.name} (captain)" if one.is_captain else one.name for one in team.members)
    lines = [f"{team.name}: {team.state}.", f"Members: {members}."]
    lines += [f"Reason: {team.reason}"] if team.reason else []
    lines += [f"Invitation code: {team.invitation_code}"] if team.invitation_code else []
    return "\n".join(lines)


def _create(options: argparse.Namespace) -> int:
    portal, task = portal_of(options), chosen_task(options.slug)
    answers = keyed_texts(options.answer, "answer")
    questions = portal.task(task).questions
    known = {one.key: one.label for one in questions}
    if unknown := answers.keys() - known.keys():
        there = "".join(f"\n  {key}: {label}" for key, label in known.items()) or " none"
        raise WrongUsage(f"Unknown question {min(unknown)}. The organizers' questions:{there}")
    try:
        team = portal.create_team(task, options.name, affiliation=options.affiliation, answers=answers)
    except AgonError as error:
        if error.code != "team_answers":
            raise
        missing = "".join(_how_to_answer(one) for one in questions if _needs_answer(one, answers.get(one.key, "")))
        raise AgonError(f"{error}\nAdd to the command:{missing}", error.code) from None
    show(options, team, lambda: _text(team))
    if team.state == "pending" and not options.quiet:
        note("The organizers will review your team. You'll get an email with their decision.")
    return 0


def _needs_answer(question: Question, answer: str) -> bool:
    if not answer:
        return question.required
    return bool(question.choices) and answer not in question.choices


def _how_to_answer(question: Question) -> str:
    choices = f" (one of: {', '.join(question.choices)})" if question.choices else ""
    return f'\n  --answer {question.key}="…"  {question.label}{choices}'


def _join(options: argparse.Namespace) -> int:
    team = portal_of(options).join_team(chosen_task(options.slug), options.code)
    show(options, team, lambda: _text(team))
    return 0


def _invite(options: argparse.Namespace) -> int:
    task = chosen_task(options.slug)
    portal_of(options).invite(task, options.address)
    said = f"{options.address} will get an invitation by email."
    return done(options, said, {"task": task, "address": options.address})


def _leave(options: argparse.Namespace) -> int:
    portal, task = portal_of(options), chosen_task(options.slug)
    name = portal.team(task).name
    if not confirmed(options, f"Leave {name}? A team without members is withdrawn permanently."):
        return 1
    portal.leave_team(task)
    return done(options, f"You left {name}.", {"task": task, "team": name})


def sign(options: argparse.Namespace) -> int:
    """Print the data agreement, and sign it if requested."""
    portal, task = portal_of(options), chosen_task(options.slug)
    found = portal.agreement(task)
    if options.name is None or found.is_signed:
        signed = f"You have signed version {found.version}."
        how = f"Sign version {found.version} with “agon sign {task} --name 'FULL NAME'”."
        show(options, found, lambda: f"{found.text.strip()}\n\n{signed if found.is_signed else how}")
        return 0
    if not options.yes:
        note(found.text)
    if not confirmed(options, f"Sign version {found.version} as {options.name}?", "Nothing was signed."):
        return 1
    portal.sign_agreement(task, found, options.name)
    found = portal.agreement(task)
    show(options, found, lambda: f"You have signed version {found.version} of the agreement.")
    return 0
