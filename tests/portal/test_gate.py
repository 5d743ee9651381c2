"""The embargo: scores are read only through certain querysets, which apply the same visibility rules as `Phase`."""

import ast
import re
from collections.abc import Iterator
from datetime import timedelta
from itertools import product

import pytest
from django.contrib.auth.models import AnonymousUser

from portal.models import Board, Evaluation, ExtraTime, Phase, ReleasedBoard
from portal.queries.boards.insights import insights
from portal.queries.boards.ladder import steps
from portal.queries.boards.leaderboard import leaderboard
from portal.queries.boards.run_scores import earlier_scores
from tests.conftest import ROOT
from tests.portal.remembered import remembered
from tests.portal.world import EVALUATION, GOOD, RELEASE, Run, captain, organizer_of, send_run, work_off

pytestmark = pytest.mark.postgres

WORKERS = ("models", "evaluation", "migrations", "management", "admin.py")  # all other folders show something to people
GATES = ("visible_to", "visible_in_steps", "visible_at_all", "public")
SCORED = ("Evaluation", "ReleasedBoard", "RunItems", "CombinedBoard")
MANAGERS = ("objects", "_default_manager", "_base_manager")
RELATED = (
    "evaluations",
    "released_boards",
    "combined_boards",
)  # relations of a run, a gold standard, a track or a phase
LOOKUPS = re.compile(
    r"(^|__)(evaluations|released_boards|combined_boards)($|__)|portal_(evaluation|releasedboard|runitems|combinedboard)"
)
EXEMPT = {  # files that save, count or delete rows of these models without showing scores
    "portal/queries/boards/releases.py": {"ReleasedBoard"},
    "portal/queries/effects.py": {"ReleasedBoard"},
    "portal/queries/counters.py": {"Evaluation"},
    "portal/queries/paper_packs.py": {"CombinedBoard"},
    "portal/jobs.py": {"CombinedBoard"},
    "portal/actions/task_folder/apply_definition.py": {"Evaluation"},
    "portal/actions/task_folder/drafts.py": {"Evaluation", "ReleasedBoard"},
}
HOUR = timedelta(hours=1)


def sources() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted((ROOT / "portal").rglob("*.py")):
        if path.relative_to(ROOT / "portal").parts[0] not in WORKERS:
            yield str(path.relative_to(ROOT)), ast.parse(path.read_text())


def past_the_gate(path: str, tree: ast.Module) -> Iterator[str]:
    """Yield places that read scores without a gate: through other manager methods, relations, lookups or SQL."""
    nodes = list(ast.walk(tree))
    through = {id(node.value) for node in nodes if isinstance(node, ast.Attribute) and node.attr in GATES}
    for node in nodes:
        match node:
            case ast.Attribute(value=ast.Name(id=of) | ast.Attribute(attr=of), attr=attr) if attr in MANAGERS:
                is_past = of in SCORED and of not in EXEMPT.get(path, ())
            case ast.Attribute(attr=attr):
                is_past = attr in RELATED
            case ast.Call(args=arguments):
                is_past = any(isinstance(one, ast.Name) and one.id in SCORED for one in arguments)
            case ast.keyword(arg=str(text)) | ast.Constant(value=str(text)):
                is_past = bool(LOOKUPS.search(text))
            case _:
                continue
        if is_past and id(node) not in through:
            yield f"{path}:{node.lineno}"


@pytest.mark.slow
def test_nothing_that_is_shown_reads_scores_past_the_gate() -> None:
    assert [place for path, tree in sources() for place in past_the_gate(path, tree)] == []


@pytest.mark.parametrize(
    "line",
    [
        "Evaluation.objects.filter()",
        "models.RunItems.objects.all()",
        "Evaluation._default_manager.all()",
        "run.evaluations.all()",
        "board.gold.evaluations.count()",
        "one.run.track.released_boards.first()",
        "get_object_or_404(Evaluation, pk=1)",
        "Run.objects.values_list('evaluations__scores')",
        "Run.objects.filter(evaluations__rank_key__lt=0)",
        "Run.objects.prefetch_related('evaluations')",
        "cursor.execute('SELECT scores FROM portal_evaluation')",
    ],
)
def test_the_search_for_other_ways_finds_them(line: str) -> None:
    assert list(past_the_gate("x.py", ast.parse(line))) == ["x.py:1"]


def test_the_search_passes_the_gate() -> None:
    text = "Evaluation.objects.visible_to(a, b).filter()\nrun.evaluations.visible_in_steps(a, b)\n"
    assert list(past_the_gate("x.py", ast.parse(text))) == []


