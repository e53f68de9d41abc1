"""Objects around a simulated figure: they fall, rest, are pushed and stand still as bodies do."""

from __future__ import annotations

import numpy as np
import pytest
from cli_run import ran
from inside.document import AddProp, Prop, SetProp, Shape
from panel_window import PanelWindow

import viewer
from viewer import Box, InputError, Mesh, Physics, Sphere, Surroundings

pytest.importorskip("mujoco")

ARM = viewer.load("sample:claw-arm").skeleton
AWAY = (5.0, 0.0, 0.0)


def around(*objects: Box | Sphere | Mesh, **masses: float) -> Surroundings:
    return Surroundings(objects=objects, masses=masses)


def ran_for(sim: Physics, seconds: float) -> dict[str, Box | Sphere | Mesh]:
    for _ in range(round(60 * seconds)):
        sim.step(1.0 / 60.0)
    return {one.name: one for one in sim.objects}


def cube(name: str, side: float, center: tuple[float, float, float]) -> Mesh:
    trimesh = pytest.importorskip("trimesh")
    made = trimesh.creation.box((side, side, side))
    return Mesh(name, vertices=made.vertices, faces=made.faces, center=center)


def test_objects_fall_and_come_to_rest_on_what_is_below() -> None:
    table = Box("table", (5.0, 0.4, 0.0), (1.0, 0.8, 1.0))
    crate, ball = Box("crate", (5.0, 3.0, 0.0), (0.2, 0.2, 0.2)), Sphere("ball", (5.0, 2.0, 3.0), 0.1)
    sim = Physics(ARM, surroundings=around(table, crate, ball, crate=2.0, ball=0.5))
    now = ran_for(sim, 0.5)
    for before, name in ((crate, "crate"), (ball, "ball")):
        # A step of length h adds g h t / 2 to the closed form.
        assert now[name].center[1] == pytest.approx(before.center[1] - 0.5 * 9.81 * 0.25, abs=1.1 * 9.81 * 0.25 / 240)
    now = ran_for(sim, 2.0)
    assert now["table"] == table
    assert now["crate"].center == pytest.approx((5.0, 0.9, 0.0), abs=1e-3)
    assert now["ball"].center[1] == pytest.approx(0.1, abs=1e-3)


def test_a_mesh_falls_and_rests_as_the_box_of_its_shape() -> None:
    ends = []
    for one in (cube("a", 0.2, (5.0, 0.6, 0.0)), Box("a", (5.0, 0.6, 0.0), (0.2, 0.2, 0.2))):
        sim = Physics(ARM, surroundings=around(one, a=1.0))
        ends.append(ran_for(sim, 1.5)["a"].center)
    np.testing.assert_allclose(ends[0], ends[1], atol=2e-3)
    assert ends[0][1] == pytest.approx(0.1, abs=1e-3)


def test_friction_decides_whether_a_crate_slides_down_a_slope() -> None:
    turn = np.radians(25.0)
    rotation = (0.0, 0.0, float(np.sin(turn / 2)), float(np.cos(turn / 2)))
    slope = Box("slope", (5.0, 1.0, 0.0), (4.0, 0.1, 1.0), rotation)
    up = np.array((-np.sin(turn), np.cos(turn), 0.0))
    x, y, z = (np.array(slope.center) + 0.151 * up).tolist()
    crate = Box("crate", (x, y, z), (0.2, 0.2, 0.2), rotation)
    moved: list[float] = []
    for friction in (0.3, 0.7):  # tan 25 degrees is 0.47
        given = Surroundings(friction=friction, objects=(slope, crate), masses={"crate": 1.0})
        moved.append(
            float(
                np.linalg.norm(np.subtract(ran_for(Physics(ARM, surroundings=given), 0.8)["crate"].center, (x, y, z)))
            )
        )
    down = 0.5 * 9.81 * (np.sin(turn) - 0.3 * np.cos(turn)) * 0.8**2
    assert moved[0] == pytest.approx(down, rel=0.1)
    assert moved[1] < 0.02


