"""BibTeX of a shared task. Titles stand in double braces: styles leave their capitals alone."""

from portal.models import SharedTask
from portal.web.paper.latex import escaped


def citation(shared_task: SharedTask, address: str) -> str:
    """An entry for the task's page here; its papers are in the definition's sources."""
    title = f"{shared_task.title}: {shared_task.subtitle}" if shared_task.subtitle else shared_task.title
    lines = [f"title = {{{{{escaped(title)}}}}}"]
    if shared_task.venue:
        lines.append(f"note = {{Shared task, {escaped(shared_task.venue)}}}")
    lines += [f"year = {{{shared_task.year}}}", f"howpublished = {{\\url{{{address}}}}}"]
    return _entry(shared_task.slug, lines)


def references(shared_task: SharedTask, address: str) -> str:
    """The task's own entry, and one for each source that its definition names."""
    sources = [
        _entry(f"{shared_task.slug}-source-{number}", [f"title = {{{{{escaped(source)}}}}}"])
        for number, source in enumerate(shared_task.definition.sources, start=1)
    ]
    return "\n\n".join([citation(shared_task, address), *sources]) + "\n"


def _entry(key: str, lines: list[str]) -> str:
    body = ",\n  ".join(lines)
    return f"@misc{{{key},\n  {body}\n}}"
