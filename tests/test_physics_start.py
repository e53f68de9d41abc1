"""What overlaps when a simulation starts comes apart, or is let be and said; balls start where nothing is."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from cli_run import ran
from inside.physics import Overlaps
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
    assert sim.deepest < 0.001  # what was there at the start does not count while it goes as quickly as it is to


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
    later = Overlaps(np.array([1 * 7 + 4]), np.array([0.008]), 7)
    assert some.staying(later).geoms() == [(1, 4)]
    assert some.staying(Overlaps.none(7)).geoms() == []
