"""Simulated figures stand, come back after a hit, keep their limits, and stay finite; models are MuJoCo's own."""

from __future__ import annotations

import dataclasses
import math
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from cli_run import ran
from inside.physics import load_mujoco, make_model, mjcf_text
from inside.skeleton import capsule_masses
from inside.spatial import multiply
from rigs import NONE, chain, random_pose, random_skeleton

import viewer
from viewer import Physics, Surroundings

mujoco = pytest.importorskip("mujoco")


def ends_of(skeleton: viewer.Skeleton, pose: viewer.Pose) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    world = viewer.fk(skeleton, pose)
    return np.array([world.point(one.joint, np.array(one.offset)) for one in skeleton.effectors])


def fixed_in_place(skeleton: viewer.Skeleton, pose: viewer.Pose) -> viewer.Pose:
    """The pose with the skeleton's offsets where no joint moves."""
    moves = np.array([kind.value in {"free", "slide"} for kind in skeleton.kinds])
    return viewer.Pose(pose.rotations, np.where(moves[:, None], pose.translations, skeleton.offsets))


@pytest.mark.parametrize("seed", range(4))
def test_the_exported_model_has_our_forward_kinematics(seed: int) -> None:
    """In plain MuJoCo, at random poses of random rigs of all joint kinds."""
    random = np.random.default_rng(seed)
    skeleton = random_skeleton(random, 20) if seed else viewer.load("sample:biped-hands").skeleton
    model = mujoco.MjModel.from_xml_string(mjcf_text(viewer.Character(skeleton)))
    data, bodies = mujoco.MjData(model), [model.body(name).id for name in skeleton.names]
    ours = make_model(skeleton, skeleton.rest_pose(), Surroundings(), balls=0)
    for _ in range(10):
        pose = fixed_in_place(skeleton, viewer.project_pose(skeleton, random_pose(random, skeleton)))
        data.qpos[:] = ours.coordinates(pose, data.qpos)
        mujoco.mj_kinematics(model, data)
        world = viewer.fk(skeleton, pose)
        np.testing.assert_allclose(data.xpos[bodies], world.positions, atol=1e-9)
        turns = np.abs(np.einsum("ji,ji->j", viewer.quaternions.from_wxyz(data.xquat[bodies]), world.rotations))
        np.testing.assert_allclose(turns, 1.0, atol=1e-9)
        again = viewer.fk(skeleton, viewer.Pose(*ours.motion(data.qpos, pose)))
        np.testing.assert_allclose(again.positions, world.positions, atol=1e-9)


def test_an_undriven_pendulum_keeps_its_energy() -> None:
    """For 10 s, of the model alone, stepped by MuJoCo's RK4: what drives a figure has no part in it."""
    skeleton = chain(4, viewer.JointKind.BALL)
    model = make_model(skeleton, skeleton.rest_pose(), Surroundings(ground=None, self_contact=False), balls=0).mj
    model.opt.integrator, model.opt.timestep = mujoco.mjtIntegrator.mjINT_RK4, 1e-3
    model.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_ENERGY)
    data = mujoco.MjData(model)
    data.qvel[:] = np.random.default_rng(0).normal(size=model.nv)
    mujoco.mj_forward(model, data)
    start, swing = data.energy.sum(), 0.0
    for _ in range(10_000):
        mujoco.mj_step(model, data)
        swing = max(swing, data.energy[1])
    assert abs(data.energy.sum() - start) < 0.01 * swing


@pytest.mark.parametrize(("joint", "impulse"), [("LeftHand", (2.0, 1.0, -3.0)), ("LeftToeBase", (0.0, 20.0, 100.0))])
def test_without_gravity_nothing_but_a_push_changes_the_momentum(joint: str, impulse: tuple[float, ...]) -> None:
    """It takes the whole push, however light the bone."""
    skeleton = viewer.load("sample:biped").skeleton
    sim = Physics(skeleton, assist="off", surroundings=Surroundings(gravity=0.0, ground=None))
    sim.push(joint, impulse)
    data, masses = sim._data, sim.model.mj.body_mass
    for _ in range(60):
        sim.step(1.0 / 60.0)
    mujoco.mj_subtreeVel(sim.model.mj, data)
    momentum = masses[: len(skeleton) + 1].sum() * data.subtree_linvel[1]
    np.testing.assert_allclose(momentum, impulse, atol=0.02 * math.hypot(*impulse))


