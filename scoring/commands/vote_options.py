"""Shared options of the commands that read annotators' votes, and the code that reads the votes."""

import argparse
from pathlib import Path

from scoring.commands import UsageError
from scoring.definition import Definition
from scoring.gold.track_votes import classes_of, rules_of
from scoring.gold.votes import Vote, VoteRules
from scoring.gold.votes_file import VotesError, read_votes


def add_vote_options(parser: argparse.ArgumentParser) -> None:
    """Add options for the votes file and for how labels are counted. The classes come from the track."""
    parser.add_argument(
        "--track", required=True, metavar="SLUG", help="the track whose classes the annotators voted on"
    )
    parser.add_argument("--field", metavar="NAME", help="key of an item's votes in a JSON file, such as labels_task1")
    parser.add_argument("--threshold", type=int, metavar="N", help="number of votes that a label must exceed")
    parser.add_argument(
        "--counts-as", action="append", default=[], metavar="LABEL=CLASS", help="count a label as a class, such as -=NO"
    )
    parser.add_argument(
        "--no-vote", action="append", metavar="LABEL", help="a label that does not count as a vote (default: UNKNOWN)"
    )
    parser.add_argument(
        "votes",
        type=Path,
        metavar="VOTES",
        help="JSON by item (for spans, offsets by annotator), or a table with item, annotator and label",
    )


def given_votes(options: argparse.Namespace, definition: Definition) -> tuple[dict[str, list[Vote]], VoteRules]:
    """Return the votes and the rules for counting them."""
    track = definition.track(options.track)
    if "classes" not in track.format.options:
        raise UsageError(f"The track {options.track} has no classes to vote on.")
    pairs = [text.rpartition("=") for text in options.counts_as]
    if wrong := [name for label, _, name in pairs if not label or name not in classes_of(track)]:
        raise UsageError(f"--counts-as expects LABEL=CLASS, but {wrong[0]!r} is not a class.")
    counts_as = {label: name for label, _, name in pairs}
    try:
        rules = rules_of(track, options.threshold, counts_as, tuple(options.no_vote or ()))
        return read_votes(options.votes, options.field), rules
    except VotesError as error:
        raise UsageError(f"The votes in {options.votes} cannot be read: {error}.") from None
