"""A newcomer on a bare machine: the README's command, one extra line for Debian, an upload, and a score."""

import json
import os
import re
import signal
import threading

from portal.management.valkey import HOST, free_port
from tasks import DEMO as TASKS
from tests.bare.conftest import Machine
from tests.bare.visitor import Visitor
from tests.services import PATIENCE, children, wait_until

BOARD = "/tasks/hateval2019/leaderboard/en-a/?phase=post-evaluation&format=json"


class Demo:
    """`./run demo`, from its welcome message until Ctrl-C. If the test fails, its log is shown."""

    def __init__(self, machine: Machine, port: int) -> None:
        self.log = ""
        self._process = machine.start("cd agon && exec ./run demo", PORT=str(port))
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        wait_until(lambda: "Agon is ready" in self.log or not self._reader.is_alive(), "the demo is ready")
        assert "Agon is ready" in self.log

    def _read(self) -> None:
        for line in self._process.stdout or ():
            print(line, end="")
            self.log += line

    def press_ctrl_c(self) -> None:
        (inner,) = children(self._process.pid)
        os.kill(inner, signal.SIGINT)
        self._reader.join(timeout=PATIENCE)
        assert "Stopped." in self.log
        assert self._process.wait() == 0


def test_from_the_readme_to_a_scored_run(machine: Machine) -> None:
    code, output = machine.run("cd agon && ./run demo")
    assert code == 1
    line = re.search(r"sudo (apt-get install \S+)", output)
    assert line, output
    code, output = machine.run(f"apt-get update && {line[1]} --yes", user="root")
    assert code == 0, output

    port = free_port()
    demo = Demo(machine, port)
    assert "is loaded (6 of 6" in demo.log
    visitor = Visitor(f"http://{HOST}:{port}")
    home = visitor.get("/")
    for slug in TASKS:
        assert f"/tasks/{slug}/" in home
    visitor.sign_in("captain@agon.example", "agon-demo")
    tweets = visitor.get("/tasks/hateval2019/data/test-en/").splitlines()[1:]
    run = "".join(f"{tweet.split()[0]}\t0\n" for tweet in tweets)
    visitor.upload("hateval2019", "post-evaluation", "en_a.tsv", run.encode())
    wait_until(lambda: "Meltemi" in teams_on(visitor), "the run is scored and ranked")
    demo.press_ctrl_c()

    again = Demo(machine, port)
    assert "Meltemi" in teams_on(visitor)
    again.press_ctrl_c()
    for once in ("Creating the environment", "Installing the packages"):
        assert once in demo.log
        assert once not in again.log


def teams_on(visitor: Visitor) -> list[str]:
    return [row["team"] for row in json.loads(visitor.get(BOARD))["rows"]]
