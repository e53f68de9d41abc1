"""What is no figure: machines, animals, claws, spiders, points; and two people in one file are not mixed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from figures import JOINTS, nameless, person
from inside.skeleton import chain, find_figure
from inside.spatial import IDENTITY, from_axis_angle, rotate

from viewer import load
from viewer.skeleton import JointKind

if TYPE_CHECKING:
    from inside.spatial import Floats

    from viewer.skeleton import Skeleton


@pytest.mark.parametrize("sample", ["claw-arm", "two-link", "piston", "serpent", "raptor", "quadruped", "chain-40"])
def test_machines_and_animals_are_none(sample: str) -> None:
    skeleton = load(f"sample:{sample}").skeleton
    assert find_figure(skeleton) is None
    assert find_figure(nameless(skeleton)) is None


def test_a_quadruped_with_the_names_of_a_person_is_none() -> None:
    skeleton = person(90.0)
    offsets = skeleton.offsets.copy()
    for name in ("Spine", "Chest", "Neck"):
        offsets[skeleton.index(name)] = (0.0, 0.0, 0.25)
    assert find_figure(replace(skeleton, offsets=offsets)) is None


def test_a_spider_a_lone_joint_and_a_point_are_none() -> None:
    legs = [rotate(from_axis_angle((0, 1, 0), k * np.pi / 4), (0.2, 0.0, 0.0)) for k in range(8)]
    offsets = [np.zeros(3)]
    parents = [-1]
    for leg in legs:
        parents += [0, len(parents), len(parents) + 1]
        offsets += [leg, leg, np.add(leg, (0.0, -0.2, 0.0))]
    spider = _bare(parents, np.array(offsets))
    assert find_figure(spider) is None
    assert find_figure(_bare([-1], np.zeros((1, 3)))) is None
    assert find_figure(replace(person(), offsets=np.zeros((len(JOINTS), 3)), tip_offsets=np.zeros((5, 3)))) is None


def test_a_gripper_on_an_arm_is_none_and_a_torso_is() -> None:
    finger = [(0.05, 0.1, 0.0), (0.0, 0.12, 0.0), (0.0, 0.1, 0.0)]
    mirrored = [(-x, y, z) for x, y, z in finger]
    parents = [-1, 0, 1, 2, 3, 4, 2, 6, 7]
    gripper = _bare(parents, np.array([(0, 0, 0), (0, 0.4, 0), (0, 0.35, 0), *finger, *mirrored], dtype=np.float64))
    assert find_figure(gripper) is None
    arms = _bare(parents, np.array([(0, 0, 0), (0, 0.1, 0), (0, 0.05, 0), *finger, *mirrored], dtype=np.float64))
    assert find_figure(arms) is not None


def _bare(parents: list[int], offsets: Floats) -> Skeleton:
    count = len(parents)
    return replace(
        chain(1),
        names=tuple(f"joint{joint}" for joint in range(count)),
        parents=np.array(parents),
        offsets=offsets,
        rest_rotations=np.tile(IDENTITY, (count, 1)),
        kinds=(JointKind.BALL,) * count,
        axes=np.zeros((count, 2, 3)),
        limits=(None,) * count,
        stiffness=np.zeros(count),
        tip_parents=np.zeros(0, dtype=np.intp),
        tip_offsets=np.zeros((0, 3)),
        effectors=(),
        poses={},
    )


def test_two_people_in_one_file_are_not_mixed() -> None:
    # Left limbs of one and right limbs of the other have no joint in common.
    one = person()
    count = len(one)
    first = tuple(name.replace("Right", "Other") for name in one.names)
    second = tuple(name.replace("Left", "Another") + "_b" for name in one.names)
    both = replace(
        one,
        names=(*first, *second),
        parents=np.concatenate([one.parents, np.where(one.parents < 0, -1, one.parents + count)]),
        offsets=np.tile(one.offsets, (2, 1)),
        rest_rotations=np.tile(one.rest_rotations, (2, 1)),
        axes=np.tile(one.axes, (2, 1, 1)),
        stiffness=np.tile(one.stiffness, 2),
        kinds=one.kinds * 2,
        limits=one.limits * 2,
        tip_parents=np.concatenate([one.tip_parents, one.tip_parents + count]),
        tip_offsets=np.tile(one.tip_offsets, (2, 1)),
    )
    figure = find_figure(both)
    assert figure is None or len({limb.upper // count for limb in figure.limbs}) == 1


def test_deep_chains_are_measured_at_once() -> None:
    assert find_figure(chain(5000)) is None
