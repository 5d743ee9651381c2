"""Fixes for common problems as one line of Python."""

import json
from typing import Any

from scoring.formats.delimited import SEPARATORS

Problem = dict[str, Any]  # see `scoring.reports.problems.Problem.as_dict`

_WORDS = {name: separator for separator, name in SEPARATORS.items()}
_RECORDS = 'df.to_json({file}, orient="records")'
_LINES = 'df.to_json({file}, orient="records", lines=True)'
_LINES_OF_CODE = {  # `{file}` and `{expected}` are filled in as Python strings, `{sep}` as an option
    "decimal-point": 'df["COLUMN"] = df["COLUMN"].astype(int)',
    "id-not-a-text": 'df["id"] = df["id"].astype(str)',
    "ids-unicode-form": 'df["id"] = df["id"].str.normalize({expected})',
    "index-column": "df.to_csv({file}{sep}, index=False)",
    "index-without-name": "df.to_csv({file}{sep}, index_label={expected})",
    "json-by-id": 'df.reset_index().to_json({file}, orient="records")',
    "json-columns": _RECORDS,
    "json-for-table": "df.to_csv({file}{sep}, index=False)",
    "json-lines-for-list": _RECORDS,
    "json-lines-indented": _LINES,
    "json-list-for-lines": _LINES,
    "markdown-table": "df.to_csv({file}{sep}, index=False)",
    "not-utf8": 'open({file}, "w", encoding="utf-8")',
    "not-utf8-but": 'open({file}, "w", encoding="utf-8")',
    "quoted-cells": "df.to_csv({file}{sep}, index=False, quoting=csv.QUOTE_NONE)",
    "wrong-separator": "df.to_csv({file}{sep}, index=False)",
    "wrong-sum": "shares = {{label: share / sum(shares.values()) for label, share in shares.items()}}",
}


def code_fix(problem: Problem) -> str | None:
    """Return a line of Python that fixes the problem where runs usually get it, or None if there is no common one."""
    code, expected = problem["code"], problem["expected"] or ""
    if code == "header-column-missing":
        return _renamed_columns(problem["suggestion"] or "")
    if code == "ids-changed":
        return 'df = pd.read_csv("items.csv", dtype=str)' if "dtype=str" in expected else None
    if code == "table-for-json":
        return _filled(_RECORDS if expected.startswith("[") else _LINES, problem)
    if code == "json-syntax":  # Python's own notation instead of JSON
        return _filled('json.dump(entries, open({file}, "w"))', problem) if _is_python(problem["found"]) else None
    return _filled(_LINES_OF_CODE[code], problem) if code in _LINES_OF_CODE else None


def _filled(line: str, problem: Problem) -> str:
    file, expected = problem["file"] or "FILE", problem["expected"] or ""
    separator = _WORDS.get(expected) or ("\t" if file.endswith((".tsv", ".tab")) else ",")
    option = "" if separator == "," else f", sep={json.dumps(separator)}"
    return line.format(file=_text(file), expected=_text(expected), sep=option)


def _renamed_columns(suggestion: str) -> str | None:
    """Return code that renames columns as in `Label → label, Id → id`."""
    pairs = dict[str, str]()
    for part in filter(None, suggestion.split(", ")):
        found, arrow, meant = part.partition(" → ")
        if not arrow:
            return None
        pairs[found.strip('"')] = meant
    return f"df = df.rename(columns={json.dumps(pairs, ensure_ascii=False)})" if pairs else None


def _is_python(found: str | None) -> bool:
    return (found or "").lstrip('"').startswith(("'", "None", "True", "False"))


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
