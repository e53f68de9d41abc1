"""Joints that follow others: read and written, kept by poses, clips, edits and solvers, and by MuJoCo."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from cli_run import ran
from inside.document import KeyPose, SetCoordinate, TurnJoint, frame_pose
from inside.ik import Backend, MethodName
from inside.skeleton import joint_space

import viewer
from viewer import Goal, InputError, Mimic, Solver
from viewer.document import new_document
from viewer.session import Session

GRIPPER = """<robot name="gripper">
  <link name="base"/><link name="arm"/><link name="wrist"/><link name="left"/><link name="right"/><link name="tip"/>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
    <limit lower="-2" upper="2" effort="1" velocity="1"/></joint>
  <joint name="elbow" type="revolute"><parent link="arm"/><child link="wrist"/><origin xyz="0.4 0 0"/>
    <axis xyz="0 0 1"/><limit lower="-2.5" upper="2.5" effort="1" velocity="1"/></joint>
  <joint name="finger_1" type="prismatic"><parent link="wrist"/><child link="left"/><origin xyz="0.3 0 0"/>
    <axis xyz="0 1 0"/><limit lower="0" upper="0.2" effort="1" velocity="1"/></joint>
  <joint name="finger_2" type="prismatic"><parent link="wrist"/><child link="right"/><origin xyz="0.3 0 0"/>
    <axis xyz="0 -1 0"/><limit lower="0" upper="0.05" effort="1" velocity="1"/>
    <mimic joint="finger_1" multiplier="0.5" offset="0.01"/></joint>
  <joint name="nail" type="revolute"><parent link="left"/><child link="tip"/><origin xyz="0.1 0 0"/>
    <axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/>
    <mimic joint="elbow" multiplier="-0.3"/></joint>
