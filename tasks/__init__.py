"""The shared tasks that ship with Agon: definitions, pages, and generators of synthetic data.

The five tasks in `GENERATORS` are campaigns. `TEMPLATES` also has tasks that each show one kind of task. The demo
has the campaigns and "Try Agon", which always accepts runs. `build` makes a complete task folder from the committed
files and generated items, gold standards and baselines.
"""

import shutil
from collections.abc import Callable
from pathlib import Path

from scoring import load_definition
from scoring.baselines.reading import write_declared

from .detests2022 import generate as detests2022
from .entities import generate as entities
from .exist2024 import generate as exist2024
from .generation import generate as generation
from .hateval2019 import generate as hateval2019
from .multilingual import generate as multilingual
from .regression import generate as regression
from .retrieval import generate as retrieval
from .softlabels import generate as softlabels
from .ssa2023 import generate as ssa2023
from .toxicspans2021 import generate as toxicspans2021
from .tryagon import generate as tryagon

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
    "softlabels": softlabels.generate,
    "tryagon": tryagon.generate,
}
# The smallest first, because the demo loads them in this order.
DEMO = ("tryagon", "ssa2023", "toxicspans2021", "detests2022", "hateval2019", "exist2024")


def build(slug: str, folder: Path) -> Path:
    """Write the shared task `slug` (a key of TEMPLATES) to `folder` and return its path.

    The files are always the same, byte for byte.
    """
    source = Path(__file__).parent / slug
    shutil.copytree(source / "pages", folder / "pages", dirs_exist_ok=True)
    shutil.copy(source / "task.yaml", folder)
    TEMPLATES[slug](folder)
    write_declared(load_definition(folder))
    return folder
