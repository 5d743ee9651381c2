"""Benchmarks. Each prints our figure, the peer's figure and their ratio, measured in one run."""

import signal
import sys
from pathlib import Path

if Path(sys.argv[0]).resolve().parent == Path(__file__).resolve().parent:
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as for Ctrl-C: servers started by a benchmark end too
