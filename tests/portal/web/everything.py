"""Every response that could contain scores, to be compared byte by byte where hidden scores must have no effect."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from django.core.cache import caches
from django.test import Client
from django.urls import reverse

from portal.models import Run, SharedTask, Submission, Team
from tests.portal.world import captain

VARIES = re.compile(rb'csrfmiddlewaretoken" value="[^"]*"|name="key" value="[^"]*"|csrftoken=\S+|<updated>[^<]*')
CHANGING = ("X-Request-ID", "Expires")  # headers that are different in every response
FIGURES = ("by-class", "difficulty", "disagreement", "intervals", "labels", "over-time", "rank-stability")


def addresses(task: SharedTask) -> Iterator[str]:
    """Yield every URL that could show scores of the phase `evaluation`, with every sort order and export."""
    for name in ("task", "task_data", "task_evaluation", "task_terms", "submit", "team_runs", "team"):
        yield reverse(name, args=[task.slug])
    yield from (reverse("home"), reverse("task_folder", args=[task.slug]), reverse("feed"))
    for query in ("", "&format=csv", "&format=json"):
        yield f"{reverse('leaderboards', args=[task.slug])}?phase=evaluation{query}"
        yield f"{reverse('released_board', args=[task.slug, 'one', 'evaluation', 1])}?{query}"
    yield from (reverse(name, args=[task.slug, "evaluation"]) for name in ("paper", "paper_pack"))
    for track in ("one", "two"):
        page = reverse("leaderboard", args=[task.slug, track])
        for query in ("", "&runs=all", "&sort=accuracy", "&sort=-f1_macro", "&search=Notus", "&as_of=2024-05-02"):
            yield f"{page}?phase=evaluation{query}"
        for query in ("&format=csv", "&format=json", "&runs=all&format=csv"):
            yield f"{page}?phase=evaluation{query}"
    yield f"{reverse('insights', args=[task.slug, 'one'])}?phase=evaluation"
    yield f"{reverse('compare', args=[task.slug, 'one'])}?phase=evaluation&run=Notus&run=Auster"
    for figure in FIGURES:
        yield f"{reverse('insights_figure', args=[task.slug, 'one', figure, 'svg'])}?phase=evaluation"
    for run in Run.objects.filter(phase__slug="evaluation").order_by("pk"):
        yield reverse("run", args=[run.pk])
        yield reverse("run_file", args=[run.pk])
        yield reverse("run_figure", args=[run.pk, "confusion", "svg"])
    for submission in Submission.objects.order_by("pk"):
        for name in ("submission", "submission_status", "submission_report", "receipt"):
            yield reverse(name, args=[task.slug, submission.pk])


def everything(task: SharedTask, client: Client) -> dict[str, tuple[int, bytes]]:
    """Empty the board cache, and return the answers of all URLs."""
    return answers(client, addresses(task))


def answers(client: Client, wanted: Iterable[str]) -> dict[str, tuple[int, bytes]]:
    """Empty the board cache. Return each URL's status, and its headers and body without parts that always vary."""
    caches["boards"].clear()
    found = {}
    for address in wanted:
        answer: Any = client.get(address)
        body = b"".join(answer.streaming_content) if answer.streaming else answer.content
        heads = sorted((name, value) for name, value in answer.headers.items() if name not in CHANGING)
        found[address] = answer.status_code, VARIES.sub(b"", str(heads).encode() + body)
    return found


def readers(task: SharedTask, *teams: str) -> Iterator[Client]:
    """Yield a client that is not signed in, and one for the captain of each of these teams."""
    yield Client()
    for name in teams:
        client = Client()
        client.force_login(captain(Team.objects.get(name=name, shared_task=task)))
        yield client
