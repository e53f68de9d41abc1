"""Robots whose file fixes their base: those with legs stand on their own feet in a simulation, others stay fixed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, get_args

import numpy as np
import pytest
from cli_run import ran
from inside.formats import Shape, rigid_skin
from inside.physics import Base, Standing, Together, soles_of, with_feet
from inside.skeleton import find_figure
from inside.spatial import conjugate, multiply, rotate
from panel_window import PanelWindow

import viewer
from viewer import InputError, JointKind, Physics, Surroundings

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("mujoco")


def hung(name: str = "biped", height: float = 0.0) -> viewer.Skeleton:
    """A sample as a robot's file has it: its pelvis is fixed, at the origin, and its feet are below."""
    skeleton = viewer.load(f"sample:{name}").skeleton
    offsets = skeleton.offsets.copy()
    offsets[0] = (0.0, height, 0.0)
    return replace(skeleton, kinds=(JointKind.FIXED, *skeleton.kinds[1:]), offsets=offsets, poses={})


def ground_under(skeleton: viewer.Skeleton) -> Surroundings:
    """A floor 20 cm below where the lowest joint is at rest."""
    low = float(viewer.fk(skeleton, skeleton.rest_pose()).positions[:, 1].min())
    return Surroundings(ground=low - 0.2)


def run(sim: Physics, seconds: float) -> None:
    for _ in range(round(60 * seconds)):
        sim.step(1.0 / 60.0)


def test_a_robot_with_legs_stands_on_the_ground_and_comes_back_after_a_push() -> None:
    skeleton = hung()
    sim = Physics(skeleton, surroundings=ground_under(skeleton), base="legs")
    assert sim.skeleton.kinds[0] is JointKind.FREE
    start = sim.aimed.translations[0]
    run(sim, 1.0)
    np.testing.assert_allclose(sim.pose.translations[0], start, atol=0.01)
    assert sim.assist_weights < 0.2  # its feet carry it
    assert sim.warnings == ()
    ground = sim.surroundings.ground
    assert ground is not None
    ankles = [viewer.fk(skeleton, sim.pose).positions[skeleton.index(f"{side}Foot"), 1] for side in ("Left", "Right")]
    assert all(0.02 < height - ground < 0.2 for height in ankles)
    head = viewer.fk(skeleton, sim.pose).positions[skeleton.index("Head")]
    sim.push("Spine2", (0.0, 0.0, 40.0))
    away = []
    for _ in range(20):
        run(sim, 1.0 / 60.0)
        away.append(np.linalg.norm(viewer.fk(skeleton, sim.pose).positions[skeleton.index("Head")] - head))
    assert max(away) > 0.01
    run(sim, 3.0)
    np.testing.assert_allclose(viewer.fk(skeleton, sim.pose).positions[skeleton.index("Head")], head, atol=0.02)
    np.testing.assert_allclose(sim.pose.translations[0], start, atol=0.02)


def test_without_help_it_falls_where_one_whose_base_is_fixed_hangs_on() -> None:
    skeleton = hung()
    for base, falls in (("legs", True), ("fixed", False)):
        sim = Physics(skeleton, surroundings=ground_under(skeleton), assist="off", base=base)  # type: ignore[arg-type]
        sim.push("Spine2", (0.0, 0.0, 60.0))
        run(sim, 3.0)
        assert (sim.aimed.translations[0, 1] - sim.pose.translations[0, 1] > 0.3) == falls
        assert (sim.skeleton is skeleton) != falls


def test_an_arm_is_free_only_where_that_is_asked() -> None:
    arm = viewer.load("sample:claw-arm").skeleton
    assert arm.kinds[0] is JointKind.FIXED
    assert len(Physics(arm, base="legs").model.free) == len(Physics(arm).model.free) == 0
    assert len(Physics(arm, base="free").model.free) == 1
    with pytest.raises(InputError) as caught:
        Physics(arm, base="floating")  # type: ignore[arg-type]
    assert str(caught.value) == 'physics: base: expected legs, fixed, free, found "floating"'
    assert get_args(Base) == ("legs", "fixed", "free")


