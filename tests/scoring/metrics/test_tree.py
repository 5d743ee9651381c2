import pytest

from scoring import limits
from scoring.metrics.tree import errors_of_tree


@pytest.mark.parametrize(
    ("hierarchy", "errors"),
    [
        ({}, []),
        ({"YES": ("a", "b"), "a": ("c",), "NO": ()}, []),
        ({"YES": ("a",), "NO": ("a",)}, ["a has two parents, YES and NO"]),
        ({"a": ("b",), "b": ("c",), "c": ("a",)}, [f"{name} is its own ancestor" for name in "abc"]),
        ({"a": ("a",)}, ["a is its own ancestor"]),
        ({"a": ("b",), "b": ("b",)}, ["b has two parents, a and b"]),
        ({f"c{n}": (f"c{n + 1}",) for n in range(limits.HIERARCHY_LEVELS - 1)}, []),
        ({f"c{n}": (f"c{n + 1}",) for n in range(limits.HIERARCHY_LEVELS)}, ["the hierarchy has more than 50 levels"]),
    ],
)
def test_what_is_no_tree_is_named(hierarchy: dict[str, tuple[str, ...]], errors: list[str]) -> None:
    assert errors_of_tree(hierarchy) == errors
