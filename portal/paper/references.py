"""BibTeX of a shared task and of its teams. Titles stand in double braces: styles leave their capitals alone."""

import re
from collections.abc import Iterable

from django.utils.encoding import iri_to_uri

from portal.bibtex import read_entry
from portal.models import SharedTask, Team
from portal.paper.latex import escaped


def citation(shared_task: SharedTask, address: str) -> str:
    """An entry for the task's page here; its papers are in the definition's sources."""
    title = f"{shared_task.title}: {shared_task.subtitle}" if shared_task.subtitle else shared_task.title
    lines = [f"title = {{{{{escaped(title)}}}}}"]
    if shared_task.venue:
        lines.append(f"note = {{Shared task, {escaped(shared_task.venue)}}}")
    lines += [f"year = {{{shared_task.year}}}", f"howpublished = {{\\url{{{address}}}}}"]
    return _entry(shared_task.slug, lines)


def references(shared_task: SharedTask, address: str, teams: Iterable[Team]) -> str:
    """The task's own entry, one for each source that its definition names, and those of the teams."""
    sources = [
        _entry(f"{shared_task.slug}-source-{number}", _source(shared_task, source))
        for number, source in enumerate(shared_task.definition.sources, start=1)
    ]
    return "\n\n".join([citation(shared_task, address), *sources, *map(team_citation, teams)]) + "\n"


def team_citation(team: Team) -> str:
    """The team's own entry under a key of ours, or one made of its link."""
    shared_task = team.shared_task
    name = re.sub(r"[^A-Za-z0-9]+", "-", team.name).strip("-") or "team"
    key = f"{shared_task.slug}-{name}-{team.pk}"
    if team.bibtex:
        entry = read_entry(team.bibtex).written(key)
        return "".join(one if one.isascii() else escaped(one) for one in entry)
    lines = [f"title = {{{{{escaped(f'{team.name} at {shared_task.title}')}}}}}", f"year = {{{shared_task.year}}}"]
    return _entry(key, [*lines, f"url = {{{iri_to_uri(team.paper)}}}"])


def _source(shared_task: SharedTask, source: str) -> list[str]:
    """A citation as its text stands; a bare web address is no title, so it gets the task's."""
    if re.fullmatch(r"https?://\S+", source):
        return [f"title = {{{{{escaped(shared_task.title)}}}}}", f"howpublished = {{\\url{{{iri_to_uri(source)}}}}}"]
    return [f"title = {{{{{escaped(source)}}}}}"]


def _entry(key: str, lines: list[str]) -> str:
    body = ",\n  ".join(lines)
    return f"@misc{{{key},\n  {body}\n}}"
