"""No score is shown too early: distinctive scores are searched for at every URL, for every viewer.

`SHOWS` lists where the scores of a released phase appear, and for whom. A new URL that shows scores fails until it has
an entry, and a URL with arguments fails until `World.arguments` has them. Emails are also searched.
"""

import json
import re
import zipfile
from collections import defaultdict
from collections.abc import Container, Iterator, Set
from dataclasses import dataclass
from datetime import datetime, timedelta
from http import HTTPStatus
from io import BytesIO
from typing import Any

import pytest
from django.core.cache import cache, caches
from django.db.models import QuerySet
from django.test import Client
from django.urls import reverse

from portal.mail.messages import message
from portal.models import Board, Evaluation, GoldUpload, OutgoingMail, Phase, ReleasedBoard, Run, Team, User
from portal.models.board import BoardQuerySet, ReleasedBoardQuerySet
from portal.models.evaluation import EvaluationQuerySet
from portal.models.paper_pack import PaperPackQuerySet
from portal.models.phase import PhaseQuerySet
from portal.paper.build import build_pack
from portal.paper.queue import request_pack
from portal.queries.boards.releases import keep_release
from portal.queries.mails import facts
from portal.queries.personal_data import personal_data
from portal.task_exports import EXPORTS
from tests.portal.remembered import remembered
from tests.portal.script import Script
from tests.portal.web.conftest import Clock
from tests.portal.web.conftest import at as at
from tests.portal.world import EVALUATION, GOOD, POST, RELEASE, person, send_run, work_off
from tests.security.api import NAMES as API_NAMES
from tests.security.api import address_of as api_address_of
from tests.security.conftest import World
from tests.security.pages import address_of
from tests.security.test_access import ADMIN, NAMES

SCORES = {"evaluation": 0.73910009, "post": 0.84620009, "without-gold": 0.61110009}  # by phase
STEP = "0.60"  # the score of `without-gold` as a ladder of 0.05 shows it
HIDDEN_STEP = "0.8487"  # the score of `post` as a ladder of 0.0123 would show it
# Words in the details and flags of evaluations.
WORDS = {"evaluation": "Zyxeval", "post": "Zyxpost", "without-gold": "Zyxstep"}
_FORMS = {
    slug: re.compile(rf"(?<!\d)({re.escape(f'{score:.4f}')}|{re.escape(f'{100 * score:.2f}')})|{WORDS[slug]}")
    for slug, score in SCORES.items()
} | {"post in steps": re.compile(rf"(?<!\d){re.escape(HIDDEN_STEP)}")}
EVERYONE = frozenset(
    ("anonymous", "rival", "captain", "other_organizer", "password_organizer", "password_admin", "organizer", "admin")
)
ORGANIZERS = frozenset(("organizer", "admin"))
MEMBERS = frozenset(("rival", "captain"))
OWN = ORGANIZERS | {"captain"}
SHOWS = {  # where the scores of a released phase appear, and for whom
    "home": frozenset(("anonymous",)),
    "leaderboard": EVERYONE,
    "leaderboards": EVERYONE,
    "released_board": EVERYONE,
    "insights": EVERYONE,
    "insights_figure": EVERYONE,
    "compare": EVERYONE,
    "paper": EVERYONE,
    "run": EVERYONE,  # baselines are public
    "run_figure": EVERYONE,
    "my_runs": MEMBERS,
    "team_runs": MEMBERS,
    "public_team": EVERYONE,
    "submission": OWN,
    "submission_status": OWN,
    "api:leaderboard": EVERYONE,
    "api:leaderboard_csv": EVERYONE,
    "api:leaderboards": EVERYONE,
    "api:released_leaderboard": EVERYONE,
    "api:run": EVERYONE,
    "api:runs": MEMBERS | ORGANIZERS,
    "api:submission": OWN,
    "gold_preview": ORGANIZERS,
    "export": ORGANIZERS,
    "api:export_scores_csv": ORGANIZERS,
    "api:gold_upload": ORGANIZERS,
    "admin": frozenset(("admin",)),
}
# Pages that need a release, or that do not exist for every set of runs.
UNRELEASED = {
    "home",
    "public_team",
    "released_board",
    "insights_figure",
    "api:released_leaderboard",
}
BOARDS = ("leaderboard", "leaderboards", "insights", "compare", "insights_figure", "released_board")
FILES = ("", "&format=csv", "&format=json")
CHOICES = ("&runs=all", "&sort=accuracy")  # for the board of a single track
EVERYWHERE = frozenset((*NAMES, *API_NAMES, "admin", "mail"))


