"""Importing a task's folder."""

import re
import shutil

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from portal.actions.base.errors import Conflict, Invalid
from portal.actions.task_folder.folder import PublicFiles
from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.models import AuditEntry, Evaluation, GoldStandard, Phase, Run, SharedTask, Signature, Track, User
from scoring import load_definition
from scoring.task_folder.folder import errors_of_folder
from scoring.task_folder.schema import schema
from tests.portal.world import (
    EVALUATION,
    PERFECT,
    POST,
    RELEASE,
    board,
    run_file,
    send_run,
    set_up_second_factor,
    work_off,
)

pytestmark = pytest.mark.postgres


def edit(folder, before, after):
    path = folder / "task.yaml"
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after))


def counts():
    return [model.objects.count() for model in (SharedTask, GoldStandard, Run, AuditEntry)]


@pytest.mark.parametrize(
    ("model", "part", "keys"),
    [
        (SharedTask, (), ("slug", "title", "subtitle", "venue")),
        (Track, ("tracks",), ("slug", "title")),
        (Phase, ("phases",), ("slug", "title", "split")),
        (GoldStandard, ("gold",), ("split",)),
        (Run, ("baselines",), ("name",)),
        (Signature, ("agreement",), ("version",)),
    ],
)
def test_what_a_definition_may_hold_fits_its_column(model, part, keys):
    properties = schema()["properties"]
    for name in part:
        properties = properties[name].get("items", properties[name])["properties"]
    for key in keys:
        assert properties[key]["maxLength"] <= model._meta.get_field(key).max_length


def test_a_title_that_is_too_long_is_reported_before_anything_is_written(tiny, tiny_folder):
    edit(tiny_folder, 'title: "Tiny"', f'title: "{"T" * 201}"')
    before = counts()
    with pytest.raises(Invalid, match="title: the text has 201 characters; at most 200 are allowed"):
        import_shared_task(None, tiny_folder, POST)
    assert counts() == before


def test_rows_follow_the_folder(tiny):
    assert [track.slug for track in tiny.tracks.all()] == ["one", "two"]
    assert [phase.slug for phase in tiny.phases.all()] == ["evaluation", "post", "without-gold"]
    assert tiny.phases.get(slug="evaluation").released == RELEASE
    assert {(gold.track.slug, gold.version) for gold in GoldStandard.objects.all()} == {("one", 1), ("two", 1)}
    assert Run.objects.filter(kind="baseline").count() == Run.objects.filter(kind="gold").count() == 3 * 2
    assert tiny.definition.track("one").rank_by == "accuracy"


@pytest.mark.slow
def test_second_import_changes_nothing(tiny, tiny_folder):
    work_off(EVALUATION)
    before = counts()
    again = import_shared_task(None, tiny_folder, POST)
    assert again.changes == []
    assert counts() == before
    assert not Run.objects.filter(state="received", phase__split="test").exists()
    assert again.shared_task.imported_at == EVALUATION