</robot>
"""
BACKENDS: tuple[Backend, ...] = ("numpy", "numba")


@pytest.fixture(scope="module")
def gripper(tmp_path_factory: pytest.TempPathFactory) -> viewer.Skeleton:
    skeleton: viewer.Skeleton = loaded(tmp_path_factory.mktemp("robot"), GRIPPER).skeleton
    return skeleton


def loaded(folder: Path, text: str, name: str = "gripper.urdf") -> viewer.Character:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return viewer.load(path)


def apart(skeleton: viewer.Skeleton, pose: viewer.Pose) -> float:
    """How far joints are from where their leaders have them, radians or metres."""
    values: dict[str, float] = dict(zip(skeleton.dof_names, viewer.coordinates(skeleton, pose).tolist(), strict=True))
    return max(abs(values[one.joint] - one.ratio * values[one.leader] - one.offset) for one in skeleton.mimics)


def random_pose(skeleton: viewer.Skeleton, random: np.random.Generator) -> viewer.Pose:
    return viewer.pose_at(skeleton, random.uniform(*viewer.coordinate_limits(skeleton)))


def test_a_robot_is_read_with_what_follows_what(gripper: viewer.Skeleton) -> None:
    assert gripper.mimics == (Mimic("tip", "wrist", -0.3, 0.0), Mimic("right", "left", 0.5, 0.01))
    assert gripper.dof == 3
    assert gripper.dof_names == ("arm", "wrist", "left", "tip", "right")
    # Leaders go only as far as those that follow may.
    lower, upper = viewer.coordinate_limits(gripper)
    np.testing.assert_allclose((lower[2], upper[2]), (0.0, 0.08), atol=1e-12)
    pose = viewer.pose_at(gripper, [0.1, 1.0, 0.04, 99.0, 99.0])
    np.testing.assert_allclose(viewer.coordinates(gripper, pose), [0.1, 1.0, 0.04, -0.3, 0.03], atol=1e-12)


def test_chains_are_followed_to_their_end() -> None:
    builder = viewer.Builder(name="chain")
    for name, parent in (("a", None), ("b", "a"), ("c", "b"), ("d", "c")):
        builder.add(name, parent, (0.0, 1.0, 0.0), kind="hinge", axis=(0, 0, 1))
    builder.mimic("d", "c", 2.0, 0.1).mimic("c", "b", 3.0, 0.2)
    assert list(builder.skeleton.mimics) == [Mimic("d", "b", 6.0, 0.5), Mimic("c", "b", 3.0, 0.2)]
    builder.rename("b", "lead").remove("d")
    assert list(builder.skeleton.mimics) == [Mimic("c", "lead", 3.0, 0.2)]
    builder.change("lead", kind="ball")
    assert not builder.skeleton.mimics


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([("b", "c", 1.0), ("c", "b", 1.0)], "circle"),
        ([("b", "b", 1.0)], "circle"),
        ([("b", "nothing", 1.0)], 'no joint "nothing"'),
        ([("ball", "b", 1.0)], '"ball" is a ball'),
        ([("b", "c", 1.0), ("b", "d", 1.0)], '"b": it follows "c" already'),
        ([("b", "c", float("nan"))], 'mimic "b": ratio'),
    ],
)
def test_what_cannot_follow_is_refused(given: list[tuple[str, str, float]], message: str) -> None:
    builder = viewer.Builder(name="chain").add("ball", None, (0, 0, 0))
    for name, parent in (("b", "ball"), ("c", "b"), ("d", "c")):
        builder.add(name, parent, (0.0, 1.0, 0.0), kind="hinge", axis=(0, 0, 1))
    skeleton = builder.skeleton
    fields = {name: getattr(skeleton, name) for name in skeleton.__dataclass_fields__}
    with pytest.raises(InputError, match=message):
        viewer.Skeleton(**fields | {"mimics": tuple(Mimic(*one) for one in given)})


def test_files_with_mimics_of_nothing_open_and_circles_do_not(tmp_path: Path) -> None:
    nothing = loaded(tmp_path, GRIPPER.replace('<mimic joint="elbow"', '<mimic joint="elbwo"'))
    assert len(nothing.skeleton.mimics) == 1
    assert any('mimic of joint "nail": no joint "elbwo"; did you mean "elbow"' in one for one in nothing.warnings)
    circle = GRIPPER.replace('axis xyz="0 1 0"/>', 'axis xyz="0 1 0"/><mimic joint="finger_2"/>')
    with pytest.raises(viewer.FormatError, match=r"line 11: mimic of joint .*circle"):
        loaded(tmp_path, circle)


@pytest.mark.parametrize("suffix", ["json", "urdf", "xml"])
def test_what_follows_what_is_written(gripper: viewer.Skeleton, tmp_path: Path, suffix: str) -> None:
    if suffix == "xml":
        pytest.importorskip("mujoco")
    path = tmp_path / f"other.{suffix}"
    viewer.save(viewer.Character(gripper), path)
    again = viewer.load(path).skeleton
    assert len(again.mimics) == len(gripper.mimics)
    for one, other in zip(sorted(again.mimics, key=str), sorted(gripper.mimics, key=str), strict=True):
        assert (one.joint, one.leader) == (other.joint, other.leader)
        np.testing.assert_allclose((one.ratio, one.offset), (other.ratio, other.offset), rtol=1e-9, atol=1e-12)


def test_info_names_the_leader(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "gripper.urdf"
    path.write_text(GRIPPER, encoding="utf-8")
    told = ran(capsys, "info", str(path)).out
    assert "3 degrees of freedom" in told
    assert any("right" in line and line.endswith("follows left") for line in told.splitlines())


def test_units_of_a_file_are_those_of_its_joints(tmp_path: Path) -> None:
    text = """{"format": "ikviewer-skeleton", "version": 1, "units": "cm", "joints": [
      {"name": "wheel", "kind": "hinge", "axis": [0, 0, 1]},
      {"name": "rack", "parent": "wheel", "offset": [0, 10, 0], "kind": "slide", "axis": [1, 0, 0],
       "mimic": {"joint": "wheel", "ratio": 0.5, "offset": 3}}]}"""
    skeleton = loaded(tmp_path, text, "rack.json").skeleton
    (one,) = skeleton.mimics
    # Half a centimetre a degree, and three more.
    np.testing.assert_allclose((one.ratio, one.offset), (0.005 / np.radians(1.0), 0.03), rtol=1e-12)
    with pytest.raises(viewer.FormatError, match=r'joints\[1\].*mimic.joint: no joint "wheels"'):
        loaded(tmp_path, text.replace('"joint": "wheel"', '"joint": "wheels"'), "rack.json")


@pytest.mark.parametrize("backend", BACKENDS)
def test_solved_poses_follow_exactly_and_stay_inside(gripper: viewer.Skeleton, backend: Backend) -> None:
    random = np.random.default_rng(5)
    reached = 0
    for _ in range(40):
        wanted, start = random_pose(gripper, random), random_pose(gripper, random)
        world = viewer.fk(gripper, wanted)
        goals = [Goal.position(name, world.positions[gripper.index(name)]) for name in ("tip", "right")]
        solution = Solver(gripper, goals, backend=backend).solve(start)
        assert apart(gripper, solution.pose) < 1e-12
        assert viewer.limit_violation(gripper, solution.pose).max() < 1e-9
        reached += solution.status is viewer.Status.CONVERGED
    assert reached == 40


def test_both_backends_agree(gripper: viewer.Skeleton) -> None:
    random = np.random.default_rng(6)
    for _ in range(10):
        wanted, start = random_pose(gripper, random), random_pose(gripper, random)
        world = viewer.fk(gripper, wanted)
        goals = [Goal.pose("tip", world.positions[gripper.index("tip")], world.rotations[gripper.index("tip")])]
        found = [Solver(gripper, goals, backend=backend).solve(start).pose for backend in BACKENDS]
        np.testing.assert_allclose(found[0].rotations, found[1].rotations, atol=1e-7)
        np.testing.assert_allclose(found[0].translations, found[1].translations, atol=1e-7)


def test_a_goal_on_what_follows_moves_its_leader(gripper: viewer.Skeleton) -> None:
    pose = viewer.pose_at(gripper, [0.0, 0.0, 0.02, 0.0, 0.0])
    point = viewer.fk(gripper, pose).positions[gripper.index("right")]
    world = viewer.fk(gripper, pose)
    wrist = gripper.index("wrist")
    still = Goal.pose("wrist", world.positions[wrist], world.rotations[wrist], weight=100.0)
    along = viewer.quaternions.rotate(viewer.fk(gripper, pose).rotations[gripper.index("right")], (0.0, -0.01, 0.0))
    solution = Solver(gripper, [still, Goal.position("right", point + along)], tolerance_m=1e-6).solve(pose)
    assert solution.status is viewer.Status.CONVERGED
    np.testing.assert_allclose(viewer.coordinates(gripper, solution.pose)[[2, 4]], [0.04, 0.03], atol=1e-4)


def test_the_jacobian_has_what_follows_in_its_leaders_column(gripper: viewer.Skeleton) -> None:
    random = np.random.default_rng(7)
    goals = [Goal.position("tip", (0.5, 0.1, 0.2)), Goal.position("right", (0.4, 0.1, -0.2))]
    solver = Solver(gripper, goals)
    values = viewer.coordinates(gripper, random_pose(gripper, random))

    def places(q: np.ndarray) -> np.ndarray:
        world = viewer.fk(gripper, viewer.pose_at(gripper, q))
        return np.concatenate([world.positions[gripper.index(name)] for name in ("tip", "right")])

    steps = 1e-6 * np.eye(5)
    wanted = np.stack([(places(values + step) - places(values - step)) / 2e-6 for step in steps], axis=1)
    found = solver.jacobian(viewer.pose_at(gripper, values))
    assert found.dofs == gripper.dof_names
    np.testing.assert_allclose(np.asarray(found), wanted, atol=1e-8)
    assert not np.asarray(found)[:, 3:].any()


@pytest.mark.parametrize("method", ["transpose", "pseudo-inverse", "dls", "sdls", "ccd", "fabrik", "two-link"])
def test_all_methods_keep_what_follows(gripper: viewer.Skeleton, method: MethodName) -> None:
    random = np.random.default_rng(8)
    start = viewer.project_pose(gripper, random_pose(gripper, random))
    goal = Goal.position("tip", viewer.fk(gripper, random_pose(gripper, random)).positions[gripper.index("tip")])
    solution = Solver(gripper, [goal], method=method).solve(start)
    assert apart(gripper, solution.pose) < 1e-12
    left_alone = method in {"ccd", "fabrik", "two-link"}
    assert ("joints that follow others" in solution.unserved) == left_alone


def test_by_hand_both_ends_move(gripper: viewer.Skeleton) -> None:
    session = Session(new_document(viewer.Character(gripper)))
    space = joint_space(gripper)
    left, right, tip = (gripper.index(name) for name in ("left", "right", "tip"))

    def coordinate(joint: int) -> float:
        pose = session.document.pose
        return float(space.measure(pose.rotations, pose.translations)[joint, 0])

    session.dispatch(SetCoordinate("left", 0, 0.06))
    assert coordinate(right) == pytest.approx(0.04, abs=1e-12)
    session.dispatch(SetCoordinate("right", 0, 0.02))  # what follows takes its leader along
    assert coordinate(left) == pytest.approx(0.02, abs=1e-12)
    session.dispatch(SetCoordinate("left", 0, 0.2))
    assert (coordinate(left), coordinate(right)) == pytest.approx((0.08, 0.05), abs=1e-12)
    session.dispatch(TurnJoint("tip", viewer.quaternions.from_axis_angle((0.0, 0.0, 1.0), -0.15)))
    assert coordinate(gripper.index("wrist")) == pytest.approx(0.5, abs=1e-9)
    assert coordinate(tip) == pytest.approx(-0.15, abs=1e-9)
    assert session.undo()
    assert apart(gripper, session.document.pose) < 1e-12


def test_between_keys_of_a_leader_alone_the_others_follow(gripper: viewer.Skeleton) -> None:
    session = Session(new_document(viewer.Character(gripper)))
    session.dispatch(SetCoordinate("wrist", 0, 0.0))
    session.dispatch(KeyPose(0, ("wrist",)))
    session.dispatch(SetCoordinate("wrist", 0, 1.2))
    session.dispatch(KeyPose(20, ("wrist",)))
    for frame in (0, 7, 13, 20):
        assert apart(gripper, frame_pose(session.document, frame)) < 1e-12
    middle = viewer.coordinates(gripper, frame_pose(session.document, 10))
    np.testing.assert_allclose(middle[[1, 3]], [0.6, -0.18], atol=1e-6)


def test_in_physics_they_follow(gripper: viewer.Skeleton) -> None:
    pytest.importorskip("mujoco")
    pose = viewer.pose_at(gripper, [0.2, 0.5, 0.04, 0.0, 0.0])
    physics = viewer.Physics(gripper, pose)
    physics.step(0.5)
    assert apart(gripper, physics.pose) < 2e-3
