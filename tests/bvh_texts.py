"""Small BVH texts of our own, the characters made of them, and how written ones are compared."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from inside.formats import build, bvh_lines, parse_bvh
from inside.skeleton import depth_first, tip_positions

from viewer.errors import FormatError
from viewer.skeleton import fk, fk_clip

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from inside.spatial import Floats

    from viewer.skeleton import Character, Skeleton

XYZ = "Xposition Yposition Zposition"
ZXY = "Zrotation Xrotation Yrotation"

ARM = """HIERARCHY
ROOT Base
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT Arm
  {
    OFFSET 0 100 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    JOINT Hand
    {
      OFFSET 0 80 0
      CHANNELS 1 Xrotation
      End Site
      {
        OFFSET 0 20 0
      }
    }
  }
}
MOTION
Frames: 2
Frame Time: 0.04
1 2 3 0 0 0 0 0 0 0
1 2 3 90 0 0 0 30 0 45
"""
"""A root, a ball and a hinge with a tip: 200 units high, 10 channels, 2 frames. Line 24 holds the first row."""


@dataclass(frozen=True)
class Joint:
    """One joint of a text: what stands between its braces."""

    name: str
    offset: Sequence[float] = (0, 0, 0)
    channels: str = ZXY
    children: Sequence[Joint] = ()
    tips: Sequence[Sequence[float]] = field(default=())

    def lines(self, word: str) -> Iterator[str]:
        yield f"{word} {self.name}"
        yield "{"
        yield f"OFFSET {numbers(self.offset)}"
        yield f"CHANNELS {len(self.channels.split())} {self.channels}"
        for tip in self.tips:
            yield from ("End Site", "{", f"OFFSET {numbers(tip)}", "}")
        for child in self.children:
            yield from child.lines("JOINT")
        yield "}"


def numbers(values: Iterable[float]) -> str:
    return " ".join(f"{value:.17g}" for value in values)


def text_of(*roots: Joint, rows: Sequence[Sequence[float]] = (), frame_time: str = "0.04") -> str:
    """A whole file."""
    lines = ["HIERARCHY"]
    for root in roots:
        lines += root.lines("ROOT")
    lines += ["MOTION", f"Frames: {len(rows)}", f"Frame Time: {frame_time}", *(numbers(row) for row in rows)]
    return "\n".join(lines) + "\n"


def read(text: str | bytes, units: str | float = "raw", up: str = "auto", name: str = "f.bvh") -> Character:
    """The character of a text; a unit is a metre and the axes stay unless said otherwise."""
    data = text.encode() if isinstance(text, str) else text
    return build(parse_bvh(data, name), name, units=units, up=up)


def refused(text: str | bytes) -> str:
    """The message of the error that a text is refused with."""
    with pytest.raises(FormatError) as caught:
        read(text)
    return str(caught.value)


def places(character: Character) -> tuple[Floats, Floats]:
    """World places of joints (F, J, 3) and tips (F, T, 3) of the first clip."""
    assert character.clip is not None
    world = fk_clip(character.skeleton, character.clip)
    return world.positions, tip_positions(character.skeleton, world)


def written(character: Character, **options: Any) -> tuple[str, list[str]]:  # noqa: ANN401 - options of any type
    lines, warnings = bvh_lines(character, **options)
    return "".join(lines), warnings


def again(character: Character) -> Character:
    """Written, and read with the units and axes it was written in."""
    source = character.source
    return read(written(character)[0], units=source.metres_per_unit, up=source.up)


def extent(points: Floats) -> float:
    return float(np.ptp(points, axis=0).max())


def assert_same_motion(character: Character, other: Character) -> None:
    """The same places to 1e-6 of the figure's size, at rest or in the first frame, whichever is smaller.

    (Of a single point: of its distance from the origin.)
    """
    order = depth_first(character.skeleton)
    place_of = {joint: place for place, joint in enumerate(order)}
    parents = [-1 if p < 0 else place_of[p] for p in character.skeleton.parents[order].tolist()]
    assert other.skeleton.parents.tolist() == parents
    tips = np.argsort([place_of[joint] for joint in character.skeleton.tip_parents.tolist()], kind="stable")
    (joints, ends), (joints_again, ends_again) = places(character), places(other)
    rest = fk(character.skeleton, character.skeleton.rest_pose())
    at_rest = np.concatenate([rest.positions, tip_positions(character.skeleton, rest)])
    sizes = [extent(at_rest), extent(np.concatenate([joints[0], ends[0]]))]
    away = max(float(np.abs(joints).max()), float(np.abs(character.skeleton.offsets).max()))
    tolerance = 1e-6 * min((s for s in sizes if s > 0), default=away)
    np.testing.assert_allclose(joints_again, joints[:, order], rtol=0, atol=tolerance)
    np.testing.assert_allclose(ends_again, ends[:, tips], rtol=0, atol=tolerance)


def jumps(text: str) -> float:
    """The largest change of a rotation channel between two frames, in degrees."""
    parsed = parse_bvh(text.encode(), "f")
    turns = [name.endswith("rotation") for names in parsed.channels for name in names]
    return float(np.abs(np.diff(parsed.values[:, turns], axis=0)).max(initial=0.0))


def with_tips(skeleton: Skeleton) -> Skeleton:
    """With the End Site of no length that leaves without one are written with."""
    inner = {*skeleton.parents.tolist(), *skeleton.tip_parents.tolist()}
    leaves = [joint for joint in range(len(skeleton)) if joint not in inner]
    parents = np.concatenate([skeleton.tip_parents, leaves]).astype(int)
    order = np.argsort(parents, kind="stable")
    offsets = np.concatenate([skeleton.tip_offsets, np.zeros((len(leaves), 3))])
    return replace(skeleton, tip_parents=parents[order], tip_offsets=offsets[order])
