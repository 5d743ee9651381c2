import json

import pytest

from scoring import Definition
from scoring.__main__ import main
from scoring.answers import Matrix
from scoring.gold.from_votes import crowd_and_experts, hard_gold, soft_gold, span_gold, table_gold
from scoring.gold.votes import VoteRules

YES_NO = VoteRules(("YES", "NO"), threshold=3)
INTENTION = VoteRules(("NO", "DIRECT", "REPORTED"), threshold=2, counts_as={"-": "NO"})
TYPES = VoteRules(("NO", "A", "B"), threshold=1, multi=True, counts_as={"-": "NO"})


def votes(text: str) -> list[list[str]]:
    """Parse votes. Spaces separate the annotators, and `+` separates the labels of one annotator."""
    return [vote.split("+") for vote in text.split()]


def shown(answers: Matrix) -> dict[str, list[str]]:
    return {
        item: [name for name, holds in zip(answers.columns, row, strict=True) if holds]
        for item, row in zip(answers.ids, answers.values.tolist(), strict=True)
    }


def test_a_label_needs_more_votes_than_the_threshold() -> None:
    given = {"1": votes("YES YES YES YES NO NO"), "2": votes("YES YES YES NO NO NO"), "3": votes("NO " * 6)}
    gold = hard_gold(given, YES_NO)
    assert shown(gold.answers) == {"1": ["YES"], "3": ["NO"]}
    assert gold.dropped == ["2"]


def test_two_labels_above_the_threshold_with_as_many_votes_are_no_agreement() -> None:
    given = {"1": votes("DIRECT DIRECT DIRECT - - -"), "2": votes("DIRECT DIRECT DIRECT - - REPORTED")}
    gold = hard_gold(given, INTENTION)
    assert shown(gold.answers) == {"2": ["DIRECT"]}
    assert gold.dropped == ["1"]


def test_every_label_above_the_threshold_holds_where_several_may() -> None:
    given = {"1": votes("A+B A - B - -"), "2": votes("A B - UNKNOWN UNKNOWN UNKNOWN")}
    gold = hard_gold(given, TYPES)
    assert shown(gold.answers) == {"1": ["NO", "A", "B"]}
    assert gold.dropped == ["2"]


def test_a_majority_is_more_votes_than_any_other_label_has() -> None:
    rules = VoteRules(("a", "b", "c"))
    given = {"1": votes("a a b c"), "2": votes("a b"), "3": votes("c UNKNOWN UNKNOWN"), "4": votes("UNKNOWN")}
    gold = hard_gold(given, rules)
    assert shown(gold.answers) == {"1": ["a"], "3": ["c"]}
    assert gold.dropped == ["2", "4"]


def test_soft_gold_is_the_share_of_votes_cast() -> None:
    given = {"1": votes("DIRECT DIRECT - -"), "2": votes("DIRECT - UNKNOWN UNKNOWN"), "3": votes("UNKNOWN")}
    gold = soft_gold(given, INTENTION)
    assert gold.answers.ids == ["1", "2"]
    assert gold.answers.values.tolist() == [[0.5, 0.5, 0.0], [0.5, 0.5, 0.0]]
    assert gold.dropped == ["3"]


def test_soft_gold_can_be_the_share_of_all_annotators() -> None:
    given = {"1": votes("A A B UNKNOWN"), "2": votes("UNKNOWN")}
    assert soft_gold(given, VoteRules(("A", "B"))).answers.values.tolist() == [[2 / 3, 1 / 3]]
    of_all = soft_gold(given, VoteRules(("A", "B"), of_all=True)).answers
    assert (of_all.ids, of_all.values.tolist()) == (["1"], [[0.5, 0.25]])


def test_shares_of_several_labels_need_not_sum_to_one() -> None:
    gold = soft_gold({"1": votes("A+B A+A B -")}, TYPES)
    assert gold.answers.values.tolist() == [[0.25, 0.5, 0.5]]


def test_no_items_make_an_empty_gold() -> None:
    assert hard_gold({}, YES_NO).answers.ids == []
    assert soft_gold({}, YES_NO).answers.values.shape == (0, 2)


