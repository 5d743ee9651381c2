"""The portal: a Django app with its settings and programs. CHANGELOG.md lists what is new in each version."""

__version__ = "0.2.0.dev0"  # the same as in pyproject.toml
