"""Takes of a file that is read in other units or with another axis up."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from viewer.session.take.values import Pin, Take, Track
from viewer.skeleton.pose import Pose
from viewer.spatial.quaternion import multiply, normalized, rotate

if TYPE_CHECKING:
    from viewer.spatial.checks import Floats, Ints


def reread_take(take: Take, scale: float, turn: Floats, roots: Ints) -> Take:
    """The same keys at another size, roots turned; what is solved between them is left out.

    Args:
        take: on the reading before.
        scale: new metres per old ones.
        turn: (4,) new world from old world.
        roots: indices of the root joints.
    """
    some = set(roots.tolist())
    return replace(
        take,
        tracks=tuple(_track(take, track, scale, turn if track.joint in some else None) for track in take.tracks),
        rest=None if take.rest is None else _pose(take.rest, scale, turn, roots),
        pins={frame: tuple(_pin(pin, scale, turn) for pin in pins) for frame, pins in take.pins.items()},
        solved=(),
    )


def _track(take: Take, track: Track, scale: float, turn: Floats | None) -> Track:
    rotations, moved = track.rotations, track.translations
    if turn is not None and take.base is None:  # what is added to a clip is added in the joint's own frame
        rotations = normalized(multiply(turn, rotations))
    if moved is not None:
        moved = moved * scale if turn is None else rotate(turn, moved * scale)
    return replace(track, rotations=rotations, translations=moved)


def _pose(pose: Pose, scale: float, turn: Floats, roots: Ints) -> Pose:
    rotations, translations = pose.rotations.copy(), pose.translations * scale
    rotations[roots] = normalized(multiply(turn, rotations[roots]))
    translations[roots] = rotate(turn, translations[roots])
    return Pose(rotations, translations)


def _pin(pin: Pin, scale: float, turn: Floats) -> Pin:
    position = None if pin.position is None else tuple(rotate(turn, [scale * v for v in pin.position]).tolist())
    rotation = None if pin.rotation is None else tuple(normalized(multiply(turn, pin.rotation)).tolist())
    x, y, z = (scale * value for value in pin.offset)
    return Pin(pin.effector, position, rotation, (x, y, z))