def test_votes_that_fit_no_rule_are_named() -> None:
    with pytest.raises(ValueError, match="item 7: 'MAYBE' is not one of YES, NO"):
        hard_gold({"7": votes("MAYBE")}, YES_NO)
    with pytest.raises(ValueError, match="item 7: expected one label per vote"):
        soft_gold({"7": votes("YES+NO")}, YES_NO)
    with pytest.raises(ValueError, match="threshold"):
        VoteRules(("a",), multi=True)


def test_every_dropped_item_has_its_reason() -> None:
    given = {
        "1": votes("DIRECT DIRECT DIRECT - - -"),
        "2": votes("DIRECT -"),
        "3": [["UNKNOWN"], []],
        "4": votes("- - -"),
    }
    gold = hard_gold(given, INTENTION)
    assert dict(zip(gold.dropped, gold.reasons, strict=True)) == {
        "1": "a tie between several labels",
        "2": "too few votes for any label",
        "3": "no votes",
    }
    assert gold.report().splitlines() == [
        "4 items: 1 in the gold file, 3 dropped.",
        "12 votes, 1 of them without a class.",
        "a tie between several labels: 1 (1)",
        "no votes: 1 (3)",
        "too few votes for any label: 1 (2)",
    ]


def test_a_label_outside_the_classes_is_shown_decoded() -> None:
    with pytest.raises(ValueError, match="item 1: 'no' is not one of YES, NO"):
        hard_gold({"1": votes("-")}, VoteRules(("YES", "NO"), counts_as={"-": "no"}))


def test_span_gold_is_what_more_than_the_share_of_raters_marked() -> None:
    marked = {"1": [[3, 4, 5, 5], [4, 5], [9]], "2": [[1], [2]], "3": []}
    gold = span_gold(marked)
    assert (gold.ids, [gold.offsets(row) for row in range(3)]) == (["1", "2", "3"], [[4, 5], [], []])
    everyone = span_gold({"1": [[1, 2], [2]]}, share=0.99)
    assert everyone.offsets(0) == [2]


def test_span_gold_from_the_command_line(tiny: Definition, capsys: pytest.CaptureFixture[str]) -> None:
    votes, out = tiny.folder / "marks.json", tiny.folder / "gold.txt"
    marks = {"i0": {"spans": [[1, 2], [2, 3], [2]]}, "i1": {"spans": [[], [4]]}, "i2": {"spans": []}}
    votes.write_text(json.dumps(marks), encoding="utf-8")
    given = ["gold", "--task", str(tiny.folder), "--track", "task5-spans", "--out", str(out), "--field", "spans"]
    assert main([*given, str(votes)]) == 0
    assert out.read_text(encoding="utf-8") == "i0\t[2]\ni1\t[]\ni2\t[]\n"
    assert capsys.readouterr().out.splitlines() == [
        "3 items: 1 with spans, 2 without spans.",
        "Offsets marked by at least one annotator: 4. In the gold file: 1. Dropped: 3.",
    ]
    assert main([*given, "--share", "0.3", "--json", str(votes)]) == 0
    assert json.loads(capsys.readouterr().out) == {"items": 3, "with_spans": 2, "offsets": 4, "dropped_offsets": 0}


@pytest.mark.parametrize("content", ['{"i0": [[-1]]}', '{"i0": [["A"]]}', '{"i0": [[true]]}', '{"i0": 1}', "[", "[]"])
def test_wrong_marks_are_a_wrong_command(tiny: Definition, content: str, capsys: pytest.CaptureFixture[str]) -> None:
    votes = tiny.folder / "marks.json"
    votes.write_text(content, encoding="utf-8")
    given = ["gold", "--task", str(tiny.folder), "--track", "task5-spans", "--out", str(tiny.folder / "gold.txt")]
    assert main([*given, str(votes)]) == 2
    assert "Cannot read" in capsys.readouterr().err


