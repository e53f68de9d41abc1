"""An independent program reads the BVH files that we write: pybvh, to the same places."""

from __future__ import annotations

from itertools import permutations
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from bvh_texts import XYZ, Joint, read, text_of
from inside.skeleton import tip_positions
from inside.spatial import normalized

from viewer import load, save
from viewer.skeleton import Character, Clip, JointKind, Skeleton, fk_clip

if TYPE_CHECKING:
    from pathlib import Path

    from inside.spatial import Floats

pybvh = pytest.importorskip("pybvh", reason="pybvh is not installed")


def figure(seed: int) -> Character:
    """One root and a dozen balls, nested as they are listed, with rest rotations, tips and motion."""
    random = np.random.default_rng(seed)
    parents = [-1, 0, 1, 2, 2, 4, 0, 6, 7, 0, 9, 10]
    count = len(parents)
    tips = np.array([3, 5, 8, 11])
    skeleton = Skeleton(
        name="figure",
        names=tuple(f"joint{i}" for i in range(count)),
        parents=np.array(parents),
        offsets=random.normal(size=(count, 3)),
        rest_rotations=normalized(random.normal(size=(count, 4))),
        kinds=(JointKind.FREE, *[JointKind.BALL] * (count - 1)),
        axes=np.zeros((count, 2, 3)),
        limits=(None,) * count,
        stiffness=np.zeros(count),
        tip_parents=tips,
        tip_offsets=random.normal(size=(len(tips), 3)),
    )
    turns = normalized(random.normal(size=(40, count, 4)))
    clip = Clip("motion", 1 / 60, turns, np.array([0]), random.normal(size=(40, 1, 3)), skeleton.offsets)
    return Character(skeleton, MappingProxyType({"motion": clip}))


def assert_stranger_agrees(character: Character, path: Path, to_file: Floats) -> None:
    """Places read by pybvh are ours times the matrix (3, 3) to the file's units and axes, to 1e-6 of the size."""
    assert character.clip is not None
    stranger: Any = pybvh.read_bvh_file(path, world_up="+y")
    assert stranger.joint_names == list(character.skeleton.names)
    assert stranger.frame_count == len(character.clip)
    # pybvh rounds frame times to the nearest whole rate.
    assert stranger.frame_time == pytest.approx(character.clip.frame_time, rel=1e-4)
    found = stranger.node_positions()
    ends = [node.is_end_site() for node in stranger.nodes]
    world = fk_clip(character.skeleton, character.clip)
    joints, tips = world.positions @ to_file.T, tip_positions(character.skeleton, world) @ to_file.T
    size = float(np.ptp(joints[0], axis=0).max())
    np.testing.assert_allclose(found[:, np.logical_not(ends)], joints, rtol=0, atol=1e-6 * size)
    np.testing.assert_allclose(found[:, ends], tips, rtol=0, atol=1e-6 * size)


Z_UP = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])


@pytest.mark.parametrize("seed", range(5))
def test_any_figure(tmp_path: Path, seed: int) -> None:
    character = figure(seed)
    save(character, tmp_path / "a.bvh")
    assert_stranger_agrees(character, tmp_path / "a.bvh", np.eye(3))


@pytest.mark.parametrize(("units", "per_metre"), [("cm", 100.0), ("mm", 1000.0), ("inch", 1 / 0.0254), ("1e4", 1e-4)])
def test_other_units_and_axes(tmp_path: Path, units: str, per_metre: float) -> None:
    character = figure(7)
    save(character, tmp_path / "a.bvh", units=units, up="z")
    assert_stranger_agrees(character, tmp_path / "a.bvh", per_metre * Z_UP)


def test_every_order_of_rotations_and_rotations_first(tmp_path: Path) -> None:
    orders = [" ".join(f"{axis}rotation" for axis in order) for order in permutations("XYZ")]
    children = [Joint(f"j{i}", (1, i, 0), order, tips=[(0, 1, 2)]) for i, order in enumerate(orders)]
    rows = np.random.default_rng(2).uniform(-180, 180, (30, 24)).tolist()
    character = read(text_of(Joint("root", (0, 9, 0), f"{orders[0]} {XYZ}", children), rows=rows))
    save(character, tmp_path / "a.bvh")
    assert_stranger_agrees(character, tmp_path / "a.bvh", np.eye(3))


def test_the_bundled_walk(tmp_path: Path) -> None:
    character = load("sample:walk")
    save(character, tmp_path / "a.bvh", units="cm", up="y")
    assert_stranger_agrees(character, tmp_path / "a.bvh", 100 * np.eye(3))


@pytest.mark.parametrize(
    "stem", ["axisneuron_test", "assimp_cmu_01_01", "aitviewer_sample", "bvhpython_mocapbank", "pybvh_example"]
)
def test_real_files_written_again(shared: Path, tmp_path: Path, stem: str) -> None:
    character = load(shared / "data" / "bvh" / f"{stem}.bvh")
    save(character, tmp_path / "a.bvh")
    back = np.eye(3) if character.source.up == "y" else Z_UP
    assert_stranger_agrees(character, tmp_path / "a.bvh", back / character.source.metres_per_unit)
