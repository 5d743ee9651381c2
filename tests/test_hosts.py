"""The hosts of tests that separate machines."""

import subprocess
import sys

import pytest

from tests.conftest import NO_NAMESPACES
from tests.hosts import can_separate

SEPARATE = "from tests.hosts import separate; separate(['agon-one', 'agon-two']); print('ready', flush=True); input()"


@pytest.mark.skipif(not can_separate(), reason=NO_NAMESPACES)
def test_two_programs_have_hosts_at_once_and_leave_nothing_when_killed() -> None:
    running = [
        subprocess.Popen([sys.executable, "-c", SEPARATE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    try:
        for process in running:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
    finally:
        for process in running:
            process.kill()
            process.communicate()
    for listing in (["ip", "-brief", "link"], ["ip", "netns", "list"]):
        assert "agon-" not in subprocess.run(listing, capture_output=True, text=True, check=True).stdout
