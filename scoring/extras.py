"""Optional packages that only some commands and metrics need."""

import shlex
import sys
from importlib import import_module  # noqa: TID251 - names of optional packages
from typing import Any

METRIC_MODULES = ("sacrebleu.metrics", "rapidfuzz.distance")  # imported by the metrics that use them


def load(module: str, needed: str) -> Any:
    """Import a module of an optional package.

    Args:
        needed: the start of the error message, such as `Parquet files require`.

    Raises:
        ImportError: the package is missing. The message says how to install it.
    """
    try:
        return import_module(module)
    except ImportError as missing:
        raise ImportError(f"{needed} an additional package. Install it with: {install_command(missing)}") from None


def install_command(missing: ImportError) -> str:
    """Return the command that installs the module for this interpreter."""
    module = (missing.name or "").partition(".")[0]
    return f"{shlex.quote(sys.executable)} -m pip install {module}"
