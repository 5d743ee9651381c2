"""Packages that only some commands need."""

import shlex
import sys

PACKAGES = {"sklearn": "scikit-learn"}  # module → package, where it has another name


def install_command(missing: ImportError) -> str:
    """What to type so that this interpreter finds the module."""
    module = (missing.name or "").partition(".")[0]
    return f"{shlex.quote(sys.executable)} -m pip install {PACKAGES.get(module, module)}"
