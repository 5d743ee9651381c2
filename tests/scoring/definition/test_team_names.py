"""The rule for team names, in words."""

import pytest

from scoring.definition.teams import TeamRules
from scoring.reports.messages import LANGUAGES, phrase

WORDS = {
    "[A-Za-z0-9_-]{2,30}": "2 to 30 characters: letters (A–Z, a–z), digits, _ and -",
    "[0-9a-zA-Z_]{1,9}": "1 to 9 characters: letters (A–Z, a–z), digits and _",
    "[a-zA-Z0-9]{3,8}": "3 to 8 characters: letters (A–Z, a–z) and digits",
    ".{2,30}": "2 to 30 characters",
    "[a-za-z0-9]{2,30}": "text that matches the regular expression [a-za-z0-9]{2,30}",
    "[A-Za-z0-9+-_]{2,30}": "text that matches the regular expression [A-Za-z0-9+-_]{2,30}",  # a range from + to _
    "(?i)[a-z]+": "text that matches the regular expression (?i)[a-z]+",
}


@pytest.mark.parametrize(("rule", "words"), WORDS.items())
def test_a_rule_is_described_in_words_in_every_language(rule: str, words: str) -> None:
    assert TeamRules(name=rule).name_in_words == words
    assert len({phrase(f"a team name ({words})", language) for language in LANGUAGES}) == len(LANGUAGES)
