"""What ``import viewer`` gives: its names, short reprs, pictures in notebooks, words that type checkers know."""

from __future__ import annotations

import ast
import importlib
import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_run import SIGNED
from conftest import ROOT
from inside.formats import READ
from PIL import Image

import viewer
from viewer import notebook

WALK: Any = viewer.load("sample:walk")
THREE: Any = 3
DLS: Any = "dls"
LAYER: Any = viewer.Layer(viewer.Goal.position("LeftHand", (0.4, 1.2, 0.3)), end=1.0)
GOALS = [
    viewer.Goal.position("LeftHand", (0.4, 1.2, 0.3)),
    viewer.Goal.pin("RightFoot"),
    viewer.Goal.aim("Head", (0, 1.5, 2), axis=(0, 0, 1), weight=0.5, enabled=False),
]


def test_dir_is_what_is_public_before_and_after_use() -> None:
    script = """
import viewer
before = dir(viewer)
public = [name for name in before if not name.startswith("__")]
assert sorted(viewer.__all__) == sorted(public), public
for name in public:
    assert getattr(viewer, name) is not None
assert dir(viewer) == before
assert all(getattr(viewer, name) for name in ("errors", "formats", "skeleton", "spatial"))
"""
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True)


def test_type_checkers_know_the_same_names() -> None:
    stub = ast.parse((ROOT / "viewer" / "__init__.pyi").read_text(encoding="utf-8")).body
    stated = {name.name: node.module for node in stub if isinstance(node, ast.ImportFrom) for name in node.names}
    (listed,) = (ast.literal_eval(node.value) for node in stub if isinstance(node, ast.Assign))
    assert listed == viewer.__all__
    assert set(stated) == {*listed, "errors", "formats", "skeleton", "spatial"}
    for name in listed:
        own = importlib.import_module(str(stated[name]))
        assert getattr(viewer, name) is getattr(own, name), name


@pytest.mark.parametrize("room", ["ik", "ik.contact", "motion"])
def test_type_checkers_know_the_names_of_rooms_that_import_late(room: str) -> None:
    stub = ast.parse((ROOT / "viewer" / Path(*room.split(".")) / "__init__.pyi").read_text(encoding="utf-8")).body
    stated = {name.name: node.module for node in stub if isinstance(node, ast.ImportFrom) for name in node.names}
    (listed,) = (ast.literal_eval(node.value) for node in stub if isinstance(node, ast.Assign))
    face = importlib.import_module(f"viewer.{room}")
    assert sorted(listed) == face.__all__ == [*sorted(stated)]
    for name, module in stated.items():
        assert getattr(face, name) is getattr(importlib.import_module(str(module)), name), name


def test_no_module_of_motion_replaces_a_name_of_its_face() -> None:
    face = importlib.import_module("viewer.motion")
    modules = {path.stem for path in (ROOT / "viewer" / "motion").glob("*.py")}
    assert not modules & {*face.__all__}
    with pytest.raises(AttributeError, match=r"module 'viewer\.motion' has no attribute 'retargte'"):
        _ = face.retargte


def test_an_unknown_name_is_refused_as_modules_do() -> None:
    with pytest.raises(AttributeError, match="module 'viewer' has no attribute 'slove'"):
        _ = viewer.slove  # type: ignore[attr-defined]  # checkers see it


def shown(biped: viewer.Skeleton) -> list[object]:
    walk = viewer.load("sample:walk")
    assert walk.clip is not None
    solver = viewer.Solver(biped, GOALS, backend="numpy")
    start = biped.relaxed_pose()
    return [
        biped, start, walk.clip, walk, walk.source, solver.drag(start),
        viewer.fk(biped, start), viewer.fk_clip(walk.skeleton, walk.clip),
        *GOALS, solver,
        solver.solve(start), *(own for own in biped.limits if own is not None), *biped.effectors,
        viewer.Effector("e", 1, (0, 0.25, 0)), viewer.Builder(biped), solver.jacobian(start),
        viewer.JointLimits.coordinates((0.0, 2.6)), viewer.JointLimits.euler("zxy", (-1, 1), (-1, 1), (-1, 1)),
        solver.solve_batch([start] * 50), viewer.find_map(walk, biped), viewer.foot_contacts(walk.skeleton, walk.clip),
        viewer.skate(walk.skeleton, walk.clip), viewer.plant_feet(walk.skeleton, walk.clip).report,
        viewer.retarget(walk, viewer.Character(biped)), *viewer.lab(biped, GOALS[:1], ["default", "dls"]).each,
    ]  # fmt: skip


