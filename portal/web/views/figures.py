"""Figures as files, drawn when they are first requested."""

from collections.abc import Iterable

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from portal.figures.classes import run_figures
from portal.figures.figure import Figure
from portal.figures.render import FORMATS, render
from portal.figures.theme import THEMES
from portal.models.clock import database_now
from portal.queries.runs import run_view
from portal.web.views.runs import find_run


@require_safe
def run_figure(request: HttpRequest, pk: str, name: str, ending: str) -> HttpResponse:
    """Return a figure about a run for users who may see its scores."""
    evaluation = run_view(find_run(request, pk), request.user, database_now()).evaluation
    return figure_file(request, run_figures(evaluation.details) if evaluation else (), name, ending)


def figure_file(request: HttpRequest, figures: Iterable[Figure], name: str, ending: str) -> HttpResponse:
    """Return the figure in the format, theme and size that the URL asks for, or 404."""
    figure = next((candidate for candidate in figures if candidate.name == name), None)
    theme = request.GET.get("theme", "light")
    if figure is None or not figure.can_be_drawn or theme not in THEMES:
        raise Http404
    drawn = render(figure, ending, theme, is_small="small" in request.GET)
    return HttpResponse(drawn, content_type=FORMATS[ending])
