"""Closed loops: the solver closes them before all goals, sliders keep them closed, files and MuJoCo know them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from inside.document import SetCoordinate
from inside.ik import Backend

import viewer
from viewer import Goal, InputError, LoopClosure, Solver, Status
from viewer.document import new_document
from viewer.session import Session

BACKENDS: tuple[Backend, ...] = ("numpy", "numba")
AXIS = (0.0, 0.0, 1.0)


def four_bar() -> viewer.Skeleton:
    """Crank 0.2, coupler, rocker 0.4 on a base of 0.5: closed at rest."""
    builder = viewer.Builder(name="four-bar")
    builder.add("base", None, (0, 0, 0), kind="fixed")
    builder.add("crank", "base", (0, 0, 0), kind="hinge", axis=AXIS)
    builder.add("coupler", "crank", (0, 0.2, 0), kind="hinge", axis=AXIS)
    builder.add("rocker", "base", (0.5, 0, 0), kind="hinge", axis=AXIS)
    builder.tip("coupler", (0.5, 0.2, 0)).tip("rocker", (0, 0.4, 0))
    builder.effector("pen", "coupler", (0.25, 0.25, 0))
    return builder.loop("coupler.tip", "rocker.tip").skeleton


def gap(skeleton: viewer.Skeleton, pose: viewer.Pose) -> float:
    world = viewer.fk(skeleton, pose)
    ends = [world.point(skeleton.index(name), np.array(at)) for name, at in
            (("coupler", (0.5, 0.2, 0.0)), ("rocker", (0.0, 0.4, 0.0)))]  # fmt: skip
    return float(np.linalg.norm(ends[0] - ends[1]))


def rocker_angle(crank: float) -> float:
    """Of the four-bar, by the law of cosines: radians from its rest."""
    far = np.array((0.5, 0.0)) - 0.2 * np.array((-np.sin(crank), np.cos(crank)))
    away, coupler = float(np.linalg.norm(far)), float(np.hypot(0.5, 0.2))
    inner = np.arccos((away**2 + 0.4**2 - coupler**2) / (2.0 * away * 0.4))
    towards = np.arctan2(-far[1], -far[0])  # from the rocker's joint to the crank's end
    return float(towards - inner - np.pi / 2.0)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_linkage_moves_as_geometry_says(backend: Backend) -> None:
    skeleton = four_bar()
    pose = skeleton.rest_pose()
    for step in range(1, 25):
        crank = -0.08 * step
        turn = viewer.quaternions.from_axis_angle(AXIS, crank)
        solution = Solver(skeleton, [Goal.rotation("crank", turn)], backend=backend, tolerance_deg=1e-4).solve(pose)
        assert solution.status is Status.CONVERGED
        assert len(solution.errors_m) == 1  # of the goals given: nobody asked for the loop
        pose = solution.pose
        assert gap(skeleton, pose) < 1e-4
        found = viewer.coordinates(skeleton, pose)[list(skeleton.dof_names).index("rocker")]
        assert np.remainder(found - rocker_angle(crank) + np.pi, 2.0 * np.pi) - np.pi == pytest.approx(0.0, abs=2e-3)


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_cannot_be_reached_leaves_the_loop_closed(backend: Backend) -> None:
    skeleton = four_bar()
    solution = Solver(skeleton, [Goal.position("pen", (3.0, 1.0, 0.0))], backend=backend).solve(skeleton.rest_pose())
    assert solution.status is Status.UNREACHABLE
    assert gap(skeleton, solution.pose) < 1e-4
    drag = Solver(skeleton, [Goal.position("pen", (0.2, 0.45, 0.0))], backend=backend).drag(skeleton.rest_pose())
    for step in range(30):
        moved = drag.move([(0.2 + 0.05 * step, 0.45, 0.0)])
        assert gap(skeleton, moved.pose) < 1e-4


@pytest.mark.parametrize("backend", BACKENDS)
def test_each_step_of_a_drag_shows_the_loop_closed(backend: Backend) -> None:
    skeleton = four_bar()
    random = np.random.default_rng(3)
    drag = Solver(skeleton, [Goal.position("pen", (0.2, 0.45, 0.0))], backend=backend).drag(skeleton.rest_pose())
    for _ in range(40):  # leaps, as of a mouse between two slow frames
        moved = drag.move([(0.25 + random.normal(0.0, 0.3), 0.45 + random.normal(0.0, 0.3), 0.0)])
        assert gap(skeleton, moved.pose) < 1e-4


def opened_crank() -> viewer.Character:
    """A four-bar whose pose "relaxed" leaves the loop open."""
    skeleton = four_bar()
    rotations = skeleton.rest_rotations.copy()
    rotations[skeleton.index("crank")] = viewer.quaternions.from_axis_angle(AXIS, -0.4)
    pose = viewer.Pose(rotations, skeleton.offsets.copy())
    return viewer.Character(replace(skeleton, poses={"relaxed": pose}))


def test_a_figure_opens_with_its_loops_closed() -> None:
    character = opened_crank()
    assert gap(character.skeleton, character.skeleton.relaxed_pose()) > 1e-2
    assert gap(character.skeleton, new_document(character).pose) < 1e-4


def test_a_loop_that_cannot_be_closed_is_named() -> None:
    builder = viewer.Builder(four_bar())
    skeleton = builder.move("rocker", (3.0, 0.0, 0.0)).skeleton
    solution = Solver(skeleton, [Goal.position("pen", (0.2, 0.45, 0.0))]).solve(skeleton.rest_pose())
    assert solution.status is not Status.CONVERGED
    assert any(line.startswith("the loop of coupler.tip and rocker.tip stays ") for line in solution.diagnosis)


def test_a_rigid_loop_keeps_its_rotation() -> None:
    builder = viewer.Builder(name="frame").add("base", None, (0, 0, 0), kind="fixed")
    for side, x in (("left", -0.3), ("right", 0.3)):
        builder.add(f"{side} 1", "base", (x, 0, 0), limits=None)
        builder.add(f"{side} 2", f"{side} 1", (0, 0.5, 0))
        builder.add(f"{side} 3", f"{side} 2", (-0.9 * x, 0.3, 0))
        builder.effector(f"{side} end", f"{side} 3", (-0.1 * x, 0, 0))
    skeleton = builder.loop("left end", "right end", rigid=True).skeleton
    solution = Solver(skeleton, [Goal.position("left end", (0.1, 0.7, 0.1))]).solve(skeleton.rest_pose())
    assert solution.status is Status.CONVERGED
    world = viewer.fk(skeleton, solution.pose)
    ends = [
        world.point(skeleton.index(f"{side} 3"), np.array((-0.1 * x, 0, 0)))
        for side, x in (("left", -0.3), ("right", 0.3))
    ]
    assert np.linalg.norm(ends[0] - ends[1]) < 1e-4
    turns = world.rotations[[skeleton.index("left 3"), skeleton.index("right 3")]]
    assert abs(float(turns[0] @ turns[1])) > np.cos(0.5 * np.radians(1.1))


def test_a_slider_keeps_the_loop_closed() -> None:
    skeleton = four_bar()
    session = Session(new_document(viewer.Character(skeleton)))
    for angle in (-0.2, -0.5, -0.9):
        session.dispatch(SetCoordinate("crank", 0, angle))
        pose = session.document.pose
        assert viewer.coordinates(skeleton, pose)[0] == pytest.approx(angle, abs=1e-9)
        assert gap(skeleton, pose) < 1e-4
    session.dispatch(SetCoordinate("rocker", 0, 3.0))  # it cannot turn so far: the nearest that closes
    assert gap(skeleton, session.document.pose) < 1e-3


def test_edits_rename_and_open_loops() -> None:
    builder = viewer.Builder(four_bar()).rename("rocker", "lever")
    skeleton = builder.skeleton
    assert list(skeleton.loops) == [LoopClosure("coupler.tip", "lever.tip")]
    assert not viewer.Builder(four_bar()).remove("rocker").skeleton.loops
    with pytest.raises(InputError, match="with itself"):
        _ = viewer.Builder(four_bar()).loop("pen", "pen").skeleton


def test_files_hold_loops(tmp_path: Path) -> None:
    skeleton = four_bar()
    path = tmp_path / "bar.json"
    viewer.save(viewer.Character(skeleton), path)
    assert viewer.load(path).skeleton.loops == skeleton.loops
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"rocker.tip"', '"roker.tip"'), encoding="utf-8")
    with pytest.raises(viewer.FormatError, match=r'loops\[0\].b: no effector, joint or tip "roker.tip"'):
        viewer.load(path)


def test_mujoco_models_are_read_and_written_with_loops(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    skeleton = four_bar()
    path = tmp_path / "bar.xml"
    viewer.save(viewer.Character(skeleton), path)
    character = viewer.load(path)
    again = character.skeleton
    assert len(again.loops) == 1
    assert not any("equality" in one for one in character.warnings)
    goal = Goal.rotation("crank", viewer.quaternions.from_axis_angle(AXIS, -0.5))
    places = []
    for one in (skeleton, again):
        solution = Solver(one, [goal], tolerance_deg=1e-3).solve(one.rest_pose())
        places.append(viewer.fk(one, solution.pose).rotations[one.index("rocker")])
    np.testing.assert_allclose(places[0], places[1], atol=1e-3)


BODIES = """<mujoco><worldbody>
  <body name="a"><joint type="hinge" axis="0 1 0"/><geom size=".1"/>
    <body name="c" pos="0 0 .5"><joint type="hinge" axis="0 1 0"/><geom size=".1"/></body></body>
  <body name="b" pos="1 0 0"><joint type="hinge" axis="0 1 0"/><geom size=".1"/></body></worldbody>
  <equality>%s</equality></mujoco>"""


@pytest.mark.parametrize(
    ("words", "rigid"),
    [('<connect body1="c" body2="b" anchor=".5 0 0"/>', False), ('<weld body1="c" body2="b"/>', True)],
)
def test_equalities_of_bodies_are_loops_that_are_closed_in_the_models_pose(
    tmp_path: Path, words: str, rigid: bool
) -> None:
    pytest.importorskip("mujoco")
    path = tmp_path / "model.xml"
    path.write_text(BODIES % words, encoding="utf-8")
    skeleton = viewer.load(path).skeleton
    (loop,) = skeleton.loops
    assert loop.rigid is rigid
    world = viewer.fk(skeleton, skeleton.rest_pose())
    ends = {one.name: world.point(one.joint, np.array(one.offset)) for one in skeleton.effectors}
    np.testing.assert_allclose(ends[loop.a], ends[loop.b], atol=1e-9)


def test_a_body_that_only_closes_a_loop_is_no_tool(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    path = tmp_path / "model.xml"
    more = '<body name="pad" pos="0 0 .3"><joint axis="0 1 0"/><geom size=".1"/></body>'
    text = BODIES % '<connect body1="c" body2="b" anchor=".5 0 0"/>'
    path.write_text(text.replace('<body name="c"', f'{more}<body name="c"'), encoding="utf-8")
    skeleton = viewer.load(path).skeleton
    assert [one.name for one in skeleton.effectors if one.goal.value != "off"] == ["pad"]


def test_what_is_welded_to_a_mocap_body_is_free(tmp_path: Path) -> None:
    """The body is the handle by which a program draws a hand: taken for a part of the figure it would hold the hand."""
    pytest.importorskip("mujoco")
    path = tmp_path / "model.xml"
    text = BODIES % '<weld body1="handle" body2="c"/><connect body1="c" body2="handle" anchor="0 0 0"/>'
    path.write_text(text.replace("<worldbody>", '<worldbody><body name="handle" mocap="true" pos="0 0 2"/>'))
    character = viewer.load(path)
    assert character.skeleton.loops == ()
    assert "2 equality constraints are not read" in character.warnings
    assert [one.name for one in character.skeleton.effectors if one.goal.value != "off"] == ["c", "b"]


def test_in_physics_the_loop_holds() -> None:
    pytest.importorskip("mujoco")
    skeleton = four_bar()
    physics = viewer.Physics(skeleton, skeleton.rest_pose())
    physics.step(0.5)
    assert gap(skeleton, physics.pose) < 2e-3
