"""The one word for how a board stands."""

from datetime import datetime

from portal.queries.choices import Choices
from portal.queries.leaderboard import Leaderboard


def board_state(board: Leaderboard, choices: Choices, at: datetime) -> str:
    """One of `portal.web.templatetags.icons`; never final while a score is to come or anything can still change."""
    phase = board.phase
    if choices.until is not None and choices.until <= at:
        return "earlier"
    if board.rescored is not None:
        return "rescoring"
    if phase.opens > at:
        return "coming"
    if phase.last_closing is None:
        return "stays-open"
    if at < phase.last_closing:
        return "open"
    if board.pending:
        return "scoring"
    return "final" if phase.is_settled(at) else "closed"
