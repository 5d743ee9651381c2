"""`votes`: make a gold file from annotators' votes and list dropped items.

The gold file has hard labels, soft labels or spans, depending on the track.
"""

import argparse
from pathlib import Path

from scoring.commands import VALID, UsageError, print_json
from scoring.commands.vote_options import add_vote_options, given_votes
from scoring.definition import Definition, Track
from scoring.formats import answer_kind, write_run
from scoring.gold.from_votes import hard_gold, soft_gold, span_gold
from scoring.gold.votes_file import VotesError, read_marks


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    add_vote_options(parser)
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="the gold file to write")
    parser.add_argument(
        "--share",
        type=float,
        default=0.5,
        metavar="X",
        help="for spans, share of annotators that a character must exceed (default: 0.5)",
    )
    parser.set_defaults(command=run, inputs=lambda options: [options.votes])


def run(options: argparse.Namespace, definition: Definition) -> int:
    """Write the gold file and print a report."""
    track = definition.track(options.track)
    if answer_kind(track) == "spans":
        return _of_spans(options, track)
    votes, rules = given_votes(options, definition)
    try:
        made = (soft_gold if answer_kind(track) == "soft" else hard_gold)(votes, rules)
    except ValueError as error:
        raise UsageError(f"The votes do not match the voting rule: {error}.") from None
    write_run(track, made.answers, options.out)
    if options.json:
        dropped = dict(zip(made.dropped, made.reasons, strict=True))
        print_json({"items": len(made.answers.ids), "dropped": dropped, "without_label": made.without_label})
    else:
        print(made.report())
    return VALID


def _of_spans(options: argparse.Namespace, track: Track) -> int:
    try:
        marked = read_marks(options.votes, options.field)
    except VotesError as error:
        raise UsageError(f"The annotated spans in {options.votes} cannot be read: {error}.") from None
    gold = span_gold(marked, options.share)
    write_run(track, gold, options.out)
    some = sum(len({offset for offsets in raters for offset in offsets}) for raters in marked.values())
    kept, filled = int((gold.ends - gold.begins).sum()), int((gold.starts[1:] > gold.starts[:-1]).sum())
    if options.json:
        print_json({"items": len(gold.ids), "with_spans": filled, "offsets": kept, "dropped_offsets": some - kept})
    else:
        print(f"{len(gold.ids)} items: {filled} with spans, {len(gold.ids) - filled} without.")
        print(f"{some} offsets marked by at least one annotator: {kept} in the gold file, {some - kept} dropped.")
    return VALID
