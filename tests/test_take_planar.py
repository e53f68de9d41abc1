"""Keys of a planar document: what is solved between them keeps to the plane."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from inside.document import Blend, frame_pose, normal_of
from inside.document import actions as act
from inside.spatial import conjugate, rotate
from sessions import HAND, drag, place, session
from takes import take_of, turn

from viewer.document import Item, stand_of
from viewer.session import Session
from viewer.skeleton import fk

if TYPE_CHECKING:
    from viewer.document import Document
    from viewer.skeleton import Pose

FEET = ("LeftFoot", "RightFoot")
APART = 20


def off_plane(document: Document, pose: Pose, other: Pose, plane: str) -> float:
    """Metres that joints are nearer to a plane than in another pose, or radians that they turn out of it."""
    normal = normal_of(plane)
    one, two = (fk(document.skeleton, some) for some in (pose, other))
    moved = np.abs((one.positions - two.positions) @ normal).max()
    axes = [rotate(conjugate(world.rotations), normal) for world in (one, two)]
    return float(max(moved, np.abs(axes[0] - axes[1]).max()))


def crouched(plane: str | None, way: tuple[float, float, float]) -> Session:
    """Two keys, the pelvis moved between them; the feet are pinned."""
    made = session()
    made.dispatch(act.SetPlanar(plane))
    made.dispatch(act.KeyPose())
    made.seek(APART)
    pelvis = Item("joint", made.document.skeleton.names[0])
    drag(made, pelvis, made.document.pose.translations[0] + np.array(way))
    made.commit()
    made.dispatch(act.KeyPose())
    return made


@pytest.mark.parametrize("blend", [Blend.LINEAR, Blend.SMOOTH])
@pytest.mark.parametrize(("plane", "way"), [("yz", (0, -0.3, 0.15)), ("xy", (0.12, -0.3, 0)), ("zx", (0.15, 0, 0.12))])
def test_frames_between_keys_keep_to_the_plane(plane: str, way: tuple[float, float, float], blend: Blend) -> None:
    made = crouched(plane, way)
    made.dispatch(act.SetBlend(None, blend))
    document = made.document
    assert sum(len(some.joints) for some in take_of(document).solved) > 0
    start = frame_pose(document, 0)
    assert max(off_plane(document, frame_pose(document, f), start, plane) for f in range(APART + 1)) < 1e-9
    for foot in FEET:
        handle = document.goal(foot)
        stands = [stand_of(document.skeleton, frame_pose(document, f), handle).position for f in range(APART + 1)]
        assert np.linalg.norm(np.array(stands) - np.array(handle.position), axis=-1).max() < 1e-3


def test_keys_that_were_made_in_space_are_solved_in_space() -> None:
    made = crouched(None, (0.1, -0.25, 0.1))
    made.dispatch(act.SetLimits(on=False))
    made.seek(2 * APART)
    turn(made, "LeftArm", (0.0, 0.3, 0.0))
    made.dispatch(act.KeyPose())
    kept = take_of(made.document).solved
    made.dispatch(act.SetPlanar("yz"))
    assert all(a is b for a, b in zip(take_of(made.document).solved, kept, strict=True))
    made.seek(0)
    made.dispatch(act.MoveKeys(take_of(made.document).keys_at(APART), 2))
    document = made.document
    for foot in FEET:
        handle = document.goal(foot)
        stands = [stand_of(document.skeleton, frame_pose(document, f), handle).position for f in range(APART + 3)]
        assert np.ptp(stands, axis=0).max() < 2e-3


def test_what_is_recorded_over_planar_keys_keeps_to_the_plane() -> None:
    made = crouched("yz", (0, -0.3, 0.15))
    before = made.document
    start = frame_pose(before, 0)
    made.seek(2)
    made.record()
    made.tick(0.0)
    begin = place(made.document, HAND.name)
    made.begin_drag((HAND,))
    for tick in range(1, 24):
        made.gestures.drag_to({HAND: (begin + np.array([0.1, 0.01, 0.015]) * tick, None)})
        made.tick(tick / 60.0)
        assert off_plane(made.document, made.document.pose, start, "yz") < 1e-9
    made.commit()
    made.stop_recording()
    after = made.document
    assert max(off_plane(after, frame_pose(after, f), start, "yz") for f in range(APART + 1)) < 1e-9
    arm = after.skeleton.index("LeftForeArm")
    assert (frame_pose(after, 12).rotations[arm] != frame_pose(before, 12).rotations[arm]).any()
