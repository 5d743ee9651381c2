"""Benchmarks. Those with a peer print Agon's figure, the peer's figure and their ratio, measured in one run."""

import signal
import sys
from pathlib import Path

if Path(sys.argv[0]).resolve().parent == Path(__file__).resolve().parent:
    # Treat SIGTERM like Ctrl-C, so that servers started by a benchmark are also stopped.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
