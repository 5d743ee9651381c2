"""Access tokens: their format, what they allow, and what ends them."""

import zlib
from datetime import timedelta

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import Client
from django.urls import reverse

from portal.actions.access_tokens import TOKENS, create_token, revoke_token
from portal.actions.accounts import delete_account
from portal.actions.announcements import publish_announcement
from portal.actions.base.errors import ActionError
from portal.actions.runs import describe_run
from portal.actions.teams import register_team
from portal.models import AccessToken, AuditEntry, SharedTask, User
from portal.models.access_token import is_well_formed, token_text
from portal.queries.personal_data import personal_data
from tests.portal.world import EVALUATION, GOOD, captain, organizer_of, person, send_run

PASSWORD = "a long winter in the north"


def issue(user: User, scope: str = "read", task: SharedTask | None = None, days: int = 30) -> tuple[AccessToken, str]:
    return create_token(user, user, EVALUATION, name="CI", scope=AccessToken.Scope(scope), shared_task=task, days=days)


def asking_by(user: User, scope: str = "read", task: SharedTask | None = None) -> User:
    """Return the user as a request with a token of this scope sees them."""
    _, text = issue(user, scope, task)
    found = AccessToken.objects.find(text, EVALUATION)
    assert found is not None
    found.user.token = found
    return found.user


def code(call, *args, **given) -> str:
    with pytest.raises(ActionError) as caught:
        call(*args, **given)
    return caught.value.code


def test_a_token_says_by_its_checksum_that_it_is_one():
    secret = "0" * 30
    value, digits = zlib.crc32(secret.encode()), "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    text = token_text(secret)
    assert sum(digits.index(one) * 62**place for place, one in enumerate(reversed(text[-6:]))) == value
    assert is_well_formed(text)
    assert not is_well_formed(text[:-1] + ("1" if text[-1] != "1" else "2"))
    assert not is_well_formed(f"{text}\n")


def test_only_its_digest_is_kept(db):
    token, text = issue(person("Ana"))
    assert text.startswith(token.shown)
    kept = [str(value) for value in vars(AccessToken.objects.get()).values()]
    assert not [value for value in kept if text[len(token.shown) :] in value]
    assert text not in str(AuditEntry.objects.get().detail)


def test_it_is_found_by_its_whole_text_until_it_ends(db):
    user = person("Ana")
    token, text = issue(user, days=7)
    find = AccessToken.objects.find
    assert find(text, EVALUATION) == token
    other = token_text(token.shown.removeprefix("agon_") + "x" * 22)
    assert find(other, EVALUATION) is None
    assert find("", EVALUATION) is None
    assert find(text, EVALUATION + timedelta(days=7)) is None
    assert find(text, EVALUATION + timedelta(days=7, seconds=-1)) == token
    revoke_token(user, token, EVALUATION)
    assert find(text, EVALUATION) is None


def test_its_use_is_noted_once_a_minute(db):
    token, text = issue(person("Ana"))
    seen = []
    for seconds in (0, 59, 60):
        found = AccessToken.objects.find(text, EVALUATION)
        found.used(EVALUATION + timedelta(seconds=seconds))
        seen.append(AccessToken.objects.get(pk=token.pk).last_used_at - EVALUATION)
    assert [one.seconds for one in seen] == [0, 0, 60]


def end_by_password(user):
    user.set_password(PASSWORD)
    user.save()


def end_by_deactivation(user):
    user.is_active = False
    user.save()
    User.objects.filter(pk=user.pk).update(is_active=True)  # a revoked token remains revoked


@pytest.mark.parametrize("end", [end_by_password, end_by_deactivation])
def test_it_ends_with_the_password_and_with_the_account(db, end):
    user = person("Ana")
    _, text = issue(user)
    issue(person("Bea"))
    end(user)
    assert AccessToken.objects.find(text, EVALUATION) is None
    entry = AuditEntry.objects.get(verb="revoke_token")
    assert (entry.actor, entry.detail["reason"]) == (
        user,
        {"end_by_password": "password"}.get(end.__name__, "deactivated"),
    )
    assert AccessToken.objects.valid(EVALUATION).count() == 1


def test_a_deactivated_account_has_none_at_once(db):
    user = person("Ana")
    _, text = issue(user)
    User.objects.filter(pk=user.pk).update(is_active=False)
    assert AccessToken.objects.find(text, EVALUATION) is None


def test_a_deleted_account_leaves_none(db):
    user = person("Ana")
    issue(user)
    delete_account(user, user, EVALUATION)
    assert not AccessToken.objects.exists()


def test_other_changes_of_an_account_end_none(db):
    user = person("Ana")
    _, text = issue(user)
    user.name = "Anna"
    user.save()
    assert AccessToken.objects.find(text, EVALUATION) is not None


def test_a_token_that_may_organize_needs_a_second_factor(gated):
    plain = person("Paul")
    gated.organizers.add(plain)
    assert code(issue, plain, "organize") == "no_second_factor"
    assert issue(organizer_of(gated), "organize")[0].scope == "organize"


def test_a_person_has_so_many(db):
    user = person("Ana")
    for _ in range(TOKENS):
        token, _text = issue(user)
    assert code(issue, user) == "too_many_tokens"
    revoke_token(user, token, EVALUATION)
    issue(user)


