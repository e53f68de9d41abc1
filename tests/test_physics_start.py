"""Bodies that overlap when a simulation starts come apart, or are left so with a warning; balls start in free space."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from cli_run import ran
from inside.physics import Overlaps, Standing, Together
from inside.spatial import from_axis_angle, multiply
from rigs import chain

import viewer
from viewer import Physics, Surroundings

pytest.importorskip("mujoco")


def at_height(skeleton: viewer.Skeleton, height: float) -> viewer.Pose:
    """The relaxed pose with the lowest point of the figure's capsules at a height."""
    pose = skeleton.relaxed_pose()
    world, low = viewer.fk(skeleton, pose), []
    for one in viewer.fit_bodies(skeleton).capsules:
        low += [float(world.point(one.joint, np.array(end))[1]) - one.radius for end in (one.a, one.b)]
    return viewer.Pose(pose.rotations, pose.translations + np.where(np.arange(len(skeleton)), 0.0, 1.0)[:, None] * (
        0.0, height - min(low), 0.0
    ))  # fmt: skip


def lying(limits: viewer.JointLimits | None) -> viewer.Skeleton:
    """A bar of two links along x, 10 cm long, with a hinge about z on a pole 1 m high."""
    kinds = (viewer.JointKind.FIXED, viewer.JointKind.HINGE, viewer.JointKind.FIXED)
    return dataclasses.replace(
        chain(3, viewer.JointKind.HINGE), name="bar", kinds=kinds, limits=(None, limits, None),
        offsets=np.array([(0.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.05, 0.0, 0.0)]),
        tip_offsets=np.array([(0.05, 0.0, 0.0)]),
    )  # fmt: skip


def ground_under(skeleton: viewer.Skeleton, depth: float) -> Surroundings:
    """A floor in which the bar is so deep, metres."""
    radius = min(one.radius for one in viewer.fit_bodies(skeleton).capsules)
    return Surroundings(ground=1.0 + depth - radius, gravity=0.0)


def test_what_lies_in_the_floor_and_can_leave_it_does() -> None:
    skeleton = viewer.load("sample:quadruped").skeleton
    start = at_height(skeleton, -0.003)
    sim = Physics(skeleton, start)
    assert sim.stuck == ()
    for _ in range(30):
        sim.step(1.0 / 60.0)
    assert sim.deepest < 0.001


def test_what_overlaps_at_the_start_is_apart_before_the_first_step_and_at_rest() -> None:
    skeleton = viewer.load("sample:biped").skeleton
    above = skeleton.relaxed_pose()  # its soles are on the floor
    start = viewer.Pose(above.rotations, above.translations - np.eye(len(skeleton), 1) * (0.0, 0.004, 0.0))
    sim = Physics(skeleton, start)
    assert (sim.aimed, sim.stuck) == (start, ())
    assert not sim._data.qvel.any()
    moved = viewer.fk(skeleton, sim.pose).positions - viewer.fk(skeleton, start).positions
    assert 0.002 < np.abs(moved).max() < 0.01
    np.testing.assert_array_equal(sim.clip.pose(0).rotations, sim.pose.rotations)
    sim.step(1.0 / 240.0)
    assert sim.deepest < 1e-4


@pytest.mark.parametrize(("most", "stuck"), [(0.03, {"j1", "j2"}), (0.2, {"j1"})])
def test_what_comes_apart_stays_inside_its_limits(most: float, stuck: set[str]) -> None:
    """The end of the bar is out of the floor after a turn of 0.08 about its hinge; its beginning stays in it."""
    bar = lying(viewer.JointLimits.coordinates((-0.5, most)))
    sim = Physics(bar, surroundings=ground_under(bar, 0.004))
    assert {part for part, _, _ in sim.stuck} == stuck
    assert viewer.limit_violation(bar, sim.pose).max() < 1e-3


