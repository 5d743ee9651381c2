"""The URLs of the pages."""

import re

from django.urls import path, re_path, register_converter
from django.urls.converters import StringConverter

from portal.figures.render import FORMATS
from portal.task_exports import EXPORTS
from portal.web.views import (
    access_tokens,
    agreement,
    announcements,
    boards,
    client,
    data,
    data_password,
    device,
    figures,
    health,
    home,
    insights,
    mail_code,
    organize,
    organize_data,
    organize_exports,
    organize_gold,
    organize_phases,
    organize_releases,
    own_runs,
    paper,
    public,
    pushes,
    receipts,
    runs,
    settings,
    submissions,
    task_state,
    tasks,
    teams,
    validations,
)


class Ending(StringConverter):
    """A figure's file extension, one of FORMATS."""

    regex = "|".join(FORMATS)


class ExportName(StringConverter):
    """The name of an export, one of EXPORTS."""

    regex = "|".join(map(re.escape, EXPORTS))


register_converter(Ending, "ending")
register_converter(ExportName, "export")

urlpatterns = [
    path("", home.home, name="home"),
    path("guide/", home.guide, name="guide"),
    path("client/", client.client, name="client"),
    path("client/<str:name>", client.client_wheel, name="client_wheel"),
    path("organize/new/", pushes.new_task, name="new_task"),
    path("organize/pushes/<uuid:pk>/", pushes.push, name="push"),
    path("settings/", settings.settings, name="settings"),
    path("settings/export/", settings.export_data, name="export_data"),
    path("settings/sessions/<int:pk>/end/", settings.end_one_session, name="end_session"),
    path("settings/tokens/", access_tokens.access_tokens, name="access_tokens"),
    path("settings/tokens/<int:pk>/revoke/", access_tokens.revoke, name="revoke_token"),
    path("settings/mail-code/", mail_code.mail_code, name="mail_code"),
    path("settings/delete/", settings.delete, name="delete_account"),
    path("device/", device.device, name="device"),
    path("device/code/", device.device_code, name="device_code"),
    path("device/token/", device.device_token, name="device_token"),
    path("mails/stop/<str:token>/", settings.stop_mails_of, name="stop_mails"),
    path("calendar.ics", public.calendar, name="calendar"),
    path("releases.atom", public.feed, name="feed"),
    path("announcements.atom", announcements.feed, name="announcements_feed"),
    path("robots.txt", public.robots, name="robots"),
    path("sitemap.xml", public.sitemap, name="sitemap"),
    path("tasks/<slug:slug>/calendar.ics", public.calendar, name="task_calendar"),
    path("tasks/<slug:slug>/releases.atom", public.feed, name="task_feed"),
    path("tasks/<slug:slug>/announcements.atom", announcements.feed, name="task_announcements_feed"),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", health.metrics, name="metrics"),
    path("tasks/<slug:slug>/", tasks.overview, name="task"),
    path("tasks/<slug:slug>/data/", data.data, name="task_data"),
    path("tasks/<slug:slug>/data/<slug:dataset>/", data.dataset, name="dataset"),
    path("tasks/<slug:slug>/folder.zip", data.task_folder, name="task_folder"),
    path("tasks/<slug:slug>/password/", data_password.password, name="data_password"),
    path("tasks/<slug:slug>/agreement/", agreement.agreement, name="agreement"),
    path("tasks/<slug:slug>/agreement/signed/<int:pk>/", agreement.signed_copy, name="signed_copy"),
    path("tasks/<slug:slug>/evaluation/", tasks.evaluation, name="task_evaluation"),
    path("tasks/<slug:slug>/terms/", tasks.terms, name="task_terms"),
    path("tasks/<slug:slug>/leaderboard/", boards.overall, name="leaderboards"),
    path("tasks/<slug:slug>/leaderboard/<slug:name>.<ending:ending>", boards.overall_figure, name="overall_figure"),
    path("tasks/<slug:slug>/leaderboard/<slug:track>/", boards.leaderboard, name="leaderboard"),
    path(
        "tasks/<slug:slug>/leaderboard/<slug:track>/<slug:phase>/<int:number>/", boards.released, name="released_board"
    ),
    path("tasks/<slug:slug>/references.bib", public.references_file, name="references"),
    path("tasks/<slug:slug>/paper/<slug:phase>/", paper.pack, name="paper_pack"),
    path("tasks/<slug:slug>/paper/<slug:phase>/status/", paper.status, name="paper_status"),
    path("tasks/<slug:slug>/paper/<slug:phase>.zip", paper.file, name="paper"),
    path("tasks/<slug:slug>/insights/<slug:track>/", insights.insights, name="insights"),
    path("tasks/<slug:slug>/insights/<slug:track>/compare/", insights.compare, name="compare"),
    path(
        "tasks/<slug:slug>/insights/<slug:track>/<slug:name>.<ending:ending>", insights.figure, name="insights_figure"
    ),
    path("tasks/<slug:slug>/submit/", submissions.submit, name="submit"),
    path("tasks/<slug:slug>/validate/", submissions.validate, name="validate_only"),
    path("tasks/<slug:slug>/check/", validations.old_address, name="check_only"),
    path("tasks/<slug:slug>/validations/<uuid:pk>/", validations.validation, name="validation"),
    path("tasks/<slug:slug>/validations/<uuid:pk>/status/", validations.status, name="validation_status"),
    path("tasks/<slug:slug>/submissions/<uuid:pk>/", submissions.submission, name="submission"),
    path("tasks/<slug:slug>/submissions/<uuid:pk>/status/", submissions.status, name="submission_status"),
    path("tasks/<slug:slug>/submissions/<uuid:pk>/report.json", submissions.report, name="submission_report"),
    path("tasks/<slug:slug>/submissions/<uuid:pk>/receipt.json", receipts.receipt, name="receipt"),
    path("receipt/verify/", receipts.verify, name="verify_receipt"),
    path(".well-known/agon-receipt-key", receipts.key, name="receipt_key"),
    path("tasks/<slug:slug>/runs/", runs.team_runs, name="team_runs"),
    path("tasks/<slug:slug>/team/", teams.team, name="team"),
    path("tasks/<slug:slug>/team/invite/", teams.invite, name="team_invite"),
    path("tasks/<slug:slug>/team/leave/", teams.leave, name="team_leave"),
    path("tasks/<slug:slug>/team/hand-over/", teams.hand_over, name="team_hand_over"),
    path("tasks/<slug:slug>/team/withdraw/", teams.withdraw, name="team_withdraw"),
    path("tasks/<slug:slug>/team/ask-again/", teams.ask_again, name="team_ask_again"),
    path("tasks/<slug:slug>/team/paper/", teams.paper, name="team_paper"),
    path("tasks/<slug:slug>/team/password/", teams.renew_password, name="team_password"),
    path("tasks/<slug:slug>/team/join/<str:code>/", teams.join, name="join_team"),
    path("tasks/<slug:slug>/organize/", organize.organize, name="organize"),
    path("tasks/<slug:slug>/organize/push/", pushes.organize_push, name="organize_push"),
    path("tasks/<slug:slug>/organize/organizers/", task_state.organizers, name="organize_organizers"),
    re_path(
        r"^tasks/(?P<slug>[-\w]+)/organize/(?P<verb>open|hide|show|delete)/$", task_state.state, name="organize_state"
    ),
    path("tasks/<slug:slug>/organize/runs/", organize.organize_runs, name="organize_runs"),
    path("tasks/<slug:slug>/organize/data/", organize_data.datasets, name="organize_data"),
    path("tasks/<slug:slug>/organize/downloads/", organize_data.downloads, name="organize_downloads"),
    path("tasks/<slug:slug>/organize/exports/", organize_exports.exports, name="organize_exports"),
    path("tasks/<slug:slug>/organize/<export:name>", organize_exports.export, name="export"),
    path("tasks/<slug:slug>/organize/data/<slug:dataset>/", organize_data.replace, name="replace_dataset"),
    path("tasks/<slug:slug>/organize/gold/", organize_gold.gold, name="organize_gold"),
    path("tasks/<slug:slug>/organize/gold/previews/<uuid:pk>/", organize_gold.preview, name="gold_preview"),
    path("tasks/<slug:slug>/organize/gold/<int:pk>/", organize_gold.preview_former, name="preview_former_gold"),
    path("tasks/<slug:slug>/organize/phases/", organize_phases.phases, name="organize_phases"),
    path("tasks/<slug:slug>/organize/phases/<slug:phase>/move/", organize_phases.move, name="move_phase"),
    path(
        "tasks/<slug:slug>/organize/phases/<slug:phase>/extra-time/",
        organize_phases.extra_time,
        name="grant_extra_time",
    ),
    path(
        "tasks/<slug:slug>/organize/phases/<slug:phase>/extra-time/<int:pk>/revoke/",
        organize_phases.revoke,
        name="revoke_extra_time",
    ),
    re_path(
        r"^tasks/(?P<slug>[-a-zA-Z0-9_]+)/organize/phases/(?P<phase>[-a-zA-Z0-9_]+)/grace/(?:(?P<pk>[0-9]+)/revoke/)?$",
        organize_phases.old_extra_time,
        name="old_extra_time",
    ),
    path("tasks/<slug:slug>/organize/releases/", organize_releases.releases, name="organize_releases"),
    path("tasks/<slug:slug>/organize/releases/<slug:phase>/", organize_releases.release, name="release_scores"),
    path("tasks/<slug:slug>/organize/releases/<slug:phase>/take-back/", organize_releases.take_back, name="take_back"),
    path("tasks/<slug:slug>/organize/releases/<slug:phase>/put-back/", organize_releases.put_back, name="put_back"),
    path("tasks/<slug:slug>/organize/scores/", organize_releases.scores, name="organize_scores"),
    path("tasks/<slug:slug>/organize/teams/", organize.organize_teams, name="organize_teams"),
    re_path(
        r"^tasks/(?P<slug>[-\w]+)/organize/teams/(?P<pk>\d+)/(?P<verb>approve|decline|password)/$",
        organize.decide,
        name="organize_team",
    ),
    path("tasks/<slug:slug>/organize/retry/", organize.retry, name="organize_retry"),
    path("tasks/<slug:slug>/organize/papers/", organize.papers, name="organize_papers"),
    path("tasks/<slug:slug>/organize/announcements/", announcements.announcements, name="announcements"),
    path(
        "tasks/<slug:slug>/organize/announcements/<int:pk>/take-back/",
        announcements.take_back,
        name="take_back_announcement",
    ),
    path("tasks/<slug:slug>/organize/mails/", organize.organize_mails, name="organize_mails"),
    path("tasks/<slug:slug>/organize/mails/resend/", organize.resend, name="organize_resend"),
    path("tasks/<slug:slug>/organize/audit/", organize.organize_audit, name="organize_audit"),
    path("runs/<uuid:pk>/", runs.run, name="run"),
    path("runs/<uuid:pk>/file/", runs.run_file, name="run_file"),
    path("runs/<uuid:pk>/figures/<slug:name>.<ending:ending>", figures.run_figure, name="run_figure"),
    path("runs/<uuid:pk>/choose/", own_runs.choose, name="choose_run"),
    path("runs/<uuid:pk>/describe/", own_runs.describe, name="describe_run"),
    path("runs/<uuid:pk>/withdraw/", own_runs.withdraw, name="withdraw_run"),
]
