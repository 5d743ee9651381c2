"""`votes`: make a gold file from annotators' votes and list dropped items.

The gold file has hard labels, soft labels, a table or spans, depending on the track.
"""

import argparse
from pathlib import Path

from scoring.commands import VALID, UsageError, print_json
from scoring.commands.vote_options import add_vote_options, declared_votes, given_marks, given_votes
from scoring.definition import Definition, Track
from scoring.formats import answer_kind, write_run
from scoring.gold.from_votes import (
    CrowdAndExperts,
    crowd_and_experts,
    hard_gold,
    of_classes,
    soft_gold,
    span_gold,
    table_gold,
)
from scoring.gold.track_votes import columns_of, with_none
from scoring.gold.votes import VoteRules
from scoring.gold.votes_file import VotesError, read_named_votes


def add_options(parser: argparse.ArgumentParser) -> None:
    add_vote_options(parser)
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="gold file to create")
    share = "for spans, keep characters marked by more than this share of annotators (default: 0.5)"
    parser.add_argument("--share", type=float, default=0.5, metavar="X", help=share)
    parser.add_argument(
        "--expert",
        action="append",
        default=[],
        metavar="NAME",
        help="name of an annotator who is an expert; the majority of all other annotators becomes one vote, which is "
        "counted together with each expert's vote (default: the experts in task.yaml, if it declares these votes)",
    )
    parser.set_defaults(command=run, inputs=lambda options: [options.votes])


def run(options: argparse.Namespace, definition: Definition) -> int:
    """Write the gold file and print a report."""
    track = definition.track(options.track)
    if answer_kind(track) == "spans":
        return _of_spans(options, definition, track)
    given, columns = given_votes(options, definition), columns_of(track)
    votes, rules = given.votes, with_none(given.rules, given.none, given.also)
    declared = declared_votes(options, definition)
    experts = tuple(options.expert) or (declared.experts if declared else ())
    confidence: dict[str, float] = {}
    try:
        if experts:
            step = _first_step(options, experts, rules, columns)
            votes, confidence = step.votes, step.confidence
        if columns:
            made = table_gold(votes, rules, len(columns), options.threshold)
        elif answer_kind(track) == "soft":
            made = of_classes(soft_gold(votes, rules), given.rules.classes)
        else:
            may_be_empty = track.format.options["empty"] == "allowed"
            made = of_classes(hard_gold(votes, rules), given.rules.classes, may_be_empty=may_be_empty)
    except ValueError as error:
        raise UsageError(f"The votes do not follow the voting rules: {error}.") from None
    write_run(track, made.answers, options.out)
    if options.json:
        dropped = dict(zip(made.dropped, made.reasons, strict=True))
        found = {"items": len(made.answers.ids), "dropped": dropped, "without_label": made.without_label}
        print_json(found | ({"confidence": confidence} if experts else {}))
    else:
        print(made.report())
        if experts:
            shares = ", ".join(f"{name} {value:.4f}" for name, value in confidence.items()) or "none"
            print(f"Crowd confidence (mean share of the crowd's votes that agree with its majority): {shares}.")
    return VALID


def _first_step(
    options: argparse.Namespace, experts: tuple[str, ...], rules: VoteRules, columns: tuple[str, ...]
) -> CrowdAndExperts:
    """Replace the crowd's votes with their majority."""
    if rules.multi and not columns:
        raise ValueError("experts require a table of zeros and ones, or labels with one class per item")
    try:
        named = read_named_votes(options.votes, columns)
    except VotesError as error:
        raise ValueError(str(error)) from None
    return crowd_and_experts(named, experts, rules, columns)


def _of_spans(options: argparse.Namespace, definition: Definition, track: Track) -> int:
    marked = given_marks(options, definition)
    gold = span_gold(marked, options.share)
    write_run(track, gold, options.out)
    some = sum(len({offset for offsets in raters for offset in offsets}) for raters in marked.values())
    kept, filled = int((gold.ends - gold.begins).sum()), int((gold.starts[1:] > gold.starts[:-1]).sum())
    if options.json:
        print_json({"items": len(gold.ids), "with_spans": filled, "offsets": kept, "dropped_offsets": some - kept})
    else:
        print(f"{len(gold.ids)} items: {filled} with spans, {len(gold.ids) - filled} without spans.")
        print(f"Offsets marked by at least one annotator: {some}. In the gold file: {kept}. Dropped: {some - kept}.")
    return VALID
