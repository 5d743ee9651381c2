"""Taking an upload: from here on it is a committed row and a file on disk, or it was refused."""

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from portal import jobs
from portal.actions.errors import Conflict, Invalid, LimitReached, NotAllowed
from portal.actions.rejections import lock_senders, require_few_rejections
from portal.actions.slots import fill_slots
from portal.evaluation.limits import HINT_SECONDS
from portal.models import AuditEntry, Phase, Quota, Run, SharedTask, Submission, Team, Track, User
from portal.models.clock import database_now
from portal.permissions import has_signed
from portal.queries.quota import TrackLimits, remaining
from portal.storage import StoredUpload, UploadedFile
from scoring import __version__ as scorer_version
from scoring.uploads.inspection import RecognisedRun, Upload

QUOTA_ATTEMPTS = 4  # at a phase that moves each time: no one moves one so often


def submit(
    user: User,
    shared_task: SharedTask,
    phase: Phase,
    stored: StoredUpload,
    upload: Upload,
    idempotency_key: str = "",
    at: datetime | None = None,
    slot: str = "",
) -> Submission:
    """Accept an upload for the user's team: window and quota, rows, file and audit in one transaction.

    `at` is the database's time, read when the whole body is in; tests pass their own. The same idempotency key with
    the same file, phase and slot gives the same submission again. Work is hinted at after the commit, and a broker that
    is down is no obstacle. `slot` is one of Run.Slot where the phase has them; empty: the first run of a track is the
    primary one.

    Raises:
        NotAllowed: no team that takes part, no signature under the data agreement, or the phase is not open.
        Invalid: names or structure are wrong, or the key was used for another file, phase or slot.
        Conflict: a run number or slot is taken, and the free ones are named; or the phase is moved again and again.
        LimitReached: more runs than are left.
    """
    team = sending_team(user, shared_task)
    if not upload.report.ok or not upload.runs:
        raise Invalid("upload_refused", _("The upload breaks the naming rules; see its problems."))
    key = hashlib.sha256(idempotency_key.encode()).hexdigest() if idempotency_key else ""  # of any length
    try:
        with transaction.atomic():
            return _sent_before(user, team, key, phase, stored, slot) or _accept(
                user, team, phase, stored, upload, key, at or database_now(), slot
            )
    except IntegrityError:  # a double click: the other one committed while this one waited
        again = _sent_before(user, team, key, phase, stored, slot)
        if again is None:
            raise
        return again


def rehearse(
    user: User,
    shared_task: SharedTask,
    phase: Phase,
    file: UploadedFile,
    runs: Sequence[RecognisedRun],
    at: datetime,
    slot: str,
) -> list[TrackLimits]:
    """What would be left of the limits after this upload; it raises what `submit` would, and leaves nothing behind."""
    team = sending_team(user, shared_task)
    with transaction.atomic():
        _add_rows(user, team, phase, file, runs, "", at, slot)
        left = remaining(team, user, phase, at)
        transaction.set_rollback(True)
    return left


def sending_team(user: User, shared_task: SharedTask) -> Team:
    """The user's team, if it may send runs; else `NotAllowed`."""
    team = shared_task.teams.filter(members=user).first() if user.is_active else None
    if team is None:
        raise NotAllowed("no_team", _("Create a team or join one before you upload."))
    if not team.takes_part:
        message = _("Your team cannot send runs; its page says what to do. Its state: %(state)s.")
        raise NotAllowed("team_not_approved", message % {"state": team.get_state_display()})
    return team


def _sent_before(user: User, team: Team, key: str, phase: Phase, stored: StoredUpload, slot: str) -> Submission | None:
    if not key:
        return None
    submission = Submission.objects.filter(team=team, sent_by=user, idempotency_key=key).first()
    if submission is None:
        return None
    then = (submission.sha256, submission.file_name, submission.phase_id, submission.slot)
    if then != (stored.sha256, stored.name, phase.pk, slot):
        message = _("This Idempotency-Key was used for another file, phase or slot. Choose a new one.")
        raise Invalid("key_reused", message)
    return submission


def _accept(
    user: User, team: Team, phase: Phase, stored: StoredUpload, upload: Upload, key: str, at: datetime, slot: str
) -> Submission:
    """Within the transaction: rows, audit, file, and the hint that follows the commit."""
    submission = _add_rows(user, team, phase, stored, upload.runs, key, at, slot)
    AuditEntry.objects.create(
        actor=user,
        shared_task=team.shared_task,
        verb="submit",
        subject=f"submission {submission.pk}",
        detail={"team": team.name, "phase": phase.slug, "sha256": stored.sha256, "runs": len(upload.runs)},
        at=at,
    )
    stored.keep()
    transaction.on_commit(lambda: jobs.publish_checks([submission.pk]))
    return submission


