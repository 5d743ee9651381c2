"""LaTeX tables (booktabs) that work with any text, such as a team's name."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

_COMMANDS = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "−": r"\ensuremath{-}",
    "–": "--",
    "—": "---",
    "’": "'",
    "‘": "`",
    "“": "``",
    "”": "''",
    "…": r"\ldots{}",
    "·": r"\textperiodcentered{}",
    "[": "{[}",  # after \\, [ and * would be read as its options
    "*": "{*}",
    "α": r"\ensuremath{\alpha}",
    "≥": r"\ensuremath{\geq}",
    "≤": r"\ensuremath{\leq}",
    "↑": r"\ensuremath{\uparrow}",
    "↓": r"\ensuremath{\downarrow}",
} | {character: f"\\{character}" for character in "{}$&#%_"}
_LATIN = 0x17E  # last character in pdflatex's T1 fonts
_LACKING = frozenset("ĦħĸĿŀŉŦŧ")


class Bold(str):
    """A cell's text in bold, for the best value in its column."""


@dataclass(frozen=True, slots=True)
class LatexTable:
    """A table* environment. `align` has one letter for each column."""

    label: str
    caption: str
    align: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]  # texts, which `latex` escapes

    def latex(self) -> str:
        """Return the environment, for use with `\\input`. The document must load the package booktabs."""
        lines = [
            r"\begin{table*}",
            r"\centering",
            rf"\caption{{{escaped(self.caption)}}}\label{{{self.label}}}",
            rf"\begin{{tabular}}{{{self.align}}}",
            r"\toprule",
            _line([escaped(name) for name in self.head]),
            r"\midrule",
        ]
        lines += [_line([_cell(text) for text in row]) for row in self.rows]
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table*}", ""])


def escaped(text: str) -> str:
    """Escape text so that LaTeX prints it unchanged.

    A character that LaTeX's Latin fonts lack is replaced with its code, such as U+4E2D.
    """
    return "".join(_escaped(character) for character in unicodedata.normalize("NFC", text))


def _escaped(character: str) -> str:
    if character in _COMMANDS:
        return _COMMANDS[character]
    if character.isspace():
        return " "
    if not character.isprintable() or ord(character) > _LATIN or character in _LACKING:
        return f"U+{ord(character):04X}"
    return character


def _cell(text: str) -> str:
    return rf"\textbf{{{escaped(text)}}}" if isinstance(text, Bold) else escaped(text)


def _line(cells: Sequence[str]) -> str:
    return f"{' & '.join(cells)} \\\\"
