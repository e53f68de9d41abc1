"""Meshes of a posed figure: closed, as large as the figure, and what others read is what we wrote."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
import trimesh
from inside.formats import figure_mesh
from inside.skeleton import tip_positions

import viewer
from viewer.errors import InputError
from viewer.skeleton import fk

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("sample", ["biped", "claw-arm", "walk", "chain-50"])
def test_a_figures_mesh_is_closed_and_as_large_as_the_figure(sample: str) -> None:
    character = viewer.load(f"sample:{sample}")
    mesh = figure_mesh(character)
    assert mesh.is_watertight
    assert mesh.is_winding_consistent
    assert mesh.volume > 0.0
    skeleton = character.skeleton
    world = fk(skeleton, character.clip.pose(0) if character.clip else skeleton.rest_pose())
    places = np.concatenate([world.positions, tip_positions(skeleton, world)])
    assert (mesh.bounds[0] <= places.min(axis=0) + 1e-9).all()
    assert (mesh.bounds[1] >= places.max(axis=0) - 1e-9).all()
    assert np.linalg.norm(mesh.extents) < 1.3 * np.linalg.norm(np.ptp(places, axis=0)) + 0.2


@pytest.mark.parametrize("suffix", ["obj", "stl", "ply"])
def test_what_is_written_is_read_the_same(suffix: str, tmp_path: Path) -> None:
    character = viewer.load("sample:biped")
    pose = character.skeleton.relaxed_pose()
    lines = viewer.save(character, tmp_path / f"a.{suffix}", pose=pose)
    assert lines == [f"{suffix.upper()} holds the shape of one pose: the joints are left out"]
    found = trimesh.load_mesh(tmp_path / f"a.{suffix}")
    world = fk(character.skeleton, pose)
    assert found.bounds[1][1] == pytest.approx(tip_positions(character.skeleton, world)[:, 1].max(), abs=0.02)
    assert len(found.faces) % 8 == 0
    assert found.volume > 0.0


def test_what_is_lost_of_a_motion_is_said(tmp_path: Path) -> None:
    lines = viewer.save(viewer.load("sample:walk"), tmp_path / "a.stl")
    assert lines == ["STL holds the shape of one pose: the other frames and the joints are left out"]


def test_what_is_not_finite_is_refused(tmp_path: Path) -> None:
    character = viewer.load("sample:two-link")
    broken = replace(character, skeleton=replace(character.skeleton, offsets=character.skeleton.offsets + 1.7e308))
    with pytest.raises(InputError, match="cannot be written as a mesh"):
        viewer.save(broken, tmp_path / "a.stl")
