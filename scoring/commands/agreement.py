"""`agreement`: print a table of the annotators' agreement by class."""

import argparse
from dataclasses import asdict

from scoring.commands import VALID, UsageError, print_json
from scoring.commands.vote_options import add_vote_options, given_votes
from scoring.definition import Definition
from scoring.gold.agreement import agreement_by_class, agreement_table


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    add_vote_options(parser)
    parser.add_argument("--csv", action="store_true", help="print the table as CSV")
    parser.set_defaults(command=run, inputs=lambda options: [options.votes])


def run(options: argparse.Namespace, definition: Definition) -> int:
    """Print the table."""
    votes, rules = given_votes(options, definition)
    try:
        rows = agreement_by_class(votes, rules)
    except ValueError as error:
        raise UsageError(f"The votes do not match the voting rule: {error}.") from None
    if options.json:
        print_json({"agreement": [asdict(row) for row in rows]})
    else:
        table = agreement_table(rows)
        print(table.as_csv() if options.csv else table.as_text(), end="" if options.csv else "\n")
    return VALID
