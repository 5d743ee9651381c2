"""The portal: a Django app, its settings and its programs. CHANGELOG.md says what is new in a version."""

__version__ = "0.2.0.dev0"  # as in pyproject.toml
