"""Signing the data agreement, what requires the signature, and new versions of the agreement."""

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.files.uploadedfile import SimpleUploadedFile

from portal.actions.agreement import sign_agreement
from portal.actions.approval import approve_team
from portal.actions.base.errors import Conflict, Invalid, NotAllowed
from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.actions.teams import register_team
from portal.actions.uploads.validate_only import report_of, validate_only
from portal.models import AuditEntry, SharedTask, Signature, Submission, Validation
from portal.models.signature import text_sha256
from portal.permissions import has_signed
from portal.queries.agreement import current_agreement
from tests.portal.remembered import remembered
from tests.portal.world import EVALUATION, GOOD, POST, captain, organizer_of, person, run_file, send, sign, validated

PAGE = "/tasks/gated/agreement/"


@remembered
def team(gated):
    team = register_team(person("Cleo"), gated, EVALUATION, name="Bora", answers={"use": "research"})
    organizer = organizer_of(gated, "Organizer")
    approve_team(organizer, team, EVALUATION)
    return type(team).objects.get(pk=team.pk)


def new_version(folder, version="2", text="# New terms\n"):
    (folder / "pages/terms.md").write_text(text)
    path = folder / "task.yaml"
    path.write_text(path.read_text().replace('version: "1"', f'version: "{version}"'))
    return import_shared_task(None, folder, EVALUATION).shared_task


def test_a_signature_holds_all_that_it_proves(gated):
    user = person("Cleo")
    assert not has_signed(user, gated)
    signature = sign(user, gated)
    assert has_signed(user, gated)
    text = gated.definition.agreement.file.read_text()
    assert (signature.text, signature.sha256) == (text, text_sha256(text))
    assert (signature.typed_name, signature.address, signature.signed_at) == ("Cleo", "192.0.2.1", EVALUATION)
    assert sign(user, gated, POST) == signature
    assert AuditEntry.objects.get(verb="sign_agreement").detail["sha256"] == signature.sha256


@pytest.mark.parametrize(("name", "error"), [("", Invalid), (" x ", Invalid)])
def test_a_name_is_typed(gated, name, error):
    with pytest.raises(error):
        sign_agreement(
            person("Cleo"), gated, POST, typed_name=name, sha256=text_sha256("# Terms\n\nUse the data for research.\n")
        )
    assert not Signature.objects.exists()


def test_only_the_text_that_was_read_is_signed(gated, tiny):
    with pytest.raises(Conflict, match="changed since you opened it"):
        sign_agreement(person("Cleo"), gated, POST, typed_name="Cleo", sha256=text_sha256("another"))
    with pytest.raises(Conflict, match="no agreement"):
        sign_agreement(person("Ada"), tiny, POST, typed_name="Ada", sha256="")
    assert not Signature.objects.exists()


def test_no_run_without_a_signature(team):
    name, body = "one_Bora_1.json", run_file(GOOD)
    with pytest.raises(NotAllowed, match="Sign this task’s data agreement") as raised:
        send(team, name, body, EVALUATION)
    assert (raised.value.code, raised.value.http_status) == ("unsigned", 403)
    assert not Submission.objects.exists()
    sign(captain(team), team.shared_task)
    receipt = send(team, name, body, EVALUATION, key="click")
    Signature.objects.all().delete()
    assert send(team, name, body, EVALUATION, key="click") == receipt  # accepted uploads remain accepted


def agreement_states(task, user):
    """Return what the user and then a visitor have signed: this version, or only an earlier one."""
    found = [current_agreement(task, viewer) for viewer in (user, AnonymousUser())]
    return [(one.is_signed, one.signed_earlier) for one in found]


def test_a_new_version_asks_for_a_new_signature(team, gated_folder):
    user = captain(team)
    sign(user, team.shared_task)
    task = new_version(gated_folder)
    assert not has_signed(user, task)
    assert agreement_states(task, user) == [(False, True), (False, False)]
    team.shared_task = task
    with pytest.raises(NotAllowed, match="Sign this task’s data agreement"):
        send(team, "one_Bora_1.json", run_file(GOOD), EVALUATION)
    sign(user, task)
    assert agreement_states(task, user) == [(True, False), (False, False)]
    assert send(team, "one_Bora_1.json", run_file(GOOD), EVALUATION)
    assert Signature.objects.filter(user=user).count() == 2


