"""`python -m tasks SLUG FOLDER`: write one of the shared tasks with its synthetic data to a folder."""

import argparse
from pathlib import Path

from . import TEMPLATES, build


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tasks", description=__doc__)
    parser.add_argument("slug", choices=TEMPLATES, metavar="SLUG", help=", ".join(TEMPLATES))
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="target folder, created if necessary")
    arguments = parser.parse_args()
    build(arguments.slug, arguments.folder)


if __name__ == "__main__":
    main()
