"""Trees of classes. An item with a class also has all of the class's ancestors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from scoring import limits

Value = TypeVar("Value", np.bool_, np.float64)


@dataclass(frozen=True, slots=True)
class Tree:
    """Classes by index. `parents[i]` is the index of the parent of class i, or -1 at the top level."""

    classes: tuple[str, ...]
    parents: NDArray[np.intp]

    def close(self, values: NDArray[Value]) -> NDArray[Value]:
        """Return a copy of `values` (items, classes) in which each class has at least the value of each descendant."""
        closed = values.copy()
        for child in self._deepest_first():
            parent = self.parents[child]
            np.maximum(closed[:, parent], closed[:, child], out=closed[:, parent])
        return closed

    def _deepest_first(self) -> list[int]:
        """Return the classes that have a parent, with children before their parents."""
        depth = {}
        for child in np.flatnonzero(self.parents >= 0).tolist():
            depth[child], node = 0, child
            while (node := self.parents[node]) >= 0:
                depth[child] += 1
        return sorted(depth, key=lambda child: -depth[child])


def grow(columns: Sequence[str], hierarchy: Mapping[str, Sequence[str]] | None) -> Tree:
    """Return the tree of `columns`, followed by the classes that occur only in `hierarchy` (parent → children)."""
    hierarchy = hierarchy or {}
    named = [name for parent, children in hierarchy.items() for name in (parent, *children)]
    classes = tuple(dict.fromkeys([*columns, *named]))
    position = {name: index for index, name in enumerate(classes)}
    parents = np.full(len(classes), -1, dtype=np.intp)
    for parent, children in hierarchy.items():
        for child in children:
            parents[position[child]] = position[parent]
    return Tree(classes, parents)


def errors_of_tree(hierarchy: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the reasons why `hierarchy` (parent → children) is not a tree."""
    pairs = [(child, parent) for parent, children in hierarchy.items() for child in children]
    parents = dict(reversed(pairs))
    errors = [f"{child} has two parents, {parents[child]} and {own}" for child, own in pairs if parents[child] != own]
    errors += [f"{name} is its own ancestor" for name in sorted(_in_cycles(parents))]
    if not errors and _is_too_deep(parents):
        errors = [f"the hierarchy has more than {limits.HIERARCHY_LEVELS} levels"]
    return errors


def _is_too_deep(parents: Mapping[str, str]) -> bool:
    for name in parents:
        levels = 1
        while name in parents:
            name, levels = parents[name], levels + 1
            if levels > limits.HIERARCHY_LEVELS:
                return True
    return False


def _in_cycles(parents: Mapping[str, str]) -> set[str]:
    """Return the children (child → parent) that are their own ancestors, in time linear in their number."""
    found, seen = set[str](), set[str]()
    for name in parents:
        path = list[str]()
        while name in parents and name not in seen:
            seen.add(name)
            path.append(name)
            name = parents[name]
        if name in path:
            found.update(path[path.index(name) :])
    return found
