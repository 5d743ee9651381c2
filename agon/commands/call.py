"""`call`: list the operations of the portal's API, and call one."""

import argparse
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from agon.commands import (
    chosen_task,
    confirmed,
    declare,
    done,
    keyed_texts,
    portal_of,
    print_json,
    say,
    table,
    task_option,
)
from agon.errors import WrongUsage
from agon.operations import Operation, find


def add_options(parser: argparse.ArgumentParser, _command: str) -> None:
    parser.add_argument("operation", nargs="?", metavar="OPERATION", help="what to do (default: list all operations)")
    values = "the operation's inputs. KEY=@FILE takes the text from a file. Lists and numbers are written as JSON"
    parser.add_argument("inputs", nargs="*", default=[], metavar="KEY=VALUE", help=values)
    task_option(parser)
    parser.add_argument("--yes", action="store_true", help="do not ask for confirmation")
    declare(parser, run)


def run(options: argparse.Namespace) -> int:
    """List the operations, or call one and print its response."""
    portal = portal_of(options)
    known = portal.operations
    if options.operation is None:
        _list(options, known.values())
        return 0
    operation = find(known, options.operation)
    given: dict[str, Any] = dict(_given(operation, keyed_texts(options.inputs, "input")))
    if "task" in operation.inputs:
        given.setdefault("task", chosen_task(options.slug))
    operation.require_complete(given)
    if operation.method != "GET" and not confirmed(options, f"{operation.name}: {operation.summary}. Continue?"):
        return 1
    found = portal.call(operation.name, **given)
    if found is None:
        return done(options, f"{operation.name} was successful.", {"operation": operation.name})
    if options.json is None:
        say(json.dumps(found, indent=2, ensure_ascii=False))
    else:
        print_json(found, options.json)
    return 0


def _given(operation: Operation, texts: dict[str, str]) -> Iterable[tuple[str, Any]]:
    for name, text in texts.items():
        yield name, operation.input(name).read(_content(text[1:]) if text.startswith("@") else text)


def _content(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise WrongUsage(f"{path} could not be read as UTF-8 text: {error}") from None


def _list(options: argparse.Namespace, known: Iterable[Operation]) -> None:
    if options.json is None:
        say(table(["operation", "inputs", "what it does"], [(one.name, _inputs(one), one.summary) for one in known]))
    else:
        rows = [{"operation": one.name, "summary": one.summary, "inputs": list(one.inputs)} for one in known]
        print_json(rows, options.json)


def _inputs(operation: Operation) -> str:
    return " ".join(one.name if one.required else f"[{one.name}]" for one in operation.inputs.values())
