"""A rig as a MuJoCo model (MJCF): bodies in a tree, single-axis joints, a site at every goal."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any

import numpy as np

from viewer.cli.bench.hinges import Mechanism, children, mechanism, pose_arrays
from viewer.cli.bench.rigs import Rig
from viewer.spatial.checks import Floats

_HEAD = (
    '<mujoco><compiler angle="radian" autolimits="true" inertiafromgeom="false"/><option gravity="0 0 0"/><worldbody>'
)
_TAIL = "</worldbody></mujoco>"
_INERTIAL = '<inertial pos="0 0 0" mass=".1" diaginertia=".001 .001 .001"/>'


class MujocoModel:
    """The compiled model, and the way back from its configurations to poses.

    Attributes:
        model: MjModel.
        sites: (G,) site ids of the goals.
        lower, upper: (nq,) ranges to clamp to, infinite where there are none.
    """

    def __init__(self, rig: Rig) -> None:
        """Compile the model."""
        mujoco: Any = import_module("mujoco")
        self.built = mechanism(rig.skeleton, spherical=True)
        self.model = model = mujoco.MjModel.from_xml_string(mjcf(rig, self.built))
        self.sites = [model.site(site_name(goal)).id for goal in range(len(rig.joints))]
        self.places = [int(model.joint(axis.name).qposadr[0]) for axis in self.built.all_axes()]
        self.balls = [int(model.joint(rig.skeleton.names[joint]).qposadr[0]) for joint in self.built.spherical]
        self.lower, self.upper = np.full(model.nq, -np.inf), np.full(model.nq, np.inf)
        for place, axis in zip(self.places, self.built.all_axes(), strict=True):
            self.lower[place], self.upper[place] = axis.lower, axis.upper

    def pose(self, q: Floats) -> tuple[Floats, Floats]:
        """Local rotations (J, 4) and translations (J, 3) of a configuration; quaternions there are (w, x, y, z)."""
        balls = np.array([[*q[place + 1 : place + 4].tolist(), q[place]] for place in self.balls])
        root = (q[:3], q[[4, 5, 6, 3]]) if self.built.floating else None
        return pose_arrays(self.built, q[self.places], balls, root)


def site_name(goal: int) -> str:
    """What a goal's site is called."""
    return f"goal{goal}"


def mjcf(rig: Rig, built: Mechanism) -> str:
    """The model's XML. Without recursion: chains are deep."""
    hanging = children(rig.skeleton)
    parts = [_HEAD]
    waiting: list[tuple[int, bool]] = [(int(joint), False) for joint in rig.skeleton.roots[::-1]]
    while waiting:
        joint, done = waiting.pop()
        if done:
            parts.append("</body>")
            continue
        parts += [_opening(rig, joint), *_joints(built, joint), *_sites(rig, joint)]
        waiting.append((joint, True))
        waiting += [(child, False) for child in reversed(hanging[joint])]
    return "".join([*parts, _TAIL])


def _opening(rig: Rig, joint: int) -> str:
    x, y, z, w = rig.skeleton.rest_rotations[joint].tolist()
    return f'<body pos="{_words(rig.skeleton.offsets[joint])}" quat="{_words((w, x, y, z))}">{_INERTIAL}'


def _joints(built: Mechanism, joint: int) -> list[str]:
    if joint == 0 and built.floating:
        return ['<joint type="free" name="root"/>']
    if joint in built.spherical:
        return [f'<joint type="ball" name="{built.skeleton.names[joint]}"/>']
    parts = []
    for axis in built.axes[joint]:
        kind = "slide" if axis.slides else "hinge"
        limits = f'range="{axis.lower!r} {axis.upper!r}"' if axis.limited else ""
        parts.append(f'<joint type="{kind}" name="{axis.name}" axis="{_words(axis.direction)}" {limits}/>')
    return parts


def _sites(rig: Rig, joint: int) -> list[str]:
    goals = np.flatnonzero(rig.joints == joint).tolist()
    return [f'<site name="{site_name(goal)}" pos="{_words(rig.offsets[goal])}"/>' for goal in goals]


def _words(numbers: Iterable[float]) -> str:
    return " ".join(repr(float(number)) for number in numbers)
