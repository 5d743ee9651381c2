"""A stand-in for `Runs` that also searches the child's memory. The child imports this module, so no Django here."""

import re
from pathlib import Path
from typing import Any

from portal.evaluation.confined.runs import Runs


class SearchedRuns:
    """Runs whose answers include `has_word`: whether the word is in the child's memory afterwards."""

    def __init__(self, runs: Runs, shifted: bytes) -> None:
        self._runs, self._shifted = runs, shifted

    def check(self, *arguments: Any) -> dict[str, Any]:
        return self._runs.check(*arguments) | {"has_word": memory_has(self._shifted)}

    def score(self, *arguments: Any) -> dict[str, Any]:
        return self._runs.score(*arguments) | {"has_word": memory_has(self._shifted)}


def shift(word: bytes) -> bytes:
    """Increase every byte by one."""
    return bytes((byte + 1) % 256 for byte in word)


def memory_has(shifted: bytes) -> bool:
    """Return whether a word is in this process's memory.

    The argument is the word with `shift` applied, so that the argument itself is not found.
    """
    higher = shift(bytes(range(256)))
    with Path("/proc/self/maps").open(encoding="ascii") as maps:
        areas = [re.match(r"(\w+)-(\w+) rw", line) for line in maps]
    with Path("/proc/self/mem").open("rb", buffering=0) as memory:
        for begin, end in [(int(area[1], 16), int(area[2], 16)) for area in areas if area]:
            memory.seek(begin)
            if shifted in memory.read(end - begin).translate(higher):
                return True
    return False
