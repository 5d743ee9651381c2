"""Patterns of names: text with `{fields}` and `[optional parts]`, e.g. `{task}_{team}_{number}[.json]`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

TOKEN = re.compile(r"\{(?P<field>[a-z_]+)\}|\[(?P<optional>[^\[\]{}]*)\]|(?P<text>[^\[\]{}]+)")
EXTENSION = re.compile(r"(\[\.[A-Za-z0-9]+\]|\.[A-Za-z0-9]+)$")


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern; optional parts are plain text."""

    source: str

    @property
    def is_well_formed(self) -> bool:
        return "".join(token[0] for token in TOKEN.finditer(self.source)) == self.source

    @property
    def fields(self) -> set[str]:
        return {token["field"] for token in TOKEN.finditer(self.source) if token["field"]}

    @property
    def extension(self) -> str:
        """The file extension at the end, without brackets; empty if there is none."""
        match = EXTENSION.search(self.source)
        return match[0].strip("[]") if match else ""

    @property
    def stem(self) -> "Pattern":
        """The pattern without its extension."""
        return Pattern(EXTENSION.sub("", self.source))

    def regex(self, fields: Mapping[str, str]) -> str:
        """A regular expression with each field as a named group."""
        parts: list[str] = []
        seen: set[str] = set()
        for token in TOKEN.finditer(self.source):
            field = token["field"]
            if field:
                parts.append(f"(?P={field})" if field in seen else f"(?P<{field}>{fields[field]})")
                seen.add(field)
            elif token["text"]:
                parts.append(re.escape(token["text"]))
            else:
                parts.append(f"(?:{re.escape(token['optional'])})?")
        return "".join(parts)

    def names(self, fields: Mapping[str, str]) -> list[str]:
        """The names with these values, with and without the optional parts."""
        names = ["", ""]
        for token in TOKEN.finditer(self.source):
            text = fields[token["field"]] if token["field"] else token["text"]
            names = [names[0] + (token["optional"] if text is None else text), names[1] + (text or "")]
        return list(dict.fromkeys(names))
