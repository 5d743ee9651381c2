"""Complete shared tasks, each built once for all tests in this folder."""

from pathlib import Path

import pytest

from scoring import Definition, load_definition
from tasks import GENERATORS, build


class Built:
    """Complete folders of the shared tasks. Each is built when a test first needs it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._definitions: dict[str, Definition] = {}

    def __getitem__(self, slug: str) -> Definition:
        if slug not in self._definitions:
            self._definitions[slug] = load_definition(build(slug, self._folder / slug))
        return self._definitions[slug]


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return Built(tmp_path_factory.mktemp("tasks"))


@pytest.fixture(params=GENERATORS)
def definition(built: Built, request: pytest.FixtureRequest) -> Definition:
    """Each shared task in turn."""
    return built[request.param]
