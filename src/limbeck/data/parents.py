"""Categories that belong together under a parent, which may have a parent itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from limbeck.config import Project, place_of
from limbeck.errors import BadSetting, nearest


def families(parents: Mapping[str, str], labels: Sequence[str]) -> dict[str, list[int]]:
    """Give each parent's categories, by their places in `labels`, those of its children among them.

    Parents come in the order of their first categories, a parent before its own. One that is a category itself is none
    of its own categories.
    """
    found: dict[str, list[int]] = {}
    for place, label in enumerate(labels):
        for parent in _above(parents, label):
            found.setdefault(parent, []).append(place)
    return found


def parent_names(parents: Mapping[str, str], labels: Sequence[str]) -> dict[str, str]:
    """Give the path of parents of each category that has any, as in 'transport / rail'."""
    return {label: " / ".join(above) for label in labels if (above := _above(parents, label))}


def _above(parents: Mapping[str, str], label: str) -> list[str]:
    """Give a category's parents, the highest first."""
    found: list[str] = []
    while label in parents:
        label = parents[label]
        found.insert(0, label)
    return found


def check_parents(project: Project, labels: Sequence[str]) -> None:
    """Raise if data.parents says whose parent something is that is neither a category nor a parent."""
    parents = project.config.data.parents
    known = [*labels, *parents.values()]
    for name in parents:
        if name not in known:
            raise BadSetting(
                f"data.parents names '{name}', which is no category.",
                nearest(name, labels),
                place_of(project, "data", "parents", name),
            )