def test_a_report_asks_for_the_signature_of_a_new_version(team, gated_folder):
    sign(captain(team), team.shared_task)
    phase = team.shared_task.phases.get(slug="evaluation")
    given = {"content": [run_file(GOOD)], "file_name": "one_Bora_1.json"}
    validation = validate_only(captain(team), phase, EVALUATION, **given)
    assert validated(validation, EVALUATION).would_be_accepted
    new_version(gated_folder)
    assert report_of(Validation.objects.get(), EVALUATION).rejection.code == "unsigned"


def test_a_signed_text_is_not_changed_under_its_version(gated, gated_folder):
    (gated_folder / "pages/terms.md").write_text("# Terms\n\nA typo fixed.\n")
    task = import_shared_task(None, gated_folder, EVALUATION).shared_task  # allowed, because no one has signed yet
    sign(person("Cleo"), task)
    with pytest.raises(Conflict, match="Give the new text a new version number"):
        new_version(gated_folder, version="1")
    assert SharedTask.objects.get().definition_sha256 == task.definition_sha256


def test_the_page_is_read_by_anybody_and_signed_by_people(client, gated):
    text = client.get(PAGE).content.decode()
    assert "Use the data for research." in text
    assert "Sign in" in text
    assert client.post(PAGE, {"name": "Visitor"})["Location"].startswith("/accounts/login/")
    user = person("Cleo")
    client.force_login(user)
    sha256 = client.get(PAGE).context["agreement"].sha256
    fields = {"name": "Cleo Captain", "sha256": sha256, "next": "/tasks/gated/submit/"}
    response = client.post(PAGE, fields, REMOTE_ADDR="192.0.2.7", headers={"X-Forwarded-For": "198.51.100.1"})
    assert response["Location"] == "/tasks/gated/submit/"
    signature = Signature.objects.get()
    assert (signature.typed_name, signature.address, signature.user) == ("Cleo Captain", "192.0.2.7", user)
    assert "You have signed this version" in client.get(PAGE).content.decode()


@pytest.mark.parametrize("address", ["https://evil.example/", "//evil.example", "home", "javascript:alert(1)"])
def test_signing_leads_to_no_other_site(client, gated, address):
    client.force_login(person("Cleo"))
    fields = {"name": "Cleo", "sha256": client.get(PAGE).context["agreement"].sha256, "next": address}
    assert client.post(PAGE, fields)["Location"] == PAGE


def test_what_was_not_read_is_rejected_on_the_page(client, gated):
    client.force_login(person("Cleo"))
    response = client.post(PAGE, {"name": "Cleo", "sha256": "0" * 64})
    assert response.status_code == 409
    assert "Read it again" in response.content.decode()
    assert client.post(PAGE, {"sha256": response.context["agreement"].sha256}).status_code == 422


def test_who_sees_a_signed_copy(client, gated, team):
    signature = sign(captain(team), gated)
    copy = f"{PAGE}signed/{signature.pk}/"
    assert client.get(copy).status_code == 302
    other = person("Other")
    sign(other, gated)
    for user, status in [(captain(team), 200), (gated.organizers.get(), 200), (other, 404)]:
        client.force_login(user)
        response = client.get(copy)
        assert response.status_code == status
    client.force_login(captain(team))
    text = client.get(copy).content.decode()
    assert signature.sha256 in text
    assert "192.0.2.1" in text
    assert client.post(copy).status_code == 405
    gated_copy_elsewhere = copy.replace("gated", "tiny")
    assert client.get(gated_copy_elsewhere).status_code == 404


@pytest.mark.slow
def test_the_upload_page_asks_for_the_signature(client, team):
    client.force_login(captain(team))
    text = client.get("/tasks/gated/submit/").content.decode()
    assert "Read and sign the agreement" in text
    assert "id_file" not in text
    for page in ("submit", "validate"):
        upload = {"file": SimpleUploadedFile("one_Bora_1.json", run_file(GOOD)), "phase": "evaluation"}
        answer = client.post(f"/tasks/gated/{page}/", upload)
        assert answer.status_code == 403
        assert "Read and sign the agreement" in answer.content.decode()
    assert not Submission.objects.exists()
    assert not Validation.objects.exists()
    sign(captain(team), team.shared_task)
    assert "id_file" in client.get("/tasks/gated/submit/").content.decode()


def test_a_task_without_an_agreement_has_no_such_page(client, tiny):
    assert client.get("/tasks/tiny/agreement/").status_code == 404
