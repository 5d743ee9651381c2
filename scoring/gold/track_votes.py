"""Annotators' votes on a track's classes: the rules for counting them, and the agreement."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from scoring.definition import Track, VotesFile
from scoring.formats import answer_kind
from scoring.gold.agreement import AnnotatorAgreement, agreement_by_class
from scoring.gold.from_votes import check_experts
from scoring.gold.span_agreement import span_agreement
from scoring.gold.votes import VoteRules, Votes
from scoring.gold.votes_file import NO_COLUMN, read_marks, read_named_votes, read_votes
from scoring.items.texts import id_columns, read_texts

NO_VOTE = ("UNKNOWN",)


def classes_of(track: Track) -> tuple[str, ...]:
    """Return the classes that annotators vote on: label classes or table columns. Other formats have no classes."""
    return tuple(track.format.options.get("classes", columns_of(track)))


def columns_of(track: Track) -> tuple[str, ...]:
    """Return the columns of a table. Other formats have no columns."""
    return tuple(track.format.options.get("columns", ()))


def rules_of(
    track: Track,
    threshold: int | None = None,
    counts_as: Mapping[str, str] | None = None,
    no_vote: tuple[str, ...] = (),
    of_all: bool = False,
) -> VoteRules:
    """Return the rules for turning votes into gold for the track."""
    options, kind = track.format.options, answer_kind(track)
    multi = options.get("multi", kind == "table" or (kind == "soft" and not options.get("sum")))
    return VoteRules(
        classes=classes_of(track),
        threshold=threshold if threshold is not None or not multi else 0,
        multi=multi,
        counts_as=counts_as or {},
        no_vote=frozenset(no_vote or NO_VOTE),
        of_all=of_all,
    )


def agreement_of(track: Track, votes: VotesFile, content: bytes | None = None) -> list[AnnotatorAgreement]:
    """Return one row per class and, if there are several classes, one row for whole answers. Spans have one row.

    Args:
        content: the content of the votes file, used instead of reading the file.

    Raises:
        VotesError: the file has a different format.
        TextsError: the texts of a span track cannot be read.
        ValueError: a vote is for a class that does not exist, or for characters outside the text, or an
            expert has not voted, or all annotators are experts.
    """
    if votes.experts:
        check_experts(read_named_votes(votes.file, columns_of(track), content), votes.experts)
    if answer_kind(track) == "spans":
        return [agreement_on_spans(track, read_marks(votes.file, votes.field, content), votes.split)]
    rules = rules_of(track, no_vote=votes.no_vote)
    given = read_votes(votes.file, votes.field, content, columns_of(track))
    return agreement_on_classes(given, rules, votes.none, votes.also)


def agreement_on_classes(
    votes: Votes, rules: VoteRules, none: str | None = None, also: Sequence[str] = ()
) -> list[AnnotatorAgreement]:
    """Return the agreement on labels or columns. `none` is the label that means that no class applies.

    Additional labels, listed in `also`, have their own rows but are not part of whole answers.

    Raises:
        ValueError: a vote is for a class that does not exist.
    """
    *rows, whole = agreement_by_class(votes, with_none(rules, none, also))
    if also:
        known = with_none(rules, none)
        rows = agreement_by_class(votes, replace(known, classes=(*known.classes, *also), multi=True, threshold=0))
    names = (*rules.classes, *also)
    return [row for row in rows if row.name in names] + ([whole] if len(rules.classes) > 1 else [])


def with_none(rules: VoteRules, none: str | None = None, also: Sequence[str] = ()) -> VoteRules:
    """Add `none`, the label that means that no class applies, and allow the labels in `also`, which are no classes.

    If votes can have several classes, also add NO_COLUMN, for rows of zeros.
    """
    own = {none} - {None} | ({NO_COLUMN} if rules.multi else set())
    return replace(rules, classes=(*rules.classes, *sorted(map(str, own))), no_vote=rules.no_vote | {*also})


def agreement_on_spans(track: Track, marked: Mapping[str, Sequence[Sequence[int]]], split: str) -> AnnotatorAgreement:
    """Return the agreement on the marked characters in the split's texts.

    Raises:
        TextsError: the texts cannot be read.
        ValueError: the split has no texts, an item has no text, or an offset is outside its text.
    """
    if split not in track.texts:
        raise ValueError(f"agreement on spans needs the texts of the split {split}")
    texts = read_texts(track.texts[split], id_columns(track), files=track.files_in(split))
    return span_agreement(marked, {item: len(text) for item, text in texts.items()})
