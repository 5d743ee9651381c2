"""A run of generated texts, from upload to leaderboard. A confined child imports sacrebleu and rapidfuzz."""

from datetime import UTC, datetime

import pytest
from django.urls import reverse

from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.models import Evaluation
from tasks import build
from tests.portal.world import new_team, send, work_off

pytestmark = pytest.mark.slow
AT = datetime(2020, 11, 1, tzinfo=UTC)  # the post-evaluation phase is open


@pytest.mark.django_db(transaction=True)
def test_texts_are_scored_in_a_confined_child(tmp_path, client):
    folder = build("generation", tmp_path / "task")
    shared_task = import_shared_task(None, folder, AT).shared_task
    body = (folder / "baselines/test/en/triples.txt").read_bytes()
    submission = send(new_team(shared_task, "Lak"), "rdf2text_en_Lak.txt", body, AT, "post-evaluation")
    work_off(AT, confined=True)
    (evaluation,) = Evaluation.objects.filter(run__submission=submission)
    assert {"bleu", "chrf_pp", "ter", "rouge_l", "bleu@category=unseen"} <= evaluation.scores.keys()
    assert 0 < evaluation.scores["bleu"] < 100
    page = client.get(reverse("leaderboard", args=["generation", "en"]), {"phase": "post-evaluation"})
    assert b"case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0" in page.content