@dataclass(frozen=True, slots=True)
class Sighting:
    """A phase's score, or other content of its evaluations, that was found at a URL or in an email."""

    role: str
    name: str
    phase: str


@remembered
def people(world: World) -> dict[str, User | None]:
    """Return a person of each kind.

    Roles that begin with `password_` organize or administer without a second factor.
    """
    admin = person("PasswordAdmin")
    admin.is_staff = admin.is_superuser = True
    admin.save()
    others = world.people | {"admin": world.people["administrator"], "password_admin": admin}
    return {role: others.get(role) for role in sorted(EVERYONE)}


@pytest.fixture
def phases(hidden: dict[str, Phase], at: Clock) -> dict[str, Phase]:
    """The phases at the time of the release, with the scores of all phases still hidden."""
    at(RELEASE)
    return hidden


@remembered
def hidden(world: World, at: Clock) -> dict[str, Phase]:
    """Three phases with scored runs from two teams.

    The release of the first was canceled, the scores of the second are never shown, and those of the third are shown
    in steps. The second also has a ladder.
    """
    task, opens, closes = world.run.track.shared_task, EVALUATION - timedelta(days=1), POST + timedelta(days=9)
    task.phases.filter(slug="evaluation").update(released=RELEASE)
    task.phases.filter(slug="post").update(scores="never", opens=opens, closes=closes, ladder_step=0.0123)
    rules = {"split": "test", "opens": opens, "closes": closes, "ladder_step": 0.05}
    task.phases.filter(slug="without-gold").update(**rules)
    notus = Team.objects.get(name="Notus")
    send_run(notus, GOOD, 1, EVALUATION)
    for slug in ("post", "without-gold"):
        for team in (world.bora, notus):
            send_run(team, GOOD, 1, EVALUATION, slug)
    work_off(EVALUATION)
    for slug in SCORES:
        _store_scores(slug)
    at(RELEASE)
    keep_release(Board.objects.get(track__slug="one", phase__slug="evaluation", phase__shared_task=task), RELEASE)
    task.phases.filter(slug="evaluation").update(released=None, taken_back=RELEASE)
    assert str(SCORES["evaluation"]) in str(ReleasedBoard.objects.get().content)
    return {phase.slug: phase for phase in task.phases.all()}


def _store_scores(slug: str) -> None:
    """Store the phase's score wherever the portal stores scores."""
    score = SCORES[slug]
    here = Evaluation.objects.filter(phase__slug=slug, phase__shared_task__slug="gated")
    for one in here.select_related("run__track__shared_task"):
        one.scores = dict.fromkeys(one.scores, score)
        one.rank_key = one.run.track.rank_key(one.scores)
        one.details = json.loads(json.dumps(one.details).replace("YES", WORDS[slug]))
        one.flags = [WORDS[slug]]
        one.save()
    assert here.filter(team__isnull=False).count() == 2
    for board in Board.objects.filter(phase__slug=slug, phase__shared_task__slug="gated"):
        pks = list(here.filter(run__track=board.track).values_list("pk", flat=True))
        board.comparison = {"metric": "accuracy", "rounds": 1, "seed": 1, "level": 0.95} | {
            "intervals": {str(pk): [score, score] for pk in pks},
            "groups": {str(pk): 1 for pk in pks},
        }
        board.save()
    _store_preview(slug, here)


def _store_preview(slug: str, here: QuerySet[Evaluation]) -> None:
    """Also store the scores of the phase in the preview of a gold correction."""
    for upload in GoldUpload.objects.filter(track__shared_task__slug="gated"):
        board = Board.objects.get(track=upload.track, phase__slug=slug)
        evaluations = here.filter(run__track=upload.track)
        kept = {"phase": board.phase_id, "gold": board.gold_id, "scorer": board.scorer, "groups": {}}
        kept |= {"runs": {str(one.run_id): one.scores for one in evaluations}, "groups_before": {}}
        upload.preview = {"changes": {}, "boards": [*upload.preview.get("boards", []), kept]}
        upload.state = GoldUpload.State.READY
        upload.save()


def look(
    world: World,
    people: dict[str, User | None],
    now: datetime,
    only: Container[str] = EVERYWHERE,
    enough: Set[str] = frozenset(_FORMS),
) -> set[Sighting]:
    """Return where each score is shown now, and to whom, after building the paper packs.

    `only` limits the search to URLs with these names. Once all phases in `enough` have been seen at URLs with the same
    name, the other URLs with this name are skipped.
    """
    if "paper" in only:
        for phase in Phase.objects.filter(shared_task__slug="gated").select_related("shared_task"):
            build_pack(request_pack(phase, world.people["organizer"], now).pk, now)
    return {
        Sighting(role, name, phase)
        for role, user in people.items()
        for name, phases in _seen_by(world, role, user, now, only, enough).items()
        for phase in phases
    }


