"""Teams' BibTeX entries. Each is parsed strictly, and formatted again from the parsed fields.

Commands that LaTeX would execute are rejected, except harmless ones such as accents. Special characters are escaped.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.translation import gettext as _

TYPES = ("article", "book", "incollection", "inproceedings", "misc", "phdthesis", "techreport", "unpublished")
_SHOWN = """
address author booktitle chapter doi edition editor eprint howpublished institution isbn issn journal key month note
number organization pages publisher school series title type url volume year archiveprefix primaryclass eprinttype
"""
FIELDS = frozenset(_SHOWN.split())

_HEAD = re.compile(r"@\s*([A-Za-z]+)\s*\{\s*([^\s,{}\"#%\\]{1,100})\s*,\s*")
_FIELD = re.compile(r"([A-Za-z][A-Za-z_-]*)\s*=\s*")
_BARE = re.compile(r"[0-9]{1,10}|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec", re.IGNORECASE)
_COMMAND = re.compile(r"\\([A-Za-z]+|.|$)", re.DOTALL)
_HARMLESS = re.compile(r"""['`^"~=.&%$#_-]|[uvHcdbrktijlLoO]|ss|aa|AA|ae|AE|oe|OE|emph|textit""")
_ADDRESS = re.compile(r"[A-Za-z0-9.:/?=&%#_~+;,()@!*'-]+")
_UNESCAPED = re.compile(r"(?<!\\)([&%#_$])")


class BibtexError(ValueError):
    """The problems in an entry, one sentence each."""

    def __init__(self, *errors: str) -> None:
        super().__init__("\n".join(errors))
        self.errors = errors


@dataclass(frozen=True, slots=True)
class Entry:
    """A checked entry. Its field names are lowercase."""

    kind: str
    key: str
    fields: dict[str, str]

    def written(self, key: str = "") -> str:
        """Format the entry as BibTeX, with a different key if one is given."""
        body = ",\n  ".join(f"{name} = {{{value}}}" for name, value in self.fields.items())
        return f"@{self.kind}{{{key or self.key},\n  {body}\n}}"


def read_entry(text: str) -> Entry:
    """Parse a text that consists of a single entry.

    Raises:
        BibtexError: the text is not a valid entry, or could be harmful. The error lists all problems with its fields.
    """
    text = text.strip()
    head = _HEAD.match(text)
    if head is None:
        raise BibtexError(_("The entry must start with a type and a key, for example @inproceedings{key,"))
    kind, key = head[1].lower(), head[2]
    fields = {}
    errors = []
    if kind not in TYPES:
        errors.append(
            _("The entry type @%(kind)s is not allowed. Use one of %(kinds)s.")
            % {"kind": kind, "kinds": ", ".join(TYPES)}
        )
    for name, value in _fields(text, head.end()):
        if name in fields:
            errors.append(_("The field %(name)s appears twice.") % {"name": name})
        if name in FIELDS:  # other fields are dropped, because no style shows them
            fields[name] = _UNESCAPED.sub(r"\\\1", value) if name not in ("url", "doi") else value
            errors += _field_errors(name, value)
    errors += [
        _("The field %(name)s is missing.") % {"name": name}
        for name in ("author", "title", "year")
        if not fields.get(name)
    ]
    if errors:
        raise BibtexError(*errors)
    return Entry(kind, key, fields)


def _fields(text: str, at: int) -> Iterator[tuple[str, str]]:
    """Yield each field's lowercase name, and its value with single spaces. Raise BibtexError if text is left over."""
    while not text.startswith("}", at):
        field = _FIELD.match(text, at)
        if field is None:
            raise BibtexError(_after(text, at, _("expected a field, for example title = {…}, or the closing brace")))
        end = _end_of_value(text, field.end())
        value = text[field.end() : end]
        yield field[1].lower(), " ".join((value[1:-1] if value[0] in '{"' else value).split())
        rest = re.compile(r"\s*(,?)\s*").match(text, end)
        assert rest is not None
        at = rest.end()
        if not rest[1] and not text.startswith("}", at):
            raise BibtexError(_after(text, at, _("expected a comma or the closing brace")))
    if text[at + 1 :].strip():
        raise BibtexError(_after(text, at + 1, _("expected the end of the entry. Enter only one entry")))


def _end_of_value(text: str, at: int) -> int:
    """Return the end of a value, which is text in braces or quotes, a number, or the name of a month."""
    opening = text[at : at + 1]
    if opening not in ("{", '"'):
        bare = _BARE.match(text, at)
        if bare is None:
            raise BibtexError(_after(text, at, _("expected a value in braces")))
        return bare.end()
    depth = 0
    for place in range(at, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0 and place > at and (opening == "{" or text[place] == '"'):
            return place + 1
        if depth < 0:
            break
    raise BibtexError(_after(text, at, _("this value never ends because the braces don’t match")))


def _field_errors(name: str, value: str) -> Iterator[str]:
    names = {"name": name}
    if name in ("url", "doi"):
        if not _ADDRESS.fullmatch(value):
            yield _("The field %(name)s is not a valid web address.") % names
        return
    if not value:
        yield _("The field %(name)s is empty.") % names
    if any(unicodedata.category(character).startswith("C") for character in value):
        yield _("The field %(name)s contains invisible characters.") % names
    commands = {found[1] for found in _COMMAND.finditer(value)}
    if harmful := sorted(command for command in commands if not _HARMLESS.fullmatch(command)):
        yield _("The field %(name)s contains \\%(command)s. Only accents, special letters and \\emph are allowed.") % {
            **names,
            "command": harmful[0],
        }
    if "^" in _COMMAND.sub("", value):
        yield _("The field %(name)s contains a ^ that is not an accent.") % names


def _after(text: str, at: int, expected: str) -> str:
    found = text[at : at + 20].strip() or _("the end")
    return _("Line %(line)d, at “%(found)s”: %(expected)s.") % {
        "line": text.count("\n", 0, at) + 1,
        "found": found,
        "expected": expected,
    }