NAMED = {
    "1": {"ann": ["HS"], "bob": ["HS", "AG"], "cat": ["(none)"], "eve": ["(none)"], "fay": ["HS"]},
    "2": {"ann": ["HS"], "bob": ["HS"], "cat": ["HS"], "eve": ["(none)"], "fay": ["(none)"]},
    "3": {"eve": ["HS"], "fay": ["HS", "AG"]},
}


def test_the_crowd_is_one_vote_next_to_each_expert() -> None:
    rules = VoteRules(("HS", "AG", "(none)"), threshold=0, multi=True)
    step = crowd_and_experts(NAMED, ["eve", "fay"], rules, ["HS", "AG"])
    assert step.votes["1"] == [["HS"], ["(none)"], ["HS"]]
    assert step.votes["3"] == [[], ["HS"], ["HS", "AG"]]
    assert step.confidence == pytest.approx({"HS": (2 / 3 + 1) / 2, "AG": (2 / 3 + 1) / 2})
    assert table_gold(step.votes, rules, 2).answers.values.tolist() == [[1, 0], [0, 0], [1, 0]]
    with pytest.raises(ValueError, match="there are no votes from gus; the annotators are ann, bob, cat, eve, fay"):
        crowd_and_experts(NAMED, ["gus"], rules, ["HS", "AG"])
    with pytest.raises(ValueError, match=r"no votes from Fey \(closest name: fay\); the annotators are ann, bob"):
        crowd_and_experts(NAMED, ["eve", "Fey"], rules, ["HS", "AG"])
    with pytest.raises(ValueError, match="all annotators are experts: ann, bob, cat, eve, fay"):
        crowd_and_experts(NAMED, ["ann", "bob", "cat", "eve", "fay"], rules, ["HS", "AG"])


@pytest.mark.filterwarnings("error")
def test_a_crowd_that_gave_no_label_has_no_confidence() -> None:
    step = crowd_and_experts({"1": {"ann": ["UNKNOWN"], "eve": ["A"]}}, ["eve"], VoteRules(("A", "B")))
    assert (step.votes, step.confidence) == ({"1": [[], ["A"]]}, {})


def test_single_labels_in_two_steps() -> None:
    votes = {
        "1": {"ann": ["A"], "bob": ["A"], "cat": ["B"], "eve": ["B"], "fay": ["B"]},
        "2": {"ann": ["A"], "bob": ["B"], "eve": ["B"], "fay": ["B"]},  # the crowd has no majority
    }
    rules = VoteRules(("A", "B"))
    step = crowd_and_experts(votes, ["eve", "fay"], rules)
    assert step.votes == {"1": [["A"], ["B"], ["B"]], "2": [[], ["B"], ["B"]]}
    assert step.confidence == pytest.approx({"label": (2 / 3 + 1 / 2) / 2})
    assert hard_gold(step.votes, rules).answers.values.tolist() == [[False, True], [False, True]]


def test_experts_from_the_command_line(tiny: Definition, capsys: pytest.CaptureFixture[str]) -> None:
    votes = tiny.folder / "votes.csv"
    rows = ["i1,ann,A", "i1,bob,A", "i1,cat,B", "i1,eve,B", "i1,fay,B"]
    votes.write_text("item,annotator,label\n" + "\n".join(rows), encoding="utf-8")
    given = ["votes", "--task", str(tiny.folder), "--track", "task1-hard", "--out", str(tiny.folder / "out.json")]
    assert main([*given, "--expert", "eve", "--expert", "fay", str(votes)]) == 0
    assert (
        "Crowd confidence (mean share of the crowd's votes that agree with its majority): label 0.6667."
        in capsys.readouterr().out
    )
    (made,) = json.loads((tiny.folder / "out.json").read_text())
    assert (made["id"], made["value"]) == ("i1", "B")
    assert main([*given, "--expert", "gus", str(votes)]) == 2
    assert "there are no votes from gus" in capsys.readouterr().err
    (tiny.folder / "votes.json").write_text('{"i1": ["A"]}')
    assert main([*given, "--expert", "eve", str(tiny.folder / "votes.json")]) == 2
    assert "a JSON file does not name annotators" in capsys.readouterr().err
