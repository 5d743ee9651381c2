"""Compare the speed of scoring with PyEvALL: `python benchmarks/scoring.py [--json] [--write] [--repeats N]`."""

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[1])  # otherwise `import scoring` would import this file

from benchmarks.scoring_speed import main  # noqa: E402

if __name__ == "__main__":
    main()
