"""The shared tasks that ship with Agon: definitions, pages, and generators of synthetic data.

The five tasks in `GENERATORS` are the demo. `TEMPLATES` has further tasks, each for one kind of task. `build` makes a
complete task folder from the committed files and generated items, gold standards and baselines.
"""

import shutil
from collections.abc import Callable
from pathlib import Path

from .detests2022 import generate as detests2022
from .entities import generate as entities
from .exist2024 import generate as exist2024
from .generation import generate as generation
from .hateval2019 import generate as hateval2019
from .multilingual import generate as multilingual
from .regression import generate as regression
from .retrieval import generate as retrieval
from .ssa2023 import generate as ssa2023
from .toxicspans2021 import generate as toxicspans2021

GENERATORS: dict[str, Callable[..., None]] = {
    "exist2024": exist2024.generate,
    "ssa2023": ssa2023.generate,
    "detests2022": detests2022.generate,
    "toxicspans2021": toxicspans2021.generate,
    "hateval2019": hateval2019.generate,
}
TEMPLATES: dict[str, Callable[..., None]] = {
    **GENERATORS,
    "regression": regression.generate,
    "generation": generation.generate,
    "retrieval": retrieval.generate,
    "entities": entities.generate,
    "multilingual": multilingual.generate,
}


def build(slug: str, folder: Path) -> Path:
    """Write the shared task `slug` (a key of TEMPLATES) to `folder` and return its path.

    The bytes are always the same.
    """
    source = Path(__file__).parent / slug
    shutil.copytree(source / "pages", folder / "pages", dirs_exist_ok=True)
    shutil.copy(source / "task.yaml", folder)
    TEMPLATES[slug](folder)
    return folder