def table(height: float, feet: int) -> viewer.Skeleton:
    """A plate on hinged legs around it, all of one length."""
    builder = viewer.Builder().add("plate", None, (0.0, 0.0, 0.0), kind="fixed")
    for number in range(feet):
        angle = 2.0 * np.pi * number / feet
        way = np.array((np.cos(angle), 0.0, np.sin(angle)))
        builder.add(f"hip {number}", "plate", 0.3 * way, kind="hinge", axis=(-way[2], 0.0, way[0]))
        builder.add(
            f"knee {number}", f"hip {number}", (0.0, -0.5 * height, 0.0), kind="hinge", axis=(-way[2], 0.0, way[0])
        )
        builder.tip(f"knee {number}", (0.0, -0.5 * height, 0.0))
    return builder.skeleton


@pytest.mark.parametrize(
    ("height", "feet", "stands"), [(0.5, 4, True), (0.5, 3, True), (0.5, 6, True), (-0.5, 4, False)]
)
def test_animals_are_told_by_their_feet(height: float, feet: int, stands: bool) -> None:
    """Feet all around the root and far below it; the fingers of a hand are none."""
    skeleton = table(height, feet)
    sim = Physics(skeleton, surroundings=ground_under(skeleton), base="legs")
    assert bool(len(sim.model.free)) == stands
    if stands:
        run(sim, 1.0)
        np.testing.assert_allclose(sim.pose.translations[0], sim.aimed.translations[0], atol=0.01)
        assert sim.assist_weights < 0.2


def test_a_base_that_was_moved_stays_where_it_is() -> None:
    skeleton = hung()
    around = ground_under(skeleton)
    rest = skeleton.relaxed_pose()
    moved = viewer.Pose(rest.rotations, rest.translations + np.eye(len(skeleton), 1) * (0.5, 0.1, 0.0))
    sim = Physics(skeleton, moved, surroundings=around, base="legs")
    np.testing.assert_array_equal(sim.aimed.translations[0], moved.translations[0])
    sim.aim(rest)
    assert sim.aimed.translations[0, 1] < rest.translations[0, 1] - 0.1


def test_a_base_that_was_moved_below_the_ground_is_lifted_out_of_it() -> None:
    skeleton = hung()
    rest = skeleton.relaxed_pose()
    shift = np.eye(len(skeleton), 1) * (0.5, -0.5, 0.0)
    sim = Physics(skeleton, viewer.Pose(rest.rotations, rest.translations + shift), surroundings=ground_under(skeleton),
                  base="legs")  # fmt: skip
    stands = Physics(skeleton, rest, surroundings=ground_under(skeleton), base="legs").aimed.translations[0, 1]
    np.testing.assert_allclose(sim.aimed.translations[0], (0.5, stands, 0.0), atol=1e-12)


def lying(skeleton: viewer.Skeleton) -> viewer.Pose:
    """The relaxed pose, a quarter turned about x."""
    rest = skeleton.relaxed_pose()
    rotations = rest.rotations.copy()
    rotations[0] = multiply(np.array((np.sin(np.pi / 4), 0.0, 0.0, np.cos(np.pi / 4))), rotations[0])
    return viewer.Pose(rotations, rest.translations)


