"""Read task.yaml into a `Definition` and report all problems together, with line, key path and what was expected."""

import hashlib
from dataclasses import replace
from pathlib import Path

from scoring import limits
from scoring.definition import Definition, DefinitionError, Naming, Track
from scoring.definition.keys import keys_of, read_keys
from scoring.definition.tracks import with_scorer_columns
from scoring.definition.yaml_values import Value, parse_document
from scoring.formats import FORMATS
from scoring.formats.reading import decode
from scoring.reports.problems import Report
from scoring.task_folder.rules import check_rules

DOWNLOADED = ".downloaded"  # a file in folders that were downloaded from a portal


def load_definition(folder_or_yaml: str | Path, *, is_imported: bool | None = None) -> Definition:
    """Read a task's folder, or the task.yaml in it.

    Args:
        is_imported: the folder was accepted before, perhaps by an earlier version. If it breaks only rules
            (`definition-rule`), it is accepted again, because these may have been added since. New rules, such as
            maxima, must be reported with this code. Their errors appear at the next push. By default, only folders
            that were downloaded from a portal have been accepted before.

    Raises:
        DefinitionError: the definition has errors. `.report` lists all problems.
    """
    path = Path(folder_or_yaml)
    path = path / "task.yaml" if path.is_dir() else path
    report = Report()
    try:
        content = path.read_bytes()
    except OSError as error:
        report.error("definition-unreadable", file=str(path), found=error.strerror or "an unreadable file")
        raise DefinitionError(report) from None
    text = decode(content, (encoding := Report()))
    if text is None or not encoding.ok:
        report.extend(encoding, file=path.name)
        raise DefinitionError(report)
    folder = path.parent.resolve()
    if is_imported is None:
        is_imported = (folder / DOWNLOADED).is_file()
    root = parse_document(text, report, folder, FORMATS, is_imported=is_imported)
    if root is None:
        raise DefinitionError(report)
    values = read_keys(root, keys_of(Definition), root.document.parts)
    values["tracks"] = tuple(_with_aliases(track, values["naming"]) for track in values["tracks"])
    if values["scorer"] is not None:
        values["tracks"] = tuple(with_scorer_columns(track, values["scorer"]) for track in values["tracks"])
    definition = Definition(**values, folder=folder, sha256=hashlib.sha256(content).hexdigest())
    if len(report.errors) > limits.DEFINITION_PROBLEMS:
        _leave_out_problems(report, root)
    elif not is_imported:
        check_rules(definition, root, report)
    report.problems.sort(key=lambda problem: problem.line or 0)
    if not report.ok and not (is_imported and {error.code for error in report.errors} == {"definition-rule"}):
        raise DefinitionError(report)
    return replace(definition, warnings=tuple(report.warnings))


def _leave_out_problems(report: Report, root: Value) -> None:
    """Keep only the first problems, and report how many are left out."""
    more = len(report.problems) - limits.DEFINITION_PROBLEMS
    del report.problems[limits.DEFINITION_PROBLEMS :]
    root.error("definition-rule", found=f"there are {more} more problems; fix these first")


def _with_aliases(track: Track, naming: Naming) -> Track:
    """Add the aliases of a run's files, which are listed under `naming`."""
    if track.files is None:
        return track
    return replace(track, files=replace(track.files, spelling=naming.spellings(track.files.name)))