def test_a_simulation_says_what_it_simulates() -> None:
    sim = Physics(viewer.load("sample:biped").skeleton)
    sim.step(0.5)
    assert repr(sim) == '<Physics "biped": 22 joints, 0.50 s>'


def test_a_person_weighs_what_people_of_its_height_do() -> None:
    skeleton = viewer.load("sample:biped-hands").skeleton
    masses = capsule_masses(skeleton)
    assert masses.sum() == pytest.approx(66.0, abs=3.0)
    names = [skeleton.names[one.joint] for one in viewer.fit_bodies(skeleton).capsules]
    thigh = sum(mass for name, mass in zip(names, masses.tolist(), strict=True) if name == "LeftUpLeg")
    assert thigh / masses.sum() == pytest.approx(0.1416, rel=0.02)


@pytest.mark.parametrize("name", ["biped", "raptor", "quadruped", "claw-arm"])
def test_a_figure_comes_back_after_a_ball(name: str) -> None:
    skeleton = viewer.load(f"sample:{name}").skeleton
    sim = Physics(skeleton)
    goals, target = ends_of(skeleton, sim.pose), viewer.fk(skeleton, sim.pose).positions[1]
    for _ in range(90):
        sim.step(1.0 / 60.0)
    sim.throw(np.add(target, (0.0, 0.1, 1.0)), (0.0, 0.0, -8.0))
    hit = 0.0
    for _ in range(75):  # a second after it has arrived
        sim.step(1.0 / 60.0)
        hit = max(hit, float(viewer.limit_violation(skeleton, sim.pose).max()))
    off = np.linalg.norm(ends_of(skeleton, sim.pose) - goals, axis=1).max()
    assert off < 0.005 * max(1.0, sim.model.height), off
    assert np.degrees(hit) < 0.5
    assert sim.deepest < 0.005


def test_a_helped_person_stands_a_push_from_any_side() -> None:
    skeleton = viewer.load("sample:biped").skeleton
    for impulse in ((0.0, 0.0, 40.0), (0.0, 0.0, -40.0), (40.0, 0.0, 0.0)):
        sim = Physics(skeleton, assist="helped")
        sim.push("Spine2", impulse, at=0.5)
        for _ in range(180):
            sim.step(1.0 / 60.0)
        assert sim.pose.translations[0, 1] > 0.95 * skeleton.relaxed_pose().translations[0, 1]
        assert sim.assist_weights <= 0.3 + 1e-9


def test_without_help_a_pushed_person_falls() -> None:
    skeleton = viewer.load("sample:biped").skeleton
    sim = Physics(skeleton, assist="off")
    sim.push("Spine2", (0.0, 0.0, 60.0), at=0.1)
    for _ in range(150):
        sim.step(1.0 / 60.0)
    assert sim.pose.translations[0, 1] < 0.7 * skeleton.relaxed_pose().translations[0, 1]


@pytest.mark.parametrize("seed", range(5))
def test_random_rigs_stay_finite_under_pushes_and_balls(seed: int) -> None:
    random = np.random.default_rng(seed)
    skeleton = random_skeleton(random, int(random.integers(3, 20)))
    if not skeleton.dof:
        return
    sim = Physics(skeleton, viewer.project_pose(skeleton, random_pose(random, skeleton)))
    for turn in range(6):
        way = random.normal(size=3)
        name = skeleton.names[int(random.integers(len(skeleton)))]
        sim.push(name, 3.0 * sim.effective_mass(name, way) * way / np.linalg.norm(way))
        if turn == 2:
            sim.throw(viewer.fk(skeleton, sim.pose).positions[-1] + way, -8.0 * way / np.linalg.norm(way))
        for _ in range(6):
            pose = sim.step(1.0 / 60.0)
            assert viewer.limit_violation(skeleton, pose).max() < math.radians(1.0)
        assert np.isfinite(pose.rotations).all()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("form", ["swing-twist", "euler"])