def _add_rows(
    user: User,
    team: Team,
    phase: Phase,
    file: UploadedFile,
    recognised: Sequence[RecognisedRun],
    key: str,
    at: datetime,
    slot: str,
) -> Submission:
    """Submission, quota and runs. The signature is looked for here: a receipt stays one when the text changes.

    The row with the key comes first: another upload with it waits, quota untouched.
    """
    if not has_signed(user, team.shared_task):
        raise NotAllowed("unsigned", _("Sign the data agreement of this task first; then send the file again."))
    lock_senders(user, team)
    require_few_rejections(user, team, at)
    trusted_until = at + timedelta(seconds=HINT_SECONDS)
    submission = Submission.objects.create(
        shared_task=team.shared_task,
        phase=phase,
        team=team,
        sent_by=user,
        file_name=file.name,
        size=file.size,
        sha256=file.sha256,
        idempotency_key=key,
        slot=slot,
        received_at=at,
        definition_sha256=team.shared_task.definition_sha256,
        scorer=scorer_version,
        lease_ends=trusted_until,
    )
    tracks = {track.slug: track for track in team.shared_task.tracks.all()}
    by_track: dict[Track, list[RecognisedRun]] = defaultdict(list)
    for run in recognised:
        by_track[tracks[run.track]].append(run)
    for track, runs in sorted(by_track.items(), key=lambda item: item[0].position):  # one order: no deadlocks
        _reserve_quota(team, user, phase, track, len(runs), at)
        fill_slots(_add_runs(submission, track, runs), slot, user, at)
    return submission


def _reserve_quota(team: Team, user: User, phase: Phase, track: Track, runs: int, at: datetime) -> None:
    """Reserve, or say why not. Where nothing forbids it any more, organizers have just moved the phase: try again."""
    names = {"phase": phase.title, "track": track.title}
    for _attempt in range(QUOTA_ATTEMPTS):
        if Quota.objects.reserve(team, user, phase, track, runs, at):
            return
        phase.refresh_from_db()
        if not phase.is_open(at, team.pk):
            raise NotAllowed("phase_closed", _("The phase %(phase)s does not take runs now.") % names)
        limits = next(line for line in remaining(team, user, phase, at) if line.track == track)
        if limits.left is not None and limits.left < runs:
            raise _limit_reached(limits, runs, names)
    message = _("The organizers are changing %(phase)s at this moment. Nothing was taken: send the file again.")
    raise Conflict("phase_moves", message % names)


_LIMIT_REACHED = {
    ("day", "team"): gettext_noop(
        "Runs left today (UTC) for %(track)s: %(left)d of %(limit)d. This upload holds %(runs)d."
    ),
    ("phase", "team"): gettext_noop(
        "Runs left for %(track)s in %(phase)s: %(left)d of %(limit)d. This upload holds %(runs)d."
    ),
    ("day", "person"): gettext_noop(
        "Runs that you can still upload today (UTC) for %(track)s, counting those for your earlier teams: "
        "%(left)d of %(limit)d. This upload holds %(runs)d."
    ),
    ("phase", "person"): gettext_noop(
        "Runs that you can still upload for %(track)s in %(phase)s, counting those for your earlier teams: "
        "%(left)d of %(limit)d. This upload holds %(runs)d."
    ),
}


def _limit_reached(limits: TrackLimits, runs: int, names: dict[str, str]) -> LimitReached:
    message = _(_LIMIT_REACHED[limits.period, limits.whose])
    values = {**names, "left": limits.left, "limit": limits.limit, "runs": runs}
    return LimitReached("no_runs_left", message % values)


def _add_runs(submission: Submission, track: Track, found: list[RecognisedRun]) -> list[Run]:
    """The quota row that was just updated keeps other uploads for this track out until the transaction ends."""
    earlier = Run.objects.filter(team=submission.team, phase=submission.phase, track=track)
    once = submission.phase.run_numbers == Phase.RunNumbers.ONCE
    holding = Run.objects.holding_numbers(submission.team, submission.phase).filter(track=track)
    used = set(holding.values_list("number", flat=True))
    highest = max((number or 0 for number in earlier.values_list("number", flat=True)), default=0)
    runs = []
    for place, run in enumerate(found, start=1):
        number = highest + place if run.number is None else run.number
        if number in used:
            raise Conflict("run_number_taken", _number_taken(submission, track, number, used))
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
            )
        )
    return Run.objects.bulk_create(runs)


def _number_taken(submission: Submission, track: Track, number: int, used: set[int | None]) -> str:
    numbers = submission.shared_task.definition.naming.numbers
    free = ", ".join(str(number) for number in numbers if number not in used)
    values = {"number": number, "track": track.title, "free": free}
    if not free:
        return _("Run number %(number)d of %(track)s is used already, and no number is free.") % values
    return _("Run number %(number)d of %(track)s is used already. Free: %(free)s.") % values
