"""Packages that only some commands need."""

import shlex
import sys

PACKAGES = {"sklearn": "scikit-learn"}  # module → package, if it has another name


def install_command(missing: ImportError) -> str:
    """The command to install the module for this interpreter."""
    module = (missing.name or "").partition(".")[0]
    return f"{shlex.quote(sys.executable)} -m pip install {PACKAGES.get(module, module)}"