def test_every_repr_is_a_line_in_angle_brackets_that_begins_with_the_type() -> None:
    for value in shown(viewer.load("sample:biped").skeleton):
        text = repr(value)
        assert text.startswith(f"<{type(value).__name__}"), text
        assert text.endswith(">")
        assert len(text) <= 160
        assert "\n" not in text


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: viewer.apply_layers(WALK, [THREE]), 'layers[0]: expected a layer, found "3"'),
        (lambda: viewer.apply_layers(WALK, LAYER), "layers: expected a list of layers, found a Layer"),
        (lambda: viewer.apply_layers(WALK.skeleton, [LAYER]),
         "expected a character, found a Skeleton: pass viewer.Character(skeleton)"),
        (lambda: viewer.learn_limits(WALK.skeleton, WALK),
         "limits: expected a list of characters or clips, found a Character"),
        (lambda: viewer.learn_limits(WALK.skeleton, [THREE]), 'limits: expected a character, found "3"'),
        (lambda: viewer.learn_limits(WALK, [WALK]),
         "limits: expected a skeleton, found a Character: pass character.skeleton"),
        (lambda: viewer.all_solutions(WALK.skeleton, WALK.skeleton.relaxed_pose()),
         "expected a solver, found a Skeleton"),
        (lambda: viewer.lab(WALK.skeleton, [LAYER.goal], DLS),
         'methods: expected a list of names, found the text "dls"'),
        (lambda: viewer.PoseLibrary(THREE), 'expected the name of a file, found "3"'),
    ],
)  # fmt: skip
def test_arguments_of_other_kinds_are_named(call: Callable[[], object], message: str) -> None:
    with pytest.raises(viewer.InputError) as caught:
        call()
    assert str(caught.value) == message


def test_reprs_say_what_matters() -> None:
    drag = viewer.Solver(WALK.skeleton, GOALS[:1], backend="numpy").drag(WALK.skeleton.relaxed_pose())
    assert repr(drag) == "<Drag: 1 goal, 22 joints, not moved yet>"
    drag.move()
    assert repr(drag) == f"<Drag: 1 goal, 22 joints, {drag.solution.status if drag.solution else ''}>"
    assert repr(WALK.source) == '<Source "sample:walk": bvh, cm, y up>'
    assert repr(viewer.Character(WALK.skeleton).source) == "<Source: no file, m, y up>"
    assert repr(GOALS[0]) == '<Goal: position "LeftHand" to (0.4, 1.2, 0.3)>'
    assert repr(GOALS[1]) == '<Goal: position+rotation pin "RightFoot">'
    assert repr(GOALS[2]) == '<Goal: aim "Head" to (0, 1.5, 2) axis (0, 0, 1) rotation weight 0.5, off>'
    assert repr(viewer.JointLimits.coordinates((0.0, 2.6))) == "<JointLimits: 0 to 2.6>"
    assert repr(viewer.JointLimits.swing_twist(1, (-1, 1), (-0.5, 0.5), (0, 1))) == (
        "<JointLimits: swing-twist (twist about y), x -57.3 to 57.3, y -28.65 to 28.65, z 0 to 57.3 degrees>"
    )
    assert repr(viewer.Effector("e", 1, (0, 0.25, 0))) == '<Effector "e": joint 1 at (0, 0.25, 0), position>'


def has_opengl() -> bool:
    try:
        viewer.render(viewer.load("sample:chain-2"), size=(16, 16))
    except viewer.MachineError:
        return False
    return True


def test_notebooks_show_pictures_where_there_is_opengl() -> None:
    if not has_opengl():
        pytest.skip("no OpenGL")
    biped = viewer.load("sample:biped")
    solution = viewer.Solver(biped.skeleton, GOALS).solve(biped.skeleton.relaxed_pose())
    pictures: list[bytes | None] = [value._repr_png_() for value in (biped, biped.skeleton, solution)]
    for picture in pictures:
        assert picture is not None
        image = Image.open(io.BytesIO(picture))
        assert image.size == notebook.SIZE
        assert np.asarray(image).std() > 1.0
    assert pictures[1] != pictures[2]


