"""Effectors: points of a skeleton to which goals apply, and default effectors for files that state none."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from viewer.errors import InputError, quote
from viewer.skeleton.names import BodyPart, body_part
from viewer.spatial.checks import Floats, Ints, finite_floats, member, text, whole


class EffectorGoal(StrEnum):
    """The goal of an effector when a file opens; the values are the words of the skeleton file."""

    POSITION = "position"
    ROTATION = "rotation"
    POSE = "position+rotation"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class Effector:
    """A point fixed to a joint.

    Attributes:
        name: unique among effectors.
        joint: index of the joint.
        offset: metres, in the joint's frame.
        goal: its goal when the file opens.
    """

    name: str
    joint: int
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)
    goal: EffectorGoal = EffectorGoal.POSITION

    def __repr__(self) -> str:
        """Its name, joint, offset and goal."""
        at = f" at ({', '.join(f'{number:.4g}' for number in self.offset)})" if any(self.offset) else ""
        return f"<Effector {quote(self.name)}: joint {self.joint}{at}, {self.goal}>"

    def __post_init__(self) -> None:
        """Convert to plain numbers and an `EffectorGoal`.

        Raises:
            InputError: an empty name, an invalid joint index or offset, an unknown goal.
        """
        name = text(self.name, "effector name", empty=False)
        what = f"effector {quote(name)}"
        joint: object = self.joint
        if isinstance(joint, str):
            raise InputError(f"{what}: joint: expected its index, found {quote(joint)}: skeleton.index gives it")
        x, y, z = finite_floats(self.offset, (3,), f"{what}: offset").tolist()
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "joint", whole(self.joint, f"{what}: joint"))
        object.__setattr__(self, "offset", (x, y, z))
        object.__setattr__(self, "goal", member(EffectorGoal, self.goal, f"{what}: goal"))


_WANTED = (
    ("left", ("hand", "wrist")),
    ("right", ("hand", "wrist")),
    ("left", ("foot", "ankle")),
    ("right", ("foot", "ankle")),
    ("", ("head",)),
)
"""Effectors that are on, in this order; of two names for one part the first is preferred."""

_FINE_PARTS = {"finger", "toe", "tail", "claw"}
MOST_LEAVES = 12


def find_effectors(
    names: tuple[str, ...], parents: Ints, tip_parents: Ints, tip_offsets: Floats
) -> tuple[Effector, ...]:
    """Hands (or wrists), feet (or ankles) and the head are on; tips of fingers, toes, tails and claws are off.

    If no name is recognised, the tips of at most `MOST_LEAVES` leaves are on and the others off.
    """
    parts = [body_part(name) for name in names]
    leaves = _leaves(names, parents, tip_parents, tip_offsets)
    found = [joint for side, words in _WANTED if (joint := _first(parts, side, words)) is not None]
    if not found:
        goals = [EffectorGoal.POSITION] * MOST_LEAVES + [EffectorGoal.OFF] * max(0, len(leaves) - MOST_LEAVES)
        return tuple(
            Effector(leaf.name, leaf.joint, leaf.offset, goal) for leaf, goal in zip(leaves, goals, strict=False)
        )
    fine = [leaf for leaf in leaves if parts[leaf.joint].part in _FINE_PARTS and leaf.joint not in found]
    return (*(Effector(names[joint], joint) for joint in found), *fine)


def _first(parts: list[BodyPart], side: str, words: tuple[str, ...]) -> int | None:
    """The joint nearest to the root with a name of this part; earlier words are preferred."""
    for word in words:
        for joint, part in enumerate(parts):
            if (part.side, part.part, part.helper) == (side, word, False):
                return joint
    return None


def _leaves(names: tuple[str, ...], parents: Ints, tip_parents: Ints, tip_offsets: Floats) -> list[Effector]:
    """An effector (off) at every end site, and at every leaf joint without one, in joint order.

    An end site without length is at its joint and takes the joint's name.
    """
    inner = set(parents.tolist())
    tips_of: dict[int, list[tuple[float, float, float]]] = {}
    for joint, (x, y, z) in zip(tip_parents.tolist(), tip_offsets.tolist(), strict=True):
        tips_of.setdefault(joint, []).append((x, y, z))
    leaves: list[Effector] = []
    for joint, name in enumerate(names):
        tips = tips_of.get(joint, [])
        if not tips and joint not in inner:
            leaves.append(Effector(name, joint, goal=EffectorGoal.OFF))
        for number, offset in enumerate(tips, start=1):
            label = name if not any(offset) else f"{name}.tip{'' if number == 1 else number}"
            leaves.append(Effector(label, joint, offset, EffectorGoal.OFF))
    return list({leaf.name: leaf for leaf in leaves}.values())
