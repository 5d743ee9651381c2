"""Messages after a skipped step or a misspelled name: what is wrong, and which command helps."""

from pathlib import Path

import pytest

import agon as client
from agon.errors import NotFound
from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.actions.teams import register_team
from portal.models import SharedTask, Team
from tests.agon.conftest import Typed
from tests.portal.script import token_of
from tests.portal.world import EVALUATION, GOOD, person, run_file


@pytest.fixture
def gated(agon: Typed, gated_folder: Path) -> SharedTask:
    """A task with an agreement, questions and files. The user is in none of its teams."""
    return import_shared_task(None, gated_folder, EVALUATION).shared_task


def test_submitting_before_signing_names_the_command(
    agon: Typed, gated: SharedTask, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = person("Sirocco")
    register_team(user, gated, EVALUATION, name="Sirocco", answers={"use": "research"})
    Team.objects.update(state="approved")
    monkeypatch.setenv("AGON_TOKEN", token_of(user))
    Path("one_Sirocco_1.json").write_bytes(run_file(GOOD))
    agon("submit", "one_Sirocco_1.json", "-t", "gated", "--yes", expect=5)
    assert 'agreement first, then upload the file again. Run: agon sign gated --name "YOUR NAME"' in agon.err


@pytest.mark.parametrize(
    "words",
    [
        ["files", "tinny"],
        ["download", "tinny"],
        ["download", "tinny", "-f", "sample"],
        ["submit", "one_Meltemi_1.json", "-t", "tinny", "--yes"],
        ["runs", "list", "-t", "tinny"],
        ["team", "show", "-t", "tinny"],
        ["team", "create", "Sirocco", "-t", "tinny"],
        ["sign", "tinny"],
        ["leaderboard", "tinny/one"],
    ],
)
def test_a_misspelled_task_is_answered_with_the_closest_one(agon: Typed, words: list[str]) -> None:
    Path("one_Meltemi_1.json").write_bytes(run_file(GOOD))
    agon(*words, expect=1)
    assert agon.err == "agon: There is no task tinny, or you don’t have access to it. Did you mean tiny?\n"


def test_a_task_that_resembles_no_other_is_not_guessed(agon: Typed) -> None:
    agon("files", "quarantine", expect=1)
    assert (
        agon.err == "agon: There is no task quarantine, or you don’t have access to it. “agon tasks” lists all tasks.\n"
    )


@pytest.mark.slow
def test_a_hidden_task_is_never_suggested(agon: Typed, gated: SharedTask) -> None:
    agon("files", "gatd", expect=1)
    assert "Did you mean gated?" in agon.err
    SharedTask.objects.filter(slug="gated").update(state="hidden")
    assert agon.json("files", "gatd", expect=1)["code"] == "not_found"
    suggested = agon.err
    assert agon.json("files", "gated", expect=1)["code"] == "not_found"
    assert suggested.replace("gatd", "gated") == agon.err
    assert "Did you mean" not in suggested


@pytest.mark.slow
@pytest.mark.parametrize("command", ["check", "score", "explain"])
def test_a_misspelled_task_folder_is_answered_with_the_closest_task(
    agon: Typed, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = (command, "--task", "tinny", "one_Meltemi_1.json")
    agon(*words, expect=2)
    assert agon.err == (
        "agon: There is no task folder tinny. There is no task tinny, or you don’t have access to it. "
        "Did you mean tiny?\n"
    )
    agon(command, "--task", "tiny", "one_Meltemi_1.json", expect=2)
    assert agon.err.endswith("To get the task’s rules, run: agon download tiny -f rules\n")
    agon(command, "--task", "here/tiny", "one_Meltemi_1.json", expect=2)
    assert agon.err.endswith("run: agon download tiny -f rules -p here\n")
    agon("download", "tiny", "-f", "rules")
    agon(*words, expect=2)
    assert agon.err == "agon: There is no task folder tinny. Did you mean tiny? The portal has no task tinny.\n"
    for address in ("http://127.0.0.1:9", ""):  # offline, and without a portal
        monkeypatch.setenv("AGON_URL", address)
        agon(*words, expect=2)
        assert agon.err == (
            "agon: There is no task folder tinny. Did you mean tiny? The task tinny is not downloaded, or its name is "
            "misspelled. “agon tasks” lists all tasks. To get this task’s rules, run: agon download tinny -f rules\n"
        )
    found = agon.json(*words, expect=2)
    assert (found["code"], found["detail"]) == ("usage", agon.err.removeprefix("agon: ").rstrip())


def test_a_second_team_is_not_created(agon: Typed) -> None:
    for name in ("Meltemi", "Another", "meltemi"):
        agon("team", "create", name, expect=1)
        assert agon.err == "agon: You are already on the team Meltemi in Tiny.\n"


def test_a_team_without_a_name_is_reported_once(agon: Typed, gated: SharedTask) -> None:
    agon("team", "create", "", "-t", "gated", expect=1)
    assert agon.err == "agon: Name is required.\n"


def test_a_task_without_an_agreement_has_nothing_to_sign(agon: Typed) -> None:
    agon("sign", "tiny", expect=1)
    assert agon.err == "agon: tiny has no data agreement, so there is nothing to sign.\n"


@pytest.mark.parametrize("words", [["team", "show"], ["team", "leave", "--yes"]])
def test_who_has_no_team_reads_how_to_create_one(agon: Typed, gated: SharedTask, words: list[str]) -> None:
    agon(*words, "-t", "gated", expect=1)
    assert "You have no team in gated. Create a team with “agon team create NAME -t gated”" in agon.err


def test_a_file_that_does_not_exist_is_answered_with_those_that_do(agon: Typed) -> None:
    with pytest.raises(NotFound, match=r"tiny has no file training\. Available files: sample, test, dev, later\."):
        client.load("tiny", "training")
    with pytest.raises(NotFound, match="Did you mean tiny"):
        client.load("tinny", "training")


@pytest.mark.slow
def test_a_question_without_an_answer_is_named_with_its_key(agon: Typed, gated: SharedTask) -> None:
    create = ("team", "create", "Sirocco", "-t", "gated")
    agon(*create, expect=1)
    assert agon.err.endswith(
        "Answer this question: What will you use the data for?\n"
        "Add to the command:\n"
        '  --answer use="…"  What will you use the data for?\n'
    )
    agon(*create, "--answer", "use=research", "--answer", "kind=person", expect=1)
    assert agon.err.endswith('\n  --answer kind="…"  What are you? (one of: university, company)\n')
    assert agon.json(*create, "--answer", "kind=person", expect=1)["code"] == "team_answers"
    assert [line.split()[1] for line in agon.err.splitlines()[-2:]] == ['use="…"', 'kind="…"']
    agon(*create, "--answer", "use=research", "--answer", "kind=company")


@pytest.mark.slow
def test_a_missing_run_field_is_named_with_its_option(
    agon: Typed, task: SharedTask, folder: Path, worker: None
) -> None:
    with (folder / "task.yaml").open("a") as file:
        file.write("run_fields: [{key: model, label: Model, required: true}, {key: dataset, label: Training data}]\n")
    import_shared_task(None, folder, EVALUATION)
    run = Path("one_Meltemi_1.json")
    run.write_bytes(run_file(GOOD))
    agon("submit", run, "--dry-run")  # needs no run fields
    agon("submit", run, "--yes", expect=2)
    assert agon.err.endswith('Add to the command:\n  --field model="…"  Model\n')
    agon("submit", run, "--yes", "--field", "modle=BERT", expect=2)
    assert agon.err.endswith(
        "Unknown run field modle. The task's run fields:\n  model: Model\n  dataset: Training data\n"
    )
    agon("submit", run, "--yes", "--field", "model", expect=2)
    assert "Invalid run field model. Use the form KEY=TEXT." in agon.err
    found = agon.json("submit", run, "--yes", "-m", "first try", "--field", "model=BERT", "--field", "dataset=a=b & c")
    assert found["runs"][0]["fields"] == {"model": "BERT", "dataset": "a=b & c"}
    described = client.Portal().describe("tiny", found["runs"][0]["id"], fields={"dataset": "OLID"})
    assert described.fields == {"model": "BERT", "dataset": "OLID"}