def test_a_fast_ball_is_stopped_at_its_limits(form: str, seed: int) -> None:
    """At 30 radians per second, 7 degrees a step, with ranges that are wide, locked and open."""
    random = np.random.default_rng(seed)
    ends = [(-0.4, 0.5), (0.1, 0.1), (-np.inf, np.inf), (-1.0, 0.3)]
    a, b, c = (ends[k] for k in random.permutation(4)[:3])
    limits = viewer.JointLimits.swing_twist(1, a, b, c)
    if form == "euler":
        limits = viewer.JointLimits.euler("yxz", (-0.4, 0.5), b, c)
    one = chain(2)
    skeleton = dataclasses.replace(one, kinds=(viewer.JointKind.FIXED, viewer.JointKind.BALL), limits=(None, limits))
    sim = Physics(skeleton, viewer.project_pose(skeleton, skeleton.rest_pose()), surroundings=Surroundings(ground=None))
    spin = random.normal(size=3)
    sim._data.qvel[:3] = 30.0 * spin / np.linalg.norm(spin)
    for _ in range(60):
        assert viewer.limit_violation(skeleton, sim.step(1.0 / 240.0)).max() < math.radians(3.0)


@pytest.mark.parametrize("speed", [60.0, 150.0])
@pytest.mark.parametrize("form", ["swing-twist", "euler"])
def test_limits_hold_where_a_ball_turns_by_a_third_of_a_radian_a_step(form: str, speed: float) -> None:
    """Where one range is open a limb whirls, past half a turn too; then the others are curves and not planes."""
    if form == "euler":
        limits = viewer.JointLimits.euler("zyx", (-np.inf, np.inf), (-1.2, 1.3), (-0.1, 0.5))
    else:
        limits = viewer.JointLimits.swing_twist(2, (-np.inf, np.inf), (-0.6, 0.3), (0.3, 0.9))
    one = chain(3)
    kinds = (viewer.JointKind.FIXED, viewer.JointKind.BALL, viewer.JointKind.BALL)
    skeleton = dataclasses.replace(one, kinds=kinds, limits=(None, limits, limits))
    start = viewer.project_pose(skeleton, skeleton.rest_pose())
    worst = 0.0
    for seed in range(5):
        sim = Physics(skeleton, start, surroundings=Surroundings(ground=None, gravity=0.0))
        spins = np.random.default_rng(seed).normal(size=(2, 3))
        sim._data.qvel[:6] = speed * (spins / np.linalg.norm(spins, axis=1, keepdims=True)).ravel()
        for _ in range(40):
            worst = max(worst, float(viewer.limit_violation(skeleton, sim.step(1.0 / 240.0)).max()))
    assert np.degrees(worst) < 1.0


@pytest.mark.parametrize("kind", [viewer.JointKind.BALL, viewer.JointKind.HINGE])
def test_a_joint_that_is_hit_stays_inside_although_it_did_not_move(kind: viewer.JointKind) -> None:
    """A blow that turns it by more than its range within a step."""
    limits = viewer.JointLimits.coordinates((-0.05, 0.05))
    if kind is viewer.JointKind.BALL:
        limits = viewer.JointLimits.swing_twist(0, (-0.05, 0.05), (-0.05, 0.05), (-0.05, 0.05))
    skeleton = dataclasses.replace(chain(2, kind), kinds=(viewer.JointKind.FIXED, kind), limits=(None, limits))
    sim = Physics(skeleton, surroundings=Surroundings(ground=None, gravity=0.0))
    sim.push("j1", (0.0, 400.0 * sim.effective_mass("j1", (0.0, 1.0, 0.0)), 0.0))
    assert np.degrees(viewer.limit_violation(skeleton, sim.step(1.0 / 240.0)).max()) < 0.3