@pytest.mark.parametrize("backend", ["numba", "numpy"])
def test_a_base_that_was_turned_keeps_its_turn_where_it_is_posed(backend: str) -> None:
    skeleton = hung()
    pose = lying(skeleton)
    assert (viewer.project_pose(skeleton, pose).rotations[0] == pose.rotations[0]).all()
    at = viewer.fk(skeleton, pose).positions[skeleton.index("LeftHand")] + (0.0, 0.1, 0.05)
    solver = viewer.Solver(skeleton, [viewer.Goal.position("LeftHand", at)], backend=backend)  # type: ignore[arg-type]
    for found in (solver.solve(pose), solver.drag(pose).move(at[None])):
        assert (found.pose.rotations[0] == pose.rotations[0]).all()
        assert (found.pose.translations[0] == pose.translations[0]).all()
        assert found.errors_m[0] < 0.01
    batch = solver.solve_batch([pose, skeleton.relaxed_pose()], np.stack([at, at])[:, None])
    np.testing.assert_array_equal(batch.pose(0).rotations[0], pose.rotations[0])


def test_a_turned_base_that_is_fixed_stays_turned_in_a_simulation() -> None:
    arm = viewer.load("sample:claw-arm").skeleton
    pose = lying(arm)
    sim = Physics(arm, pose, surroundings=Surroundings(ground=None))
    run(sim, 0.5)
    np.testing.assert_allclose(sim.pose.rotations, pose.rotations, atol=0.01)
    assert (sim.pose.rotations[0] == pose.rotations[0]).all()


def test_a_centaur_stands_on_its_four_legs() -> None:
    """It has the arms of a person, none of its legs, and feet all around."""
    biped = hung()
    builder = viewer.Builder(biped).remove("LeftUpLeg").remove("RightUpLeg")
    for number, (x, z) in enumerate([(0.2, 0.4), (-0.2, 0.4), (0.2, -0.4), (-0.2, -0.4)]):
        builder.add(f"hip {number}", "Hips", (x, 0.0, z), kind="hinge", axis=(1, 0, 0))
        builder.add(f"knee {number}", f"hip {number}", (0.0, -0.4, 0.0), kind="hinge", axis=(1, 0, 0))
        builder.tip(f"knee {number}", (0.0, -0.4, 0.0))
    skeleton = builder.skeleton
    figure = find_figure(skeleton)
    assert figure is not None
    assert (len(figure.arms), figure.legs) == (2, ())
    assert len(Physics(skeleton, surroundings=ground_under(skeleton), base="legs").model.free) == 1


def test_each_of_several_figures_stands_by_itself() -> None:
    skeleton, arm = hung(), viewer.load("sample:claw-arm").skeleton
    turned = np.array((0.0, 0.6, 0.0, 0.8))
    origin, place = (np.zeros(3), np.array((0.0, 0.0, 0.0, 1.0))), (np.array((2.0, 1.0, 0.0)), turned)
    together = Together.of([Standing(arm, *origin), Standing(skeleton, *place)])
    pose = together.pose([arm.relaxed_pose(), skeleton.relaxed_pose()])
    sim = Physics(together.skeleton, pose, figures=[arm, skeleton], base="legs")
    assert sim.model.free.tolist() == [len(arm)]
    run(sim, 1.0)
    assert sim.assist_weights < 0.2
    np.testing.assert_allclose(sim.pose.translations[len(arm)], sim.aimed.translations[len(arm)], atol=0.01)


def test_feet_without_soles_touch_the_floor() -> None:
    """Feet of no length have no sole: their capsules carry the figure."""
    skeleton = viewer.load("sample:biped").skeleton
    flat = skeleton.offsets.copy()
    toes = [skeleton.index(f"{side}ToeBase") for side in ("Left", "Right")]
    flat[toes, 0] = flat[toes, 2] = 0.0
    tips = skeleton.tip_offsets.copy()
    tips[np.isin(skeleton.tip_parents, toes)] *= (0.0, 1.0, 0.0)
    sim = Physics(replace(skeleton, offsets=flat, tip_offsets=tips, poses={}), assist="off", strength=10.0)
    height = sim.pose.translations[0, 1]
    run(sim, 0.3)
    assert height - sim.pose.translations[0, 1] < 0.05


