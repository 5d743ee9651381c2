"""`agreement`: print a table of the annotators' agreement by class."""

import argparse
from dataclasses import asdict

from scoring.commands import VALID, UsageError, print_json
from scoring.commands.vote_options import add_vote_options, given_marks, given_votes
from scoring.definition import Definition
from scoring.formats import answer_kind
from scoring.gold.agreement import AnnotatorAgreement, agreement_table
from scoring.gold.track_votes import agreement_on_classes, agreement_on_spans
from scoring.items.texts import TextsError


def add_options(parser: argparse.ArgumentParser) -> None:
    add_vote_options(parser)
    parser.add_argument("--csv", action="store_true", help="print the table as CSV")
    parser.set_defaults(command=run, inputs=lambda options: [options.votes])


def run(options: argparse.Namespace, definition: Definition) -> int:
    try:
        rows = _rows(options, definition)
    except (ValueError, TextsError) as error:
        raise UsageError(f"The votes do not follow the voting rules: {error}.") from None
    if options.json:
        print_json({"agreement": [asdict(row) for row in rows]})
    else:
        table = agreement_table(rows)
        print(table.as_csv() if options.csv else table.as_text(), end="" if options.csv else "\n")
    return VALID


def _rows(options: argparse.Namespace, definition: Definition) -> list[AnnotatorAgreement]:
    track = definition.track(options.track)
    if answer_kind(track) == "spans":
        return [agreement_on_spans(track, given_marks(options, definition), options.split)]
    given = given_votes(options, definition)
    return agreement_on_classes(given.votes, given.rules, given.none, given.also)