def test_a_fast_hinge_and_slide_are_stopped_at_their_limits() -> None:
    for kind, speed, most in ((viewer.JointKind.HINGE, 30.0, math.radians(0.1)), (viewer.JointKind.SLIDE, 10.0, 1e-3)):
        limits = viewer.JointLimits.coordinates((-0.2, 0.3))
        skeleton = dataclasses.replace(chain(2, kind), kinds=(viewer.JointKind.FIXED, kind), limits=(None, limits))
        sim = Physics(skeleton, surroundings=Surroundings(ground=None))
        sim._data.qvel[0] = speed
        over = [viewer.limit_violation(skeleton, sim.step(1.0 / 240.0)).max() for _ in range(60)]
        assert max(over) < most, kind


def test_a_fast_ball_stops_at_a_surface_and_not_behind_it() -> None:
    """8 m/s is 33 mm a step; the ball's radius is 50 mm."""
    skeleton = viewer.load("sample:claw-arm").skeleton
    wall = viewer.Box("wall", (0.0, 1.0, -1.0), (2.0, 2.0, 0.02))
    around = Surroundings(objects=(wall,), ball_radius=0.05, gravity=0.0)
    sim = Physics(skeleton, surroundings=around)
    sim.throw((0.7, 1.5, 0.0), (0.0, 0.0, -8.0))
    for _ in range(60):
        sim.step(1.0 / 240.0)
        assert sim.balls[0, 2] > -0.99 + 0.05 - 0.002
    assert sim.deepest < 0.002


def test_what_a_blow_sets_moving_stops_at_what_is_beside_it() -> None:
    """It lay still a few millimetres from a wall, where nobody looks for contacts of what does not move."""
    skeleton = viewer.load("sample:claw-arm").skeleton
    wall = viewer.Box("wall", (0.0, 1.0, -1.0), (2.0, 2.0, 0.02))
    for room in (0.002, 0.004, 0.01):
        still = viewer.Sphere("still", (0.7, 1.5, -0.99 + 0.05 + room), 0.05)
        around = Surroundings(
            objects=(wall, still), masses={"still": 0.5}, ball_mass=2.0, ball_radius=0.05, gravity=0.0
        )
        sim = Physics(skeleton, surroundings=around)
        sim.throw((0.7, 1.5, 0.0), (0.0, 0.0, -8.0))
        nearest = 0.0
        for _ in range(60):
            sim.step(1.0 / 240.0)
            nearest = min(nearest, float(sim.balls[0, 2]))
        assert nearest < -0.83  # it has hit
        assert sim.deepest < 0.001


def test_what_is_light_does_not_sink_under_a_load() -> None:
    """A block of 200 kg on a ball of 0.2 kg on the floor."""
    skeleton = viewer.load("sample:claw-arm").skeleton
    ball, block = viewer.Sphere("ball", (2.0, 0.05, 0.0), 0.05), viewer.Box("block", (2.0, 0.2, 0.0), (0.2, 0.2, 0.2))
    sim = Physics(skeleton, surroundings=Surroundings(objects=(ball, block), masses={"ball": 0.2, "block": 200.0}))
    for _ in range(15):
        sim.step(1.0 / 60.0)
    assert sim.deepest < 0.003


def test_limits_of_balls_hold_a_strong_pull() -> None:
    skeleton = viewer.load("sample:biped").skeleton
    sim, arm = Physics(skeleton), skeleton.index("LeftForeArm")
    for _ in range(40):
        sim.pull(arm, (0.0, 0.0, 0.0), (0.0, 3.0, -2.0))
        sim.step(1.0 / 60.0)
        assert np.degrees(viewer.limit_violation(skeleton, sim.pose).max()) < 1.0
    assert sim.pull_force > 0.0