def shod(skeleton: viewer.Skeleton) -> viewer.Character:
    """A figure without toes whose feet are boxes of a mesh: 4 cm below the ankle, 18 cm ahead of it."""
    builder = viewer.Builder(skeleton)
    for side in ("Left", "Right"):
        builder.remove(f"{side}ToeBase")
    bare = builder.skeleton
    feet = [bare.index(f"{side}Foot") for side in ("Left", "Right")]
    kept = ~np.isin(bare.tip_parents, feet)  # its heels
    bare = replace(bare, tip_parents=bare.tip_parents[kept], tip_offsets=bare.tip_offsets[kept])
    world = viewer.fk(bare, bare.rest_pose())
    shapes = []
    for side in ("Left", "Right"):
        joint = bare.index(f"{side}Foot")
        corners = np.array([(x, y, z) for x in (-0.04, 0.04) for y in (-0.04, 0.0) for z in (-0.05, 0.18)])
        points = rotate(conjugate(world.rotations[joint]), corners)
        faces = np.array([(0, 1, 2), (1, 3, 2), (4, 6, 5), (5, 6, 7)])
        shapes.append(Shape(f"{side}Foot", points, faces, (1.0, 1.0, 1.0, 1.0)))
    return viewer.Character(bare, skin=rigid_skin(shapes, [], bare, []))


def test_feet_that_only_meshes_show_are_stood_on() -> None:
    character = shod(hung())
    bare = character.skeleton
    assert soles_of(bare) == ()
    skeleton = with_feet(bare, character.skin)
    assert with_feet(bare, None) is bare
    assert with_feet(skeleton, character.skin) is skeleton  # known now
    world = viewer.fk(skeleton, skeleton.rest_pose())
    for side in ("Left", "Right"):
        ankle = skeleton.index(f"{side}Foot")
        (tip,) = skeleton.tip_offsets[skeleton.tip_parents == ankle]
        toe = world.point(ankle, tip)
        np.testing.assert_allclose(toe - world.positions[ankle], (0.0, -0.04, 0.18), atol=1e-6)
    sim = Physics(skeleton, surroundings=ground_under(skeleton), base="legs")
    run(sim, 1.0)
    assert sim.assist_weights < 0.1
    ground = sim.surroundings.ground
    assert ground is not None
    after = viewer.fk(skeleton, sim.pose)
    for side in ("Left", "Right"):
        assert after.positions[skeleton.index(f"{side}Foot"), 1] - ground == pytest.approx(0.04, abs=0.01)


def test_the_command_stands_a_robot_on_the_floor_below_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    viewer.save(viewer.Character(hung()), tmp_path / "robot.json")
    command = ("simulate", str(tmp_path / "robot.json"), "--seconds", "1", "--json")
    for base, held in (((), True), (("--base", "fixed"), False)):
        done = ran(capsys, *command, *base)
        assert (done.code, done.err) == (0, "")
        assert (done.json["assist_weights"] > 0.0) == held
    assert ran(capsys, *command, "--ground", "0").err == ""  # it is lifted onto it


def test_the_panel_frees_a_base_and_the_ghost_is_shown_where_it_differs() -> None:
    window = PanelWindow(viewer.Character(hung()))
    try:
        controller = window.controller
        controller.run("physics.run")
        for frame in range(20):
            controller.tick(frame / 60.0)
        part = controller.simulating
        assert part.sim is not None
        assert len(part.sim.model.free) == 1
        assert controller.scene().ghosts == ()
        part.sim.push("Spine2", (0.0, 0.0, 60.0))
        for frame in range(20, 32):
            controller.tick(frame / 60.0)
        (ghost,) = controller.scene().ghosts
        aimed = viewer.fk(part.sim.skeleton, part.sim.aimed).positions
        np.testing.assert_allclose(ghost.world.positions, aimed)
        part.change(replace(part.forces, base="fixed"))
        assert part.sim is not None
        assert len(part.sim.model.free) == 0
        window.frames(2)
    finally:
        window.close()
