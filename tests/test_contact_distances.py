"""The gaps that contact finds in poses, against places sampled densely and against the triangles of meshes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest
from conftest import ROOT
from inside.ik import capsule_to_grid, distance_grid, make_near, make_volumes, touching
from inside.spatial import normalized, planes

import viewer

sys.path.insert(0, str(ROOT / "benchmarks"))
from contact_distances import Judge, along_axes, field_of, sampled_between

if TYPE_CHECKING:
    from inside.ik import Near, Volumes

POSES = 4
TURN = tuple(normalized(np.array([0.1, 0.2, 0.3, 0.9])).tolist())
OBJECTS = (
    viewer.Sphere("ball", (0.2, 1.0, 0.1), 0.2),
    viewer.Box("table", (0.0, 0.9, 0.4), (0.6, 0.2, 0.4), TURN),
)


def random_poses(skeleton: viewer.Skeleton, seed: int) -> list[viewer.Pose]:
    """Every joint is turned any way: limits play no part in distances."""
    turns = normalized(np.random.default_rng(seed).normal(size=(POSES, len(skeleton), 4)))
    return [viewer.Pose(turn, skeleton.offsets) for turn in turns]


def found_in(skeleton: viewer.Skeleton, contact: viewer.Contact, pose: viewer.Pose) -> tuple[Volumes, Near]:
    """All rows of a pose, near or far."""
    volumes = make_volumes(skeleton, contact, near=1e3)
    near = make_near(volumes)
    world = viewer.fk(skeleton, pose)
    touching.find_near(volumes, near, world.positions, world.rotations, float(volumes.near[0]))
    return volumes, near


@pytest.mark.parametrize("name", ["biped", "biped-hands", "serpent"])
def test_gaps_of_pairs_and_of_the_floor_are_those_of_dense_sampling(name: str) -> None:
    skeleton = viewer.load(f"sample:{name}").skeleton
    contact = viewer.Contact(floor=0.05, bodies=True)
    judge = Judge(skeleton, contact, near=1e3)
    for pose in random_poses(skeleton, 3):
        volumes, near = found_in(skeleton, contact, pose)
        pairs = near.second >= 0
        order = np.flatnonzero(pairs)[np.lexsort((near.second[pairs], near.first[pairs]))]
        assert np.array_equal(np.stack([near.first, near.second], axis=1)[order], judge.pairs)
        gap = near.gap[order]
        assert np.abs(gap - judge.pair_gaps(pose)).max() < 1e-9
        capsule, side = volumes.ends.T
        assert np.abs(near.gap[~pairs] - judge.floor_gaps(pose)[capsule, side]).max() < 1e-12
        # Both axes sampled, and nothing else.
        start, way = judge.axes(pose)
        i, j = judge.pairs.T
        sampled = sampled_between(start[i], way[i], start[j], way[j]) - judge.radius[i] - judge.radius[j]
        spacing = (np.linalg.norm(way[i], axis=-1) + np.linalg.norm(way[j], axis=-1)) / 24.0
        assert (gap <= sampled + 1e-9).all()
        assert (gap >= sampled - 0.5 * spacing - 1e-9).all()


@pytest.mark.parametrize("name", ["biped-hands", "raptor"])
def test_gaps_of_balls_and_boxes_are_those_of_dense_sampling(name: str) -> None:
    skeleton = viewer.load(f"sample:{name}").skeleton
    contact = viewer.Contact(objects=OBJECTS)
    judge = Judge(skeleton, contact, near=1e3)
    for pose in random_poses(skeleton, 4):
        _, near = found_in(skeleton, contact, pose)
        gaps = judge.object_gaps(pose)[-2 - near.second, near.first]
        # An axis that is inside of a box has to go farther than its deepest place says.
        outside = (near.second == -2) | (gaps > -judge.radius[near.first])
        assert np.abs(near.gap - gaps)[outside].max() < 1e-9
        assert (near.gap <= gaps + 1e-9).all()


@pytest.mark.parametrize(("radius", "cells"), [(0.008, 0.2), (0.1, 0.5)])
def test_gaps_of_meshes_are_those_of_their_triangles(radius: float, cells: float) -> None:
    """Thick capsules touch small meshes while their axes are outside of the grid, whose values do not lead on there."""
    pytest.importorskip("trimesh")
    from contact_objects import meshes  # noqa: PLC0415 - it needs trimesh

    random = np.random.default_rng(5)
    for name in ("mug", "ball", "box"):
        mesh = meshes()[name]
        assert mesh.vertices is not None
        low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
        grid, count = distance_grid(mesh), 1500
        start = random.uniform(low - 1.5 * radius - 0.01, high + 1.5 * radius + 0.01, (count, 3))
        way = random.uniform(-2.0 * radius, 2.0 * radius, (count, 3))
        gaps = capsule_to_grid(
            planes(start),
            planes(way),
            radius,
            (0.0, 0.0, 0.0),
            (0.0, 0.0, 0.0, 1.0),
            grid.values.ravel(),
            0,
            planes(np.array(grid.values.shape, dtype=np.float64)),
            planes(grid.low),
            grid.cell,
        )[0]
        near = np.flatnonzero((gaps > -0.002) & (gaps < 0.01))[:10]
        assert len(near) == 10
        off = np.abs(gaps[near] - (along_axes(field_of(mesh), start[near], way[near], 13) - radius))
        assert off.max() < cells * grid.cell, name
