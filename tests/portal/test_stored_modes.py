"""Files stored by one role can be read by other roles, which may run as different users in the same group."""

import os
import stat

from django.conf import settings

from tests.portal.world import GOOD, POST, send_run, stored_path


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_files_and_folders_are_for_the_group_to_read(meltemi):
    run = send_run(meltemi, GOOD, 1, POST, "post")
    assert mode(stored_path(run.submission.sha256)) == 0o640
    (definition,) = (settings.DATA_ROOT / "definitions").glob(f"{meltemi.shared_task.definition_sha256}*")
    assert mode(definition) == 0o750
    for folder, folders, files in os.walk(definition):
        assert {mode(definition / folder / name) for name in folders} <= {0o750}
        assert {mode(definition / folder / name) for name in files} <= {0o640}
    assert {mode(path) for path in settings.GOLD_ROOT.iterdir() if path.is_file()} == {0o640}