def test_the_same_calls_give_the_same_bits_and_a_clip() -> None:
    skeleton = viewer.load("sample:claw-arm").skeleton
    clips = []
    for _ in range(2):
        sim = Physics(skeleton, strength=4.0)
        sim.aim(skeleton.rest_pose())
        sim.throw((0.0, 0.5, 1.0), (0.0, 0.0, -6.0))
        for _ in range(30):
            sim.step(1.0 / 30.0)
        clips.append(sim.clip)
    assert clips[0].rotations.tobytes() == clips[1].rotations.tobytes()
    assert (len(clips[0]), round(clips[0].fps, 9)) == (61, 60.0)
    sim.reset()
    assert sim.seconds == 0.0
    assert sim.pose.is_near(skeleton.relaxed_pose())
    sim.aim(skeleton.rest_pose())
    sim.throw((0.0, 0.5, 1.0), (0.0, 0.0, -6.0))
    for _ in range(30):
        sim.step(1.0 / 30.0)
    assert clips[0].rotations.tobytes() == sim.clip.rotations.tobytes()


def test_a_push_by_the_effective_mass_gives_the_speed() -> None:
    """Of the point that is pushed, the bone's centre of mass."""
    skeleton = viewer.load("sample:claw-arm").skeleton
    sim = Physics(skeleton, strength=0.01, surroundings=Surroundings(gravity=0.0, ground=None))
    way = np.array((1.0, 0.0, 0.0))
    sim.push("wrist", 0.1 * sim.effective_mass("wrist", way) * way)
    body = sim.model.body[skeleton.index("wrist")]
    start = sim._data.xipos[body].copy()
    for _ in range(6):
        sim.step(1.0 / 60.0)
    moved = float((sim._data.xipos[body] - start) @ way)
    assert moved == pytest.approx(0.5 * 0.1 * 0.1, rel=0.1)  # evenly faster, for a tenth of a second


def test_a_part_of_a_gram_that_is_pushed_does_not_run_away() -> None:
    """A slide across the push turns into it and would take the push that the arm was to take."""
    skeleton = dataclasses.replace(
        chain(3),
        kinds=(viewer.JointKind.FIXED, viewer.JointKind.HINGE, viewer.JointKind.SLIDE),
        axes=np.array([np.zeros((2, 3)), [(0.0, 0.0, 1.0), NONE], [(1.0, 0.0, 0.0), NONE]]),
        tip_parents=np.array([1]),
    )
    sim = Physics(skeleton, surroundings=Surroundings(ground=None, gravity=0.0))
    assert sim.model.mj.body_mass[sim.model.body[2]] < 1e-3 * sim.model.mass
    across = np.array((0.0, 1.0, 0.0))
    sim.push("j2", 10.0 * sim.effective_mass("j2", across) * across)
    speeds = []
    for _ in range(48):
        sim.step(1.0 / 240.0)
        speeds.append(np.abs(sim._data.qvel[:2]))
    turning, sliding = np.max(speeds, axis=0)
    assert turning > 5.0
    assert sliding < 100.0


def test_what_cannot_be_simulated_is_said() -> None:
    biped = viewer.load("sample:biped").skeleton
    still = chain(2, viewer.JointKind.FIXED)
    for problem, call in (
        ("physics: no joint of", lambda: Physics(still)),
        ("physics: strength in hertz: expected a finite number above 0, found 0", lambda: Physics(biped, strength=0.0)),
        (
            'physics: assist: expected held, helped, off, found "hand"',
            lambda: Physics(biped, assist="hand"),  # type: ignore[arg-type]
        ),
        ("physics: expected a pose of 22 joints, found 3", lambda: Physics(biped, chain(3).rest_pose())),
        ('no joint "Hand"', lambda: Physics(biped).push("Hand", (1.0, 0.0, 0.0))),
        ("physics: push: seconds: expected a number", lambda: Physics(biped).push("Hips", (1, 0, 0), at=(0, 1, 0))),  # type: ignore[arg-type]
        (
            "physics: push: seconds: expected .*, 0 or more, found -1",
            lambda: Physics(biped).push("Hips", (1, 0, 0), -1.0),
        ),
        ("physics: step: expected more than 0 seconds, found -1", lambda: Physics(biped).step(-1.0)),
    ):
        with pytest.raises(viewer.InputError, match=problem.replace("(", r"\(")):
            call()


