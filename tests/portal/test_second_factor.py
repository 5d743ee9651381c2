"""Who touches gold or releases signs in with more than a password. # B37"""

import pytest
from django.http import HttpResponse
from django.test import RequestFactory
from django.urls import reverse

from portal.permissions import lacks_second_factor
from portal.web.access import second_factor_required
from tests.portal.world import person, set_up_second_factor


@pytest.fixture
def organizer(tiny):
    user = person("Organizer")
    tiny.organizers.add(user)
    return user


@pytest.fixture
def ask(organizer):
    """What a guarded page of the tiny task answers to its organizer."""

    def ask():
        request = RequestFactory().get("/tasks/tiny/organize/gold/")
        request.user = organizer
        page = second_factor_required(lambda request, slug: HttpResponse(f"gold, {request.second_factor_waived}"))
        return page(request, "tiny")

    return ask


def test_without_one_the_page_says_how_to_set_it_up(ask):
    response = ask()
    assert response.status_code == 403
    assert reverse("mfa_index") in response.content.decode()


def test_with_one_the_page_opens(ask, organizer):
    set_up_second_factor(organizer)
    assert ask().content == b"gold, False"
    assert not lacks_second_factor(organizer)


def test_the_demo_asks_for_none_and_says_so(ask, settings):
    settings.DEMO = True
    assert ask().content == b"gold, True"
