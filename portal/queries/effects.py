"""The effects of organizers' actions, as sentences to show before an organizer confirms."""

from datetime import datetime

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.models import OutgoingMail, Phase, ReleasedBoard, Run, Team
from portal.queries.gold_preview import GoldPreview
from portal.queries.organize import ReleaseLook


def of_release(look: ReleaseLook) -> list[str]:
    """Describe the effects of releasing a phase's scores now."""
    runs = Run.objects.eligible().filter(phase=look.phase)
    teams = Team.objects.filter(pk__in=runs.values("team")).exclude(pk__in=Team.objects.shut_out(look.phase)).count()
    boards = [track for track in look.tracks if track.teams]
    effects = [
        ngettext(
            "Everyone can immediately see the scores of %(n)d track on pages, in exports and in the feed.",
            "Everyone can immediately see the scores of %(n)d tracks on pages, in exports and in the feed.",
            len(boards),
        )
        % {"n": len(boards)},
        ngettext(
            "The members of %(n)d team and the organizers get an email within minutes. Emails can’t be recalled.",
            "The members of %(n)d teams and the organizers get an email within minutes. Emails can’t be recalled.",
            teams,
        )
        % {"n": teams},
        _(
            "The phase no longer accepts runs, you can’t grant extra time, and teams can no longer choose or "
            "describe runs."
        ),
        _("Each leaderboard is saved in its current state on a permanent page that can be cited."),
    ]
    if look.unscored:
        effects.insert(
            0, _("Runs without a score that will be missing from the leaderboards: %(n)d.") % {"n": look.unscored}
        )
    return effects


def of_hiding_scores(phase: Phase, at: datetime) -> list[str]:
    """Describe the effects of hiding public scores or canceling a scheduled release."""
    if not phase.scores_are_public(at):
        return [
            _("No participant has seen the scores. The scores remain hidden until you schedule another release."),
            _("No email has been sent."),
        ]
    kept = ReleasedBoard.objects.filter(phase=phase).count()
    count = OutgoingMail.objects.filter(phase=phase, kind=OutgoingMail.Kind.RELEASED).values("user").distinct().count()
    return [
        _("Scores are immediately removed from all pages, exports and feeds. Only organizers can still see them."),
        ngettext(
            "%(n)d released leaderboard can’t be opened until the scores are released again. It will then "
            "reappear unchanged.",
            "%(n)d released leaderboards can’t be opened until the scores are released again. They will then "
            "reappear unchanged.",
            kept,
        )
        % {"n": kept},
        _("No one has received an email about the release. People may already have seen or saved the scores.")
        if not count
        else ngettext(
            "%(n)d person has received an email about the release. People may already have seen or saved the scores.",
            "%(n)d people have received an email about the release. People may already have seen or saved the scores.",
            count,
        )
        % {"n": count},
        _(
            "To undo this, restore the release on the “Release” page. The release keeps its original date, and no one "
            "gets a second email."
        ),
    ]


def of_another_gold(preview: GoldPreview, at: datetime) -> list[str]:
    """Describe the effects of replacing the gold standard in use by the previewed one."""
    upload = preview.upload
    phases = upload.shared_task.phases.filter(split=upload.split)
    runs = Run.objects.filter(track=upload.track_id, phase__in=phases).rescorable().count()
    unlisted = runs - sum(len(board.runs) for board in preview.boards)
    effects = [
        ngettext(
            "%(n)d run will be rescored. Until then, its leaderboard shows the old score.",
            "%(n)d runs will be rescored. Until all of them are rescored, leaderboards show only the old scores, "
            "never a "
            "mix of old and new.",
            runs,
        )
        % {"n": runs}
    ]
    if unlisted > 0:
        effects.append(
            ngettext(
                "%(n)d of them is not listed above, because it is not on a leaderboard: it is withdrawn or waiting, or "
                "its team is not ranked.",
                "%(n)d of them are not listed above, because they are not on a leaderboard: they are withdrawn or "
                "waiting, or their teams are not ranked.",
                unlisted,
            )
            % {"n": unlisted}
        )
    public = [phase for phase in phases if phase.scores_are_public(at)]
    if public:
        effects.append(
            _("When rescoring finishes, the public scores of %(phases)s are updated, and your reason is shown.")
            % {"phases": ", ".join(phase.title for phase in public)}
        )
    return [*effects, _("To undo this, switch back to an earlier version. Every version is kept.")]
