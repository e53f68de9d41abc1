"""Takes on the bundled samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from inside.document import Take, actions as act, frame_pose
from inside.spatial import angle_between, exp, multiply
from sessions import session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from viewer.document import Document
    from viewer.session import Session
    from viewer.skeleton import Clip, Pose


def turn(made: Session, joint: str, by: ArrayLike) -> None:
    """Turn a joint by a rotation vector in its own frame."""
    rotation = made.document.pose.rotations[made.document.skeleton.index(joint)]
    made.dispatch(act.TurnJoint(joint, multiply(rotation, exp(by))))


def loose(name: str = "biped") -> Session:
    """A session in which nothing is pinned or limited."""
    made = session(name)
    made.dispatch(act.SetLimits(on=False))
    for handle in made.document.goals:
        made.dispatch(act.ReleaseEffector(handle.effector))
    made.replace(made.document)
    return made


def keyed(frames: Sequence[int], name: str = "biped", seed: int = 0) -> Session:
    """A session with keys of different poses at some frames."""
    made, random = loose(name), np.random.default_rng(seed)
    for frame in frames:
        if made.document.frames:
            made.seek(min(frame, made.document.frames - 1))
        for joint in ("LeftArm", "LeftForeArm", "Spine", "RightUpLeg"):
            turn(made, joint, 0.4 * random.normal(size=3))
        made.dispatch(act.KeyPose(frame))
    return made


def shows_motion(made: Session) -> bool:
    """Whether the pose shown is that of the frame, as it is played."""
    return made.document.pose.same_as(frame_pose(made.document, made.document.frame))


def take_of(document: Document) -> Take:
    """The document's take, which it has."""
    assert isinstance(document.take, Take)
    return document.take


def apart(one: Pose, other: Pose) -> float:
    """Radians that any joint is turned otherwise, or metres that any is elsewhere."""
    turned = float(angle_between(one.rotations, other.rotations).max())
    return max(turned, float(np.abs(one.translations - other.translations).max()))


def clip_of(document: Document) -> Clip:
    """The document's clip, which it has."""
    assert document.clip_data is not None
    return document.clip_data


def all_poses(document: Document) -> list[Pose]:
    """Every frame, as it is played."""
    return [frame_pose(document, frame) for frame in range(document.frames)]