def test_the_scope_limits_what_an_organizer_sees_and_does(gated, tiny):
    organizer = organizer_of(gated)
    tiny.organizers.add(organizer)
    words = {"title": "News", "text": "Well."}
    for scope in ("read", "submit"):
        limited = asking_by(organizer, scope)
        assert not gated.is_organized_by(limited)
        assert code(publish_announcement, limited, gated, EVALUATION, **words) == "token_scope"
    whole = asking_by(organizer, "organize")
    assert gated.is_organized_by(whole)
    publish_announcement(whole, gated, EVALUATION, **words)
    one_task = asking_by(organizer, "organize", gated)
    assert gated.is_organized_by(one_task)
    assert not tiny.is_organized_by(one_task)
    assert set(SharedTask.objects.organized_by(one_task)) == {gated}
    publish_announcement(one_task, gated, EVALUATION, **words)
    assert code(publish_announcement, one_task, tiny, EVALUATION, **words) == "token_task"


def test_a_scope_gives_no_right_that_its_owner_lacks(gated):
    stranger = person("Eve")
    assert not gated.is_organized_by(AnonymousUser())
    asking = asking_by(stranger, "submit")
    assert code(publish_announcement, asking, gated, EVALUATION, title="News", text="Well.") == "token_scope"
    assert not gated.is_organized_by(asking)


def test_a_second_factor_that_is_removed_limits_the_token(gated):
    organizer = organizer_of(gated)
    asking = asking_by(organizer, "organize")
    organizer.authenticator_set.all().delete()
    assert not gated.is_organized_by(asking)


def test_a_read_token_changes_nothing(meltemi):
    run = send_run(meltemi, GOOD, 1, EVALUATION)
    member = captain(meltemi)
    assert code(describe_run, asking_by(member), run, EVALUATION, method="SVM") == "token_scope"
    assert code(register_team, asking_by(member), run.shared_task, EVALUATION, name="X") == "token_scope"
    describe_run(asking_by(member, "submit"), run, EVALUATION, method="SVM")


def test_no_token_makes_another_or_changes_the_account(db):
    asking = asking_by(person("Ana"), "submit")
    given = {"name": "CI", "scope": AccessToken.Scope.READ, "days": 1}
    assert code(create_token, asking, asking, EVALUATION, **given) == "not_by_token"
    assert code(delete_account, asking, asking, EVALUATION) == "not_by_token"
    assert code(revoke_token, asking, asking.token, EVALUATION) == "not_by_token"


def test_a_persons_own_data_name_the_tokens_and_not_their_digests(db):
    user = person("Ana")
    token, _ = issue(user)
    found = str(personal_data(user))
    assert token.shown in found
    assert AccessToken.objects.get().sha256 not in found


@pytest.fixture
def browser(db):
    """Ana's browser, just after she entered her password."""
    user = person("Ana")
    user.set_password(PASSWORD)
    user.save()
    user.emailaddress_set.create(email=user.email, verified=True, primary=True)
    client = Client()
    client.post("/accounts/login/", {"login": user.email, "password": PASSWORD})
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    return client


PAGE = "/settings/tokens/"
FORM = {"name": "CI of our system", "scope": "submit", "shared_task": "", "days": "30"}


@pytest.mark.slow
def test_the_page_shows_a_new_token_once(browser, tiny):
    answer = browser.post(PAGE, FORM | {"shared_task": tiny.slug})
    text = answer.context["text"]
    assert text in answer.content.decode()
    assert "no-store" in answer["Cache-Control"]
    token = AccessToken.objects.get()
    assert (token.name, token.scope, token.shared_task) == ("CI of our system", "submit", tiny)
    page = browser.get(PAGE).content.decode()
    assert "submit: Read and take part" in page
    assert "CI of our system" in page
    assert token.shown in page
    assert text not in page


def test_the_page_says_what_is_wrong(browser):
    assert (
        "Set up a second factor first" in (answer := browser.post(PAGE, FORM | {"scope": "organize"})).content.decode()
    )
    assert answer.status_code == 403
    assert browser.post(PAGE, FORM | {"name": ""}).status_code == 422
    assert browser.post(PAGE, FORM | {"days": "9999"}).status_code == 422
    assert not AccessToken.objects.exists()


def test_the_page_revokes_ones_own_alone(browser):
    browser.post(PAGE, FORM)
    own = AccessToken.objects.get()
    others, _ = issue(person("Bea"))
    assert browser.post(reverse("revoke_token", args=[others.pk])).status_code == 404
    assert browser.post(reverse("revoke_token", args=[own.pk])).url == PAGE
    assert list(AccessToken.objects.filter(revoked_at=None)) == [others]
    assert "The token “CI of our system” was revoked." in browser.get(PAGE).content.decode()


def test_creating_one_asks_for_the_password_again(db):
    user = person("Ana")
    client = Client()
    client.force_login(user)
    assert client.get(PAGE).status_code == 200
    user.set_password(PASSWORD)
    user.save()
    user.emailaddress_set.create(email=user.email, verified=True, primary=True)
    client = Client()
    client.post("/accounts/login/", {"login": user.email, "password": PASSWORD})
    assert client.get(PAGE).status_code == 200
    assert client.post(PAGE, FORM).url.startswith("/accounts/reauthenticate/")
    assert not AccessToken.objects.exists()
