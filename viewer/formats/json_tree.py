"""The joints of a skeleton file put in order: names checked, parents found, parents first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from viewer.errors import FormatError, quote, unknown_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from viewer.formats.json_structs import Joint

_LONGEST_CYCLE = 8


def place(joints: list[Joint], index: int) -> str:
    """The path of a joint, as messages have it: ``joints[1] "b"``."""
    return f"joints[{index}] {quote(joints[index].name)}"


def numbered(names: Iterable[str], kind: str) -> dict[str, int]:
    """The number of each name in a list of named things.

    Raises:
        FormatError: a name that occurs twice.
    """
    numbers: dict[str, int] = {}
    for index, name in enumerate(names):
        if numbers.setdefault(name, index) != index:
            problem = f"expected a name of its own, found that of {kind}[{numbers[name]}]"
            raise FormatError(problem, path=f"{kind}[{index}] {quote(name)}.name")
    return numbers


def parents_of(joints: list[Joint], numbers: dict[str, int]) -> list[int]:
    """The number of each joint's parent, -1 for roots.

    Raises:
        FormatError: a parent that there is not; near names are offered.
    """
    parents = []
    for index, joint in enumerate(joints):
        if joint.parent is not None and joint.parent not in numbers:
            problem = unknown_name("joint", joint.parent, numbers)
            raise FormatError(problem, path=f"{place(joints, index)}.parent")
        parents.append(-1 if joint.parent is None else numbers[joint.parent])
    return parents


def parents_first(joints: list[Joint], parents: list[int]) -> list[int]:
    """The joints' numbers in an order that has parents first, and is the file's own if that has.

    Each joint goes where the file has it, after those of its ancestors that have no place yet. Without recursion: a
    chain of thousands may be listed from its end.

    Raises:
        FormatError: joints that are their own ancestors; they are named.
    """
    order: list[int] = []
    placed = [False] * len(parents)
    for joint in range(len(parents)):
        branch: list[int] = []
        above = joint
        while above >= 0 and not placed[above]:
            if len(branch) > len(parents):
                raise _cycle(joints, parents, above)
            branch.append(above)
            above = parents[above]
        for one in reversed(branch):
            placed[one] = True
            order.append(one)
    return order


def _cycle(joints: list[Joint], parents: list[int], joint: int) -> FormatError:
    """The error that names the cycle that ``joint`` is in, from its first joint in the file."""
    cycle = [joint]
    while parents[cycle[-1]] != joint:
        cycle.append(parents[cycle[-1]])
    start = cycle.index(min(cycle))
    cycle = cycle[start:] + cycle[: start + 1]
    names = [quote(joints[one].name) for one in cycle[:_LONGEST_CYCLE]]
    names += ["…"] if len(cycle) > _LONGEST_CYCLE else []
    problem = f"expected parents up to a root, found the cycle {' -> '.join(names)}"
    return FormatError(problem, path=f"{place(joints, cycle[0])}.parent")
