"""The paper pack: a streamed zip of tables, figures, data, references, and the source of each number."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from stat import S_IFREG

from django.utils.translation import gettext as _
from stream_zip import ZIP_32, stream_zip

from portal import export
from portal.figures.field import field_figures
from portal.figures.figure import Figure
from portal.figures.render import render
from portal.figures.tracks import tracks_figures
from portal.models import Phase, Track, Viewer
from portal.paper.latex import LatexTable, escaped
from portal.paper.references import references
from portal.paper.tables import (
    agreement_table,
    all_runs_table,
    board_table,
    combined_table,
    examples_table,
    gaps_table,
    label_shares_table,
    overall_table,
    ranking_statistics_table,
    same_errors_table,
    slices_table,
    statistics_table,
)
from portal.queries.boards.insights import Insights, insights
from portal.queries.boards.overall import overall
from portal.queries.papers import papers_of

Entry = tuple[str, bytes]  # path in the zip and content

_PREAMBLE = r"""\documentclass[11pt]{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\IfFileExists{lmodern.sty}{\usepackage{lmodern}}{}
\usepackage{textcomp,booktabs,graphicx,url}
\usepackage[margin=2cm]{geometry}
\begin{document}
"""
_REFERENCES = (r"\nocite{*}", r"\bibliographystyle{plain}", r"\bibliography{references}")


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of the paper: its files, and the lines of the document that include them."""

    entries: list[Entry]
    lines: list[str]


def pack(
    tracks: list[Track],
    phase: Phase,
    viewer: Viewer,
    at: datetime,
    address: str,
    progress: Callable[[int], None] = lambda done: None,
) -> Iterator[bytes]:
    """Yield, in pieces, a zip with everything about the phase that the viewer may see now.

    `address` is the task's URL. `progress` is called with the number of finished tracks, before each track and after
    the last one.
    """
    moment = phase.released or phase.opens  # fixed, so that the same content produces the same bytes
    entries = _entries(tracks, phase, viewer, at, address, progress)
    return iter(stream_zip((path, moment, S_IFREG | 0o644, ZIP_32, [content]) for path, content in entries))


def _entries(
    tracks: list[Track], phase: Phase, viewer: Viewer, at: datetime, address: str, progress: Callable[[int], None]
) -> Iterator[Entry]:
    lines: list[str] = []
    provenance: list[str] = []
    names: set[str] = set()  # names of the teams, except those shown with aliases
    for done, track in enumerate(tracks):
        progress(done)
        found = insights(track, phase, viewer, at)
        part = _of_track(found)
        yield from part.entries
        lines += part.lines
        names |= {row.team for row in found.board.rows if row.team and not found.board.has_aliases}
        provenance.append(_provenance(found))
    progress(len(tracks))
    if len(tracks) > 1:
        together = overall(tracks, phase, viewer, at)
        tables = {"combined": combined_table(together)}
        if together.all_runs:
            tables["all-runs"] = all_runs_table(together, together.all_runs)
        if together.statistics.tracks:
            tables["statistics"] = ranking_statistics_table(together)
        tables |= {f"overall-{ranking.rule.slug}": overall_table(ranking) for ranking in together.combined}
        yield from (_table(name, table) for name, table in tables.items())
        yield "data/overall.csv", export.overall_csv(together)
        yield "data/overall.json", export.overall_json(together)
        figures = _joined(_drawn(figure, "all-tracks", _("All tracks")) for figure in tracks_figures(together))
        yield from figures.entries
        lines += [*(rf"\input{{tables/{name}}}" for name in tables), *figures.lines]
    yield "references.bib", references(phase.shared_task, address, papers_of(phase.shared_task, names)).encode()
    document = [_PREAMBLE, *_front_matter(phase), *lines, *_REFERENCES, r"\end{document}", ""]
    yield "paper.tex", "\n".join(document).encode()
    yield "README.md", _readme(phase, provenance, at).encode()


def _front_matter(phase: Phase) -> list[str]:
    """Return the title, with the organizers as authors if the task names them."""
    organizers = [
        r" \\ ".join(filter(None, [escaped(organizer.name), escaped(organizer.affiliation)]))
        for organizer in phase.shared_task.definition.organizers
    ]
    title = escaped(f"{phase.shared_task.title}: {phase.title}")
    authors = r" \and ".join(organizers)
    return [rf"\title{{{title}}}", rf"\author{{{authors}}}", r"\date{}", r"\maketitle"]


def _of_track(found: Insights) -> _Part:
    slug, board = found.board.track.slug, found.board
    tables = {slug: board_table(board), f"{slug}-statistics": statistics_table(found)}
    for slices in found.slices:
        tables[f"{slug}-slices-{slices.name}"] = slices_table(found, slices)
    for shares in found.label_shares:
        tables[f"{slug}-labels-{shares.name}"] = label_shares_table(found, shares)
    if found.missed and found.missed.same:
        tables[f"{slug}-same-errors"] = same_errors_table(found, found.missed)
    if found.examples:
        tables[f"{slug}-examples"] = examples_table(found, found.examples)
    if found.gaps:
        tables[f"{slug}-gaps"] = gaps_table(found)
    if found.agreement:
        tables[f"{slug}-agreement"] = agreement_table(found)
    entries = [_table(name, table) for name, table in tables.items()]
    entries += [
        (f"data/{slug}.csv", export.board_csv(board)),
        (f"data/{slug}.json", export.board_json(board)),
    ]
    lines = [rf"\section*{{{escaped(board.track.title)}}}", *(rf"\input{{tables/{name}}}" for name in tables)]
    drawn = [_drawn(figure, slug, board.track.title) for figure in field_figures(found)]
    return _joined([_Part(entries, lines), *drawn])


def _drawn(figure: Figure, prefix: str, title: str) -> _Part:
    """Return a figure's data and drawings. Their file names begin with `prefix`, and the caption with `title`."""
    path = f"figures/{prefix}-{figure.name}"
    entries = [(f"{path}.csv", export.figure_csv(figure))]
    if not figure.can_be_drawn:
        return _Part(entries, [])
    entries += [(f"{path}.pdf", render(figure, "pdf")), (f"{path}.svg", render(figure, "svg"))]
    caption = escaped(f"{title}: {figure.title}. {figure.caption}")
    size = r"width=0.8\textwidth,height=0.6\textheight,keepaspectratio"
    lines = [r"\begin{figure}", r"\centering", rf"\includegraphics[{size}]{{{path}.pdf}}"]
    return _Part(entries, [*lines, rf"\caption{{{caption}}}", r"\end{figure}", r"\clearpage"])


def _joined(parts: Iterable[_Part]) -> _Part:
    parts = list(parts)
    return _Part([entry for part in parts for entry in part.entries], [line for part in parts for line in part.lines])


def _table(name: str, table: LatexTable) -> Entry:
    return f"tables/{name}.tex", table.latex().encode()


def _provenance(found: Insights) -> str:
    board = found.board
    versions = _("gold version %(gold)s, scorer %(scorer)s") % {"gold": board.gold_version, "scorer": board.scorer}
    changes = [f"    - {change.at.isoformat(timespec='seconds')}: {change.note}" for change in board.changes]
    return "\n".join([f"- {board.track.slug}: {versions}", *changes])


def _readme(phase: Phase, provenance: Iterable[str], at: datetime) -> str:
    task = phase.shared_task
    return "\n".join(
        [
            f"# {task.title}, {phase.title}",
            "",
            _released(phase, at),
            _("These files were created on %(at)s.") % {"at": at.isoformat(timespec="seconds")},
            _("Rules: task folder with SHA-256 %(sha256)s.") % {"sha256": task.definition_sha256},
            "",
            *provenance,
            "",
            _(
                "`paper.tex` includes all tables and figures. The files in `tables/` can be `\\input` (requires "
                "booktabs)."
            ),
            _("`references.bib` contains the task, its sources and the teams’ papers. Run bibtex to list them."),
            _("`data/` contains every leaderboard at full precision. `figures/` contains the data of each figure,"),
            _("and each figure as PDF and SVG if the portal can draw figures."),
            "",
        ]
    )


def _released(phase: Phase, at: datetime) -> str:
    if phase.scores == Phase.Scores.AT_ONCE:
        return _("Scores become public as soon as they are computed.")
    if phase.released is None:
        return _("Scores have not been released. Only organizers can see them.")
    when = {"released": phase.released.isoformat()}
    if phase.released > at:
        return _("Scores will be released on %(released)s. Until then, only organizers can see them.") % when
    return _("Scores were released on %(released)s.") % when
