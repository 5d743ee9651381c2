"""The program of the process that runs an own scorer: it confines itself and then runs the scorer.

`python launch.py PARENT JOB` is started by its path, without any variables of the worker. PARENT is the worker's
process id, and JOB is as in `scoring.own_scorers.runner`, with the limits `seconds` and `memory`. Nothing of the scorer
is read before the process is confined.
"""

import json
import runpy
import sys
from pathlib import Path

_CHECKOUT = Path(__file__).resolve().parents[3]
_RUNNER = _CHECKOUT / "scoring/own_scorers/runner.py"  # read by its path, because its package imports NumPy


def main() -> None:
    parent, job = int(sys.argv[1]), json.loads(sys.argv[2])
    sys.path.insert(0, str(_CHECKOUT))
    from portal.evaluation.confinement import confine_scorer  # noqa: PLC0415 - the path is set above

    sys.path.remove(str(_CHECKOUT))
    run = runpy.run_path(str(_RUNNER))["run"]
    folders = [Path(job[name]) for name in ("program", "input", "output")]
    confine_scorer(parent, job["seconds"], job["memory"], folders, list(folders[2].iterdir()))
    run(job)


if __name__ == "__main__":
    main()
