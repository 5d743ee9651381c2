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
    uploads,
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

TASK = "tasks/<slug:slug>"
ORGANIZE = f"{TASK}/organize"

urlpatterns = [
    path("", home.home, name="home"),
    path("guide/", home.guide, name="guide"),
    path("client/", client.client, name="client"),
    path("client/<str:name>", client.client_wheel, name="client_wheel"),
    path("organize/new/", pushes.new_task, name="new_task"),
    path("organize/pushes/<uuid:pk>/", pushes.push, name="push"),
    path("settings/", settings.settings, name="settings"),
    path("settings/export/", settings.export_data, name="export_data"),
    path("settings/sessions/<number:pk>/end/", settings.end_one_session, name="end_session"),
    path("settings/tokens/", access_tokens.access_tokens, name="access_tokens"),
    path("settings/tokens/<number:pk>/revoke/", access_tokens.revoke, name="revoke_token"),
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
    path(f"{TASK}/calendar.ics", public.calendar, name="task_calendar"),
    path(f"{TASK}/releases.atom", public.feed, name="task_feed"),
    path(f"{TASK}/announcements.atom", announcements.feed, name="task_announcements_feed"),
    path("livez", health.livez, name="livez"),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", health.metrics, name="metrics"),
    path(f"{TASK}/", tasks.overview, name="task"),
    path(f"{TASK}/data/", data.data, name="task_data"),
    path(f"{TASK}/data/<slug:dataset>/", data.dataset, name="dataset"),
    path(f"{TASK}/folder.zip", data.task_folder, name="task_folder"),
    path(f"{TASK}/password/", data_password.password, name="data_password"),
    path(f"{TASK}/agreement/", agreement.agreement, name="agreement"),
    path(f"{TASK}/agreement/signed/<number:pk>/", agreement.signed_copy, name="signed_copy"),
    path(f"{TASK}/evaluation/", tasks.evaluation, name="task_evaluation"),
    path(f"{TASK}/terms/", tasks.terms, name="task_terms"),
    path(f"{TASK}/leaderboard/", boards.overall, name="leaderboards"),
    path(f"{TASK}/leaderboard/<slug:name>.<ending:ending>", boards.overall_figure, name="overall_figure"),
    path(f"{TASK}/leaderboard/<slug:track>/", boards.leaderboard, name="leaderboard"),
    path(f"{TASK}/leaderboard/<slug:track>/<slug:phase>/<number:number>/", boards.released, name="released_board"),
    path(f"{TASK}/references.bib", public.references_file, name="references"),
    path(f"{TASK}/paper/<slug:phase>/", paper.pack, name="paper_pack"),
    path(f"{TASK}/paper/<slug:phase>/status/", paper.status, name="paper_status"),
    path(f"{TASK}/paper/<slug:phase>.zip", paper.file, name="paper"),
    path(f"{TASK}/insights/<slug:track>/", insights.insights, name="insights"),
    path(f"{TASK}/insights/<slug:track>/compare/", insights.compare, name="compare"),
    path(f"{TASK}/insights/<slug:track>/<slug:name>.<ending:ending>", insights.figure, name="insights_figure"),
    path(f"{TASK}/submit/", uploads.submit, name="submit"),
    path(f"{TASK}/validate/", uploads.validate, name="validate_only"),
    path(f"{TASK}/check/", validations.old_address, name="check_only"),
    path(f"{TASK}/validations/<uuid:pk>/", validations.validation, name="validation"),
    path(f"{TASK}/validations/<uuid:pk>/status/", validations.status, name="validation_status"),
    path(f"{TASK}/submissions/<uuid:pk>/", submissions.submission, name="submission"),
    path(f"{TASK}/submissions/<uuid:pk>/status/", submissions.status, name="submission_status"),
    path(f"{TASK}/submissions/<uuid:pk>/report.json", submissions.report, name="submission_report"),
    path(f"{TASK}/submissions/<uuid:pk>/receipt.json", receipts.receipt, name="receipt"),
    path("receipt/verify/", receipts.verify, name="verify_receipt"),
    path(".well-known/agon-receipt-key", receipts.key, name="receipt_key"),
    path(f"{TASK}/runs/", runs.team_runs, name="team_runs"),
    path(f"{TASK}/team/", teams.team, name="team"),
    path(f"{TASK}/team/invite/", teams.invite, name="team_invite"),
    path(f"{TASK}/team/leave/", teams.leave, name="team_leave"),
    path(f"{TASK}/team/hand-over/", teams.hand_over, name="team_hand_over"),
    path(f"{TASK}/team/withdraw/", teams.withdraw, name="team_withdraw"),
    path(f"{TASK}/team/ask-again/", teams.ask_again, name="team_ask_again"),
    path(f"{TASK}/team/paper/", teams.paper, name="team_paper"),
    path(f"{TASK}/team/password/", teams.renew_password, name="team_password"),
    path(f"{TASK}/team/join/<str:code>/", teams.join, name="join_team"),
    path(f"{ORGANIZE}/", organize.organize, name="organize"),
    path(f"{ORGANIZE}/push/", pushes.organize_push, name="organize_push"),
    path(f"{ORGANIZE}/organizers/", task_state.organizers, name="organize_organizers"),
    re_path(
        r"^tasks/(?P<slug>[-\w]+)/organize/(?P<verb>open|hide|show|delete)/$", task_state.state, name="organize_state"
    ),
    path(f"{ORGANIZE}/runs/", organize.organize_runs, name="organize_runs"),
    path(f"{ORGANIZE}/data/", organize_data.datasets, name="organize_data"),
    path(f"{ORGANIZE}/downloads/", organize_data.downloads, name="organize_downloads"),
    path(f"{ORGANIZE}/exports/", organize_exports.exports, name="organize_exports"),
    path(f"{ORGANIZE}/<export:name>", organize_exports.export, name="export"),
    path(f"{ORGANIZE}/data/<slug:dataset>/", organize_data.replace, name="replace_dataset"),
    path(f"{ORGANIZE}/gold/", organize_gold.gold, name="organize_gold"),
    path(f"{ORGANIZE}/gold/previews/<uuid:pk>/", organize_gold.preview, name="gold_preview"),
    path(f"{ORGANIZE}/gold/<number:pk>/", organize_gold.preview_former, name="preview_former_gold"),
    path(f"{ORGANIZE}/phases/", organize_phases.phases, name="organize_phases"),
    path(f"{ORGANIZE}/phases/<slug:phase>/move/", organize_phases.move, name="move_phase"),
    path(f"{ORGANIZE}/phases/<slug:phase>/extra-time/", organize_phases.extra_time, name="grant_extra_time"),
    path(
        f"{ORGANIZE}/phases/<slug:phase>/extra-time/<number:pk>/revoke/",
        organize_phases.revoke,
        name="revoke_extra_time",
    ),
    re_path(
        r"^tasks/(?P<slug>[-a-zA-Z0-9_]+)/organize/phases/(?P<phase>[-a-zA-Z0-9_]+)/grace/(?:(?P<pk>[0-9]+)/revoke/)?$",
        organize_phases.old_extra_time,
        name="old_extra_time",
    ),
    path(f"{ORGANIZE}/releases/", organize_releases.releases, name="organize_releases"),
    path(f"{ORGANIZE}/releases/<slug:phase>/", organize_releases.release, name="release_scores"),
    path(f"{ORGANIZE}/releases/<slug:phase>/take-back/", organize_releases.take_back, name="take_back"),
    path(f"{ORGANIZE}/releases/<slug:phase>/put-back/", organize_releases.put_back, name="put_back"),
    path(f"{ORGANIZE}/scores/", organize_releases.scores, name="organize_scores"),
    path(f"{ORGANIZE}/teams/", organize.organize_teams, name="organize_teams"),
    re_path(
        r"^tasks/(?P<slug>[-\w]+)/organize/teams/(?P<pk>\d+)/(?P<verb>approve|decline|password)/$",
        organize.decide,
        name="organize_team",
    ),
    path(f"{ORGANIZE}/retry/", organize.retry, name="organize_retry"),
    path(f"{ORGANIZE}/papers/", organize.papers, name="organize_papers"),
    path(f"{ORGANIZE}/announcements/", announcements.announcements, name="announcements"),
    path(f"{ORGANIZE}/announcements/<number:pk>/take-back/", announcements.delete, name="delete_announcement"),
    path(f"{ORGANIZE}/mails/", organize.organize_mails, name="organize_mails"),
    path(f"{ORGANIZE}/mails/resend/", organize.resend, name="organize_resend"),
    path(f"{ORGANIZE}/audit/", organize.organize_audit, name="organize_audit"),
    path("runs/<uuid:pk>/", runs.run, name="run"),
    path("runs/<uuid:pk>/file/", runs.run_file, name="run_file"),
    path("runs/<uuid:pk>/figures/<slug:name>.<ending:ending>", figures.run_figure, name="run_figure"),
    path("runs/<uuid:pk>/choose/", own_runs.choose, name="choose_run"),
    path("runs/<uuid:pk>/describe/", own_runs.describe, name="describe_run"),
    path("runs/<uuid:pk>/withdraw/", own_runs.withdraw, name="withdraw_run"),
]
