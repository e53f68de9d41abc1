"""Random skeleton files that nobody would make on purpose: named like people, but badly built."""

from __future__ import annotations

import random
from typing import Any

Entry = dict[str, Any]

_LIMBS: tuple[tuple[str, ...], ...] = (
    ("Shoulder", "Arm", "ForeArm", "Hand"), ("UpLeg", "Leg", "Foot", "Toe"), ("Thigh", "Knee"), ("Elbow", "Elbow"),
    ("Arm", "Elbow", "Twist", "Nub"), ("UpLeg", "Knee", "Ankle"), ("", "", ""),
)  # fmt: skip
_TRUNKS = ((), ("Spine", "Chest"), ("Spine", "Spine1", "Neck", "Head"), ("Neck", "Head"))
_SIDES = (("Left", "Right"), ("L_", "R_"), ("l_", "r_"))
_KINDS: tuple[Entry, ...] = (
    {"kind": "hinge", "axis": [1, 0, 0]}, {"kind": "hinge", "axis": [0, 1, 0]}, {"kind": "hinge", "axis": [0, 0, 1]},
    {"kind": "fixed"}, {"kind": "universal", "axes": [[1, 0, 0], [0, 0, 1]]}, {"kind": "slide", "axis": [0, 1, 0]},
)  # fmt: skip
_STRETCHES = (1.0, 1.0, 0.5, 1e-4, 1.3)


class _Odd:
    """A figure being made up."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.joints: list[Entry] = []
        self.names: set[str] = set()
        self.size = 10.0 ** self.dice.choice((0, 0, 0, -6, -2, 2, 6, self.dice.uniform(-6, 6)))
        self.no_length = self.dice.choice((0.0, 0.0, 0.2, 0.5))
        self.no_ends = self.dice.choice((0.0, 0.3, 1.0))

    def chance(self, part: float) -> bool:
        return self.dice.random() < part

    def offset(self, *direction: float) -> list[float]:
        """A random offset: roughly in that direction, of length zero, or in any direction."""
        if self.chance(self.no_length):
            return [0.0, 0.0, 0.0]
        if direction and self.chance(0.8):
            return [self.size * part * self.dice.choice(_STRETCHES) for part in direction]
        return [self.size * self.dice.choice((0, 0, 0.3, -0.3, self.dice.uniform(-1, 1))) for _ in range(3)]

    def add(self, wanted: str, parent: str | None, offset: list[float]) -> str:
        """A joint; its name is made free."""
        base = wanted or f"j{len(self.joints)}"
        name = next(free for n in range(99) if (free := f"{base}_{n}" if n else base) not in self.names)
        self.names.add(name)
        entry: Entry = {"name": name, "parent": parent, "offset": offset}
        if parent is not None and self.chance(0.2):
            entry |= self.dice.choice(_KINDS)
        elif parent is not None and self.chance(0.2):
            axes = self.dice.sample("xyz", self.dice.randint(1, 3))
            entry["limits"] = {axis: sorted(self.dice.uniform(-180, 180) for _ in range(2)) for axis in axes}
        if self.chance(0.15):
            turn = [self.dice.gauss(0, 1) for _ in range(4)]
            length = sum(part * part for part in turn) ** 0.5
            entry["rotation"] = [part / length for part in turn]
        self.joints.append(entry)
        return name

    def end(self, tips: list[list[float]]) -> None:
        """Add end sites to the joint that was added last."""
        if tips and not self.chance(self.no_ends):
            self.joints[-1]["tips"] = tips

    def body(self) -> None:
        """Add a root, perhaps a trunk, and pairs of limbs."""
        trunk = [self.add(self.dice.choice(("Hips", "Root", "Pelvis", "")), None, self.offset(0, 1, 0))]
        for name in self.dice.choice(_TRUNKS):
            trunk.append(self.add(name, trunk[-1], self.offset(0, 0.2, 0)))
        if self.chance(0.5):
            self.end([self.offset(0, 0.1, 0)])
        for _ in range(self.dice.randint(0, 3)):
            self.limbs(self.dice.choice(trunk))

    def limbs(self, at: str) -> None:
        """Twins that hang or reach sideways, mostly alike; each may end in a fan of joints in one place."""
        limb = self.dice.choice(_LIMBS)
        names = limb[: self.dice.randint(1, len(limb))]
        way = self.dice.choice(((0.0, -0.4, 0.0), (0.3, 0.0, 0.0)))
        offsets = [self.offset(0.1, 0, 0), *(self.offset(*way) for _ in names[1:])]
        tips = [self.offset(*way) for _ in range(self.dice.choice((0, 1, 1, 2)))]
        fan, named, alike = self.dice.choice((0, 0, 0, 1, 3)), self.chance(0.7), self.chance(0.85)
        for side, sign in zip(self.dice.choice(_SIDES), (1, -1), strict=True):
            if sign < 0 and self.chance(0.1):
                continue
            last = at
            for name, (x, y, z) in zip(names, offsets, strict=True):
                last = self.add(side + name if named else "", last, [sign * x, y, z] if alike else self.offset())
            self.end([[sign * x, y, z] for x, y, z in tips])
            for _ in range(fan):
                self.add("", last, [0.0, 0.0, 0.0] if self.chance(0.7) else self.offset())
                self.end([self.offset(*way)])


def odd_figure(seed: int) -> Entry:
    """The document of a skeleton file: limbs without ends, bones of no length, several roots, 1e-6 to 1e6 m."""
    odd = _Odd(seed)
    for _ in range(odd.dice.choice((1, 1, 1, 2, 3))):
        odd.body()
    return {"joints": odd.joints}