def test_a_figure_pushes_what_moves_and_is_stopped_by_what_does_not() -> None:
    biped = viewer.load("sample:biped").skeleton
    start = biped.relaxed_pose()
    hand = viewer.fk(biped, start).positions[biped.index("LeftHand")]
    goal = hand + np.array((0.0, 0.3, 0.35))
    raised = viewer.Solver(biped, [viewer.Goal.position("LeftHand", goal)], backend="numpy").solve(start).pose
    x, y, z = (hand + np.array((0.0, 0.2, 0.35))).tolist()
    crate = Box("crate", (x, y, z), (0.3, 0.3, 0.3))
    reached = []
    for masses in ({}, {"crate": 0.2}):
        sim = Physics(biped, start, surroundings=Surroundings(objects=(crate,), masses=masses, gravity=0.0))
        sim.aim(raised)
        now = ran_for(sim, 1.0)
        reached.append(viewer.fk(biped, sim.pose).positions[biped.index("LeftHand")])
        moved = float(np.linalg.norm(np.subtract(now["crate"].center, crate.center)))
        assert (moved > 0.1) == bool(masses)
    stopped, free = (float(np.linalg.norm(place - goal)) for place in reached)
    assert free < 0.05
    assert stopped > 0.1


@pytest.mark.parametrize(
    ("objects", "masses", "message"),
    [
        ((Sphere("a", AWAY, 0.1), Box("a", AWAY, (1, 1, 1))), {}, 'physics: objects: two are called "a"'),
        ((Sphere("ball", AWAY, 0.1),), {"bal": 1.0}, 'physics: masses: no object "bal"; did you mean "ball"?'),
        ((Sphere("a", AWAY, 0.1),), {"a": 0.0}, 'physics: mass of "a": expected a finite number above 0, found 0'),
        (("a",), {}, "physics: objects: expected Sphere, Box or Mesh, found str"),
    ],
)
def test_wrong_objects_are_said(objects: tuple[Sphere, ...], masses: dict[str, float], message: str) -> None:
    with pytest.raises(InputError) as caught:
        Surroundings(objects=objects, masses=masses)
    assert str(caught.value) == message


def test_the_command_moves_objects_that_weigh_something(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["simulate", "sample:claw-arm", "--seconds", "1"]
    code, out, err, *_ = ran(capsys, *command, "--object", "box:1,0.8,1@5,0.4,0", "--object", "sphere:0.1@5,1,0=0.5")
    assert (code, err) == (0, "")
    assert "object 2 ends at 5.000, 0.900, 0.000" in out
    code, _, err = ran(capsys, *command, "--object", "sphere:0.1@5,1,0=heavy")
    assert code == 2
    assert err.endswith('argument --object: expected kilograms above 0 after =, found "sphere:0.1@5,1,0=heavy"\n')


def test_props_of_the_document_are_what_the_window_simulates() -> None:
    window = PanelWindow(viewer.load("sample:claw-arm"))
    try:
        for prop in (Prop(name="table", shape=Shape.BOX, center=(5.0, 0.4, 0.0), size=(1.0, 0.8, 1.0)),
                     Prop(name="ball", center=(5.0, 1.5, 0.0), radius=0.1, mass=0.5)):  # fmt: skip
            window.session.dispatch(AddProp(prop))
        before = window.session.document
        window.controller.run("physics.run")
        for frame in range(61):
            window.controller.tick(frame / 60.0)
        drawn = {one.name: one.solid for one in window.controller.scene().props}
        ball = drawn["ball"]
        assert isinstance(ball, Sphere)
        assert ball.center == pytest.approx((5.0, 0.9, 0.0), abs=2e-3)
        assert window.session.document is before
        window.session.dispatch(SetProp("ball", mass=0.0))
        for frame in range(61, 91):
            window.controller.tick(frame / 60.0)
        sim = window.controller.simulating.sim
        assert sim is not None
        assert {one.name: one.center for one in sim.objects}["ball"] == (5.0, 1.5, 0.0)
    finally:
        window.close()
