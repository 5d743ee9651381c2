"""Create an upload's rows once its names are valid: the submission, its runs with numbers and slots, and quota use."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import timedelta

from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext_lazy as _

from portal.actions.base.errors import Conflict, LimitReached
from portal.actions.base.waiting import until_tomorrow
from portal.actions.uploads.intake import PHASE_CLOSED, Sending
from portal.actions.uploads.rejections import (
    REPLACEABLE_WITHIN_AN_HOUR,
    lock_senders,
    require_few_rejections,
    require_few_replaceable,
)
from portal.actions.uploads.slots import SLOT_ERRORS, fill_slots
from portal.evaluation.limits import HINT_SECONDS
from portal.models import Phase, Quota, Run, Submission, Tally, Track
from portal.queries.quota import TrackLimits, remaining
from portal.queries.receipts import key_id
from portal.storage import UploadedFile
from scoring import __version__ as scorer_version
from scoring.uploads.inspection import RecognisedRun

QUOTA_ATTEMPTS = 4  # maximum number of attempts while the phase is being changed

PHASE_MOVES = Conflict.declare(
    "phase_moves",
    _("The organizers are changing %(phase)s right now, so no run was submitted. Upload the file again."),
)
_SENTENCES = {  # by period and by whose limit it is
    ("day", "team"): _("Runs left today (UTC) for %(track)s: %(left)d of %(limit)d. Runs in this upload: %(runs)d."),
    ("phase", "team"): _("Runs left for %(track)s in %(phase)s: %(left)d of %(limit)d. Runs in this upload: %(runs)d."),
    ("day", "person"): _(
        "Runs you have left today (UTC) for %(track)s, counting runs for your earlier teams: %(left)d of %(limit)d. "
        "Runs in this upload: %(runs)d."
    ),
    ("phase", "person"): _(
        "Runs you have left for %(track)s in %(phase)s, counting runs for your earlier teams: %(left)d of %(limit)d. "
        "Runs in this upload: %(runs)d."
    ),
}
NO_RUNS_LEFT = {limit: LimitReached.declare("no_runs_left", sentence) for limit, sentence in _SENTENCES.items()}
NUMBER_TAKEN = Conflict.declare(
    "run_number_taken", _("Run number %(number)d is already used in %(track)s. Available numbers: %(free)s.")
)
NO_NUMBER_FREE = Conflict.declare(
    "run_number_taken", _("Run number %(number)d is already used in %(track)s, and no other number is available.")
)
OTHER_TRACK = Conflict.declare(
    "track_not_in_phase", _("%(phase)s doesn’t accept runs for the track %(track)s. Its tracks: %(tracks)s.")
)
NEW_RUN_ERRORS = (
    OTHER_TRACK,
    REPLACEABLE_WITHIN_AN_HOUR,
    PHASE_MOVES,
    *NO_RUNS_LEFT.values(),
    NUMBER_TAKEN,
    NO_NUMBER_FREE,
    *SLOT_ERRORS,
)


def add_runs(given: Sending, file: UploadedFile, recognized: Sequence[RecognisedRun], key: str) -> Submission:
    """Insert the submission and its runs, and reserve quota.

    The caller's transaction must hold the locks of `lock_senders`.
    """
    require_few_rejections(given.user, given.team, given.at)
    if given.phase.max_submissions is not None:
        require_few_replaceable(given.user, given.team, given.at)
    shared_task = given.team.shared_task
    submission = Submission.objects.create(
        shared_task=shared_task,
        phase=given.phase,
        team=given.team,
        sent_by=given.user,
        file_name=file.name,
        size=file.size,
        sha256=file.sha256,
        idempotency_key=key,
        slot=given.slot,
        received_at=given.at,
        turn_at=Submission.objects.next_turn(given.team, given.user, given.at),
        definition_sha256=shared_task.definition_sha256,
        scorer=scorer_version,
        # A message is queued after the commit, so the sweep waits before it queues another.
        lease_ends=given.at + timedelta(seconds=HINT_SECONDS),
    )
    Tally.objects.mark(Tally.RECEIPT_KEY, key_id())
    tracks = {track.slug: track for track in given.phase.tracks()}
    by_track: dict[Track, list[RecognisedRun]] = defaultdict(list)
    for run in recognized:
        if run.track not in tracks:  # the definition has changed since the names were read
            raise OTHER_TRACK(phase=given.phase.title, track=run.track, tracks=", ".join(tracks))
        by_track[tracks[run.track]].append(run)
    # Always in the same order, to avoid deadlocks.
    for track, runs in sorted(by_track.items(), key=lambda item: item[0].position):
        _reserve_quota(given, track, len(runs))
        fill_slots(_numbered(submission, track, runs, given.fields), given.slot, given.user, given.at)
    return submission


def rehearse(given: Sending, file: UploadedFile, recognized: Sequence[RecognisedRun]) -> list[TrackLimits]:
    """Return the limits that would remain after this upload. Raise the same errors as `submit`, but change nothing."""
    with transaction.atomic():
        lock_senders(given.user, given.team)
        add_runs(given, file, recognized, "")
        left = remaining(given.team, given.user, given.phase, given.at)
        transaction.set_rollback(True)
    return left


def _reserve_quota(given: Sending, track: Track, runs: int) -> None:
    """Reserve quota, or raise an error that explains why that is not possible.

    If nothing explains the failure, the phase has just changed, so try again.
    """
    team, user, phase, at = given.team, given.user, given.phase, given.at
    for _attempt in range(QUOTA_ATTEMPTS):
        if Quota.objects.reserve(team, user, phase, track, runs, at):
            return
        phase.refresh_from_db()
        if not phase.is_open(at, team.pk):
            raise PHASE_CLOSED(phase=phase.title)
        limits = next(line for line in remaining(team, user, phase, at) if line.track == track)
        if limits.left is not None and limits.left < runs:
            names = {"phase": phase.title, "track": track.title}
            reached = NO_RUNS_LEFT[limits.period, limits.whose]
            wait = {"seconds": until_tomorrow(at)} if limits.period == "day" else {}
            raise reached(**names, left=limits.left, limit=limits.limit, runs=runs, **wait)
    raise PHASE_MOVES(phase=phase.title)


def _numbered(submission: Submission, track: Track, found: list[RecognisedRun], fields: Mapping[str, str]) -> list[Run]:
    """Insert the runs with their numbers.

    The quota row was just updated, so the team's other uploads wait until this transaction ends.
    """
    once = submission.phase.run_numbers == Phase.RunNumbers.ONCE
    holding = Run.objects.holding_numbers(submission.team, submission.phase).filter(track=track)
    used = set(holding.values_list("number", flat=True))
    # Runs whose names have no number continue from the team's highest number.
    is_counted = any(run.number is None for run in found)
    highest = _highest_number(submission, track) if is_counted else 0
    runs = []
    for place, run in enumerate(found, start=1):
        number = highest + place if run.number is None else run.number
        if number in used:
            numbers = submission.shared_task.definition.naming.numbers
            free = ", ".join(str(one) for one in numbers if one not in used)
            raise (NUMBER_TAKEN if free else NO_NUMBER_FREE)(number=number, track=track.title, free=free)
        used.add(number)
        runs.append(
            Run(
                track=track,
                phase=submission.phase,
                submission=submission,
                team=submission.team,
                name=run.name,
                entry=run.entry,
                number=number,
                number_once=once,
                file_sha256=submission.sha256,
                received_at=submission.received_at,
                fields=dict(fields),
            )
        )
    return Run.objects.bulk_create(runs)


def _highest_number(submission: Submission, track: Track) -> int:
    """Return the highest number of the team's earlier runs, or 0 if there are none."""
    earlier = Run.objects.filter(team=submission.team, phase=submission.phase, track=track)
    return earlier.aggregate(highest=Max("number"))["highest"] or 0
