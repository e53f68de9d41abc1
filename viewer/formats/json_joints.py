"""The joints and effectors of a skeleton file -> Skeleton: metres, Y up, parents first."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from viewer.errors import FormatError, quote, unknown_name
from viewer.formats.frame import root_rotations_to_internal
from viewer.formats.json_limits import axes_of, idle_keys, kind_of, limits_of, rest_outside
from viewer.formats.json_spread import spread_of
from viewer.formats.json_tree import numbered, parents_first, parents_of, place
from viewer.formats.motion_json import local_metres, rows, unit_rotations
from viewer.skeleton.effectors import Effector, EffectorGoal
from viewer.skeleton.find_effectors import find_effectors
from viewer.skeleton.skeleton import Skeleton
from viewer.skeleton.twist_axis import default_twist_axis

if TYPE_CHECKING:
    from collections.abc import Iterator

    from viewer.formats.json_limits import Triple
    from viewer.formats.json_structs import Joint, SkeletonFile
    from viewer.skeleton.character import Source
    from viewer.skeleton.kinds import JointKind
    from viewer.skeleton.limits import JointLimits
    from viewer.spatial.checks import Floats, Ints


class JointList:
    """The joints of one file, parents first.

    Attributes:
        joints: as the file has them, in the skeleton's order.
        numbers: per joint of the skeleton its number in the file.
        parents: (J,) in the skeleton's order.
        findings: what deserves a warning, to the paths where it was found.
    """

    def __init__(self, joints: list[Joint]) -> None:
        """Put parents first.

        Raises:
            FormatError: names that repeat, parents that there are not, cycles.
        """
        in_file = numbered((joint.name for joint in joints), "joints")
        parents = parents_of(joints, in_file)
        self.numbers = parents_first(joints, parents)
        self.joints = [joints[number] for number in self.numbers]
        self.index = np.empty(len(joints), dtype=np.intp)
        self.index[self.numbers] = np.arange(len(joints))
        above = np.array([parents[number] for number in self.numbers], dtype=np.intp)
        self.parents = np.where(above < 0, -1, self.index[above])
        self.findings: dict[str, list[str]] = {}
        self._file_joints = joints

    def path(self, joint: int) -> str:
        """The path in the file of a joint of the skeleton."""
        return place(self._file_joints, self.numbers[joint])

    def skeleton(self, name: str, source: Source) -> Skeleton:
        """The skeleton, without effectors and poses.

        Raises:
            FormatError: numbers, kinds, axes or limits that are refused.
        """
        roots = np.flatnonzero(self.parents < 0)
        offsets = rows((joint.offset or (0.0, 0.0, 0.0) for joint in self.joints), 3)
        rest = unit_rotations(rows((joint.rotation for joint in self.joints), 4), lambda i: f"{self.path(i)}.rotation")
        rest[roots] = root_rotations_to_internal(rest[roots], source)
        kinds, axes, limits = self._freedoms(source)
        tip_parents, tip_offsets = self._tips(source)
        spreads, matrices = self._spreads(kinds, source)
        return Skeleton(
            name=name,
            names=tuple(joint.name for joint in self.joints),
            parents=self.parents,
            offsets=local_metres(offsets, source, lambda i: f"{self.path(i)}.offset", roots),
            rest_rotations=rest,
            kinds=kinds,
            axes=axes,
            limits=limits,
            stiffness=np.array([joint.stiffness for joint in self.joints]),
            tip_parents=tip_parents,
            tip_offsets=tip_offsets,
            spreads=spreads,
            spread_matrices=matrices,
        )

    def _spreads(self, kinds: tuple[JointKind, ...], source: Source) -> tuple[Floats | None, Floats | None]:
        """Spreads (J, 3) and (J, 3, 3), NaN where the file states none; None where it states none at all."""
        found: dict[int, dict[int, Floats]] = {1: {}, 2: {}}
        for index, joint in enumerate(self.joints):
            with self._at(index):
                spread = spread_of(joint, kinds[index], source)
            if spread is not None:
                found[spread.ndim][index] = spread
        tables = [np.full((len(kinds), *(3,) * rank), np.nan) for rank in found]
        for table, some in zip(tables, found.values(), strict=True):
            for index, spread in some.items():
                table[index] = spread
        return tables[0] if found[1] else None, tables[1] if found[2] else None

    @contextmanager
    def _at(self, joint: int) -> Iterator[None]:
        """Errors about a joint say which."""
        try:
            yield
        except FormatError as error:
            error.path = self.path(joint) + (error.path or "")
            raise

    def _freedoms(self, source: Source) -> tuple[tuple[JointKind, ...], Floats, tuple[JointLimits | None, ...]]:
        """Kinds, axes (J, 2, 3) and limits."""
        kinds, axes, limits = [], [], []
        directions = self._directions()
        for index, joint in enumerate(self.joints):
            with self._at(index):
                kind = kind_of(joint)
                axes.append(axes_of(joint, kind))
                twist = default_twist_axis(directions.get(index, (0.0, 0.0, 0.0)))
                limits.append(limits_of(joint, kind, twist, source))
            kinds.append(kind)
            self._look_at(index, joint, kind, limits[-1])
        return tuple(kinds), np.array(axes), tuple(limits)

    def _look_at(self, index: int, joint: Joint, kind: JointKind, limits: JointLimits | None) -> None:
        if joint.offset is None and joint.parent is not None:
            self._find('no "offset", taken as 0, 0, 0', index)
        for key in idle_keys(joint, kind):
            self._find(f'"{key}" means nothing for a joint that is {kind}, ignored', index)
        if limits is not None and rest_outside(limits, kind):
            self._find("the rest pose is outside the limits; IK starts from the nearest pose inside", index)

    def _find(self, finding: str, joint: int) -> None:
        self.findings.setdefault(finding, []).append(self.path(joint))

    def _directions(self) -> dict[int, Triple]:
        """Of each joint the way to its first child in the file that is elsewhere, else to its first such tip."""
        directions: dict[int, Triple] = {}
        for number, joint in enumerate(self._file_joints):
            if joint.parent is not None and joint.offset is not None and any(joint.offset):
                directions.setdefault(int(self.parents[self.index[number]]), joint.offset)
        for index, joint in enumerate(self.joints):
            for tip in filter(any, joint.tips):
                directions.setdefault(index, tip)
        return directions

    def _tips(self, source: Source) -> tuple[Ints, Floats]:
        """Parents (T,) and offsets (T, 3) of the end sites."""
        tips = [(index, k, tip) for index, joint in enumerate(self.joints) for k, tip in enumerate(joint.tips)]
        offsets = local_metres(
            rows((tip for *_, tip in tips), 3), source, lambda i: f"{self.path(tips[i][0])}.tips[{tips[i][1]}]"
        )
        return np.array([index for index, *_ in tips], dtype=np.intp), offsets


def effectors_of(data: SkeletonFile, skeleton: Skeleton, source: Source) -> tuple[Effector, ...]:
    """The effectors of the file; those found by name where it says nothing of them.

    Raises:
        FormatError: names that repeat, joints that there are not.
    """
    if data.effectors is None:
        return find_effectors(skeleton.names, skeleton.parents, skeleton.tip_parents, skeleton.tip_offsets)
    numbered((entry.name for entry in data.effectors), "effectors")
    joints = {name: joint for joint, name in enumerate(skeleton.names)}
    result = []
    offsets = local_metres(
        rows((entry.offset for entry in data.effectors), 3), source, lambda i: f"effectors[{i}].offset"
    )
    for index, entry in enumerate(data.effectors):
        if entry.joint not in joints:
            path = f"effectors[{index}] {quote(entry.name)}.joint"
            raise FormatError(unknown_name("joint", entry.joint, joints), path=path)
        x, y, z = offsets[index].tolist()
        result.append(Effector(entry.name, joints[entry.joint], (x, y, z), EffectorGoal(entry.goal)))
    return tuple(result)
