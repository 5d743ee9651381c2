"""Optional packages that only some commands and metrics need."""

import shlex
import sys

METRIC_MODULES = ("sacrebleu.metrics", "rapidfuzz.distance")  # imported by the metrics that use them


def install_command(missing: ImportError) -> str:
    """Return the command that installs the module for this interpreter."""
    module = (missing.name or "").partition(".")[0]
    return f"{shlex.quote(sys.executable)} -m pip install {module}"