def test_an_unstable_simulation_keeps_its_last_good_pose() -> None:
    skeleton = viewer.load("sample:biped").skeleton
    sim = Physics(skeleton)
    good = sim.step(1.0 / 60.0)
    for _ in range(20):  # one of them is too little
        sim.push("Hips", (0.0, 0.0, 1e6))
    unstable = r"the simulation became unstable at 0\.\d+ s \(\w+\): push less$"
    with pytest.raises(viewer.InputError, match=unstable):
        sim.step(1.0)
    assert sim.pose is good


def test_a_push_that_is_over_is_still_named_where_it_made_a_simulation_unstable() -> None:
    sim = Physics(viewer.load("sample:biped").skeleton)
    sim.push("Spine2", (0.0, 0.0, 1e12))
    with pytest.raises(viewer.InputError, match=r"unstable at (0\.[2-9]|1\.\d)\d s .*: push less$"):
        sim.step(2.0)


def test_a_ball_that_is_too_fast_is_named_where_it_makes_a_simulation_unstable() -> None:
    sim = Physics(viewer.load("sample:biped").skeleton)
    sim.throw((0.0, 1.0, 3.0), (0.0, 0.0, -1e5))
    with pytest.raises(viewer.InputError, match=r"unstable at 0\.\d+ s .*: throw more slowly$"):
        sim.step(1.0)


def test_mujoco_prints_nothing_and_writes_no_log(tmp_path: Path) -> None:
    script = (
        "import viewer\nskeleton = viewer.load('sample:biped').skeleton\nsim = viewer.Physics(skeleton)\n"
        "for _ in range(20):\n    sim.push('Hips', (0, 0, 1e6))\n"
        "try:\n    sim.step(2.0)\nexcept viewer.InputError:\n    pass\n"
    )
    import subprocess  # noqa: PLC0415

    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr, list(tmp_path.iterdir())) == ("", "", [])


def test_the_command_says_what_happened(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "pushed.bvh"
    done = ran(capsys, "simulate", "sample:biped", "--push", "Spine2=0,0,40@0.5", "--seconds", "2.5", "-o", str(out))
    assert done.code == 0
    assert "recovered  0." in done.out
    assert viewer.load(out).clip is not None
    report = ran(capsys, "simulate", "sample:claw-arm", "--ball", "8@0.5", "--seconds", "1", "--json").json
    assert set(report) == {
        "seconds", "real_time_factor", "recovered_s", "worst_contact_m", "worst_limit_deg", "assist_weights", "fell",
    }  # fmt: skip
    for words, line in (
        (["--push", "Hips=0,0,1@9"], "error: --push: expected a time before the end at 5 s, found 9"),
        (["--ball", "8@2", "--seconds", "2"], "error: --ball: expected a time before the end at 2 s, found 2"),
        (["--ground", "1e9"], "error: --ground: expected a finite number, -1e+07 to 1e+07, found 1e+09"),
        (
            ["--object", "box:1,1,1@1e9,0,0"],
            'error: --object: box "object 1": center: expected metres within 1e+07 of the origin, found 1e+09',
        ),
    ):
        done = ran(capsys, "simulate", "sample:biped", *words)
        assert (done.code, done.err.strip()) == (1, line)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--push", "x"), 'argument --push: expected JOINT=X,Y,Z@SECONDS, found "x"'),
        (("--push", "Hips=0,0@1"), 'argument --push: expected JOINT=X,Y,Z@SECONDS, found "Hips=0,0@1"'),
        (("--push", "Hips=0,0,nan@1"), 'argument --push: expected JOINT=X,Y,Z@SECONDS, found "Hips=0,0,nan@1"'),
        (("--push", "Hips=0,0,1@-1"), 'argument --push: expected JOINT=X,Y,Z@SECONDS, found "Hips=0,0,1@-1"'),
        (("--ball", "8"), 'argument --ball: expected SPEED@SECONDS, a speed above 0, found "8"'),
        (("--ball", "0@1"), 'argument --ball: expected SPEED@SECONDS, a speed above 0, found "0@1"'),
        (("--object", "cone:1@0,0,0"), "argument --object: expected sphere:RADIUS@X,Y,Z, box:"),
        (("--object", "sphere:1@0,0,0=0"), 'argument --object: expected kilograms above 0 after =, found "sphere:1'),
        (("--seconds", "0.001"), 'argument --seconds: expected seconds from 0.0166667 to 3600, found "0.001"'),
        (("--strength", "1e9"), 'argument --strength: expected at most 1000 hertz, found "1e9"'),
        (("--follow", "--goals", "g.json"), "argument --goals: not allowed with argument --follow"),
        (("--no-ground", "--ground", "1"), "argument --ground: not allowed with argument --no-ground"),
    ],
)
def test_options_that_cannot_be_read_are_wrong_usage(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], line: str
) -> None:
    """Exit code 2, before a file is read."""
    done = ran(capsys, "simulate", "nowhere.bvh", *words)
    assert done.code == 2
    assert done.err.splitlines()[-1].startswith(f"ikviewer simulate: error: {line}")


