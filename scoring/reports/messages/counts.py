"""What a problem's count is a count of, in words: `2,576 items`, `one column`."""

from collections.abc import Mapping

PLACES = "places"
_CODES = {  # unit → codes; what has no unit of its own is counted in places
    "items": "missing-items optional-items-missing no-label wrong-sum missing-label offset-negative offset-twice "
    "offset-too-large offset-outside-text span-empty",
    "ids": "duplicate-ids unknown-ids ids-unicode-form id-not-a-text",
    "entries": "json-not-an-object json-missing-key json-duplicate-key wrong-constant",
    "keys": "json-unknown-key",
    "labels": "label-outside-domain inner-class",
    "values": "value-not-a-label value-not-a-list value-not-shares value-outside-domain value-not-a-number "
    "share-not-a-number share-out-of-range span-not-offsets trec-number",
    "lists": "label-twice",
    "cells": "value-missing",
    "rows": "ragged-row span-not-pair part-without-whole whole-without-part",
    "lines": "span-line trec-line",
    "columns": "header-column-missing header-column-twice extra-columns",
    "documents": "document-twice",
    "queries": "too-many-documents rank-against-score",
    "files": "archive-name-twice archive-clutter archive-accompanying archive-nested name-twice names-not-analyzed",
    "runs": "runs-not-checked",
}
UNITS: Mapping[str, str] = {code: unit for unit, codes in _CODES.items() for code in codes.split()}

# Unit → one of it and several, by language; the keys are the English plurals.
NOUNS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "en": {
        "places": ("place", "places"),
        "items": ("item", "items"),
        "ids": ("id", "ids"),
        "entries": ("entry", "entries"),
        "keys": ("key", "keys"),
        "labels": ("label", "labels"),
        "values": ("value", "values"),
        "lists": ("list", "lists"),
        "cells": ("cell", "cells"),
        "rows": ("row", "rows"),
        "lines": ("line", "lines"),
        "columns": ("column", "columns"),
        "documents": ("document", "documents"),
        "queries": ("query", "queries"),
        "files": ("file", "files"),
        "runs": ("run", "runs"),
    },
    "es": {
        "places": ("lugar", "lugares"),
        "items": ("elemento", "elementos"),
        "ids": ("identificador", "identificadores"),
        "entries": ("entrada", "entradas"),
        "keys": ("clave", "claves"),
        "labels": ("etiqueta", "etiquetas"),
        "values": ("valor", "valores"),
        "lists": ("lista", "listas"),
        "cells": ("celda", "celdas"),
        "rows": ("fila", "filas"),
        "lines": ("línea", "líneas"),
        "columns": ("columna", "columnas"),
        "documents": ("documento", "documentos"),
        "queries": ("consulta", "consultas"),
        "files": ("fichero", "ficheros"),
        "runs": ("envío", "envíos"),
    },
    "pt": {
        "places": ("lugar", "lugares"),
        "items": ("item", "itens"),
        "ids": ("identificador", "identificadores"),
        "entries": ("entrada", "entradas"),
        "keys": ("chave", "chaves"),
        "labels": ("etiqueta", "etiquetas"),
        "values": ("valor", "valores"),
        "lists": ("lista", "listas"),
        "cells": ("célula", "células"),
        "rows": ("linha", "linhas"),
        "lines": ("linha", "linhas"),
        "columns": ("coluna", "colunas"),
        "documents": ("documento", "documentos"),
        "queries": ("consulta", "consultas"),
        "files": ("ficheiro", "ficheiros"),
        "runs": ("submissão", "submissões"),
    },
}
_MORE = {"en": "{} more {}", "es": "{} {} más", "pt": "mais {} {}"}
_AND = {"en": "… and {}", "es": "… y {}", "pt": "… e {}"}
_THOUSANDS = {"en": ",", "es": ".", "pt": "."}


def counted(unit: str, count: int, language: str = "en") -> str:
    """A number with its noun."""
    return f"{_number(count, language)} {_noun(unit, count, language)}"


def and_more(unit: str, count: int, language: str = "en") -> str:
    """The end of a list that leaves out so many."""
    return _AND[language].format(more(unit, count, language))


def more(unit: str, count: int, language: str = "en") -> str:
    """So many beyond those that are listed: `59 more labels`."""
    return _MORE[language].format(_number(count, language), _noun(unit, count, language))


def _noun(unit: str, count: int, language: str) -> str:
    return NOUNS[language][unit][count != 1]


def _number(count: int, language: str) -> str:
    return f"{count:,}".replace(",", _THOUSANDS[language])