def _seen_by(
    world: World, role: str, user: User | None, now: datetime, only: Container[str], enough: Set[str]
) -> dict[str, set[str]]:
    """Return the phases whose scores this person sees, by URL name."""
    client, ask = Client(), Script(user, "organize")
    if user is not None:
        client.force_login(user)
    cache.clear()  # resets rate limits
    caches["rates"].clear()
    caches["boards"].clear()
    seen: dict[str, set[str]] = defaultdict(set)
    pages, answers = _addresses(world, is_admin=role == "admin"), _api_addresses(world)
    for get, addresses in ((client.get, pages), (ask, answers)):
        for name, address in addresses:
            if name in only and not seen[name] >= enough:
                seen[name] |= _phases_in(_content(get(address)))
    if user is not None and "export_data" in only:  # the page asks for the password first
        seen["export_data"] = _phases_in(json.dumps(personal_data(user), default=str))
    if user is not None and "mail" in only:
        seen["mail"] = _phases_in(_mails_to(user, now))
    return seen


def _phases_in(content: str) -> set[str]:
    return {phase for phase, form in _FORMS.items() if form.search(content)}


def _mails_to(user: User, now: datetime) -> str:
    """Return the current texts of all emails to this person in the outbox."""
    related = ("shared_task", "team__shared_task", "user", "phase", "submission__phase")
    mails = OutgoingMail.objects.filter(user=user).select_related(*related)
    found = ((mail, facts(mail, now)) for mail in mails)
    return "".join(message(mail, known, now).message().as_string() for mail, known in found if known is not None)


def _runs() -> list[Run]:
    """Return Bora's runs and the baselines in track one, of every phase."""
    evaluated = Run.objects.filter(evaluations__isnull=False, track__shared_task__slug="gated", track__slug="one")
    return list(evaluated.exclude(team__name="Notus"))


def _addresses(world: World, *, is_admin: bool) -> Iterator[tuple[str, str]]:
    """Yield the names and addresses of all of the portal's URLs, including boards with their filters."""
    for name in NAMES:
        if name in ("account_logout", "paper") or name.startswith(("run", "submission")):
            continue
        address = address_of(world, name)
        queries = {"leaderboard": (*FILES, *CHOICES), "leaderboards": FILES}.get(name, ("",))
        choices = [f"?phase={phase}{query}" for phase in SCORES for query in queries] if name in BOARDS else [""]
        if name == "compare":
            choices = [f"{one}&run=Bora&run=Notus" for one in choices]
        yield from ((name, address + choice) for choice in choices)
    yield from (("export", reverse("export", args=["gated", export])) for export in EXPORTS)
    for slug in SCORES:
        yield "paper", reverse("paper", args=["gated", slug])
    for run in _runs():
        yield "run", reverse("run", args=[run.pk])
        yield "run_file", reverse("run_file", args=[run.pk])
        yield "run_figure", reverse("run_figure", args=[run.pk, "confusion", "svg"])
        if run.submission_id is not None:
            for name in ("submission", "submission_status", "submission_report", "receipt"):
                yield name, reverse(name, args=["gated", run.submission_id])
    if is_admin:
        yield from (("admin", address) for address in ADMIN)
        for one in Evaluation.objects.filter(phase__shared_task__slug="gated", team__isnull=False):
            yield "admin", reverse("admin:portal_evaluation_change", args=[one.pk])


def _api_addresses(world: World) -> Iterator[tuple[str, str]]:
    """Yield every readable API URL: each list, run and upload, and each board with its filters."""
    runs = _runs()
    for name in API_NAMES:
        for run in runs if name in ("api:run", "api:run_items", "api:run_file") else ():
            yield name, reverse(name, args=["gated", run.pk])
        uploads = {run.submission_id for run in runs} - {None}
        for upload in uploads if name in ("api:submission", "api:report", "api:receipt") else ():
            yield name, reverse(name, args=["gated", upload])
        queries = ("",) if name == "api:leaderboards" else ("", *CHOICES)
        choices = [f"?phase={phase}{query}" for phase in SCORES for query in queries]
        for choice in choices if name.startswith("api:leaderboard") else [""]:
            yield name, api_address_of(world, name) + choice