def test_what_its_limits_hold_in_the_floor_is_let_be_and_said() -> None:
    held = lying(viewer.JointLimits.coordinates((-0.5, 0.0)))
    around = ground_under(held, 0.004)
    sim = Physics(held, surroundings=around)
    assert [(part, other) for part, other, _ in sim.stuck] == [("j1", "floor"), ("j2", "floor")]
    assert max(depth for _, _, depth in sim.stuck) == pytest.approx(0.004, abs=1e-3)
    for _ in range(60):
        pose = sim.step(1.0 / 60.0)
        assert viewer.limit_violation(held, pose).max() < 1e-3
    assert sim.deepest < 0.001
    world = viewer.fk(held, sim.pose)
    assert abs(world.positions[2, 1] - 1.0) < 0.001  # it goes no deeper, although its range lets it


def test_what_hangs_beside_its_joint_in_the_floor_is_said_and_the_rest_comes_out() -> None:
    free = lying(None)
    sim = Physics(free, surroundings=ground_under(free, 0.004))
    assert [(part, other) for part, other, _ in sim.stuck] == [("j1", "floor")]


def test_nothing_of_the_samples_is_stuck() -> None:
    for name in ("biped", "biped-hands", "quadruped", "raptor", "claw-arm"):
        assert Physics(viewer.load(f"sample:{name}").skeleton).stuck == (), name


