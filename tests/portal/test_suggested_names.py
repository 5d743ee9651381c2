"""Names that reports suggest: they contain only run numbers that the team can still use."""

from portal.evaluation.check import check_content, child_for
from portal.models import Phase, Run
from portal.queries.uploads import inspect, valid_names
from portal.storage import store_upload
from scoring.limits import UPLOAD_BYTES
from scoring.uploads.name_rules import RunRule
from tests.portal.world import EVALUATION, GOOD, run_file, send_run, work_off

WRONG = "One_Meltemi_1.json"


def suggested(team, phase, name=WRONG):
    with store_upload([run_file(GOOD)], name, UPLOAD_BYTES) as stored:
        return {problem.suggestion for problem in inspect(team.shared_task, stored, team, phase).report}


def test_a_used_run_number_is_not_suggested(meltemi):
    phase = meltemi.shared_task.phases.get(slug="evaluation")
    assert suggested(meltemi, phase) == {"one_Meltemi_1.json"}
    send_run(meltemi, GOOD, 1, EVALUATION)
    assert suggested(meltemi, phase) == {"one_Meltemi_2.json"}
    assert valid_names(meltemi.shared_task, meltemi, phase).runs[0].name == "one_Meltemi_2.json"
    with store_upload([run_file(GOOD)], WRONG, UPLOAD_BYTES) as stored:
        used_numbers = Run.objects.holding_numbers(meltemi, phase).numbers_by_track()
        with child_for(meltemi.shared_task.definition, stored.path, phase) as child:
            finding, _kept = check_content(child, WRONG, meltemi, used_numbers)
    assert {problem["suggestion"] for problem in finding.problems} == {"one_Meltemi_2.json"}


def test_numbers_that_may_be_used_again_are_suggested(meltemi):
    phase = meltemi.shared_task.phases.get(slug="evaluation")
    send_run(meltemi, GOOD, 1, EVALUATION)
    phase.run_numbers = next(rule for rule in Phase.RunNumbers if rule != Phase.RunNumbers.ONCE)
    assert suggested(meltemi, phase) == {"one_Meltemi_1.json"}


def test_used_numbers_are_read_only_for_an_invalid_name(meltemi, django_assert_num_queries):
    phase = meltemi.shared_task.phases.get(slug="evaluation")
    send_run(meltemi, GOOD, 1, EVALUATION)
    with django_assert_num_queries(0):
        assert suggested(meltemi, phase, "one_Meltemi_1.json") == set()
    with django_assert_num_queries(1):
        assert suggested(meltemi, phase) == {"one_Meltemi_2.json"}


def test_an_upload_does_not_block_itself(meltemi):
    run = send_run(meltemi, GOOD, 1, EVALUATION)
    work_off(EVALUATION)
    run.refresh_from_db()
    assert (run.state, run.submission.problems) == ("scored", [])


def test_names_of_a_track_are_not_compared_with_other_tracks(meltemi, monkeypatch):
    """With 200 tracks, this would take seconds for each page that shows them."""
    compared, match = [], RunRule._match

    def counted(rule, pattern, name, *others):
        compared.append(name)
        return match(rule, pattern, name, *others)

    monkeypatch.setattr(RunRule, "_match", counted)
    found = valid_names(meltemi.shared_task, meltemi, meltemi.shared_task.phases.get(slug="evaluation")).runs
    assert len(compared) == len(found) > 1
