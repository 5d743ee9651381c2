"""The effects of organizers' actions as sentences, which are shown before confirmation."""

from collections.abc import Sequence
from datetime import datetime

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.models import OutgoingMail, Phase, ReleasedBoard, Run, Team
from portal.queries.gold import GoldLine
from portal.queries.organize import ReleaseLook


def of_release(look: ReleaseLook) -> list[str]:
    """Describe the effects of releasing a phase's scores now."""
    runs = Run.objects.eligible().filter(phase=look.phase)
    teams = Team.objects.filter(pk__in=runs.values("team")).exclude(pk__in=Team.objects.shut_out(look.phase)).count()
    boards = [track for track in look.tracks if track.teams]
    effects = [
        ngettext(
            "Everyone sees the scores of %(n)d track at once: on pages, in exports and in the feed.",
            "Everyone sees the scores of %(n)d tracks at once: on pages, in exports and in the feed.",
            len(boards),
        )
        % {"n": len(boards)},
        ngettext(
            "The members of %(n)d team and the organizers get a mail within minutes; mails can’t be called back.",
            "The members of %(n)d teams and the organizers get a mail within minutes; mails can’t be called back.",
            teams,
        )
        % {"n": teams},
        _("The phase accepts no more runs and no extra time, and runs can no longer be chosen or described."),
        _("Each leaderboard is kept as it is, at an address of its own that can be cited."),
    ]
    if look.unscored:
        effects.insert(
            0, _("Runs without a score, which will be missing from the leaderboards: %(n)d.") % {"n": look.unscored}
        )
    return effects


def of_hiding_scores(phase: Phase, at: datetime) -> list[str]:
    """Describe the effects of hiding public scores or canceling a planned release."""
    if not phase.scores_are_public(at):
        return [
            _("No one has seen the scores; they stay hidden until you schedule another release."),
            _("No mail has been sent."),
        ]
    kept = ReleasedBoard.objects.filter(phase=phase).count()
    count = OutgoingMail.objects.filter(phase=phase, kind=OutgoingMail.Kind.RELEASED).values("user").distinct().count()
    return [
        _("Scores leave all pages, exports and feeds at once; organizers still see them."),
        ngettext(
            "%(n)d released leaderboard is “not found” until then, and comes back unchanged with the release.",
            "%(n)d released leaderboards are “not found” until then, and come back unchanged with the release.",
            kept,
        )
        % {"n": kept},
        _("No one has had a mail about the release. What people have seen or saved can’t be taken back.")
        if not count
        else ngettext(
            "%(n)d person has had a mail about the release. What people have seen or saved can’t be taken back.",
            "%(n)d people have had a mail about the release. What people have seen or saved can’t be taken back.",
            count,
        )
        % {"n": count},
        _(
            "To undo this: restore the release on the page of releases. It gets its old date, and no one gets a second "
            "mail."
        ),
    ]


def of_another_gold(line: GoldLine, at: datetime) -> list[str]:
    """Describe the effects of replacing the gold standard in use."""
    phases = line.track.shared_task.phases.filter(split=line.split)
    runs = Run.objects.filter(track=line.track, phase__in=phases, withdrawn_at__isnull=True).count()
    effects = [
        ngettext(
            "%(n)d run is scored again. Until then its leaderboard shows the old score, never a mixture.",
            "%(n)d runs are scored again. Until all are scored, leaderboards show the old scores, never a mixture.",
            runs,
        )
        % {"n": runs}
    ]
    public = [phase for phase in phases if phase.scores_are_public(at)]
    if public:
        effects.append(
            _("The public leaderboard of %(phases)s then changes, and shows your sentence to everyone.")
            % {"phases": _titles(public)}
        )
    return [*effects, _("To undo this: every version is kept, and you can use an earlier one again.")]


def _titles(phases: Sequence[Phase]) -> str:
    return ", ".join(phase.title for phase in phases)
