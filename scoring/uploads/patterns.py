"""Name patterns: text with `{fields}` and `[optional parts]`, such as `{task}_{team}[_{number}][.json]`."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

TOKEN = re.compile(r"\{(?P<field>[a-z_]+)\}|(?P<text>[^\[\]{}]+)")
PART = re.compile(r"\[(?P<optional>[^\[\]]*)\]|(?P<always>[^\[\]]+)")
EXTENSION = re.compile(r"(\[\.[A-Za-z0-9]+\]|\.[A-Za-z0-9]+)$")


@dataclass(frozen=True, slots=True)
class Pattern:
    """A name pattern. Optional parts contain text and fields, but no further optional parts."""

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
        """The file extension at the end without brackets, or an empty text."""
        match = EXTENSION.search(self.source)
        return match[0].strip("[]") if match else ""

    @property
    def stem(self) -> "Pattern":
        """The pattern without its extension."""
        return Pattern(EXTENSION.sub("", self.source))

    def regex(self, fields: Mapping[str, str]) -> str:
        """Return a regular expression with a named group per field. Optional parts with other fields match nothing."""
        parts: list[str] = []
        seen: set[str] = set()
        for text, is_optional in self._parts():
            if is_optional and not set(_fields(text)) <= fields.keys():
                continue
            found = "".join(_expressions(text, fields, seen))
            parts.append(f"(?:{found})?" if is_optional else found)
        return "".join(parts)

    def names(self, fields: Mapping[str, str]) -> list[str]:
        """Return the names with these values, with and without the optional parts.

        If a required field has no value, there are no names.
        """
        if not self.required <= fields.keys():
            return []
        full = bare = ""
        for text, is_optional in self._parts():
            if is_optional and not set(_fields(text)) <= fields.keys():
                continue
            filled = "".join(fields[token["field"]] if token["field"] else token[0] for token in TOKEN.finditer(text))
            full, bare = full + filled, bare + filled * (not is_optional)
        return list(dict.fromkeys((full, bare)))

    def _parts(self) -> Iterator[tuple[str, bool]]:
        """Yield the text of each part, and whether the part is optional."""
        for part in PART.finditer(self.source):
            yield (part["always"] or part["optional"] or "", part["always"] is None)


def _is_text_and_fields(text: str) -> bool:
    return "".join(token[0] for token in TOKEN.finditer(text)) == text


def _fields(text: str) -> list[str]:
    return [token["field"] for token in TOKEN.finditer(text) if token["field"]]


def _expressions(text: str, fields: Mapping[str, str], seen: set[str]) -> Iterator[str]:
    for token in TOKEN.finditer(text):
        field = token["field"]
        if not field:
            yield re.escape(token[0])
        else:
            yield f"(?P={field})" if field in seen else f"(?P<{field}>{fields[field]})"
            seen.add(field)
