"""Annotators' votes on the classes of a track: the counting rules and the agreement."""

from collections.abc import Mapping

from scoring.definition import Track, VotesFile
from scoring.formats import answer_kind
from scoring.gold.agreement import AnnotatorAgreement, agreement_by_class
from scoring.gold.votes import VoteRules
from scoring.gold.votes_file import read_votes

NO_VOTE = ("UNKNOWN",)


def classes_of(track: Track) -> tuple[str, ...]:
    """Return the classes that annotators vote on: label classes or table columns. Other formats have none."""
    options = track.format.options
    columns = options.get("columns", ())
    return tuple(options.get("classes", columns.values() if isinstance(columns, Mapping) else columns))


def rules_of(
    track: Track,
    threshold: int | None = None,
    counts_as: Mapping[str, str] | None = None,
    no_vote: tuple[str, ...] = (),
) -> VoteRules:
    """Return the rules by which votes become gold of the track."""
    options, kind = track.format.options, answer_kind(track)
    multi = options.get("multi", kind == "table" or (kind == "soft" and not options.get("sum")))
    return VoteRules(
        classes=classes_of(track),
        threshold=threshold if threshold is not None or not multi else 0,
        multi=multi,
        counts_as=counts_as or {},
        no_vote=frozenset(no_vote or NO_VOTE),
    )


def agreement_of(track: Track, votes: VotesFile, content: bytes | None = None) -> list[AnnotatorAgreement]:
    """Return one row per class and, with several classes, one row for whole answers.

    Args:
        content: the content of the votes file, used instead of reading the file.

    Raises:
        VotesError: the file has another form.
        ValueError: a vote is for a class that does not exist.
    """
    rules = rules_of(track, no_vote=votes.no_vote)
    classes = rules.classes
    if votes.none is not None:
        rules = VoteRules((*classes, votes.none), rules.threshold, rules.multi, rules.counts_as, rules.no_vote)
    *rows, whole = agreement_by_class(read_votes(votes.file, votes.field, content), rules)
    return [row for row in rows if row.name in classes] + ([whole] if len(classes) > 1 else [])
