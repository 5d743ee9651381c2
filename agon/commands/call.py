"""`call`: list the operations of the portal's API, and call one."""

import argparse
import json
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from agon.commands import chosen_task, confirmed, declare, done, keyed_texts, portal_of, print_json, say, task_option
from agon.errors import WrongUsage
from agon.operations import Operation, find
from scoring.commands.parser import Parser

_INPUT = re.compile(r"\w+=")
_LONGEST = 200  # characters of a value in the question


def add_options(parser: Parser, _command: str) -> None:
    parser.usage = "agon call [OPERATION] [KEY=VALUE ...] [-t TASK] [--yes] [--portal URL] [--json [=FIELDS]] [-q]"
    purpose = "what to do (default: list all operations)"
    parser.scattered = parser.add_argument("words", nargs="*", metavar="OPERATION", help=purpose)
    values = (
        "an input of the operation; you can leave out --input. KEY=@FILE reads the text from a file, and KEY=@- from "
        "standard input. Write @@ for a text that begins with @"
    )
    parser.add_argument("--input", dest="inputs", action="append", default=[], metavar="KEY=VALUE", help=values)
    task_option(parser)
    parser.add_argument("--yes", action="store_true", help="do not ask for confirmation")
    declare(parser, run)


def run(options: argparse.Namespace) -> int:
    """List the operations, or call one and print its response."""
    portal = portal_of(options)
    known = portal.operations
    name, words = operation_and_inputs(options.words)
    if not name:
        _list(options, known.values())
        return 0
    operation = find(known, name)
    given = _given(operation, [*words, *options.inputs], options.slug)
    operation.require_complete(given)
    if operation.method != "GET" and not confirmed(options, _question(operation, given)):
        return 1
    found = portal.call(operation.name, **given)
    if found is None:
        return done(options, f"{operation.name} was successful.", {"operation": operation.name})
    if options.json is None:
        say(json.dumps(found, indent=2, ensure_ascii=False))
    else:
        print_json(found, options.json)
    return 0


def operation_and_inputs(words: Sequence[str]) -> tuple[str, list[str]]:
    """Return the first word that is no input, or an empty text, and all other words."""
    name = next((word for word in words if not _INPUT.match(word)), "")
    others = list(words)
    if name:
        others.remove(name)
    return name, others


def _given(operation: Operation, inputs: Sequence[str], task: str | None) -> dict[str, Any]:
    """Return the inputs' values. The task can be an input, too."""
    texts = keyed_texts(inputs, "input")
    if len(texts) < len(inputs):
        raise WrongUsage("An input is given twice.")
    given = {name: operation.input(name).read(_content(text)) for name, text in texts.items()}
    if "task" in operation.inputs and "task" not in given:
        given["task"] = chosen_task(task)
    return given


def _content(text: str) -> str:
    if text.startswith("@@"):
        return text[1:]
    if not text.startswith("@"):
        return text
    path = text[1:]
    try:
        content = sys.stdin.buffer.read() if path == "-" else Path(path).expanduser().read_bytes()
        return content.decode()
    except OSError as error:
        raise WrongUsage(f"{path}: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise WrongUsage(f"{path} is not encoded in UTF-8. Save it as UTF-8.") from None


def _question(operation: Operation, given: dict[str, Any]) -> str:
    lines = [f"{operation.summary}:", *(f"  {name}: {_shown(value)}" for name, value in given.items()), "Continue?"]
    return "\n".join(lines)


def _shown(value: Any) -> str:
    text = " ".join(value.split()) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _list(options: argparse.Namespace, known: Iterable[Operation]) -> None:
    if options.json is not None:
        rows = [{"operation": one.name, "summary": one.summary, "inputs": list(one.inputs)} for one in known]
        print_json(rows, options.json)
        return
    for title, only_reads in (("Operations that only read:", True), ("Operations that change something:", False)):
        say(f"{title}\n")
        for one in known:
            if (one.method == "GET") == only_reads:
                inputs = (f" {name}=" if part.required else f" [{name}=]" for name, part in one.inputs.items())
                say(f"  {one.name}{''.join(inputs)}\n      {one.summary}\n")
