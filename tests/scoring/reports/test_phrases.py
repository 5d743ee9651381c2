"""Every sentence of the definition's rules, the metrics registry and the naming rules has an entry in PHRASES."""

import ast
import re
from collections.abc import Iterator

from scoring.reports.messages import LANGUAGES, phrase
from scoring.reports.messages.en import PHRASES
from tests.conftest import ROOT

RULES = {  # file → functions that return or yield sentences
    "scoring/task_folder/rules.py": r".*",
    "scoring/definition/expressions.py": "why_.*",
    "scoring/definition/files.py": "errors_of_files",
    "scoring/definition/slices.py": "errors_of_names",
    "scoring/task_folder/archive.py": "_.*",
    "scoring/uploads/name_rules.py": "_?errors_of.*",
    "scoring/metrics/registry.py": "lacking_option",
    "scoring/metrics/validation.py": "validate|_validate.*|_problem_of_option",
    "scoring/metrics/tree.py": "errors_of_tree",
}
GENERIC = tuple(known for known in PHRASES if len(re.findall("[a-z]", known)) < 3)  # such as `{}: {}`
KNOWN = [re.compile(re.escape(known).replace(r"\{\}", ".+?"), re.DOTALL) for known in PHRASES if known not in GENERIC]
ASSEMBLED = {  # part of a sentence → the sentences that contain it
    "there is no X X; existing Xs: X": (
        "there is no track a; existing tracks: b",
        "there is no phase a; existing phases: b",
    ),
    "the phase X never closes, so runs on the split X could be copied from the published gold; X, or set published: "
    "false": (
        "the phase a never closes, so runs on the split b could be copied from the published gold; add a closes: date "
        "to a, or set published: false",
        "the phase a never closes, so runs on the split b could be copied from the published gold; remove round_days: "
        "from a, or set published: false",
    ),
    "add a closes: date to X": (),
    "remove round_days: from X": (),
    "this regular expression has X X; at most X are allowed": (
        "this regular expression has 9 parts of variable length; at most 8 are allowed",
        "this regular expression has 9 alternatives and optional parts; at most 8 are allowed",
    ),
    "parts of variable length": (),
    "alternatives and optional parts": (),
    "there is no metric XX": ("there is no metric a; existing metrics: b, c",),
    "; its slices are X": ("the track has no slices named a; its slices are b, c",),
    "; its combined scores are X": ("the track has no combined score named a; its combined scores are b, c",),
    "X mixes directions: X is better for X, but X for X": (
        "a mixes directions: higher is better for b, but lower for c",
        "a mixes directions: lower is better for b, but higher for c",
    ),
    "; its options are X": ("a has no option b; its options are c, d",),
    "X must be X": (
        "a must be a number of at least 0, not b",
        "a must be a number from 0 to 1, not b",
        "a must be one of b, c, not d",
        "a must be a column with a list of values; add values to the format",
    ),
    "a number of at least X, not X": (),
    "a number from X to X, not X": (),
    "a column with a list of values; add values to the format": (),
}


def literals(node: ast.AST) -> Iterator[str]:
    """Yield the strings in a node without docstrings, with X in place of each value of an f-string."""
    if isinstance(node, ast.JoinedStr):
        yield "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        for child in ast.iter_child_nodes(node):
            yield from literals(child)


def is_sentence(text: str) -> bool:
    return text in ASSEMBLED or (" " in text.strip() and len(re.findall("[a-z]{2,}", text)) > 2)


def sentences_of_rules() -> set[str]:
    found = set()
    for file, names in RULES.items():
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        for function in functions:
            if re.fullmatch(names, function.name):
                found |= {text for part in function.body for text in literals(part) if is_sentence(text)}
    return found


def sentences_of_values() -> set[str]:
    """Return what calls such as `value.invalid(…)` and `value.error("definition-rule", found=…)` report."""
    found = set()
    rooms = ("definition", "formats", "task_folder")
    for path in [path for room in rooms for path in (ROOT / "scoring" / room).glob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            said = {"invalid": node.args[:1], "matching": node.args[1:2]}.get(name, [])
            named = "found" if name == "error" and list(literals(node))[:1] == ["definition-rule"] else ""
            named = "expected" if name == "one_of" else named
            said = [*said, *(keyword.value for keyword in node.keywords if keyword.arg == named)]
            found |= {text for part in said for text in literals(part) if is_sentence(text)}
    return found


def is_known(sentence: str) -> bool:
    return any(known.fullmatch(sentence) for known in KNOWN)


def test_each_sentence_has_a_phrase_in_every_language() -> None:
    sentences = sentences_of_rules() | sentences_of_values()
    assert len(sentences) > 150
    wholes = sorted(whole for sentence in sentences for whole in ASSEMBLED.get(sentence, (sentence,)))
    lacking = [whole for whole in wholes if not is_known(whole)]
    assert not lacking, "Add these phrases to PHRASES, and translate them:\n" + "\n".join(lacking)
    translations = {whole: {phrase(whole, language) for language in LANGUAGES} for whole in wholes}
    assert [whole for whole, found in translations.items() if len(found) < len(LANGUAGES)] == []


def test_assembled_sentences_exist() -> None:
    assert ASSEMBLED.keys() <= sentences_of_rules()
