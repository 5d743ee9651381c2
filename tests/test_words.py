"""Words that are not used in pages, emails, docs, comments and names. Each has a plain alternative."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

WORDS = {  # regular expression for whole words and parts of names → what to say instead
    "anew|afresh": "again",
    "anyhow": "in any case",
    "beside": "next to, compared with",
    "criticis(e|es|ed)|normalis(e|es|ed)": "criticize, normalize",
    "cumulated": "cumulative",
    "deeds?": "action",
    "dear(er|est)": "expensive",
    "faults?|faulty": "error, problem",
    "for good": "permanently",
    "grace[ds]?": "extra time",
    "hence|thereof|thereby|whence": "so",
    "lately": "recently",
    "mend(s|ed|ing)?": "fix",
    "needless": "not needed, canceled",
    "nobody|nobodys": "no one",
    "refuse[ds]?|refusing": "reject, not allowed",
    "remed(y|ies)": "fix",
    "seldom": "rarely",
    "somebody|somebodys": "someone",
    "told": "shown, reported",
    "wanting": "missing",
    "whoever": "who, anyone who",
    "go_on_counting": "reset_sequences",
    "moment_told": "parse_db_time",
    "tell_(checked|failed|if_scored)": "notify",
    "take_(data|all_away)": "download, stop",
}
ALLOWED = {  # path → words that are allowed there
    "tests/test_words.py": ".*",  # the list itself
    "LICENSE": ".*",  # the license's own words
    "benchmarks/faults.py": "faults?",  # about fault injection
    "benchmarks/busy.py": "faults?",  # runs it
    "tests/portal/test_migrations.py": "needless|graces?",  # data of a released version
    "CHANGELOG.md": "grace",  # the name before
    "tests/faults/": "faults?",  # tests of injected faults
    "docs/benchmarks/load.md": "faults?",  # about the benchmark of fault injection
}
ALLOWED_PHRASES = (
    r"SQLite, faults|page[_ -]faults?|benchmarks?[/.]faults|tests[/.]faults|/faults\b|fault injection|\bfaults`"
    r"|[Cc]onnection refused|ConnectionRefused|SMTPRecipientsRefused|SMTPSenderRefused"  # messages of others
    r"|portal_grace|one_grace_(a_team|for_all)|grace_(until|granted_at)|/grace/"  # names in databases, and old URLs
    r"|stop_grace_period"  # a name of Docker Compose
)
PAGE_PHRASES = {  # regular expression for phrases in the texts of templates → what to say instead
    "at once": "immediately, at the same time",
    r"any more\b": "no longer, anymore",
    r"(?<!e)mail(s|ed)?\b": "email, send",
    "limits? of (runs|uploads)": "run limit, upload limit",
    "states of runs": "run states",
    "paper pack": "paper files",
    r"\bwrong\b": "incorrect, invalid",
    r"\b(is told|stands)\b": "shown, listed",
    r"\d %(?!\()": "95%, without a space",
    r"^without (it|them|one|this)\b": "if omitted",
    r"\b(error of ours|of yours)\b": "error on our side, yours",
    r"\baccepts? no\b": "no longer accepts, is not accepting",
    r"\b(is|are) to be\b": "must be, will be",
    r"\bgo(es)? on\b": "continue, resume",
    r"\bstays? hidden\b": "is hidden, remains hidden",
    r"\b(last uploaded run|last run it)\b": "most recent run",
    r"\bnames? on pages\b": "display name",
    r"\bneeds? no\b": "doesn’t need, doesn’t require",
    r"\bby hand\b": "manually",
    r"\bdata (are|require|contain)\b": "data is, requires, contains",
    r"\bsee no\b": "can’t see any",
    r"\b(tried|entered|sent|validated|pushed) .* within an hour\b": "in the last hour",
}
GUIDE_PHRASES = {  # regular expression for phrases in guides and task pages → what to say instead
    r"needs? another\b": "requires an additional",
    r"\bpath of\b|\bpattern of\b": "path to, pattern for",
    r"\bName on pages\b": "Display name",
    r"\. Without (it|them), (there|any|every)": "If omitted, ...",
    r"error of ours": "internal error",
    r"wrong usage": "usage error",
    r"\bPack (the|your|them)\b": "Zip the, put the ... in a zip",
    r"\bstays? yours\b|\bare of no use\b|\bnot to be passed on\b": "remain yours, not suitable, do not pass on",
    r"the sizes (are|have)\b|same sizes as in the campaign": "leave out claims about a campaign's sizes",
}
FROZEN = ("/migrations/", "/vendor/", "tests/upgrade/0.", "requirements")  # released versions, or files by others

_SPLIT = re.compile(r"(?<=[a-z])(?=[A-Z])|_")  # where names in code are split into words
_PATTERN = re.compile(rf"\b({'|'.join(WORDS)})\b", re.IGNORECASE)


def tracked_texts() -> Iterator[tuple[str, str]]:
    """Yield the path and content of every text in the repository, except frozen ones."""
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    for name in filter(None, names):
        if not any(part in name for part in FROZEN) and (path := Path(ROOT, name)).is_file():
            try:
                yield name, path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue


def found_words(name: str, text: str) -> list[str]:
    """Return where the text at this path uses one of WORDS, and what to say instead."""
    allowed = [re.compile(words, re.IGNORECASE) for path, words in ALLOWED.items() if name.startswith(path)]
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        searched = re.sub(ALLOWED_PHRASES, "", line)
        for match in [*_PATTERN.finditer(searched), *_PATTERN.finditer(_SPLIT.sub(" ", searched))]:
            word = match[0]
            if not any(pattern.fullmatch(word) for pattern in allowed):
                instead = next(plain for words, plain in WORDS.items() if re.fullmatch(words, word, re.IGNORECASE))
                found.append(f"{name}:{number}: {word} (say: {instead})")
    return sorted(set(found))


_TEXTS = re.compile(
    r"{% blocktranslate[^%]*%}(.*?){% endblocktranslate %}"
    r"|{% translate [\"'](.*?)[\"'][^%]*%}"
    r"|_\(\"(.*?)\"\)",
    re.DOTALL,
)


def template_texts(template: str) -> list[str]:
    """Return the translatable texts of a template, without the tags in them."""
    texts = ["".join(found) for found in _TEXTS.findall(template)]
    return [" ".join(re.sub(r"{%.*?%}|{{.*?}}|<[^>]*>", " ", text).split()) for text in texts]


def test_no_page_uses_these_phrases() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {text} (say: {instead})"
        for path in [*sorted(Path(ROOT, "templates").rglob("*.*")), *sorted(Path(ROOT, "portal").rglob("*.py"))]
        if "migrations" not in path.parts
        for text in template_texts(path.read_text(encoding="utf-8"))
        for phrase, instead in PAGE_PHRASES.items()
        if re.search(phrase, text, re.IGNORECASE)
    ]
    assert "\n".join(found) == ""


GUIDES = [
    *(path for path in Path(ROOT, "docs").rglob("*.md") if path.name != "actions.md"),  # docstrings of the actions
    *Path(ROOT, "tasks").glob("*/pages/*.md"),
    Path(ROOT, "README.md"),
]


def test_no_guide_uses_these_phrases() -> None:
    found = []
    for path in sorted(GUIDES):
        text = " ".join(path.read_text(encoding="utf-8").split())
        for phrase, instead in GUIDE_PHRASES.items():
            words = [match[0] for match in re.finditer(phrase, text, re.IGNORECASE)]
            found += [f"{path.relative_to(ROOT)}: {word} (say: {instead})" for word in words]
    assert "\n".join(found) == ""


def test_texts_of_templates_are_found() -> None:
    template = """{% blocktranslate with n=1 %}Sent <b>at</b> {{ n }} once{% endblocktranslate %}
        {% translate "Mails" %} {% state "x" _("Not now") %}"""
    assert template_texts(template) == ["Sent at once", "Mails", "Not now"]


def test_no_text_or_name_uses_them() -> None:
    found = [line for name, text in tracked_texts() for line in found_words(name, text)]
    assert "\n".join(found) == ""


@pytest.mark.parametrize(
    "text", ["It is told anew.", "def test_who_is_told(): ...", "class FaultList: ...", "NEEDLESS = 1"]
)
def test_a_word_is_found_in_sentences_and_names(text: str) -> None:
    assert found_words("portal/x.py", text)


@pytest.mark.parametrize("name", ["benchmarks/faults.py", "tests/faults/test_web.py"])
def test_injected_faults_may_be_called_so(name: str) -> None:
    assert found_words(name, "faults = inject(fault)") == []
    assert found_words("docs/development.md", "see benchmarks/faults.py and `tests/faults`") == []
