"""Teams' papers: which entries are valid, who can set them and until when, and where they appear."""

import re
from types import SimpleNamespace

import pytest
from django.test import Client

from portal.actions.base.errors import Conflict, Invalid, NotAllowed
from portal.actions.papers import close_papers, open_papers, set_paper
from portal.bibtex import BibtexError, read_entry
from portal.models import AuditEntry, Phase, SharedTask, Team
from portal.paper.references import references
from tests.portal.world import EVALUATION, GOOD, captain, new_team, organizer_of, send_run, work_off

ENTRY = r"""@InProceedings{doe2024, Author = {Jane Doe and {\v S}tep{\'a}n Novák},
  title = "Ostro: winds {\&} words, 100% & more", year = 2024, month = may, url = {https://ostro.example/a_b%20c#1},
  abstract = {Long.},
}"""


def test_an_entry_is_formatted_again() -> None:
    entry = read_entry(ENTRY)
    assert (entry.kind, entry.key) == ("inproceedings", "doe2024")
    assert entry.fields == {
        "author": r"Jane Doe and {\v S}tep{\'a}n Novák",
        "title": r"Ostro: winds {\&} words, 100\% \& more",
        "year": "2024",
        "month": "may",
        "url": "https://ostro.example/a_b%20c#1",
    }
    assert read_entry(entry.written("other")).fields == entry.fields
    assert entry.written("other").startswith("@inproceedings{other,\n  author = {Jane")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Doe 2024", "must start with a type and a key"),
        ("@misc{a, title = {T}, author = {A}}", "year is missing"),
        ("@string{a, title = {T}, author = {A}, year = 1}", "@string is not allowed"),
        (r"@misc{a, title = {\input{/etc/passwd}}, author = {A}, year = 1}", r"contains \input"),
        (r"@misc{a, title = {\write18{ls}}, author = {A}, year = 1}", r"contains \write"),
        (r"@misc{a, title = {^^5cinput x}, author = {A}, year = 1}", "contains a ^"),
        ("@misc{a, title = {\\\\}, author = {A}, year = 1}", "contains \\\\"),
        ("@misc{a, title = {T\u202e}, author = {A}, year = 1}", "invisible"),
        ("@misc{a, title = {T, author = {A}, year = 1", "never ends"),
        ('@misc{a, title = "T}", author = {A}, year = 1}', "never ends"),
        ("@misc{a, title = T, author = {A}, year = 1}", "value in braces"),
        ("@misc{a, title = {T} author = {A}, year = 1}", "comma"),
        ("@misc{a, title = {T}, author = {A}, year = 1} @misc{b, title = {}}", "expected the end"),
        ("@misc{a, title = {T}, title = {U}, author = {A}, year = 1}", "appears twice"),
        ("@misc{a, title = {T}, author = {A}, year = 1, url = {javascript:a{b}}}", "not a valid web address"),
    ],
)
def test_what_is_no_entry_or_could_do_harm_is_rejected(text: str, said: str) -> None:
    with pytest.raises(BibtexError, match=re.escape(said)):
        read_entry(text)


def test_an_entry_that_grows_by_escaping_is_still_read(tiny: SharedTask, meltemi: Team) -> None:
    """The limit is for what a team enters. The portal's own form of the entry may be longer."""
    longest = "@misc{a, title = {" + "x&" * 2470 + "}, author = {A}, year = 1}"
    with pytest.raises(Invalid, match="too_long"):
        set_paper(captain(meltemi), meltemi, EVALUATION, bibtex=longest + " " * 100 + "% more")
    team = set_paper(captain(meltemi), meltemi, EVALUATION, bibtex=longest)
    assert len(team.bibtex) > 5_000
    assert r"x\&x\&" in references(tiny, "https://agon.example/", [team])


