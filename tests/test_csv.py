"""CSV tables hold the world positions and the angles of every frame, under a header that says which."""

from __future__ import annotations

import csv
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import pytest
from characters import every_kind
from conftest import ROOT
from inside.formats import WriteOptions, euler_orders, write_csv
from inside.skeleton import UNLIMITED
from inside.spatial import angle_between, from_axis_angle, from_euler

import viewer
from viewer.errors import InputError
from viewer.skeleton import BvhLayout, Character, Clip, JointLimits, Source, fk, fk_clip

if TYPE_CHECKING:
    from pathlib import Path


def table_of(character: Character, path: Path, precision: int | None = None) -> tuple[list[str], np.ndarray]:
    write_csv(character, path, WriteOptions(precision))
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    return header, np.array(rows, dtype=np.float64)


def test_the_header_names_every_column(tmp_path: Path) -> None:
    header, rows = table_of(every_kind(), tmp_path / "a.csv")
    assert header[:8] == ["frame", "time", "root.x", "root.y", "root.z", "root.rz", "root.rx", "root.ry"]
    assert 'quo"te.x' in header
    assert "new\nline.x" in header
    assert len(header) == 2 + 8 * 6 == rows.shape[1]
    assert (tmp_path / "a.csv").read_bytes().count(b"\r\n") == 1 + 5


def test_names_that_begin_a_formula_are_guarded(tmp_path: Path) -> None:
    skeleton = every_kind().skeleton
    names = ("=1+1", "+x", "-x", "@SUM(A1)", "\tx", "'quoted", "a=b", "plain")
    header, rows = table_of(Character(replace(skeleton, names=names)), tmp_path / "a.csv")
    cells = [cell.removesuffix(".x") for cell in header if cell.endswith(".x")]
    assert cells == ["'=1+1", "'+x", "'-x", "'@SUM(A1)", "'\tx", "''quoted", "a=b", "plain"]
    assert [cell.removeprefix("'") for cell in cells] == list(names)
    assert rows.min() < 0.0, "numbers below 0 stay numbers"


def test_positions_and_angles_are_those_of_the_clip(tmp_path: Path) -> None:
    character = every_kind()
    skeleton, clip = character.skeleton, character.clip
    assert clip is not None
    header, rows = table_of(character, tmp_path / "a.csv")
    assert rows[:, 0].tolist() == [0, 1, 2, 3, 4]
    assert rows[:, 1] == pytest.approx(np.arange(5) / 30)
    world = fk_clip(skeleton, clip)
    for joint, name in enumerate(skeleton.names):
        at = header.index(f"{name}.x")
        assert (rows[:, at : at + 3] == world.positions[:, joint]).all()
        order = "".join(column[-1] for column in header[at + 3 : at + 6])
        turns = from_euler(np.radians(rows[:, at + 3 : at + 6]), order)
        assert angle_between(turns, clip.rotations[:, joint]) == pytest.approx(0, abs=1e-12)


def test_each_joint_has_its_own_order() -> None:
    character = every_kind()
    channels = [["Xposition", "Yposition", "Zposition", "Yrotation", "Xrotation", "Zrotation"], ["Zrotation"]]
    layout = BvhLayout(character.skeleton.names, tuple(map(tuple, channels + [[]] * 6)))
    orders = euler_orders(replace(character, source=Source(layout=layout)))
    assert orders == ["yxz", "zxy", "zxy", "zxy", "zxy", "zxy", "zxy", "zxy"]
    limits = list(character.skeleton.limits)
    limits[1] = limits[5]
    euler = JointLimits.euler("xzy", (-1.5, 1.5), UNLIMITED, (-1.5, -1.0))
    skeleton = replace(character.skeleton, limits=(None, euler, *limits[2:]))
    assert euler_orders(replace(character, skeleton=skeleton))[1] == "xzy"


def test_angles_do_not_jump(tmp_path: Path) -> None:
    character = every_kind()
    angles = np.radians(np.arange(0, 800, 40.0))
    turns = np.tile(character.skeleton.rest_rotations, (len(angles), 1, 1))
    turns[:, 0] = from_axis_angle([0, 0, 1], angles)
    nothing = np.zeros(0, dtype=np.intp)
    clip = Clip("spin", 0.1, turns, nothing, np.zeros((len(angles), 0, 3)), character.skeleton.offsets)
    header, rows = table_of(replace(character, clips=MappingProxyType({"spin": clip})), tmp_path / "a.csv")
    assert rows[:, header.index("root.rz")] == pytest.approx(np.arange(0, 800, 40.0))


def test_without_motion_there_is_one_row_of_the_rest_pose(tmp_path: Path) -> None:
    character = replace(every_kind(), clips=MappingProxyType({}))
    header, rows = table_of(character, tmp_path / "a.csv", 3)
    assert rows.shape == (1, len(header))
    assert rows[0, :2].tolist() == [0, 0]
    world = fk(character.skeleton, character.skeleton.rest_pose())
    at = header.index("plain.x")
    assert rows[0, at : at + 3] == pytest.approx(world.positions[7], abs=0.0005001)
    assert (np.round(rows, 3) == rows).all()


def test_joints_stand_in_the_files_order(tmp_path: Path) -> None:
    source = Source(joint_order=(7, 6, 5, 4, 3, 2, 1, 0))
    header, _ = table_of(every_kind(source=source), tmp_path / "a.csv")
    assert header[2] == "plain.x"
    assert header[-1].startswith("root.r")


def test_infinite_numbers_are_refused_and_nothing_is_left(tmp_path: Path) -> None:
    character = every_kind()
    offsets = character.skeleton.offsets.copy()
    offsets[:2] = 1.7e308
    skeleton = replace(character.skeleton, offsets=offsets)
    with pytest.raises(InputError, match=r"^cannot be written as a table"):
        write_csv(replace(character, skeleton=skeleton, clips=MappingProxyType({})), tmp_path / "a.csv", WriteOptions())
    assert not list(tmp_path.iterdir())


def test_joint_values_by_name_give_the_poses_back(tmp_path: Path) -> None:
    walk = viewer.load(str(ROOT / "skeletons" / "walk.bvh"))
    assert walk.clip is not None
    path = tmp_path / "joints.csv"
    viewer.save(walk, path, joints=True, precision=12)
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["frame", "time", *walk.skeleton.dof_names]
    numbers = np.array(rows, dtype=np.float64)
    assert len(numbers) == len(walk.clip)
    np.testing.assert_allclose(numbers[:, 2:], viewer.coordinates(walk.skeleton, walk.clip), atol=1e-11)
    again = viewer.pose_at(walk.skeleton, numbers[30, 2:])
    assert again.is_near(walk.clip.pose(30))


def test_without_motion_joint_values_are_those_of_the_rest_pose(tmp_path: Path) -> None:
    claw = viewer.load("sample:claw-arm")
    viewer.save(claw, tmp_path / "claw.csv", joints=True)
    header, row = (tmp_path / "claw.csv").read_text(encoding="utf-8").splitlines()
    assert header.split(",")[2:] == list(claw.skeleton.dof_names)
    assert len(row.split(",")) == 2 + claw.skeleton.dof