FRONT_ENDS = ("web", "api", "task_exports.py", "export.py")
READ_THE_SAME_WAY = {"SharedTask"}  # through one method, such as `visible_to`, which needs nothing more


@pytest.mark.slow
def test_no_two_front_ends_read_the_same_rows_by_themselves() -> None:
    """What a page, the API and an export show comes from one function in `portal.queries`."""
    readers: dict[str, set[str]] = {}
    for path, tree in sources():
        front_end = path.split("/")[1]
        for node in ast.walk(tree):
            match node:
                case ast.Attribute(value=ast.Name(id=model), attr="objects") if front_end in FRONT_ENDS:
                    readers.setdefault(model, set()).add(front_end)
    assert "SharedTask" in readers
    assert {model for model, found in readers.items() if len(found) > 1} <= READ_THE_SAME_WAY


TIMES = [None, EVALUATION - HOUR, EVALUATION, EVALUATION + HOUR]
STEPS = [{"ladder_step": step, "round_days": days} for step, days in ((None, None), (0.05, None), (0.05, 7))]
RULES = [
    {"scores": scores, "opens": opens, "closes": closes, "released": released, **steps}
    for scores, opens, closes, released, steps in product(Phase.Scores, TIMES[1:], TIMES, TIMES, STEPS)
]


@pytest.mark.slow
@pytest.mark.parametrize("extra_time", [None, EVALUATION, EVALUATION + HOUR])
def test_database_and_phase_say_the_same(tiny, extra_time):
    organizer, everyone = organizer_of(tiny), AnonymousUser()
    made = [Phase(shared_task=tiny, slug=f"rules-{n}", position=n, **rules) for n, rules in enumerate(RULES)]
    Phase.objects.bulk_create(made)
    if extra_time:
        values = {"until": extra_time, "reason": "x", "granted_by": organizer, "granted_at": EVALUATION}
        ExtraTime.objects.bulk_create(ExtraTime(phase=phase, **values) for phase in made)
    here = Phase.objects.filter(slug__startswith="rules-")
    phases = list(here)
    assert len(phases) == len(RULES)
    public = {phase for phase in phases if phase.scores_are_public(EVALUATION)}
    in_steps = {phase for phase in phases if phase.step_at(EVALUATION) is not None}
    assert len({(phase in public, phase in in_steps) for phase in phases}) == 4
    assert set(here.with_public_scores(EVALUATION)) == public
    assert set(here.in_steps(EVALUATION)) == in_steps
    assert set(here.with_visible_scores(everyone, EVALUATION)) == public - in_steps
    assert set(here.with_visible_steps(everyone, EVALUATION)) == public & in_steps
    assert set(here.with_visible_scores(organizer, EVALUATION)) == set(phases)
    assert not here.with_visible_steps(organizer, EVALUATION).exists()


@remembered
def run(meltemi):
    """A scored run whose score is hidden until the release."""
    run = send_run(meltemi, GOOD, 1, EVALUATION)
    work_off(EVALUATION)
    Phase.objects.filter(pk=run.phase_id).update(ladder_step=0.05)
    return Run.objects.select_related("track__shared_task", "phase__shared_task").get(pk=run.pk)


@pytest.mark.slow
def test_queries_are_safe_in_themselves(run):
    """Whatever their callers check, queries show hidden scores to no one but organizers."""
    board = Board.objects.select_related("gold", "phase").get(track=run.track, phase=run.phase)
    first = run.evaluations.get()
    Evaluation.objects.create(
        run=run, gold=first.gold, scorer="9", scores={"accuracy": 1.0}, created_at=EVALUATION, phase=run.phase
    )
    newest = run.evaluations.get(scorer="9")
    release = ReleasedBoard.objects.create(
        track=run.track, phase=run.phase, number=1, gold=first.gold, scorer=first.scorer, content={}, at=EVALUATION
    )

    def found(viewer, at):
        return [
            bool(earlier_scores(run, newest, viewer, at)),
            bool(insights(run.track, run.phase, viewer, at).evaluation_ids),
            any(row.scores for row in leaderboard(run.track, run.phase, viewer, at).rows),
            ReleasedBoard.objects.public(at).filter(pk=release.pk).exists(),
            bool(steps(board, Run.objects.all(), viewer, at)),
        ]

    for viewer in (AnonymousUser(), captain(run.team)):
        assert found(viewer, EVALUATION) == [False] * 5
        # The phase is over, so the ladder no longer applies.
        assert found(viewer, RELEASE) == [True, True, True, True, False]
    assert found(organizer_of(run.track.shared_task), EVALUATION) == [True, True, True, False, False]