def test_that_a_long_chain_passes_through_itself_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    done = ran(capsys, "simulate", "sample:chain-100", "--seconds", "0.02")
    line = "warning: sample:chain-100: more parts than are tested against each other: they pass through one another\n"
    assert (done.code, done.err) == (0, line)


def test_chains_that_would_take_minutes_to_begin_are_refused_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    done = ran(capsys, "simulate", "sample:chain-2000", "--seconds", "0.02")
    assert done.code == 1
    assert done.err == (
        "error: physics: expected as many joints below one another as in a chain of 1,000 degrees of freedom at most,"
        " found as many as in one of 6,000\n"
    )


def test_without_mujoco_the_line_that_installs_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("viewer.physics.model.is_installed", lambda _: False)
    with pytest.raises(viewer.MachineError, match=r"physics needs MuJoCo: pip install 'ikviewer\[physics\]'"):
        load_mujoco()


def test_a_mujoco_that_this_machine_cannot_load_is_no_fault_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: str) -> None:
        raise ImportError("libmujoco.so: wrong ELF class")

    monkeypatch.setattr("viewer.physics.model.import_module", broken)
    with pytest.raises(viewer.MachineError) as caught:
        load_mujoco()
    line = "MuJoCo cannot be loaded: libmujoco.so: wrong ELF class: pip install --force-reinstall mujoco-core"
    assert str(caught.value) == line


def test_a_joint_at_its_torque_limit_still_follows() -> None:
    """The limit is one of the net torque: damping alone must not use it up while the aim moves."""
    skeleton = viewer.load("sample:claw-arm").skeleton
    start = skeleton.relaxed_pose()
    sim, shoulder = Physics(skeleton, start), skeleton.index("shoulder")
    off = []
    for frame in range(1, 91):
        turn = math.radians(40.0) * math.sin(math.pi * frame / 60.0)
        rotations = start.rotations.copy()
        about_y = np.array((0.0, math.sin(turn / 2.0), 0.0, math.cos(turn / 2.0)))
        rotations[shoulder] = multiply(about_y, start.rotations[shoulder])
        aimed = viewer.Pose(rotations, start.translations)
        sim.aim(aimed)
        missing = ends_of(skeleton, sim.step(1.0 / 60.0)) - ends_of(skeleton, aimed)
        off.append(float(np.linalg.norm(missing, axis=-1).max()))
    assert max(off) < 0.03


def test_a_load_that_is_held_on_a_root_that_turns_freely_drives_nothing_round() -> None:
    """The torque that holds the boom, more than the joint has for all else, would turn a light root ever faster."""
    made = viewer.Builder().add("root", kind="free").add("boom", "root", kind="hinge", axis=(0, 0, 1))
    sim = Physics(made.tip("boom", (2, 0, 0)).skeleton, assist="off", surroundings=Surroundings(ground=None))
    for _ in range(60):
        sim.step(1.0 / 60.0)
        assert abs(float(sim._data.qvel[sim.model.scalar_dof[0]])) < 1.0


