"""Helpers for all generators of demo data: neutral texts, exact class counts in random order, and file formats."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import numpy as np
from numpy.typing import NDArray

# The texts mention no people, groups or opinions. Each language has four slots, which are joined with spaces.
_PHRASES: dict[str, tuple[tuple[str, ...], ...]] = {
    "en": (
        ("This morning", "Last week", "On Friday", "After lunch", "Before sunset", "In the spring"),
        ("the library", "the bakery", "the station", "the market", "the museum", "the harbour"),
        ("opened a new room", "changed its timetable", "put up a blue sign", "bought fresh paint", "planted two trees"),
        ("near the river.", "by the old bridge.", "on the main square.", "behind the school.", "close to the park."),
    ),
    "es": (
        ("Esta mañana", "La semana pasada", "El viernes", "Después de comer", "Antes del anochecer", "En primavera"),
        ("la biblioteca", "la panadería", "la estación", "el mercado", "el museo", "el puerto"),
        ("abrió una sala nueva", "cambió su horario", "puso un cartel azul", "compró pintura", "plantó dos árboles"),
        (
            "cerca del río.",
            "junto al puente viejo.",
            "en la plaza mayor.",
            "detrás de la escuela.",
            "al lado del parque.",
        ),
    ),
    "pt": (
        ("Esta manhã", "Na semana passada", "Na sexta-feira", "Depois do almoço", "Antes do anoitecer", "Na primavera"),
        ("a biblioteca", "a padaria", "a estação", "o mercado", "o museu", "o porto"),
        ("abriu uma sala nova", "mudou o horário", "pôs uma placa azul", "comprou tinta", "plantou duas árvores"),
        ("perto do rio.", "ao lado da ponte velha.", "na praça central.", "atrás da escola.", "junto ao parque."),
    ),
}


def neutral_texts(rng: np.random.Generator, language: str, count: int) -> list[str]:
    """Return `count` one-sentence texts in `en`, `es` or `pt`. Texts may repeat."""
    slots = [np.array(phrases)[rng.integers(len(phrases), size=count)].tolist() for phrases in _PHRASES[language]]
    return [" ".join(parts) for parts in zip(*slots, strict=True)]


def shuffled(rng: np.random.Generator, counts: Sequence[int]) -> NDArray[np.int64]:
    """Return each index i exactly `counts[i]` times, in random order, with shape (sum of counts,)."""
    return rng.permutation(np.repeat(np.arange(len(counts)), counts))


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write lines in UTF-8, each with a plain newline at the end, whatever the operating system."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="")


def write_table(
    path: Path, columns: Sequence[Sequence[object]], header: Sequence[str] = (), separator: str = ","
) -> None:
    """Write columns of equal length as rows. Cells must not contain the separator."""
    rows = (separator.join(map(str, row)) for row in zip(*columns, strict=True))
    write_lines(path, [separator.join(header), *rows] if header else rows)


def write_zip(path: Path, files: Mapping[str, bytes]) -> None:
    """Write files to a zip. The same files always give the same bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(ZipInfo(name), content, ZIP_DEFLATED)


def binary_cells(labels: NDArray[np.bool_]) -> list[list[int]]:
    """Convert columns of a Boolean matrix (items, columns) to 0 and 1 for `write_table`."""
    return [[int(value) for value in column] for column in labels.T.tolist()]
