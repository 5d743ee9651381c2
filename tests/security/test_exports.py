"""Exported tables all use the same function to make formulas harmless."""

import csv
import io
import re

from portal.export import defused
from portal.models import Run, Team, User
from tests.conftest import ROOT
from tests.portal.script import Script
from tests.portal.world import RELEASE, work_off
from tests.security.conftest import World

NUMBER = re.compile(r"-?[\d.]+(e-?\d+)?")
FORMULAS = ("=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", '=HYPERLINK("https://evil.example")', "=cmd|' /C calc'!A0")


def test_only_one_module_writes_tables() -> None:
    sources = {path.relative_to(ROOT / "portal"): path.read_text() for path in (ROOT / "portal").rglob("*.py")}
    assert [str(path) for path, text in sources.items() if re.search(r"^import csv|^from csv", text, re.M)] == [
        "export.py"
    ]
    assert (ROOT / "portal/export.py").read_text().count("csv.writer(") == 1


def test_a_formula_in_every_word_is_text_in_every_export(world: World) -> None:
    work_off(RELEASE)
    client, script = world.client("organizer"), Script(world.people["organizer"], "organize")
    world.client("captain").get("/tasks/gated/data/development/")
    for formula in FORMULAS:
        Team.objects.filter(pk=world.bora.pk).update(name=formula)
        User.objects.filter(pk=world.people["captain"].pk).update(name=formula)
        Run.objects.filter(team=world.bora).update(name=formula, method=formula)
        for answer in (
            client.get("/tasks/gated/leaderboard/one/?phase=evaluation&format=csv"),
            client.get("/tasks/gated/organize/downloads.csv"),
            client.get("/tasks/gated/organize/teams.csv"),
            client.get("/tasks/gated/organize/scores.csv"),
            client.get("/tasks/gated/organize/audit.csv"),
            script("/tasks/gated/organize/teams.csv"),
            script("/tasks/gated/leaderboards/one.csv?phase=evaluation"),
            script("/tasks/gated/organize/downloads.csv"),
        ):
            cells = cells_of(answer.content.decode())
            assert f"'{formula}" in cells, answer.request["PATH_INFO"]
            assert [cell for cell in cells if defused(cell) != cell and not NUMBER.fullmatch(cell)] == []


def cells_of(table: str) -> list[str]:
    return [cell for row in csv.reader(io.StringIO(table, newline="")) for cell in row]