def test_members_give_it_until_the_organizers_close_it(tiny: SharedTask, meltemi: Team) -> None:
    member, organizer = captain(meltemi), organizer_of(tiny)
    assert (
        set_paper(member, meltemi, EVALUATION, bibtex=ENTRY, link=" https://ostro.example/ ").paper
        == "https://ostro.example/"
    )
    with pytest.raises(NotAllowed):
        set_paper(organizer, meltemi, EVALUATION)
    with pytest.raises(Invalid):
        set_paper(member, meltemi, EVALUATION, bibtex="@misc{", link="")
    with pytest.raises(Invalid):
        set_paper(member, meltemi, EVALUATION, link="javascript:alert(1)")
    with pytest.raises(NotAllowed):
        close_papers(member, tiny, EVALUATION)
    close_papers(organizer, tiny, EVALUATION)
    with pytest.raises(Conflict):
        set_paper(member, meltemi, EVALUATION)
    open_papers(organizer, tiny, EVALUATION)
    assert set_paper(member, meltemi, EVALUATION).bibtex == ""
    verbs = AuditEntry.objects.filter(verb__endswith="paper").count(), AuditEntry.objects.filter(verb="close_papers")
    assert (verbs[0], verbs[1].count()) == (2, 1)


@pytest.mark.slow
def test_it_is_public_when_the_team_is_on_a_public_board(tiny: SharedTask, meltemi: Team) -> None:
    def bib() -> str:
        return Client().get("/tasks/tiny/references.bib").content.decode()

    set_paper(captain(meltemi), meltemi, EVALUATION, bibtex=ENTRY)
    ostro = new_team(tiny, "Ostro")
    set_paper(captain(ostro), ostro, EVALUATION, link="https://ostro.example/ä")
    assert "Novák" not in bib()
    for team in (meltemi, ostro):
        send_run(team, GOOD, 1, EVALUATION)
    work_off(EVALUATION)
    assert f"@inproceedings{{tiny-Meltemi-{meltemi.pk}," in bib()
    assert r"Novák" in bib()
    assert "url = {https://ostro.example/%C3%A4}" in bib()
    Phase.objects.filter(slug="evaluation").update(released=None)
    assert "Novák" not in bib()


SOURCES = {
    "Doe et al. (2024): A & B": "author = {Doe and others},\n  title = {{A \\& B}},\n  year = {2024}\n",
    "Doe, Roe & Poe (2024b): Old vs. new in 2.0? Journal 7, 1-9, https://tiny.example/7": (
        "author = {Doe and Roe and Poe},\n  title = {{Old vs. new in 2.0?}},\n  year = {2024},\n"
        "  note = {Journal 7, 1-9},\n  url = {https://tiny.example/7}\n"
    ),
    "Doe, J. and Roe, R. (2024): Both. Journal 7": "author = {{Doe, J. and Roe, R.}},\n  title = {{Both}},\n",
    "Overview of Tiny": "title = {{Overview of Tiny}}\n",
    "https://tiny.example/ä": "title = {{Tiny}},\n  howpublished = {\\url{https://tiny.example/%C3%A4}}\n",
}


@pytest.mark.parametrize(("source", "fields"), SOURCES.items())
def test_a_source_has_its_authors_title_and_year_as_fields(
    monkeypatch: pytest.MonkeyPatch, source: str, fields: str
) -> None:
    monkeypatch.setattr(SharedTask, "definition", SimpleNamespace(sources=[source], organizers=()))
    text = references(SharedTask(slug="tiny", title="Tiny", year=2024), "https://agon.example/tasks/tiny/", [])
    assert f"tiny-source-1,\n  {fields}" in text


def test_the_team_s_page_says_what_is_wrong(meltemi: Team) -> None:
    client = Client()
    client.force_login(captain(meltemi))
    rejected = client.post("/tasks/tiny/team/paper/", {"bibtex": "@misc{a, title = {T}}", "link": ""})
    assert rejected.status_code == 422
    assert "The field author is missing. The field year is missing." in rejected.content.decode()
    assert client.post("/tasks/tiny/team/paper/", {"bibtex": ENTRY, "link": ""}).status_code == 302
    assert "@inproceedings{doe2024," in client.get("/tasks/tiny/team/").content.decode()