def test_notebooks_show_what_methods_came_to_and_a_jacobian_as_a_table() -> None:
    arm = viewer.load("sample:two-link").skeleton
    traces = viewer.lab(arm, [viewer.Goal.position("tip", (0.9, 1.0, 0.0))], ("dls", "ccd"), backend="numpy")
    words = traces.jacobian(0)._repr_html_()
    assert "<th>shoulder</th><th>elbow</th>" in words
    assert "<th>tip.z</th><td>0</td><td>0</td>" in words
    assert "rank 2, condition " in words
    odd = viewer.Builder().add("<b>", kind="hinge", axis=(0, 0, 1)).tip("<b>", (1, 0, 0)).skeleton
    shown = viewer.Solver(odd, [viewer.Goal.position("<b>.tip", (0, 1, 0))]).jacobian(odd.rest_pose())._repr_html_()
    assert "<b>" not in shown
    if not has_opengl():
        pytest.skip("no OpenGL")
    picture = traces._repr_png_()
    assert picture is not None
    assert np.asarray(Image.open(io.BytesIO(picture))).std() > 1.0


def test_without_opengl_there_is_no_picture_and_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise viewer.MachineError("no OpenGL")

    monkeypatch.setattr("viewer.opengl.pictures.render", fails)
    biped = viewer.load("sample:biped")
    assert biped._repr_png_() is None
    assert biped.skeleton._repr_png_() is None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda rig: viewer.Solver(rig, GOALS, method="sdsl"), "sdls"),  # type: ignore[arg-type]  # checkers see it
        (lambda rig: viewer.Solver(rig, GOALS, root="fre"), "free"),  # type: ignore[arg-type]  # checkers see it
        (lambda rig: viewer.render(rig, camera="frnt"), "front"),  # type: ignore[arg-type]  # checkers see it
        (lambda _: viewer.Builder().add("a", kind="hing"), "hinge"),  # type: ignore[arg-type]  # checkers see it
    ],
)
def test_a_wrong_word_is_refused_and_is_a_type_error(call: Callable[[viewer.Skeleton], object], message: str) -> None:
    with pytest.raises(viewer.InputError, match=message):
        call(viewer.load("sample:biped").skeleton)


BVH = """HIERARCHY
ROOT hips
{
  OFFSET 0 0 0
  CHANNELS 3 Zrotation Xrotation Yrotation
  End Site
  {
    OFFSET 0 1 0
  }
}
MOTION
Frames: 1
Frame Time: 0.1
0 0 90
"""


def test_a_text_loads_as_its_file_does(tmp_path: Path) -> None:
    file = tmp_path / "text.bvh"
    file.write_text(BVH)
    from_file = viewer.load(file, units="m")
    for character in (
        viewer.load(text=BVH, units="m"),
        viewer.load(text=BVH.encode(), format="bvh", units="m"),
    ):
        assert character.skeleton.names == from_file.skeleton.names
        assert character.source.path is None
        assert character.clip is not None
        assert from_file.clip is not None
        np.testing.assert_array_equal(character.clip.rotations, from_file.clip.rotations)


def test_a_saved_skeleton_loads_from_its_contents(tmp_path: Path) -> None:
    biped = viewer.load("sample:biped")
    for suffix in ("json", "npz", "glb"):
        file = tmp_path / f"b.{suffix}"
        viewer.save(biped, file)
        again = viewer.load(text=file.read_bytes())
        assert again.skeleton.names[: len(biped.skeleton)] == biped.skeleton.names


def test_standard_input_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(BVH.encode())))
    character = viewer.load("-", units="m")
    assert character.skeleton.names == ("hips",)
    assert list(character.clips) == ["stdin"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "load: expected a file or a text, found neither"),
        ({"file": "a.bvh", "text": "x"}, "load: expected a file or a text, found both"),
        ({"text": 3}, 'load: text: expected str or bytes, found "3"'),
        ({"text": ""}, f"text: it is empty; {SIGNED}"),
        ({"text": "hello"}, f'text: {SIGNED}, found "hello"'),
        (
            {"text": BVH, "format": "fbx"},
            f"load: format: expected one of {', '.join(suffix[1:] for suffix in READ)}, found .fbx.",
        ),
        ({"file": "a.bvh", "format": "bvh"}, "load: format: expected none with a file"),
        ({"text": BVH.replace("90", "x")}, "text, line 14, column 5: in a frame: expected a finite number"),
    ],
)
def test_what_is_no_text_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(viewer.ViewerError, match=message):
        viewer.load(**arguments)