def test_the_command_says_what_is_stuck(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    held = lying(viewer.JointLimits.coordinates((-0.5, 0.0)))
    ground = ground_under(held, 0.004).ground
    path = tmp_path / "bar.json"
    viewer.save(viewer.Character(held), path)
    done = ran(capsys, "simulate", str(path), "--seconds", "0.05", f"--ground={ground}")
    assert done.code == 0
    lines = [line for line in done.err.splitlines() if "deep in" in line]
    assert len(lines) == 2
    assert lines[1].startswith(f"warning: {path}: j2 is ")
    assert lines[1].endswith(" mm deep in the floor and cannot leave it: it stays there")


def test_a_figure_that_is_free_is_lifted_out_of_the_floor_and_stands_on_it() -> None:
    """As captures whose feet are a few centimetres too low; a figure that hangs on the world is not moved so far."""
    skeleton = viewer.load("sample:biped").skeleton
    above = skeleton.relaxed_pose()
    sim = Physics(skeleton, viewer.Pose(above.rotations, above.translations - np.eye(len(skeleton), 1) * (0, 0.06, 0)))
    assert sim.warnings == ()
    toes = [skeleton.index(name) for name in ("LeftToeBase", "RightToeBase")]
    stands = viewer.fk(skeleton, above).positions[toes, 1]
    np.testing.assert_allclose(viewer.fk(skeleton, sim.pose).positions[toes, 1], stands, atol=0.01)
    for _ in range(60):
        sim.step(1.0 / 60.0)
    np.testing.assert_allclose(viewer.fk(skeleton, sim.pose).positions[toes, 1], stands, atol=0.01)
    assert sim.deepest < 0.001
    bar = lying(None)
    assert Physics(bar, surroundings=ground_under(bar, 0.02)).warnings[0].startswith("j1 and 1 more start up to 20 mm")


def test_what_starts_deep_in_the_floor_is_said_with_how_deep() -> None:
    skeleton = viewer.load("sample:biped").skeleton
    above = skeleton.relaxed_pose()
    sim = Physics(skeleton, viewer.Pose(above.rotations, above.translations - np.eye(len(skeleton), 1) * (0, 0.2, 0)))
    (line,) = sim.warnings
    name, more, depth = re.fullmatch(
        r"(\w+) and (\d+) more start up to ([\d.]+) m deep in the floor and will not touch it", line
    ).groups()  # type: ignore[union-attr]
    assert name in skeleton.names
    assert int(more) >= 3
    assert float(depth) == pytest.approx(0.2, abs=0.01)
    assert sim.step(1.0 / 60.0).translations[0, 1] == pytest.approx(sim.aimed.translations[0, 1], abs=0.01)
    assert Physics(skeleton).warnings == ()
    two = lying(None)
    assert Physics(two, surroundings=Surroundings(ground=2.0)).warnings == (
        "j1 and 1 more start up to 1.01 m deep in the floor and will not touch it",
    )


def test_the_command_holds_the_first_pose_of_a_motion(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    walk, out = viewer.load("sample:walk"), tmp_path / "held.npz"
    done = ran(capsys, "simulate", "sample:walk", "--seconds", "0.1", "-o", str(out))
    assert (done.code, "fell" in done.out) == (0, False)
    assert walk.clip is not None
    held = viewer.load(out).clip
    assert held is not None
    np.testing.assert_allclose(held.pose(0).translations[0], walk.clip.pose(0).translations[0], atol=0.005)
    np.testing.assert_allclose(np.abs(np.sum(held.rotations[0] * walk.clip.rotations[0], axis=-1)), 1.0, atol=1e-4)


def test_what_lies_does_not_fall(capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(capsys, "simulate", "sample:serpent", "--seconds", "0.5", "--json").json["fell"] is False


@pytest.mark.parametrize("turn", [3.0, 3.1, np.pi])
def test_a_ball_that_starts_at_half_a_turn_is_moved_back_and_keeps_its_limits(turn: float) -> None:
    limits = viewer.JointLimits.swing_twist(1, (0.1, np.inf), (-0.4, 0.5), (-0.7, 0.4))
    kinds = (viewer.JointKind.FIXED, viewer.JointKind.BALL)
    skeleton = dataclasses.replace(chain(2), kinds=kinds, limits=(None, limits))
    turned = (np.sin(turn / 2), 0.0, 0.0, np.cos(turn / 2))
    start = viewer.Pose(np.array([(0.0, 0.0, 0.0, 1.0), turned]), skeleton.offsets)
    assert viewer.limit_violation(skeleton, start).max() < 1e-9
    sim = Physics(skeleton, start, surroundings=Surroundings(ground=None))
    for frame in range(60):
        if frame == 20:
            sim.push("j1", (0.0, 0.0, 3.0 * sim.effective_mass("j1", (0.0, 0.0, 1.0))))
        pose = sim.step(1.0 / 60.0)
        assert np.degrees(viewer.limit_violation(skeleton, pose).max()) < 1.0
        if frame < 20:
            assert np.degrees(2.0 * np.arccos(abs(np.sum(pose.rotations[1] * start.rotations[1])))) < 20.0


@pytest.mark.parametrize("speed", [(0.0, 0.0, -8.0), (0.0, -3.0, 0.0), (0.0, 0.0, 0.0)])
def test_a_ball_thrown_from_inside_a_figure_comes_from_where_it_is_free(speed: tuple[float, float, float]) -> None:
    skeleton = viewer.load("sample:biped").skeleton
    sim = Physics(skeleton)
    world = viewer.fk(skeleton, sim.pose)
    inside = world.positions[skeleton.index("Spine1")] + (0.0, 0.02, 0.0)
    sim.throw(inside, speed)
    moved = sim.balls[0] - inside
    assert np.linalg.norm(moved) > sim.model.ball_radius
    way = -np.array(speed) / np.linalg.norm(speed) if any(speed) else np.array((0.0, 1.0, 0.0))
    np.testing.assert_allclose(np.cross(moved, way), 0.0, atol=1e-12)
    assert moved @ way > 0.0
    for _ in range(60):
        sim.step(1.0 / 60.0)
    assert sim.deepest < 0.005


def test_a_ball_thrown_where_nothing_is_starts_there() -> None:
    sim = Physics(viewer.load("sample:biped").skeleton)
    sim.throw((0.3, 1.0, 2.0), (0.0, 0.0, -8.0))
    np.testing.assert_array_equal(sim.balls, [(0.3, 1.0, 2.0)])


def test_a_fast_ball_does_not_pass_through_a_small_figure() -> None:
    """It flies 42 mm a step; the limb is 10 mm thick, and far less tall than that."""
    small = dataclasses.replace(
        chain(3),
        offsets=np.array([(0.0, 0.0, 0.0), (0.05, 0.0, 0.0), (0.05, 0.0, 0.0)]),
        rest_rotations=np.array([(0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)), (0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.0, 1.0)]),
        tip_offsets=np.array([(0.05, 0.0, 0.0)]),
    )
    sim = Physics(small, surroundings=Surroundings(ground=None, gravity=0.0, ball_radius=0.004, ball_mass=1e-4))
    sim.throw((0.0, 0.075, 0.3), (0.0, 0.0, -10.0))
    for _ in range(30):
        sim.step(1.0 / 240.0)
    assert sim.balls[0, 2] > 0.0
    assert sim.deepest < 0.001


def test_overlaps_are_found_by_their_pair_in_whatever_order() -> None:
    some = Overlaps(np.array([1 * 7 + 4, 2 * 7 + 3]), np.array([0.01, 0.02]), 7)
    geoms = np.array([(4, 1), (3, 2), (2, 4), (6, 6)])
    np.testing.assert_array_equal(some.at(geoms), (0.01, 0.02, 0.0, 0.0))
    np.testing.assert_array_equal(Overlaps.none(7).at(geoms), np.zeros(4))
    assert some.geoms() == [(1, 4), (2, 3)]
    later = Overlaps(np.array([1 * 7 + 4, 5 * 7 + 6]), np.array([0.008, 0.003]), 7)
    assert (some.among(later).geoms(), some.among(later).depths.tolist()) == ([(1, 4)], [0.01])
    assert (some.without(later).geoms(), some.without(later).depths.tolist()) == ([(2, 3)], [0.02])
    assert some.among(Overlaps.none(7)).geoms() == []
    joined = later.joined(some.without(later))
    assert joined.geoms() == [(1, 4), (2, 3), (5, 6)]
    assert joined.depths.tolist() == [0.008, 0.02, 0.003]


@pytest.mark.parametrize("kind", ["hinge", "ball"])
@pytest.mark.parametrize("length", [1.0, 2e-3])
def test_figures_that_lie_flat_and_end_in_a_joint_without_a_bone_move(
    kind: Literal["hinge", "ball"], length: float
) -> None:
    builder = viewer.Builder(name="eel")
    axis = (0.0, 1.0, 0.0) if kind == "hinge" else None
    builder.add("head", None, (0.0, 2.0 * length, 0.0), kind="free")
    builder.add("back", "head", (length, 1e-14, 0.0), kind=kind, axis=axis)
    builder.add("tail", "back", (length, 0.0, 0.0), kind=kind, axis=axis)
    sim = Physics(builder.skeleton, surroundings=Surroundings(ground=None), assist="off")
    sim.throw((0.0, 2.0 * length, 3.0 * length), (0.0, 0.0, -length))
    for _ in range(60):
        pose = sim.step(1.0 / 60.0)
    assert np.isfinite(pose.rotations).all()
    assert pose.translations[0, 1] == pytest.approx(2.0 * length - 9.81 / 2.0, rel=0.1)


@pytest.mark.parametrize("name", ["biped", "raptor", "quadruped"])
def test_an_aim_in_the_floor_does_not_press_the_figure_down(name: str) -> None:
    skeleton = viewer.load(f"sample:{name}").skeleton
    pose = skeleton.relaxed_pose()
    sunk = pose.translations.copy()
    sunk[0, 1] -= 0.02
    sim = Physics(skeleton, viewer.Pose(pose.rotations, sunk))
    held = []
    for _ in range(180):
        sim.step(1.0 / 60.0)
        held.append(sim.assist_weights)
    assert np.mean(held[-60:]) < 0.5  # it was a whole weight
    assert sim.pose.translations[0, 1] > sunk[0, 1] + 0.017
    sim.aim(pose)
    sim.step(1.0)
    np.testing.assert_allclose(sim.pose.translations[0], pose.translations[0], atol=0.005)


def test_only_the_figure_in_the_floor_is_aimed_higher() -> None:
    skeleton = viewer.load("sample:biped").skeleton
    pose, turn = skeleton.relaxed_pose(), np.array([0.0, 0.0, 0.0, 1.0])
    together = Together.of([Standing(skeleton, np.array([x, y, 0.0]), turn) for x, y in ((0.0, 0.0), (2.0, -0.02))])
    start = together.pose([pose, pose])
    sim = Physics(together.skeleton, start, figures=[skeleton, skeleton])
    sim.step(2.0)
    first, second = (sim.pose.translations[root] - start.translations[root] for root in together.first)
    assert abs(first[1]) < 0.003
    assert 0.017 < second[1] < 0.023


def test_a_followed_motion_moves_the_aim_evenly_whatever_its_rate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    skeleton = viewer.load("sample:biped").skeleton
    pose, aimed = skeleton.relaxed_pose(), list[float]()

    class Told(Physics):
        def aim(self, pose: viewer.Pose) -> None:
            aimed.append(float(pose.translations[0, 2]))
            super().aim(pose)

    monkeypatch.setattr("viewer.cli.simulate_command.Physics", Told)
    for fps in (24.0, 30.0, 120.0):
        count = round(fps) + 1  # twice as long as is simulated
        places = np.repeat(pose.translations[None], count, axis=0)
        places[:, 0, 2] += np.arange(count) / fps  # a metre per second
        turns = np.repeat(pose.rotations[None], count, axis=0)
        clip = viewer.Clip.from_arrays(skeleton, turns, places, fps=fps, name="glide")
        path = tmp_path / "glide.json"
        viewer.save(viewer.Character(skeleton, {"glide": clip}), path)
        aimed.clear()
        assert ran(capsys, "simulate", str(path), "--follow", "--seconds", "0.5").code == 0
        np.testing.assert_allclose(np.diff(aimed), 1.0 / 60.0, atol=1e-6)


@pytest.mark.parametrize(("strength", "slower", "cut"), [(4.0, 1.0, 0), (8.0, 1.0, 14), (4.0, 1.5, 0), (8.0, 2.0, 7)])
def test_a_walk_that_is_slowed_or_cut_does_not_stumble(strength: float, slower: float, cut: int) -> None:
    """Its feet swing 11 mm above the ground: where they touch it they slide."""
    character = viewer.load("sample:walk")
    assert character.clip is not None
    clip = character.clip.frames(cut, len(character.clip) - 1)
    clip = dataclasses.replace(clip, frame_time=slower * clip.frame_time).resampled(60)
    sim = Physics(character.skeleton, clip.pose(0), strength=strength)
    for frame in range(1, len(clip)):
        sim.aim(clip.pose(frame))
        pelvis = sim.step(1.0 / 60.0).translations[0]
        assert np.linalg.norm(pelvis - clip.pose(frame).translations[0]) < 0.08
    assert sim.deepest < 0.005


def test_what_is_aimed_to_stay_does_not_slide() -> None:
    """Feet that the aim leaves where they are keep their friction while hands move, and are not pushed away."""
    skeleton = viewer.load("sample:biped").skeleton
    start = skeleton.relaxed_pose()
    sim = Physics(skeleton, start, assist="off")
    foot = skeleton.index("LeftFoot")
    placed = viewer.fk(skeleton, sim.pose).positions[foot]
    turns, arm = start.rotations.copy(), skeleton.index("LeftArm")
    for frame in range(15):
        turns[arm] = multiply(start.rotations[arm], from_axis_angle((0.0, 0.0, 1.0), np.array(0.02 * frame)))
        sim.aim(viewer.Pose(turns, start.translations))
        sim.push("Hips", (0.5, 0.0, 0.0))
        sim.step(1.0 / 60.0)
    np.testing.assert_allclose(viewer.fk(skeleton, sim.pose).positions[foot], placed, atol=0.01)