def test_gold_is_not_among_the_public_files(tiny):
    folder = tiny.definition.folder
    assert (folder / "data" / "items.txt").is_file()
    assert not list(folder.rglob("gold"))
    gold = {path.read_bytes() for path in settings.GOLD_ROOT.iterdir() if path.is_file()}
    assert not gold & {path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_changes_are_reported(tiny, tiny_folder):
    edit(tiny_folder, 'closes: "2024-05-16 00:00 UTC"', 'closes: "2024-05-17 00:00 UTC"')
    (tiny_folder / "pages" / "overview.md").write_text("# Another text\n")
    changes = import_shared_task(None, tiny_folder, EVALUATION).changes
    assert any(change.startswith("phase evaluation: closes 2024-05-16") for change in changes)
    assert any(change.startswith("shared task tiny: definition_sha256") for change in changes)
    assert len(changes) == 2
    assert SharedTask.objects.get().definition.pages["overview"].read_text() == "# Another text\n"


def test_release_in_the_portal_outlives_an_import(tiny, tiny_folder):
    edit(tiny_folder, ', released: "2024-05-24 10:00 UTC"', "")
    tiny.phases.filter(slug="evaluation").update(released=POST)
    import_shared_task(None, tiny_folder, EVALUATION)
    assert tiny.phases.get(slug="evaluation").released == POST


@pytest.mark.slow
def test_new_gold_is_a_version_and_scores_all_again(tiny, tiny_folder, meltemi):
    send_run(meltemi, ["NO"] * 4, 1, EVALUATION)
    work_off(EVALUATION)
    (tiny_folder / "gold" / "one.json").write_bytes((tiny_folder / "gold" / "two.json").read_bytes())
    changes = import_shared_task(None, tiny_folder, EVALUATION).changes
    assert changes == ["gold one test: version 2, 4 of 4 items have gold"]
    admin = User.objects.create_user("admin@example.org", name="Admin", is_staff=True)
    set_up_second_factor(admin)
    waiting = board(tiny, EVALUATION, viewer=admin)
    assert (waiting.gold_version, waiting.rescored, waiting.pending) == (1, (0, 3), 0)
    assert [row.scores["accuracy"] for row in waiting.rows if row.kind == "team"] == [0.25]
    work_off(EVALUATION)
    done = board(tiny, POST)
    assert [row.scores["accuracy"] for row in done.rows if row.kind == "team"] == [0.75]
    assert (done.gold_version, done.rescored, done.pending) == (2, None, 0)
    assert Evaluation.objects.filter(run__team=meltemi).count() == 2  # the old evaluation is kept for the record


@pytest.mark.slow
def test_a_changed_baseline_is_made_again(tiny, tiny_folder):
    work_off(EVALUATION)
    (tiny_folder / "baselines" / "one_yes.json").write_bytes(run_file(PERFECT))
    changes = import_shared_task(None, tiny_folder, EVALUATION).changes
    assert changes[1:] == ["baseline All yes: 3 removed", "baseline All yes: 3 added"]
    work_off(EVALUATION)
    assert [row.scores["accuracy"] for row in board(tiny, POST).rows if row.kind == "baseline"] == [1.0]


def test_a_baseline_appears_only_on_the_boards_of_its_tracks(tiny, tiny_folder):
    edit(tiny_folder, 'files: "baselines/{track}_yes.json"', 'files: "baselines/{track}_yes.json", tracks: [two]')
    edit(tiny_folder, '{name: "Gold Standard"}', '{name: "Gold Standard", tracks: [one]}')
    (tiny_folder / "baselines" / "one_yes.json").unlink()
    import_shared_task(None, tiny_folder, EVALUATION)
    rows = Run.objects.exclude(kind="team").values_list("track__slug", "kind").distinct()
    assert sorted(rows) == [("one", "gold"), ("two", "baseline")]


def test_folder_without_its_gold_changes_no_gold(tiny, tiny_folder):
    (tiny_folder / "gold" / "one.json").unlink()
    assert import_shared_task(None, tiny_folder, EVALUATION).changes == []


def test_missing_track_is_rejected(tiny, tiny_folder):
    edit(tiny_folder, "- slug: two", "- slug: three")
    edit(tiny_folder, "{track: two,", "{track: three,")
    (tiny_folder / "baselines" / "two_yes.json").rename(tiny_folder / "baselines" / "three_yes.json")
    with pytest.raises(Conflict, match="track two"):
        import_shared_task(None, tiny_folder, EVALUATION)
    assert [track.slug for track in SharedTask.objects.get().tracks.all()] == ["one", "two"]


def test_all_errors_of_a_definition_are_listed_at_once(db, tiny_folder):
    edit(tiny_folder, "year: 2024", "year: soon")
    edit(tiny_folder, "approval: automatic", "approval: never")
    with pytest.raises(Invalid) as error:
        import_shared_task(None, tiny_folder, EVALUATION)
    head, *problems = error.value.message.splitlines()
    assert head == "The definition has errors:"
    assert [problem.startswith("task.yaml, line ") for problem in problems] == [True, True]
    assert counts() == [0, 0, 0, 0]


def remove(name):
    return lambda folder: (folder / name).unlink()


def write(name, content):
    return lambda folder: (folder / name).write_bytes(content)


ERRORS = {  # change in the folder → message for the organizer
    "no page": (remove("pages/overview.md"), "pages/overview.md: the file does not exist.*the page overview"),
    "page in Latin-1": (write("pages/overview.md", b"Espa\xf1a"), "pages/overview.md: byte 5 is not UTF-8"),
    "no items": (remove("data/items.txt"), "data/items.txt: the file does not exist.*items of the track one, split "),
    "empty items": (write("data/items.txt", b"\n \n"), "data/items.txt: contains no ids"),
    "items in Latin-1": (write("data/items.txt", b"\xf1\n"), "data/items.txt: .*not UTF-8"),
    "an id twice": (write("data/items.txt", b"a\nb\na\nc\nd\n"), "data/items.txt: contains repeated ids: a[.]"),
    "no gold": (remove("gold/one.json"), "gold/one.json: the file does not exist.*gold of the track one, split test"),
    "gold in no format": (write("gold/one.json", b"id,value\na,YES\n"), r"gold/one.json \(gold of the track one"),
    "gold of a strange class": (
        write("gold/one.json", b'[{"id": "a",\n"value": "MAYBE"}]'),
        "gold/one.json .*MAYBE.*YES, NO",
    ),
    "gold of a strange item": (
        write("gold/one.json", b'[{"id": "z", "value": "NO"}]'),
        r"gold/one.json \(gold .*\): contains ids that don't exist in the track: z[.]",
    ),
    "no baseline": (
        remove("baselines/two_yes.json"),
        "baselines/two_yes.json: .*the baseline All yes of the track two",
    ),
    "baseline in no format": (write("baselines/two_yes.json", b"YES"), r"baselines/two_yes.json \(baseline All yes"),
}


@pytest.mark.parametrize(("spoil", "message"), ERRORS.values(), ids=ERRORS)
def test_an_error_of_the_folder_is_named_and_nothing_is_written(db, tiny_folder, spoil, message):
    kept = set(settings.STATE_ROOT.rglob("*"))
    spoil(tiny_folder)
    with pytest.raises(Invalid) as error:
        import_shared_task(None, tiny_folder, EVALUATION)
    assert any(re.match(f".*{message}", line) for line in error.value.message.splitlines()), error.value.message
    assert counts() == [0, 0, 0, 0]
    assert set(settings.STATE_ROOT.rglob("*")) == kept


def test_all_errors_of_the_folder_are_listed_at_once(db, tiny_folder, capsys):
    names = ("pages/overview.md", "baselines/one_yes.json", "gold/one.json")
    for name in names:
        (tiny_folder / name).unlink()
    (tiny_folder / "gold" / "two.json").write_text("nothing of JSON")
    with pytest.raises(CommandError) as failed:
        call_command("import_task", tiny_folder)
    head, *problems = str(failed.value).splitlines()
    assert head == f"{tiny_folder}: not imported. The files listed in the definition have errors:"
    assert [problem.split(":")[0].strip().split(" (")[0] for problem in problems] == [*names, "gold/two.json"]
    assert capsys.readouterr().out == ""


def test_what_lenient_scoring_allows_is_no_error(db, tiny_folder):
    (tiny_folder / "baselines" / "one_yes.json").write_text('[{"id": "a", "value": "YES"}]')
    assert import_shared_task(None, tiny_folder, EVALUATION).changes


def test_gold_without_some_items_is_rejected_unless_it_is_declared(db, tiny_folder):
    (tiny_folder / "gold" / "one.json").write_text('[{"id": "a", "value": "YES"}, {"id": "c", "value": "NO"}]')
    with pytest.raises(Invalid, match=r"gold/one.json .*: 2 of 4 items have gold; missing: b, d\. .*covers: listed"):
        import_shared_task(None, tiny_folder, EVALUATION)
    edit(tiny_folder, "file: gold/one.json", "file: gold/one.json, covers: listed")
    changes = import_shared_task(None, tiny_folder, EVALUATION).changes
    assert "gold one test: version 1, 2 of 4 items have gold" in changes
    assert "gold two test: version 1, 4 of 4 items have gold" in changes


def test_a_broken_folder_leaves_the_portal_as_it_was(tiny, tiny_folder):
    before = counts()
    edit(tiny_folder, 'title: "Tiny"', 'title: "Huge"')
    (tiny_folder / "data" / "items.txt").unlink()
    with pytest.raises(Invalid, match=r"items\.txt"):
        import_shared_task(None, tiny_folder, POST)
    assert counts() == before
    assert SharedTask.objects.get().title == "Tiny"


def test_command_prints_what_changed(db, tiny_folder, capsys):
    call_command("import_task", tiny_folder)
    assert "tiny: track one: new" in capsys.readouterr().out
    call_command("import_task", tiny_folder)
    assert capsys.readouterr().out == "tiny: nothing changed\n"
    (tiny_folder / "task.yaml").unlink()
    with pytest.raises(CommandError, match="tiny_task"):
        call_command("import_task", tiny_folder)


def test_the_key_that_slices_replace_is_read_with_a_warning(db, tiny_folder, capsys):
    (tiny_folder / "data/languages.tsv").write_text("id\tlang\na\ten\nb\ten\nc\tes\nd\tes\n")
    edit(tiny_folder, "rank_by: accuracy", "item_languages: data/languages.tsv\n    rank_by: accuracy")
    call_command("import_task", tiny_folder)
    assert "use slices instead of item_languages, which is deprecated but still works" in capsys.readouterr().err
    assert list(SharedTask.objects.get().tracks.get(slug="one").definition.slices) == ["language"]


def test_a_baseline_that_a_link_leads_out_of_the_folder_is_neither_read_nor_stored(db, tiny_folder, tmp_path):
    outside = shutil.move(tiny_folder / "baselines/one_yes.json", tmp_path / "outside.json")
    (tiny_folder / "baselines/one_yes.json").symlink_to(outside)
    definition = load_definition(tiny_folder)
    (error,) = errors_of_folder(definition)
    assert error.startswith(
        "baselines/one_yes.json: a link that points outside the folder, but task.yaml uses it for the baseline All yes"
    )
    stored = PublicFiles.of(definition).baselines
    assert ("test", "one", "All yes") not in stored
    assert ("test", "two", "All yes") in stored
