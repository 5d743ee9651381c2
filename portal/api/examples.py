"""An example of each JSON response, which the OpenAPI specification shows.

All examples tell one story: the team Meltemi takes part in the task `tiny` of docs/scoring.md, which has four items.
The gold labels of two items turn out to be incorrect. The scores are those that `agon score` computes for these runs.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from portal import export
from portal.api.paging import Page
from portal.api.schemas import account, boards, desk, organizers, runs, tasks, teams
from portal.models.signature import text_sha256

_TASK, _TRACK, _PHASE, _SPLIT, _TEAM = "tiny", "one", "evaluation", "test", "Meltemi"
_CAPTAIN, _CAPTAINS_ADDRESS = "Ana Example", "ana@uni.example"
_ORGANIZER, _ORGANIZERS_ADDRESS = "Oana Organizer", "organizer@agon.example"
_SCORER = "0.2.0"
_NOTE = "Two gold labels were incorrect."

_OPENS = datetime(2026, 5, 1, tzinfo=UTC)
_CLOSES = datetime(2026, 5, 11, 12, tzinfo=UTC)
_EXTENDED = datetime(2026, 5, 12, 12, tzinfo=UTC)
_RELEASED = datetime(2026, 5, 20, 12, tzinfo=UTC)
_RECEIVED = datetime(2026, 5, 9, 14, 3, 12, tzinfo=UTC)
_OF_BORA = datetime(2026, 5, 10, 9, 41, 50, tzinfo=UTC)
_CORRECTED = datetime(2026, 5, 21, 8, 30, tzinfo=UTC)
_SECOND = timedelta(seconds=1)

_SUBMISSION_ID = UUID("5c0f7e52-8f0b-4d1c-9a52-0d6c3e1b7a41")
_RUN_ID = UUID("0b9d3a1e-6f7c-4c55-8a1d-2e4f60718293")
_RUN_OF_BORA = UUID("c4a7f1d2-3b58-4e06-b1f9-7d2c5a8e9034")
_FILE, _BYTES = "one_Meltemi_1.json", 115
_SHA256 = "217b217ca107e1127d32e217152b0a89a794992f78335ab2c5584c5b6168dd0d"

_RUN_FIELD = tasks.RunFieldAnswer(key="data", label="Training data", required=True)
_FIELDS = {"data": "The task’s training data"}
_RUN_FIELDS = [tasks.RunFieldLabel(key=_RUN_FIELD.key, label=_RUN_FIELD.label)]
_METRICS = [
    tasks.MetricAnswer(key="accuracy", title="Accuracy", higher_is_better=True),
    tasks.MetricAnswer(key="f1_macro", title="Macro F1", higher_is_better=True),
    tasks.MetricAnswer(key="f1:YES", title="F1: YES", higher_is_better=True),
]
_SCORES: dict[str, float | None] = {"accuracy": 0.75, "f1_macro": 0.7333333333333334, "f1:YES": 0.8}
_SCORES_BEFORE: dict[str, float | None] = {
    "accuracy": 0.75,
    "f1_macro": 0.7333333333333334,
    "f1:YES": 0.6666666666666666,
}
_SCORES_OF_BORA: dict[str, float | None] = dict.fromkeys(_SCORES, 0.5)
_SCORES_OF_BORA_BEFORE: dict[str, float | None] = dict.fromkeys(_SCORES, 1.0)

_UNKNOWN_LABEL: dict[str, Any] = {
    "severity": "error",
    "code": "label-outside-domain",
    "message": "Labels that the track does not define: b: Yes. Expected one of YES, NO.",
    "file": "one_Meltemi_2.json",
    "line": None,
    "item": "b",
    "found": "Yes",
    "expected": "one of YES, NO",
    "suggestion": "YES",
    "count": 1,
    "places": ["b: Yes"],
    "column": None,
    "path": "#2.value",
    "excerpt": {
        "line": 1,
        "text": '[{"id": "a", "value": "YES"}, {"id": "b", "value": "Yes"}, '
        '{"id": "c", "value": "NO"}, {"id": "d", "value": "NO"}]',
        "start": 52,
        "end": 55,
    },
}


def _page(item: Any) -> Page[Any]:
    return Page(items=[item], next=None)


def _used(count: int) -> runs.LimitAnswer:
    return runs.LimitAnswer(track=_TRACK, used=count, limit=3, left=3 - count, period="phase", whose="team")


_ME = account.MeAnswer(
    name=_CAPTAIN,
    email=_CAPTAINS_ADDRESS,
    may_create_tasks=False,
    token=account.TokenAnswer(
        name="laptop", scope="submit", task=None, expires_at=datetime(2026, 12, 31, 12, tzinfo=UTC)
    ),
    teams=[account.OwnTeamAnswer(task=_TASK, team=_TEAM, state="approved", is_captain=True)],
    organizes=[],
)
_TEAM_ANSWER = teams.TeamAnswer(
    id=12,
    name=_TEAM,
    state="approved",
    affiliation="University of the Aegean",
    reason="",
    answers={"use": "research"},
    members=[
        teams.MemberAnswer(id=16, name=_CAPTAIN, is_captain=True),
        teams.MemberAnswer(id=17, name="Milo Member", is_captain=False),
    ],
    invitation_code="f3Zk9q2L0a",
    bibtex="",
    paper="https://example.org/paper",
    unranked_at=None,
    created_at=datetime(2026, 4, 2, 9, 15, tzinfo=UTC),
)
_NEW_TEAM = _TEAM_ANSWER.model_copy(update={"state": "pending", "members": _TEAM_ANSWER.members[:1], "paper": ""})
_JOINED_TEAM = _TEAM_ANSWER.model_copy(update={"paper": ""})

_SUMMARY = tasks.TaskSummary(
    slug=_TASK,
    title="Tiny",
    subtitle="Four items, two tracks",
    venue="Tests 2026",
    year=2026,
    languages=["en"],
    state="open",
    accepts_runs=True,
    phase=_PHASE,
    next_date=_CLOSES,
)
_TASK_ANSWER = tasks.TaskAnswer(
    **_SUMMARY.model_dump(),
    tracks=[
        tasks.TrackAnswer(
            slug=slug,
            title=f"Track {slug}",
            description="",
            format="json-labels",
            files=[],
            splits=[_SPLIT],
            rank_by="accuracy",
            metrics=metrics,
        )
        for slug, metrics in ((_TRACK, _METRICS), ("two", _METRICS[:1]))
    ],
    current_phase=_PHASE,
    team_name_rule="[A-Za-z0-9_-]{2,30}",
    questions=[
        tasks.QuestionAnswer(
            key="use", label="What will you use the data for?", required=True, choices=["research", "teaching"]
        )
    ],
    run_fields=[_RUN_FIELD],
    has_agreement=True,
    has_password_data=False,
    papers_closed=False,
    your_team=_TEAM,
    you_organize=False,
)
_PHASE_ANSWER = tasks.PhaseAnswer(
    slug=_PHASE,
    title="Evaluation",
    split=_SPLIT,
    tracks=[_TRACK, "two"],
    opens=_OPENS,
    closes=_CLOSES,
    closes_for_you=_EXTENDED,
    is_open=True,
    scores="on-release",
    scores_are_public=False,
    released=None,
    official="chosen",
    submissions=None,
    replaces=None,
    runs_per_track=3,
    runs_per_day=None,
    extra_times=[tasks.ExtraTimeAnswer(id=3, team=_TEAM, until=_EXTENDED, reason="An outage on our side.")],
    round_days=None,
    limits=[_used(1)],
    leaderboards=[f"/api/v1/tasks/{_TASK}/leaderboards/{track}?phase={_PHASE}" for track in (_TRACK, "two")],
)
_AGREEMENT_TEXT = "Use the data only for research.\n"
_AGREEMENT = tasks.AgreementAnswer(
    version="1", text=_AGREEMENT_TEXT, sha256=text_sha256(_AGREEMENT_TEXT), is_signed=False
)
_DATASET = tasks.DatasetAnswer(
    slug="train",
    title="Training data",
    file_name="tiny-train.tsv",
    size=48213,
    sha256="8d1f0c6b5e2a49738d1f0c6b5e2a49738d1f0c6b5e2a49738d1f0c6b5e2a4973",
    licence="CC-BY-4.0",
    access="registered",
    released=None,
    is_encrypted=False,
    obstacles=[tasks.ObstacleAnswer(code="unsigned", detail="Sign the data agreement.")],
    file=f"/api/v1/tasks/{_TASK}/datasets/train/file",
)
_ANNOUNCEMENT = tasks.AnnouncementAnswer(
    id=4, title="Test data", text="The *test* data is now available.", by=_ORGANIZER, at=_OPENS
)

_RUN = runs.RunAnswer(
    id=_RUN_ID,
    kind="team",
    name=_FILE,
    number=1,
    track=_TRACK,
    phase=_PHASE,
    team=_TEAM,
    submission=_SUBMISSION_ID,
    sha256=_SHA256,
    items=4,
    state="scored",
    is_finished=True,
    waits_for_gold=False,
    slot=None,
    is_official=True,
    is_chosen=True,
    is_withdrawn=False,
    is_replaced=False,
    withdrawal_reason="",
    method="XLM-R large",
    description="",
    link="",
    system_type="tuned",
    fields=_FIELDS,
    received_at=_RECEIVED,
    finished_at=_RECEIVED + 2 * _SECOND,
    problems=[],
    scores=_SCORES,
    scores_are_hidden=False,
    ladder_step=None,
    flags=[],
)
_HIDDEN: dict[str, Any] = {"scores": {}, "scores_are_hidden": True}
_BEFORE_RELEASE = _RUN.model_copy(update=_HIDDEN)
_WITHDRAWN = _RUN.model_copy(
    update=_HIDDEN | {"is_official": False, "is_chosen": False, "is_withdrawn": True, "withdrawal_reason": "Wrong file"}
)
_NEW_RUN = _BEFORE_RELEASE.model_copy(
    update={
        "items": None,
        "state": "received",
        "is_finished": False,
        "is_official": False,
        "is_chosen": False,
        "method": "",
        "system_type": "",
        "finished_at": None,
    }
)
_UPLOAD = runs.SubmissionSummary(
    id=_SUBMISSION_ID,
    phase=_PHASE,
    file_name=_FILE,
    size=_BYTES,
    sha256=_SHA256,
    state="accepted",
    received_at=_RECEIVED,
    replaced_by=None,
)
_SUBMISSION = runs.SubmissionAnswer(
    **_UPLOAD.model_dump(),
    slot="",
    is_finished=True,
    is_delayed=False,
    uploads_before=3,
    seconds_left=20,
    errors=0,
    warnings=0,
    problems=[],
    runs=[_BEFORE_RELEASE],
    limits=[_used(1)],
)
_NEW_SUBMISSION = _SUBMISSION.model_copy(update={"state": "received", "is_finished": False, "runs": [_NEW_RUN]})
_RECEIPT = {
    "agon_receipt": 1,
    "number": str(_SUBMISSION_ID),
    "shared_task": _TASK,
    "phase": _PHASE,
    "team": _TEAM,
    "file_name": _FILE,
    "size": _BYTES,
    "sha256": _SHA256,
    "runs": [{"id": str(_RUN_ID), "name": _FILE, "track": _TRACK, "number": 1}],
    "received_at": _RECEIVED.isoformat(),
    "definition_sha256": "1a7b8d032234841d1ede66beac9100c1dfc7c321012dcb263722c58d9c71ed66",
    "scorer": _SCORER,
    "key_id": "aa73a4a00066b0e0",
    "signature": "8f41a884a0a8de1002f540d2cbb5f8184ce9db55103946fad6d7de31d0f9708d"
    "88a671f7e2faae72aa70a238d4b8ad6016ae75d541e3727a926096437f523902",
}
_WAITING = runs.ValidationAnswer(
    id=UUID("e81b6c3d-52f4-4a97-8c0e-93d7a6b5f210"),
    phase=_PHASE,
    file_name="one_Meltemi_2.json",
    sha256="63c9e5d27a1b4f80936e5d27c1a4b8f063c9e5d27a1b4f80936e5d27c1a4b8f0",
    state="waiting",
    is_finished=False,
    received_at=_RECEIVED,
    is_valid=None,
    would_be_accepted=None,
    rejection=None,
    problems=[],
    runs=[],
    limits=[],
)
_VALIDATION = _WAITING.model_copy(
    update={
        "state": "done",
        "is_finished": True,
        "is_valid": False,
        "would_be_accepted": False,
        "runs": [
            runs.ValidatedRunAnswer(
                name="one_Meltemi_2.json", track=_TRACK, number=2, items=4, is_valid=False, problems=[_UNKNOWN_LABEL]
            )
        ],
    }
)
_ITEMS = runs.ItemsAnswer(
    items=[
        runs.ItemAnswer(id="a", gold=["YES"], answer=["YES"], value=1),
        runs.ItemAnswer(id="b", gold=["YES"], answer=["YES"], value=1),
        runs.ItemAnswer(id="c", gold=["YES"], answer=["NO"], value=0),
        runs.ItemAnswer(id="d", gold=["NO"], answer=["NO"], value=1),
    ],
    next=None,
    measure="right",
    right=3,
    judged=4,
)

_ROW = export.BoardRow(
    rank=1,
    kind="team",
    team=_TEAM,
    run=_FILE,
    number=1,
    method=_RUN.method,
    system_type=_RUN.system_type,
    slot=None,
    fields=_FIELDS,
    scores=_SCORES,
    interval=[0.3006, 0.9544],
    rank_low=1,
    rank_high=2,
    tie_group="A",
    flags=[],
    received_at=_RECEIVED,
    run_id=_RUN_ID,
)
_ROW_OF_BORA = export.BoardRow(
    rank=2,
    kind="team",
    team="Bora",
    run="one_Bora_1.json",
    number=1,
    method="Word list",
    system_type="rules",
    slot=None,
    fields={"data": "None"},
    scores=_SCORES_OF_BORA,
    interval=[0.15, 0.85],
    rank_low=1,
    rank_high=2,
    tie_group="A",
    flags=[],
    received_at=_OF_BORA,
    run_id=_RUN_OF_BORA,
)
_INTERVALS = export.IntervalsAnswer(level=0.95, rounds=10_000, seed=1)
_CHANGE = export.ChangeAnswer(
    at=_CORRECTED, note=_NOTE, gold_version=[1, 2], scorer=[_SCORER, _SCORER], runs=2, ranks=2
)
_RELEASED_BOARD = boards.ReleasedBoardAnswer(
    shared_task=_TASK,
    track=_TRACK,
    phase=_PHASE,
    rank_by="accuracy",
    gold_version=1,
    scorer=_SCORER,
    released=_RELEASED,
    changelog=[],
    ladder_step=None,
    slice=None,
    slice_items=None,
    intervals=_INTERVALS,
    run_fields=_RUN_FIELDS,
    metrics=_METRICS,
    rows=[
        _ROW_OF_BORA.model_copy(update={"rank": 1, "scores": _SCORES_OF_BORA_BEFORE, "interval": [0.5101, 1.0]}),
        _ROW.model_copy(update={"rank": 2, "scores": _SCORES_BEFORE}),
    ],
)
_BOARD = boards.BoardAnswer(
    **_RELEASED_BOARD.model_dump() | {"gold_version": 2, "changelog": [_CHANGE], "rows": [_ROW, _ROW_OF_BORA]},
    count=2,
    next=None,
    hidden_reason="",
)
_OVERALL = export.OverallAnswer(
    shared_task=_TASK,
    phase=_PHASE,
    ladder_step=None,
    tracks=[
        export.OverallTrackAnswer(
            track=_TRACK, rank_by="accuracy", gold_version=2, scorer=_SCORER, changelog=[_CHANGE]
        ),
        export.OverallTrackAnswer(track="two", rank_by="accuracy", gold_version=1, scorer=_SCORER, changelog=[]),
    ],
    rows=[
        export.OverallRowAnswer(
            team=_TEAM,
            tracks={_TRACK: export.CellAnswer(rank=1, value=0.75), "two": export.CellAnswer(rank=1, value=1)},
        ),
        export.OverallRowAnswer(team="Bora", tracks={_TRACK: export.CellAnswer(rank=2, value=0.5)}),
    ],
    overall=[
        export.CombinedAnswer(
            slug="all",
            title="All tracks",
            tracks=[_TRACK, "two"],
            by="mean-rank",
            weights=[],
            missing="unranked",
            intervals=None,
            rows=[
                export.CombinedRowAnswer(
                    rank=1, team=_TEAM, value=1, interval=None, rank_low=None, rank_high=None, tie_group=""
                )
            ],
        )
    ],
)
_RELEASE = boards.ReleaseAnswer(
    track=_TRACK,
    phase=_PHASE,
    number=1,
    at=_RELEASED,
    gold_version=1,
    scorer=_SCORER,
    address=f"/api/v1/tasks/{_TASK}/releases/{_TRACK}/{_PHASE}/1",
)

_ORGANIZED_TEAM = organizers.OrganizedTeamAnswer(
    id=12,
    name=_TEAM,
    state="approved",
    affiliation="University of the Aegean",
    answers={"use": "research"},
    members=[_CAPTAIN, "Milo Member"],
    has_signed=True,
    downloads=2,
    uploads=2,
    rejected_uploads=1,
    runs=1,
    valid_runs=1,
    last_seen=_RECEIVED.date(),
    flags=[],
    created_at=_TEAM_ANSWER.created_at,
)
_NOTE_ABOUT_TEAM = desk.TeamNoteAnswer(id=3, text="Called on 3 May.", by=_ORGANIZER, at=_RECEIVED)
_PREPARED_MESSAGE = desk.TeamMessageAnswer(
    id=5,
    subject="Need help?",
    text="Dear {captain}, {team} has no valid run yet.",
    audience="captains",
    by=_ORGANIZER,
    prepared_at=_RECEIVED,
    sent_at=None,
    recipients=[
        desk.MessageRecipientAnswer(id=31, team=_TEAM, name=_CAPTAIN, address=_CAPTAINS_ADDRESS, delivery=None)
    ],
)
_SENT_MESSAGE = _PREPARED_MESSAGE.model_copy(
    update={
        "sent_at": _RECEIVED,
        "recipients": [_PREPARED_MESSAGE.recipients[0].model_copy(update={"delivery": "queued"})],
    }
)
_ORGANIZED_UPLOAD = desk.OrganizedUploadAnswer(
    id=_SUBMISSION_ID,
    is_stored=True,
    file_name=_FILE,
    size=_BYTES,
    team=_TEAM,
    sent_by=_CAPTAIN,
    phase=_PHASE,
    state="accepted",
    problem_codes=[],
    replaced_by=None,
    received_at=_RECEIVED,
    runs=[desk.UploadedRunAnswer(id=_RUN_ID, name=_FILE, track=_TRACK, number=1, state="scored", is_withdrawn=False)],
)
_REJECTED_UPLOAD = desk.UploadProblemsAnswer(id=_SUBMISSION_ID, state="rejected", problems=[_UNKNOWN_LABEL])
_FIRST_GOLD = organizers.GoldVersionAnswer(id=7, version=1, created_at=datetime(2026, 3, 30, 16, tzinfo=UTC), note="")
_CORRECTED_GOLD = organizers.GoldVersionAnswer(id=9, version=2, created_at=_CORRECTED, note=_NOTE)
_PREVIEW = organizers.GoldUploadAnswer(
    id=UUID("97f2d5b0-1c3e-4f68-a4d7-b80e6c925d13"),
    track=_TRACK,
    split=_SPLIT,
    state="ready",
    is_finished=True,
    uploads_before=0,
    is_stale=False,
    version=None,
    problems=[],
    listed_items=4,
    split_items=4,
    changes={
        "changed": organizers.GoldChangeAnswer(count=2, items=["b", "c"]),
        "added": organizers.GoldChangeAnswer(count=0, items=[]),
        "removed": organizers.GoldChangeAnswer(count=0, items=[]),
    },
    boards=[
        organizers.PreviewedBoardAnswer(
            phase=_PHASE,
            is_public=True,
            rescored=2,
            reranked=2,
            regrouped=0,
            lost=0,
            runs=[
                organizers.PreviewedRunAnswer(
                    id=_RUN_OF_BORA,
                    run="one_Bora_1.json",
                    team="Bora",
                    before=organizers.PlaceAnswer(scores=_SCORES_OF_BORA_BEFORE, rank=1, tie_group="A"),
                    after=organizers.PlaceAnswer(scores=_SCORES_OF_BORA, rank=2, tie_group="A"),
                ),
                organizers.PreviewedRunAnswer(
                    id=_RUN_ID,
                    run=_FILE,
                    team=_TEAM,
                    before=organizers.PlaceAnswer(scores=_SCORES_BEFORE, rank=2, tie_group="A"),
                    after=organizers.PlaceAnswer(scores=_SCORES, rank=1, tie_group="A"),
                ),
            ],
        )
    ],
)
_NEW_GOLD_UPLOAD = _PREVIEW.model_copy(
    update={
        "state": "received",
        "is_finished": False,
        "listed_items": None,
        "split_items": None,
        "changes": {},
        "boards": [],
    }
)
_GOLD = organizers.GoldAnswer(
    track=_TRACK,
    split=_SPLIT,
    newest=_CORRECTED_GOLD,
    former=[_FIRST_GOLD],
    upload=_PREVIEW.id,
    upload_state="accepted",
    upload_problems=[],
)
_NEW_SCORES = organizers.WaitingScoresAnswer(
    key="3 9 0.2.0",
    track=_TRACK,
    phase=_PHASE,
    scored=2,
    count=2,
    effect=organizers.EffectAnswer(runs=2, ranks=2, missing=0),
)
_PUSH = organizers.PushAnswer(
    id=UUID("2a6e8c04-d7b1-4593-9f20-e1c3b5a79d86"),
    task=_TASK,
    is_first=False,
    state="ready",
    is_finished=True,
    uploads_before=0,
    is_stale=False,
    size=1893,
    by=_ORGANIZER,
    received_at=_CORRECTED,
    checked_at=_CORRECTED + 3 * _SECOND,
    applied_at=None,
    problems=[],
    changes=["gold one test: version 2, 4 of 4 items have gold"],
    effects=["2 runs will be rescored."],
    needs_confirmation=True,
    difference="",
)
_NEW_PUSH = _PUSH.model_copy(
    update={
        "state": "received",
        "is_finished": False,
        "checked_at": None,
        "changes": [],
        "effects": [],
        "needs_confirmation": False,
    }
)
_FIRST_PUSH = _NEW_PUSH.model_copy(
    update={"task": None, "is_first": True, "received_at": datetime(2026, 3, 30, 15, 58, tzinfo=UTC)}
)
_APPLIED_PUSH = _PUSH.model_copy(update={"state": "applied", "applied_at": _CORRECTED + 60 * _SECOND})
_ENTRY = organizers.AuditAnswer(
    at=datetime(2026, 5, 11, 9, 30, tzinfo=UTC),
    actor=_ORGANIZER,
    verb="grant_extra_time",
    subject=f"phase {_PHASE}",
    detail={"team": _TEAM, "until": "2026-05-12T12:00:00+00:00", "reason": "An outage on our side."},
)
_EXPORTED_ENTRY = {
    "at": _ENTRY.at,
    "name": _ORGANIZER,
    "address": _ORGANIZERS_ADDRESS,
    "verb": _ENTRY.verb,
    "subject": _ENTRY.subject,
    "detail": _ENTRY.detail,
}

EXAMPLES: Mapping[str, Any] = {
    "me": _ME,
    "tasks": _page(_SUMMARY),
    "task": _TASK_ANSWER,
    "phases": [_PHASE_ANSWER],
    "announcements": _page(_ANNOUNCEMENT),
    "agreement": _AGREEMENT,
    "datasets": [_DATASET],
    "dataset": _DATASET,
    "leaderboard": _BOARD,
    "leaderboards": _OVERALL,
    "releases": [_RELEASE],
    "released_leaderboard": _RELEASED_BOARD,
    "team": _TEAM_ANSWER,
    "register_team": _NEW_TEAM,
    "join_team": _JOINED_TEAM,
    "submissions": _page(_UPLOAD),
    "submission": _SUBMISSION,
    "submit": _NEW_SUBMISSION,
    "report": runs.ReportAnswer(ok=False, state="rejected", problems=[_UNKNOWN_LABEL]),
    "receipt": _RECEIPT,
    "validation": _VALIDATION,
    "validate_only": _WAITING,
    "runs": _page(_RUN),
    "run": _RUN,
    "run_items": _ITEMS,
    "choose_official_run": _BEFORE_RELEASE,
    "withdraw_run": _WITHDRAWN,
    "describe_run": _BEFORE_RELEASE,
    "note_run": _BEFORE_RELEASE,
    "publish_announcement": _ANNOUNCEMENT,
    "organized_teams": [_ORGANIZED_TEAM],
    "organized_team": desk.DeskTeamAnswer(**_ORGANIZED_TEAM.model_dump(), notes=[_NOTE_ABOUT_TEAM]),
    "approve_teams": desk.DecidedTeamsAnswer(teams=[_TEAM]),
    "decline_teams": desk.DecidedTeamsAnswer(teams=["Bora"]),
    "add_note": _NOTE_ABOUT_TEAM,
    "prepare_message": _PREPARED_MESSAGE,
    "send_message": _SENT_MESSAGE,
    "team_message": _PREPARED_MESSAGE,
    "team_messages": _page(desk.TeamMessageSummary(id=5, subject="Need help?", by=_ORGANIZER, sent_at=_RECEIVED)),
    "organized_uploads": _page(_ORGANIZED_UPLOAD),
    "organized_upload": _REJECTED_UPLOAD,
    "gold": [_GOLD],
    "gold_upload": _PREVIEW,
    "upload_gold": _NEW_GOLD_UPLOAD,
    "preview_former_gold": _NEW_GOLD_UPLOAD,
    "apply_gold": _CORRECTED_GOLD,
    "new_scores": [_NEW_SCORES],
    "push": _PUSH,
    "pushes": _page(_PUSH),
    "push_new_task": _FIRST_PUSH,
    "push_task": _NEW_PUSH,
    "apply_push": _APPLIED_PUSH,
    "audit": _page(_ENTRY),
    "export_audit_json": [_EXPORTED_ENTRY],
    "organizers": [organizers.OrganizerAnswer(name=_ORGANIZER, address=_ORGANIZERS_ADDRESS)],
}
"""Operation → example of its successful response, as a model or as plain values."""
