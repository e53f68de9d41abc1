"""Meshes of robots: STL files of both kinds, what is no STL file, and too many triangles."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from inside.formats import Shape, merged

import viewer

trimesh = pytest.importorskip("trimesh")


def robot_of(folder: Path, data: bytes) -> Path:
    """A robot of one link that has a mesh file."""
    (folder / "part.stl").write_bytes(data)
    shape = '<visual><geometry><mesh filename="part.stl"/></geometry></visual>'
    path = folder / "one.urdf"
    path.write_text(f'<robot name="one"><link name="a">{shape}</link></robot>', encoding="utf-8")
    return path


def corners_of(path: Path) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """(T, 3, 3) the triangles that are shown."""
    skin = viewer.load(path).skin
    assert skin is not None
    (mesh,) = skin.meshes
    return np.asarray(mesh.positions[mesh.triangles])


def test_stl_files_of_both_kinds_give_the_same_triangles(tmp_path: Path) -> None:
    ball = trimesh.creation.icosphere(2, radius=0.3)
    binary, text = (ball.export(file_type=kind) for kind in ("stl", "stl_ascii"))
    found = corners_of(robot_of(tmp_path, binary))
    np.testing.assert_allclose(found, ball.triangles, atol=1e-7)
    np.testing.assert_allclose(corners_of(robot_of(tmp_path, text.encode())), found, atol=1e-6)
    named = b"solid of a binary file".ljust(80) + binary[80:]  # that begins as a text does
    np.testing.assert_array_equal(corners_of(robot_of(tmp_path, named)), found)


@pytest.mark.parametrize("data", [b"", b"solid", bytes(84), bytes(80) + b"\x02\0\0\0" + bytes(50)])
def test_what_is_no_stl_file_is_not_shown_and_said(tmp_path: Path, data: bytes) -> None:
    found = viewer.load(robot_of(tmp_path, data))
    assert found.skin is None
    assert [warning for warning in found.warnings if "part.stl" in warning]


def test_a_binary_stl_file_does_not_import_trimesh(tmp_path: Path) -> None:
    path = robot_of(tmp_path, trimesh.creation.box((1.0, 2.0, 3.0)).export(file_type="stl"))
    code = f"import sys, viewer; print(len(viewer.load({str(path)!r}).skin.meshes), 'trimesh' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "1 False\n"


@pytest.mark.parametrize("seed", range(4))
def test_merged_vertices_are_the_means_of_their_cells(seed: int) -> None:
    random = np.random.default_rng(seed)
    points, triangles = random.normal(size=(500, 3)) - 3.0, random.integers(0, 500, (900, 3))
    shape = merged(Shape("a", points, triangles, (1.0, 1.0, 1.0, 1.0)), 0.25)
    cells, index = np.unique(np.round(points / 0.25), axis=0, return_inverse=True)
    index = index.reshape(-1)
    means = np.array([points[index == cell].mean(axis=0) for cell in range(len(cells))])
    np.testing.assert_allclose(shape.positions, means, atol=1e-12)
    kept = [row for row in index[triangles].tolist() if len(set(row)) == 3]
    assert shape.triangles.tolist() == kept