def test_a_hinge_without_limits_follows_its_aim_past_half_a_turn() -> None:
    wheel = chain(2, viewer.JointKind.HINGE)
    sim = Physics(wheel, surroundings=Surroundings(ground=None, gravity=0.0))
    angle = sim.model.scalar_dof[0]
    for frame in range(1, 91):
        half = math.radians(3.0 * frame) / 2.0
        turned = np.array([(0.0, 0.0, math.sin(half), math.cos(half)), (0.0, 0.0, 0.0, 1.0)])
        sim.aim(viewer.Pose(turned, wheel.offsets))
        sim.step(1.0 / 60.0)
        if frame > 50:
            assert float(sim._data.qvel[angle]) == pytest.approx(math.pi, rel=0.02)


def test_what_is_pushed_against_does_not_make_a_figure_push_ever_harder() -> None:
    skeleton = viewer.load("sample:claw-arm").skeleton
    start = skeleton.relaxed_pose()
    tips = ends_of(skeleton, start)
    x, y, z = tips.mean(axis=0).tolist()
    wall = viewer.Box("wall", (x, y, z + 0.25), (2.0, 2.0, 0.4))
    goal = [
        viewer.Goal.position(f"claw_{letter}", tips[k] + np.array((0.0, 0.0, 0.12))) for k, letter in enumerate("abc")
    ]
    aimed = viewer.Solver(skeleton, goal, backend="numpy").solve(start).pose
    sim = Physics(skeleton, start, surroundings=Surroundings(objects=(wall,)))
    sim.aim(aimed)
    forces = []
    for _ in range(180):
        sim.step(1.0 / 60.0)
        forces.append(float(np.abs(sim._data.qfrc_constraint).max()))
    assert max(forces[120:]) < 1.1 * max(forces[30:60])


def test_an_arm_that_hangs_on_the_world_presses_the_floor_by_its_spring_alone() -> None:
    """What stands free is carried by the floor, which its joints have to answer; an arm would press ever harder."""
    made = (
        viewer.Builder().add("base", None, (0, 0.3, 0), kind="fixed").add("arm", "base", kind="hinge", axis=(0, 0, 1))
    )
    skeleton = made.tip("arm", (0.4, -0.2, 0)).skeleton
    sim = Physics(skeleton, surroundings=Surroundings(ground=0.05))
    half = math.radians(-7.5) / 2.0
    sim.aim(viewer.Pose(np.array([(0, 0, 0, 1), (0, 0, math.sin(half), math.cos(half))], float), skeleton.offsets))
    for _ in range(120):
        sim.step(1.0 / 60.0)
    pressed = float(sim._data.qfrc_constraint[0])
    assert pressed == pytest.approx(-float(sim.drive.torques[0]), rel=0.01)
    assert pressed > 0.05


@pytest.mark.filterwarnings("error")
def test_a_crane_at_rest_is_driven_without_overflow() -> None:
    """Its joints may bear 1e11 N m, and bear nothing yet."""
    crane = viewer.Builder().add("a", kind="hinge", axis=(0, 1, 0)).add("b", "a", (500, 0, 0)).tip("b", (500, 0, 0))
    sim = Physics(crane.skeleton, surroundings=Surroundings(ground=None))
    start = sim.pose
    sim.step(0.1)
    np.testing.assert_allclose(sim.pose.rotations, start.rotations, atol=1e-9)


def test_a_rotor_that_nothing_turns_rests_with_all_its_numbers() -> None:
    # Its torque is exactly 0 at rest; a least torque that is added to all would be balanced there.
    rotor = viewer.Builder().add("a", kind="fixed").add("b", "a", (0.1, 0, 0), kind="hinge", axis=(0, 1, 0))
    skeleton = rotor.tip("b", (0.1, 0, 0)).skeleton
    sim = Physics(skeleton, surroundings=Surroundings(ground=None))
    with np.errstate(invalid="raise", divide="raise"):
        for _ in range(240):
            sim.step(1.0 / 60.0)
    np.testing.assert_allclose(sim.pose.rotations, skeleton.rest_rotations, atol=1e-9)
