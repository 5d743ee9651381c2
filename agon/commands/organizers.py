"""`organizers`: list, add or remove the organizers of a task."""

import argparse

from agon.commands import chosen_task, confirmed, declare, done, show, table
from agon.commands.task import portal_of
from scoring.commands.parser import Parser

ACTIONS = {
    "list": "list the organizers",
    "add": "add an organizer by email address",
    "remove": "remove an organizer by email address",
}


def add_options(parser: Parser, _command: str) -> None:
    actions = parser.add_actions()
    for action, purpose in ACTIONS.items():
        own = actions.add_parser(action, help=purpose, description=f"{purpose[0].upper()}{purpose[1:]}.")
        own.add_argument("slug", metavar="TASK")
        if action != "list":
            own.add_argument("address", metavar="ADDRESS", help="email address of the organizer's account")
            own.add_argument("--yes", action="store_true", help="do not ask for confirmation")
        if action == "add":
            own.add_argument(
                "--unrank", action="store_true", help="if the person is on a team, the team has no rank from now on"
            )
        declare(own, globals()[f"_{action}"])


def _list(options: argparse.Namespace) -> int:
    found = portal_of(options).organizers(chosen_task(options.slug))
    show(options, found, lambda: table(["name", "address"], [(one.name, one.address) for one in found]))
    return 0


def _add(options: argparse.Namespace) -> int:
    question = f"Add {options.address} as an organizer of {options.slug}? Organizers have the same permissions as you."
    if not confirmed(options, question):
        return 1
    portal_of(options).add_organizer(options.slug, options.address, is_sure=options.unrank)
    said = f"{options.address} is now an organizer of {options.slug}."
    return done(options, said, {"task": options.slug, "address": options.address})


def _remove(options: argparse.Namespace) -> int:
    if not confirmed(options, f"Remove {options.address} as an organizer of {options.slug}?"):
        return 1
    portal_of(options).remove_organizer(options.slug, options.address)
    said = f"{options.address} is no longer an organizer of {options.slug}."
    return done(options, said, {"task": options.slug, "address": options.address})