def _content(answer: Any) -> str:
    """Return the content of a response or, for a zip, of its text files."""
    assert answer.status_code != HTTPStatus.TOO_MANY_REQUESTS  # a rate limit would hide the content
    body = b"".join(answer.streaming_content) if answer.streaming else answer.content
    if body.startswith(b"PK"):
        with zipfile.ZipFile(BytesIO(body)) as pack:
            body = b"\n".join(pack.read(name) for name in pack.namelist() if not name.endswith(".pdf"))
    return body.decode(errors="replace")


def names(found: set[Sighting], role: str, phase: str) -> set[str]:
    return {one.name for one in found if (one.role, one.phase) == (role, phase)}


def shown_to(role: str) -> set[str]:
    """Return the names of URLs where this role sees the scores of a released phase."""
    return {name for name, roles in SHOWS.items() if role in roles}


@pytest.mark.slow
def test_scores_are_shown_where_and_when_they_may_be(
    world: World, people: dict[str, User | None], phases: dict[str, Phase], at: Clock
) -> None:
    at(RELEASE)
    organizers = {role: people[role] for role in ORGANIZERS}
    outsiders = {role: user for role, user in people.items() if role not in ORGANIZERS}
    assert look(world, outsiders, RELEASE) == set()
    for role, user in organizers.items():
        found = look(world, {role: user}, RELEASE, only=shown_to(role), enough=SCORES.keys())
        for slug in SCORES:
            in_steps = {"paper"} if slug == "without-gold" else set()  # the same for everyone, even organizers
            assert names(found, role, slug) >= shown_to(role) - UNRELEASED - in_steps, (role, slug)
    steps = f"{address_of(world, 'leaderboard')}?phase=without-gold"
    assert STEP in Client().get(steps).content.decode()

    Phase.objects.filter(pk=phases["evaluation"].pk).update(released=RELEASE, taken_back=None)
    readers = {role: outsiders[role] for role in ("anonymous", "rival", "captain")}
    after = look(world, readers, RELEASE)
    assert {one for one in after if one.phase != "evaluation"} == set()
    after |= look(world, organizers, RELEASE, enough={"evaluation"})
    # The others organize or administer without a second factor, or another task, so they get the pages of everyone.
    others = {role: user for role, user in outsiders.items() if role not in readers}
    after |= look(world, others, RELEASE, only=shown_to("anonymous"), enough={"evaluation"})
    for role in EVERYONE:
        assert names(after, role, "evaluation") == shown_to(role), role

    closing = phases["without-gold"].closes
    assert closing is not None
    at(closing)
    shown = shown_to("anonymous") - UNRELEASED
    assert names(look(world, {"anonymous": None}, closing, only=shown), "anonymous", "without-gold") == shown


# Pages about runs also hide that a run is scored, so opening a single queryset shows nothing there.
OF_RUNS = {
    "my_runs", "public_team", "team_runs", "submission", "submission_status", "run", "run_figure", "api:run",
    "api:runs", "api:submission",
}  # fmt: skip
CLOSED = {  # what a captain sees of hidden phases, and where, if one queryset lets everything through
    (PhaseQuerySet, "with_visible_scores"): (
        "evaluation",
        shown_to("captain") - UNRELEASED - OF_RUNS | {"released_board", "api:released_leaderboard"},
    ),
    (PhaseQuerySet, "with_visible_steps"): (
        "post in steps",
        {"leaderboard", "leaderboards", "insights", "compare", "api:leaderboard", "api:leaderboards"},
    ),
    (EvaluationQuerySet, "visible_to"): ("evaluation", shown_to("captain") - UNRELEASED - OF_RUNS - {"paper"}),
    (EvaluationQuerySet, "visible_in_steps"): (
        "post in steps",
        {"leaderboard", "api:leaderboard"},
    ),
    (BoardQuerySet, "visible_to"): ("without-gold", {"leaderboard"}),
    (ReleasedBoardQuerySet, "public"): ("evaluation", {"released_board", "api:released_leaderboard"}),
    (PaperPackQuerySet, "visible_to"): ("evaluation", {"paper"}),
}


@pytest.mark.slow
@pytest.mark.parametrize(("gate", "method"), CLOSED)
def test_nothing_but_the_gate_hides_them(
    world: World, people: dict[str, User | None], phases: dict[str, Phase], monkeypatch, gate: type, method: str
) -> None:
    """If one of the querysets returned everything, the search above would find what becomes visible."""
    monkeypatch.setattr(gate, method, lambda self, *_viewer_and_time: self.all())
    phase, places = CLOSED[gate, method]
    found = look(world, {"captain": people["captain"]}, RELEASE, only=places, enough={phase})
    assert names(found, "captain", phase) >= places
