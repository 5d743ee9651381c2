"""Loading all templates when a web server starts, so that a later change of the files does not mix two versions."""

from pathlib import Path

from django.template import engines
from django.template.backends.django import DjangoTemplates


def load_templates() -> None:
    """Load all templates of the portal and its packages. Django keeps them unless DEBUG is on."""
    engine = engines["django"]
    assert isinstance(engine, DjangoTemplates)
    for folder in map(Path, engine.template_dirs):
        for path in folder.rglob("*"):
            if path.is_file():
                engine.get_template(path.relative_to(folder).as_posix())
