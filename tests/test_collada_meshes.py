"""COLLADA meshes: triangles lie where the scene puts them, with the colours of materials or corners."""

from __future__ import annotations

import subprocess
import sys
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from inside.formats import read_collada

pytest.importorskip("collada")

HEAD = '<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">'
ASSET = '<asset><unit name="cm" meter="0.01"/><up_axis>Y_UP</up_axis></asset>'
POINTS = "0 0 0 1 0 0 1 1 0 0 1 0 9 9 9"


def source(name: str, numbers: str, names: str = "XYZ") -> str:
    """A list of numbers, as many at once as it has names."""
    count, stride = len(numbers.split()), len(names)
    params = "".join(f'<param name="{one}" type="float"/>' for one in names)
    return (
        f'<source id="{name}"><float_array id="{name}-a" count="{count}">{numbers}</float_array><technique_common>'
        f'<accessor source="#{name}-a" count="{count // stride}" stride="{stride}">{params}</accessor>'
        "</technique_common></source>"
    )


def effect(name: str, inside: str) -> str:
    """An effect and a material of a name."""
    return (
        f'<library_effects><effect id="{name}-fx"><profile_COMMON><technique sid="t"><lambert>{inside}</lambert>'
        f'</technique></profile_COMMON></effect></library_effects><library_materials><material id="{name}">'
        f'<instance_effect url="#{name}-fx"/></material></library_materials>'
    )


def document(
    primitives: str, *, effects: str = "", sources: str = "", bound: str = "", nodes: str = "<node>{}</node>"
) -> bytes:
    """A file with one geometry, ``g``."""
    bind = f"<bind_material><technique_common>{bound}</technique_common></bind_material>" if bound else ""
    instance = f'<instance_geometry url="#g">{bind}</instance_geometry>'
    inside = nodes.format(instance)
    return (
        f'{HEAD}{ASSET}{effects}<library_geometries><geometry id="g"><mesh>{source("p", POINTS)}{sources}'
        f'<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>{primitives}</mesh></geometry>'
        f'</library_geometries><library_visual_scenes><visual_scene id="s">{inside}</visual_scene>'
        '</library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>'
    ).encode()


def triangles(corners: str, material: str = "", more: str = "") -> str:
    """Triangles of corners, each with an index more for every further input."""
    count = len(corners.split()) // (3 if not more else 6)
    word = f' material="{material}"' if material else ""
    return (
        f'<triangles count="{count}"{word}><input semantic="VERTEX" source="#v" offset="0"/>{more}<p>{corners}</p>'
        "</triangles>"
    )


SQUARE = triangles("0 1 2 0 2 3")
RED = effect("red", "<diffuse><color>1 0.2 0 1</color></diffuse><transparent><color>0 0 0 0.5</color></transparent>")
USE_RED = '<instance_material symbol="m" target="#red"/>'


def test_triangles_have_the_corners_that_they_use() -> None:
    (part,) = read_collada(document(SQUARE))
    np.testing.assert_array_equal(part.positions, [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)])  # not (9, 9, 9)
    np.testing.assert_array_equal(part.triangles, [(0, 1, 2), (0, 2, 3)])
    assert part.colour is None


def test_polygons_become_triangles_and_lines_nothing() -> None:
    vertex = '<input semantic="VERTEX" source="#v" offset="0"/>'
    polygon = f'<polylist count="1">{vertex}<vcount>4</vcount><p>0 1 2 3</p></polylist>'
    lines = f'<lines count="1">{vertex}<p>0 1</p></lines>'
    (part,) = read_collada(document(lines + polygon))
    assert len(part.triangles) == 2
    corners = part.positions[part.triangles]
    areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    assert areas.sum() / 2 == pytest.approx(1.0)


def test_nodes_place_what_is_below_them_and_units_do_not_scale_it() -> None:
    nodes = (
        "<node><translate>10 0 0</translate><node><rotate>0 0 1 90</rotate><scale>2 2 2</scale>{0}</node></node>"
        "<node>{0}</node>"
    )
    far, near = read_collada(document(SQUARE, nodes=nodes))
    np.testing.assert_allclose(far.positions, [(10, 0, 0), (10, 2, 0), (8, 2, 0), (8, 0, 0)], atol=1e-6)
    np.testing.assert_array_equal(near.positions[1], (1, 0, 0))


def test_the_colour_is_the_materials_that_the_scene_binds() -> None:
    square = triangles("0 1 2 0 2 3", "m")
    (part,) = read_collada(document(square, effects=RED, bound=USE_RED))
    assert part.colour == (1.0, 0.2, 0.0, 0.5)
    assert read_collada(document(square, effects=RED))[0].colour is None  # it is not bound
    white = effect("red", "<emission><color>0 1 0 1</color></emission>")
    assert read_collada(document(square, effects=white, bound=USE_RED))[0].colour == (1.0, 1.0, 1.0, 1.0)


def test_without_a_material_the_colour_is_what_most_corners_have() -> None:
    colours = source("c", "0 0 1 0 1 0", "RGB")
    more = '<input semantic="COLOR" source="#c" offset="1"/>'
    (part,) = read_collada(document(triangles("0 0 1 1 2 1", more=more), sources=colours))
    assert part.colour == (0.0, 1.0, 0.0, 1.0)


def test_what_is_broken_is_left_out() -> None:
    assert read_collada(f"{HEAD}{ASSET}</COLLADA>".encode()) == []
    assert read_collada(document(triangles(""))) == []
    with pytest.raises(Exception, match=r"."):
        read_collada(b"no XML")


def test_corners_are_those_that_trimesh_reads() -> None:
    trimesh = pytest.importorskip("trimesh")
    nodes = "<node><matrix>0 -1 0 5  1 0 0 6  0 0 3 7  0 0 0 1</matrix>{0}<node><scale>-1 1 1</scale>{0}</node></node>"
    data = document(triangles("0 1 2 0 2 3 4 1 0", "m"), effects=RED, bound=USE_RED, nodes=nodes)
    theirs = trimesh.load(BytesIO(data), file_type="dae", process=False).dump()
    ours = read_collada(data)
    assert len(ours) == len(theirs) == 2
    for part, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(part.positions[part.triangles], other.vertices[other.faces], atol=1e-12)
        assert part.colour is not None
        np.testing.assert_allclose(part.colour, other.visual.material.main_color / 255.0, atol=1 / 255)


def test_a_robot_of_collada_meshes_does_not_import_trimesh(tmp_path: Path) -> None:
    (tmp_path / "square.dae").write_bytes(document(SQUARE))
    urdf = tmp_path / "one.urdf"
    shape = '<visual><geometry><mesh filename="square.dae"/></geometry></visual>'
    urdf.write_text(f'<robot name="one"><link name="a">{shape}</link></robot>', encoding="utf-8")
    code = f"import sys, viewer; print(len(viewer.load({str(urdf)!r}).skin.meshes), 'trimesh' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "1 False\n"
