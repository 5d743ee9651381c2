"""Naming patterns: text with `{fields}` and `[optional parts]`, such as `{task}_{team}[_{number}][.json]`."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

TOKEN = re.compile(r"\{(?P<field>[a-z_]+)\}|(?P<text>[^\[\]{}]+)")
PART = re.compile(r"\[(?P<optional>[^\[\]]*)\]|(?P<always>[^\[\]]+)")
REPEATED = "__"  # between a field and the number of its repetition; field names have no digits
EXTENSION = re.compile(r"(\[\.[A-Za-z0-9]+\]|\.[A-Za-z0-9]+)$")


@dataclass(frozen=True, slots=True)
class Pattern:
    """A naming pattern. Optional parts contain text and fields, but cannot be nested."""

    source: str

    @property
    def is_well_formed(self) -> bool:
        whole = "".join(part[0] for part in PART.finditer(self.source))
        return whole == self.source and all(_is_text_and_fields(text) for text, _ in self._parts())

    @property
    def fields(self) -> set[str]:
        return {field for text, _ in self._parts() for field in _fields(text)}

    @property
    def required(self) -> set[str]:
        """The fields that occur in every name."""
        return {field for text, is_optional in self._parts() if not is_optional for field in _fields(text)}

    @property
    def optional_fields(self) -> list[str]:
        """The fields in optional parts, including repeated ones."""
        return [field for text, is_optional in self._parts() if is_optional for field in _fields(text)]

    @property
    def depth(self) -> int:
        """The number of folders."""
        return self.source.count("/")

    @property
    def name(self) -> "Pattern":
        """The pattern without its folders."""
        return Pattern(self.source.rpartition("/")[2])

    @property
    def extension(self) -> str:
        """The file extension without brackets, or an empty string."""
        match = EXTENSION.search(self.source)
        return match[0].strip("[]") if match else ""

    @property
    def extensions(self) -> tuple[str, ...]:
        """All file extensions: the last one and the optional ones before it."""
        optional = (text for text, is_optional in self._parts() if is_optional and EXTENSION.fullmatch(text))
        return tuple(dict.fromkeys((*optional, self.extension)))

    @property
    def stem(self) -> "Pattern":
        """The pattern without its extension."""
        return Pattern(EXTENSION.sub("", self.source))

    def regex(self, fields: Mapping[str, str]) -> str:
        """Return a regular expression with a named group per field, leaving out optional parts with other fields.

        If a field is repeated, each additional occurrence has its own group.
        """
        parts: list[str] = []
        seen: Counter[str] = Counter()
        for text, is_optional in self._parts():
            if is_optional and not set(_fields(text)) <= fields.keys():
                continue
            found = "".join(_expressions(text, fields, seen))
            parts.append(f"(?:{found})?" if is_optional else found)
        return "".join(parts)

    def names(self, fields: Mapping[str, str]) -> list[str]:
        """Return the names with all optional parts and one of several extensions, and the name without optional parts.

        If a required field has no value, there are no names.
        """
        if not self.required <= fields.keys():
            return []
        several = self.extensions if len(self.extensions) > 1 else ()
        full, bare = dict.fromkeys(several or ("",), ""), ""
        for text, is_optional in self._parts():
            if is_optional and not set(_fields(text)) <= fields.keys():
                continue
            filled = "".join(fields[field] if field else literal for field, literal in _tokens(text))
            full = {
                file_value: name + filled * (text not in several or text == file_value)
                for file_value, name in full.items()
            }
            bare += filled * (not is_optional)
        return list(dict.fromkeys((*full.values(), bare)))

    def _parts(self) -> tuple[tuple[str, bool], ...]:
        """Return the text of each part, and whether the part is optional."""
        return _parts_of(self.source)


def _is_text_and_fields(text: str) -> bool:
    return "".join(token[0] for token in TOKEN.finditer(text)) == text


# A name is compared with the same few patterns thousands of times.
@lru_cache(maxsize=1000)
def _parts_of(source: str) -> tuple[tuple[str, bool], ...]:
    return tuple((part["always"] or part["optional"] or "", part["always"] is None) for part in PART.finditer(source))


@lru_cache(maxsize=1000)
def _tokens(text: str) -> tuple[tuple[str, str], ...]:
    """Return each field as `(field, "")`, and the text between fields as `("", text)`."""
    return tuple((token["field"] or "", token["text"] or "") for token in TOKEN.finditer(text))


def _fields(text: str) -> list[str]:
    return [field for field, _ in _tokens(text) if field]


def spans_of(field: str, match: re.Match[str]) -> list[tuple[int, int]]:
    """Return the start and end of each occurrence of a field in a match, in order."""
    groups = (field, *(group for group in match.re.groupindex if group.startswith(f"{field}{REPEATED}")))
    return [match.span(group) for group in groups]


def _expressions(text: str, fields: Mapping[str, str], seen: Counter[str]) -> Iterator[str]:
    for field, literal in _tokens(text):
        if not field:
            yield re.escape(literal)
            continue
        seen[field] += 1
        if seen[field] == 1:
            yield f"(?P<{field}>{fields[field]})"
        else:
            yield f"(?P<{field}{REPEATED}{seen[field]}>(?P={field}))"
