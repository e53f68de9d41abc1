"""The skeleton: a tree of joints as arrays, parents first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from viewer.errors import InputError, quote, unknown_name
from viewer.skeleton.effectors import Effector
from viewer.skeleton.limits import FREEDOMS, JointKind, JointLimits
from viewer.skeleton.pose import Pose, Reduced, reduced
from viewer.skeleton.relaxed import derived_pose
from viewer.skeleton.structure import checked_fields
from viewer.spatial.checks import Floats, Ints


@dataclass(frozen=True, slots=True, eq=False)
class Skeleton:
    """J joints, parents first (``parents[j] < j``), any number of roots (parent -1).

    World rotation of a joint W_j = W_parent * q_j, world position p_j = p_parent + W_parent * t_j, with q and
    t from a `Pose`. Metres, Y up, right-handed.

    Attributes:
        name: of the skeleton.
        names: (J,) unique joint names.
        parents: (J,) index of each joint's parent, -1 for roots.
        offsets: (J, 3) rest translation in the parent's frame.
        rest_rotations: (J, 4) rest rotation (x, y, z, w), parent_from_joint; limits are measured from it.
        kinds: (J,) how each joint moves.
        axes: (J, 2, 3) unit axes in the joint's rest frame: [0] of hinges and slides, both of universals; else 0.
        limits: (J,) the ranges of each joint, None where unlimited.
        stiffness: (J,) 0 (free) to 1 (does not move in IK).
        tip_parents: (T,) the joint that each end site hangs on, ascending.
        tip_offsets: (T, 3) in that joint's frame.
        effectors: the places that goals are for, in the file's order.
        poses: named poses of the file.
        spreads: (J, 3) radians (metres of slides), how far each freedom commonly moves as the file states it, NaN where
            it does not (see `viewer.ik.mobility_priors`); None where it states none.
        spread_matrices: (J, 3, 3) the same about every direction, in the joint's own axes, as
            `viewer.skeleton.mobility` has it; NaN where the file states none, and then ``spreads`` counts.
    """

    name: str
    names: tuple[str, ...]
    parents: Ints
    offsets: Floats
    rest_rotations: Floats
    kinds: tuple[JointKind, ...]
    axes: Floats
    limits: tuple[JointLimits | None, ...]
    stiffness: Floats
    tip_parents: Ints
    tip_offsets: Floats
    effectors: tuple[Effector, ...] = ()
    poses: Mapping[str, Pose] = field(default_factory=lambda: MappingProxyType({}))
    spreads: Floats | None = None
    spread_matrices: Floats | None = None

    def __post_init__(self) -> None:
        """Take lists as read-only arrays, words as kinds, axes at unit length; see `viewer.skeleton.structure`.

        Raises:
            InputError: what is no skeleton: it names the field and the joint.
        """
        for name, value in checked_fields(self).items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        """Its name and size."""
        return f"<Skeleton {quote(self.name)}: {len(self)} joints, {self.dof} degrees of freedom>"

    def __reduce__(self) -> Reduced:
        """Copied by its fields."""
        return reduced(self)

    def __len__(self) -> int:
        """Number of joints."""
        return len(self.names)

    def index(self, name: str) -> int:
        """The index of the joint of that name.

        Raises:
            InputError: there is none (near names are offered), or it is no name.
        """
        found: object = name
        if not isinstance(found, str):
            raise InputError(f"expected the name of a joint, found {quote(found)}")
        try:
            return self.names.index(name)
        except ValueError:
            raise InputError(unknown_name("joint", name, self.names)) from None

    @property
    def roots(self) -> Ints:
        """Indices of the joints without a parent."""
        return np.flatnonzero(self.parents < 0)

    @property
    def dof(self) -> int:
        """Degrees of freedom of all joints together."""
        return sum(FREEDOMS[kind] for kind in self.kinds)

    @property
    def tip_names(self) -> tuple[str, ...]:
        """``PARENT.tip`` for every end site, ``PARENT.tip2`` for a parent's second one."""
        names: list[str] = []
        seen: dict[int, int] = {}
        for parent in self.tip_parents.tolist():
            seen[parent] = seen.get(parent, 0) + 1
            number = "" if seen[parent] == 1 else str(seen[parent])
            names.append(f"{self.names[parent]}.tip{number}")
        return tuple(names)

    def rest_pose(self) -> Pose:
        """Every joint at its rest rotation and offset."""
        return Pose.trusted(self.rest_rotations, self.offsets)

    def relaxed_pose(self) -> Pose:
        """A good place for IK to start from: limbs a little bent, the right way.

        The file's pose "relaxed"; else the derived one of a recognised figure (`viewer.skeleton.relaxed`); else the
        rest pose.
        """
        return self.poses.get("relaxed") or derived_pose(self)
