"""Shared options for commands that read annotators' votes, and a function that reads the votes."""

import argparse
from dataclasses import dataclass
from pathlib import Path

from scoring.commands import UsageError
from scoring.definition import Definition, VotesFile
from scoring.gold.track_votes import classes_of, columns_of, rules_of
from scoring.gold.votes import Vote, VoteRules
from scoring.gold.votes_file import VotesError, read_marks, read_votes


@dataclass(frozen=True, slots=True)
class GivenVotes:
    """Votes, the rules for counting them, and the labels that are not classes, as in `definition.VotesFile`."""

    votes: dict[str, list[Vote]]
    rules: VoteRules
    none: str | None
    also: tuple[str, ...]


def add_vote_options(parser: argparse.ArgumentParser) -> None:
    """Add options for the votes file and for how labels are counted. The classes come from the track."""
    parser.add_argument("--track", required=True, metavar="SLUG", help="track whose classes the annotators voted on")
    parser.add_argument(
        "--field", metavar="NAME", help="key that contains an item's votes in a JSON file, such as labels_task1"
    )
    parser.add_argument(
        "--threshold", type=int, metavar="N", help="keep labels that have more than this number of votes"
    )
    parser.add_argument(
        "--counts-as",
        action="append",
        default=[],
        metavar="LABEL=CLASS",
        help="count votes for LABEL as votes for CLASS, such as -=NO",
    )
    parser.add_argument(
        "--no-vote",
        action="append",
        metavar="LABEL",
        help="label that does not count as a vote (default: UNKNOWN, or as in task.yaml, if it declares these votes)",
    )
    parser.add_argument(
        "--none",
        metavar="LABEL",
        help="label for an item to which none of the classes applies (default: as in task.yaml, if it declares these "
        "votes)",
    )
    parser.add_argument(
        "--also",
        action="append",
        metavar="LABEL",
        help="additional label that is not a class; only its agreement is computed (default: as in task.yaml, if it "
        "declares these votes)",
    )
    parser.add_argument(
        "--of-all",
        action="store_true",
        help="for soft labels, divide by the number of annotators instead of the number of votes for a class",
    )
    parser.add_argument(
        "votes",
        type=Path,
        metavar="VOTES",
        help="JSON file with the votes for each item, or a table with the columns item, annotator and label; for "
        "spans, each vote is a list of offsets; for tables, the track's columns can replace label",
    )


def declared_votes(options: argparse.Namespace, definition: Definition) -> VotesFile | None:
    """Return what `task.yaml` declares about the file of votes, if it does."""
    for votes in definition.votes:
        if votes.track == options.track and votes.file.resolve() == options.votes.resolve():
            return votes
    return None


def given_votes(options: argparse.Namespace, definition: Definition) -> GivenVotes:
    """Return the votes and the rules for counting them. Options replace what `task.yaml` declares about the file."""
    track = definition.track(options.track)
    if not classes_of(track):
        raise UsageError(f"The track {options.track} has no classes that annotators can vote on.")
    pairs = [text.rpartition("=") for text in options.counts_as]
    if wrong := [name for label, _, name in pairs if not label or name not in classes_of(track)]:
        raise UsageError(f"--counts-as expects LABEL=CLASS, but {wrong[0]!r} is not a class.")
    counts_as = {label: name for label, _, name in pairs}
    declared = declared_votes(options, definition) or VotesFile(track=track.slug, file=options.votes)
    no_vote = tuple(options.no_vote or declared.no_vote)
    rules = rules_of(track, options.threshold, counts_as, no_vote, options.of_all)
    try:
        votes = read_votes(options.votes, options.field or declared.field, columns=columns_of(track))
    except VotesError as error:
        raise UsageError(f"Cannot read the votes in {options.votes}: {error}.") from None
    return GivenVotes(votes, rules, options.none or declared.none, tuple(options.also or declared.also))


def given_marks(options: argparse.Namespace, definition: Definition) -> dict[str, list[list[int]]]:
    """Return the offsets that each annotator marked."""
    declared = declared_votes(options, definition)
    try:
        return read_marks(options.votes, options.field or (declared.field if declared else None))
    except VotesError as error:
        raise UsageError(f"Cannot read the annotated spans in {options.votes}: {error}.") from None
