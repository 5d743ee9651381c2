"""BibTeX entries for a shared task and its teams. Titles are in double braces, so that styles keep their capitals."""

import re
from collections.abc import Iterable

from django.utils.encoding import iri_to_uri

from portal.bibtex import read_entry
from portal.models import SharedTask, Team
from portal.paper.latex import escaped

_CITATION = re.compile(  # matches: Doe et al. (2024): A title. Its journal 7, 1-9, https://…
    r"(?P<authors>[^():]+) \((?P<year>\d{4})[a-z]?\): (?P<title>.+?)"
    r"(?:(?:(?<=[?!])|\.) (?P<note>[A-Z].*?))?(?:[,.]? (?P<url>https?://\S+))?\.?"
)


def citation(shared_task: SharedTask, address: str) -> str:
    """Return a BibTeX entry that cites the task's page.

    Papers about the task are not included: they are listed as sources in its definition.
    """
    title = f"{shared_task.title}: {shared_task.subtitle}" if shared_task.subtitle else shared_task.title
    lines = [f"title = {{{{{escaped(title)}}}}}"]
    if organizers := shared_task.definition.organizers:
        lines.insert(0, f"author = {{{' and '.join(_author(organizer.name) for organizer in organizers)}}}")
    if shared_task.venue:
        lines.append(f"note = {{Shared task, {escaped(shared_task.venue)}}}")
    lines += [f"year = {{{shared_task.year}}}", f"howpublished = {{\\url{{{address}}}}}"]
    return _entry(shared_task.slug, lines)


def _author(name: str) -> str:
    """Return a name for an author field, in braces if BibTeX would take it apart in the wrong place."""
    return f"{{{escaped(name)}}}" if "," in name or " and " in name else escaped(name)


def references(shared_task: SharedTask, address: str, teams: Iterable[Team]) -> str:
    """Return the task's own entry, an entry for each source in its definition, and the teams' entries."""
    sources = [
        _entry(f"{shared_task.slug}-source-{number}", _source(shared_task, source))
        for number, source in enumerate(shared_task.definition.sources, start=1)
    ]
    return "\n\n".join([citation(shared_task, address), *sources, *map(team_citation, teams)]) + "\n"


def team_citation(team: Team) -> str:
    """Return the team's entry with a key from the portal, or an entry made from the link to its paper."""
    shared_task = team.shared_task
    name = re.sub(r"[^A-Za-z0-9]+", "-", team.name).strip("-") or "team"
    key = f"{shared_task.slug}-{name}-{team.pk}"
    if team.bibtex:
        entry = read_entry(team.bibtex).written(key)
        return "".join(character if character.isascii() else escaped(character) for character in entry)
    lines = [f"title = {{{{{escaped(f'{team.name} at {shared_task.title}')}}}}}", f"year = {{{shared_task.year}}}"]
    return _entry(key, [*lines, f"url = {{{iri_to_uri(team.paper)}}}"])


def _source(shared_task: SharedTask, source: str) -> list[str]:
    """Return the fields that can be read from a citation's text. A bare URL gets the task's title."""
    if re.fullmatch(r"https?://\S+", source):
        return [f"title = {{{{{escaped(shared_task.title)}}}}}", f"howpublished = {{\\url{{{iri_to_uri(source)}}}}}"]
    found = _CITATION.fullmatch(source)
    if found is None:
        return [f"title = {{{{{escaped(source)}}}}}"]
    fields = [f"author = {{{_authors(found['authors'])}}}", f"title = {{{{{escaped(found['title'])}}}}}"]
    fields.append(f"year = {{{found['year']}}}")
    if found["note"]:
        fields.append(f"note = {{{escaped(found['note'])}}}")
    if found["url"]:
        fields.append(f"url = {{{iri_to_uri(found['url'])}}}")
    return fields


def _authors(text: str) -> str:
    """Convert names such as `Doe, Roe & Poe` and `Doe et al.` to BibTeX's separators.

    Names with initials are returned unchanged.
    """
    names, others, _rest = text.partition(" et al.")
    if re.search(r"\b\w\.", names):
        return f"{{{escaped(text)}}}"
    parts = [escaped(name) for name in re.split(r",? (?:&|and) |, ", names)]
    return " and ".join([*parts, *(["others"] if others else [])])


def _entry(key: str, lines: list[str]) -> str:
    body = ",\n  ".join(lines)
    return f"@misc{{{key},\n  {body}\n}}"
