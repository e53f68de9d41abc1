"""``ikviewer solve``: what it prints, what it writes, and what it refuses."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from cli_run import Ran, ran
from inside.formats import read_pose
from inside.ik import holds
from sessions import QUICK

import viewer
from viewer import Goal, Solver

if TYPE_CHECKING:
    from pathlib import Path

BIPED = viewer.load("sample:biped").skeleton
RELAXED = BIPED.relaxed_pose()
PLACES = viewer.fk(BIPED, RELAXED).positions
HAND = (PLACES[BIPED.index("LeftHand")] + np.array([0.05, 0.2, 0.2])).round(3).tolist()
FOOT: list[dict[str, Any]] = [{"effector": "LeftHand", "position": HAND}, {"effector": "RightFoot", "pin": True}]
KEYS = [
    "status", "iterations", "seconds", "backend", "goals", "levels", "max_limit_violation_deg", "at_limit", "diagnosis",
    "unserved", "contacts", "pose", "joints",
]  # fmt: skip


class Runs:
    """Runs the command in a folder with a goals file."""

    def __init__(self, capsys: pytest.CaptureFixture[str], folder: Path) -> None:
        self.capsys, self.folder = capsys, folder
        self.goals(*FOOT)

    def goals(self, *goals: Any, **more: Any) -> None:  # noqa: ANN401 - any JSON value
        (self.folder / "g.json").write_text(json.dumps({"goals": goals} | more), encoding="utf-8")

    def __call__(self, *options: str | Path, file: str = "sample:biped") -> Ran:
        return ran(self.capsys, "solve", file, self.folder / "g.json", *options)

    def done(self, *options: str | Path, file: str = "sample:biped") -> Any:  # noqa: ANN401
        result = self(*options, "--json", file=file)
        assert result.code == 0, result.err
        return result.json

    def refused(self, *options: str | Path, file: str = "sample:biped") -> str:
        result = self(*options, file=file)
        assert (result.code, result.out) == (1, "")
        assert result.err.count("error: ") == 1
        return result.err.splitlines()[-1].removeprefix("error: ")

    def misused(self, *options: str) -> str:
        result = self(*options)
        assert (result.code, result.out) == (2, "")
        return result.err.splitlines()[-1]


@pytest.fixture
def runs(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Runs:
    return Runs(capsys, tmp_path)


def pose_of(document: Any, skeleton: viewer.Skeleton = BIPED) -> viewer.Pose:  # noqa: ANN401
    rotations, translations = document["pose"]["rotations"], document["pose"]["translations"]
    assert list(rotations) == list(translations) == list(skeleton.names)
    return viewer.Pose(np.array(list(rotations.values())), np.array(list(translations.values())))


def place(document: Any, joint: str) -> Any:  # noqa: ANN401
    return viewer.fk(BIPED, pose_of(document)).positions[BIPED.index(joint)]


def test_the_document(runs: Runs) -> None:
    document = runs.done()
    assert list(document) == KEYS
    assert document["status"] == "converged"
    assert document["backend"] == QUICK
    assert isinstance(document["iterations"], int)
    assert document["seconds"] > 0.0
    assert document["max_limit_violation_deg"] <= np.degrees(1e-3)
    assert document["diagnosis"] == document["unserved"] == []
    words = ["id", "effector", "kind", "level", "error_m", "error_deg", "reached", "yields"]
    assert [list(goal) for goal in document["goals"]] == [words] * 2
    assert [goal["id"] for goal in document["goals"]] == ["LeftHand", "RightFoot"]
    hand, foot = document["goals"]
    assert (hand["effector"], hand["kind"], hand["error_deg"], hand["reached"]) == ("LeftHand", "position", None, True)
    assert (foot["effector"], foot["kind"], foot["reached"]) == ("RightFoot", "position+rotation", True)
    assert 0.0 <= hand["error_m"] <= 1e-3
    assert 0.0 <= foot["error_deg"] <= 0.5
    np.testing.assert_allclose(place(document, "LeftHand"), HAND, atol=1e-3)
    goals = [Goal.position("LeftHand", HAND), Goal.pin("RightFoot")]
    assert pose_of(document).same_as(Solver(BIPED, goals, backend=QUICK).solve(RELAXED).pose)


def test_for_people(runs: Runs, tmp_path: Path) -> None:
    runs.goals(*FOOT, {"effector": "Head", "rotation": [0, 0, 0, 1], "enabled": False})
    first, hand, foot, head, wrote = runs("-o", tmp_path / "p.json").out.splitlines()
    assert first.startswith("converged: ")
    assert first.endswith(f" ms, {QUICK}")
    assert hand.startswith("  reached  LeftHand position: ")
    assert hand.endswith(" mm")
    assert foot.startswith("  reached  RightFoot position+rotation: ")
    assert foot.endswith("°")
    assert head == "  off      Head rotation"
    assert wrote == f"wrote {tmp_path / 'p.json'}"


def test_a_goal_of_no_effector_is_named_by_its_kind(runs: Runs) -> None:
    runs.goals(*FOOT, {"balance": {"margin": 0.0}})
    assert runs("--floor", "0").out.splitlines()[3].startswith("  reached  balance: ")
    runs.goals(*FOOT, {"balance": {"margin": 0.0}, "enabled": False})
    assert runs().out.splitlines()[3] == "  off      balance"


@pytest.mark.parametrize(("away", "said"), [(20.0, "1"), (1e5, "100 km"), (1e200, "over 1e150 m")])
def test_however_far_a_target_is_it_is_said_as_people_say_it(runs: Runs, away: float, said: str) -> None:
    runs.goals({"effector": "LeftHand", "position": [0, away, 0]}, {"effector": "RightFoot", "pin": True})
    lines = runs("--root", "locked").out.splitlines()
    assert next(line for line in lines if "missed" in line).startswith(f"  missed   LeftHand position: {said}")
    assert any(line.startswith(f"  LeftHand is {said}") for line in lines)
    assert not any(word in line for line in lines for word in ("inf", "nan", "000000", "e+"))


def test_whatever_the_status_it_exits_0(runs: Runs) -> None:
    runs.goals({"effector": "LeftHand", "position": [0, 9, 0]})
    document = runs.done("--root", "locked")
    assert document["status"] == "unreachable"
    assert document["goals"][0]["reached"] is False
    assert "LeftHand" in document["diagnosis"][0]
    assert document["at_limit"]
    result = runs("--root", "locked")
    assert result.code == 0
    assert "  missed   LeftHand position: " in result.out
    assert document["diagnosis"][0] in result.out
    assert runs.done("--max-iterations", "0")["iterations"] == 0
    runs.goals({"effector": "LeftHand", "position": [0, 4, 0]})
    assert runs.done("--max-iterations", "2")["status"] == "budget"


def test_a_solve_that_stopped_on_its_way_to_what_is_out_of_reach_says_so(runs: Runs) -> None:
    runs.goals({"effector": "LeftHand", "position": [2, 1.3, 0]})
    lines = runs("--root", "locked", "--max-iterations", "1").out.splitlines()
    assert lines[0].startswith("unreachable: 1 iteration,")
    assert any("off yet: more iterations bring it to 1" in line for line in lines)
    assert "off yet" not in runs("--root", "locked").out


def test_where_it_starts(runs: Runs, tmp_path: Path) -> None:
    walk = viewer.load("sample:walk")
    assert walk.clip is not None
    runs.goals({"effector": "LeftHand", "pin": True})
    for options, start in (
        ((), walk.skeleton.relaxed_pose()),
        (("--from-rest",), walk.skeleton.rest_pose()),
        (("--from-frame", "12"), walk.clip.pose(12)),
        (("--from-pose", "rest"), walk.skeleton.rest_pose()),
    ):
        solved = Solver(walk.skeleton, [Goal.pin("LeftHand")], backend=QUICK).solve(start)
        document = runs.done(*options, file="sample:walk")
        assert pose_of(document, walk.skeleton).same_as(solved.pose)
    first = runs.done()
    pose = tmp_path / "pose.json"
    pose.write_text(json.dumps(first["pose"]), encoding="utf-8")
    again = runs.done("--from-pose", pose)
    np.testing.assert_allclose(pose_of(again).rotations, pose_of(first).rotations, atol=1e-12)
    assert again["iterations"] == 0
    assert runs.refused("--from-frame", "12") == "sample:biped: expected motion, found a skeleton without frames"
    assert "68" in runs.refused("--from-frame", "68", file="sample:walk")
    assert runs.refused("--from-pose", "relaxd") == 'no pose "relaxd"; did you mean "relaxed"?'
    assert "not allowed with" in runs.misused("--from-rest", "--from-frame", "3")


def test_what_it_prefers(runs: Runs) -> None:
    plain = pose_of(runs.done("--root", "locked"))
    rested = runs.done("--root", "locked", "--prefer", "rest", "--no-limits")
    assert rested["status"] == "converged"
    joint = BIPED.index("RightArm")
    np.testing.assert_allclose(pose_of(rested).rotations[joint], BIPED.rest_rotations[joint], atol=1e-6)
    assert pose_of(runs.done("--root", "locked", "--prefer", "rest", "--prefer-weight", "0")).same_as(plain)
    assert runs.done("--solver", "dls", "--prefer", "rest")["unserved"] == ["preferred pose"]
    assert "  not served by this solver: preferred pose" in runs("--solver", "ccd", "--prefer", "rest").out.splitlines()
    refused = runs.refused("--prefer", "rset")
    assert refused == 'no pose "rset"; did you mean "rest"?'


def test_hold_adds_the_windows_holds(runs: Runs) -> None:
    runs.goals(FOOT[0])
    names = [goal["effector"] for goal in runs.done("--hold")["goals"]]
    assert names == ["LeftHand", *(goal.effector for goal in holds(BIPED, RELAXED, [Goal.position("LeftHand", HAND)]))]
    for joint in ("LeftFoot", "RightFoot", "RightHand"):
        held = place(runs.done("--hold"), joint)
        np.testing.assert_allclose(held, PLACES[BIPED.index(joint)], atol=1.01e-3)


def test_holds_give_way_as_in_the_window_and_pins_do_not(runs: Runs) -> None:
    runs.goals({"effector": "LeftHand", "position": [1.01, 1.67, 0.37]})
    document = runs.done("--hold")
    assert document["status"] == "converged"
    goals = {goal["effector"]: goal for goal in document["goals"]}
    assert [goals[name]["level"] for name in ("LeftFoot", "LeftHand", "Head")] == [0, 1, 2]
    assert goals["LeftHand"]["reached"]
    assert goals["Head"]["yields"]
    assert max(goals[name]["error_m"] for name in ("LeftFoot", "RightFoot")) < 1e-3
    firm = runs.done("--hold", "--solver", "dls")
    assert {goal["level"] for goal in firm["goals"]} == {1}
    assert firm["unserved"] == []


def test_limits_and_the_root(runs: Runs) -> None:
    runs.goals({"effector": "LeftHand", "position": [0.05, 1.35, -0.25]})
    for root in ("locked", "translate", "free"):
        document = runs.done("--root", root)
        assert document["max_limit_violation_deg"] <= np.degrees(1e-3)
        moved = pose_of(document).translations[0] - RELAXED.translations[0]
        assert bool(np.abs(moved).max() > 0.0) is (root != "locked")
        turned = pose_of(document).rotations[0] - RELAXED.rotations[0]
        assert bool(np.abs(turned).max() > 1e-12) is (root == "free")
    assert runs.done("--no-limits", "--root", "locked")["max_limit_violation_deg"] > 1.0


def test_tolerances_seed_and_solver(runs: Runs) -> None:
    tight, loose = runs.done("--tolerance-m", "1e-9", "--tolerance-deg", "1e-6"), runs.done("--tolerance-m", "0.5")
    assert tight["goals"][0]["error_m"] <= 1e-9
    assert loose["iterations"] < tight["iterations"]
    assert pose_of(runs.done("--seed", "7")).same_as(pose_of(runs.done()))
    document = runs.done("--solver", "two-link")
    assert document["unserved"] == []
    runs.goals(FOOT[0], {"effector": "Head", "aim": [1, 1, 1], "axis": [0, 0, 1]})
    document = runs.done("--solver", "two-link")
    assert document["unserved"] == ["Head"]
    assert document["goals"][1]["error_m"] is None
    assert "not served by this solver: Head" in runs("--solver", "two-link").out
    wrong = runs("--solver", "two-lnk")
    assert wrong.code == 2
    assert 'argument --solver: no solver "two-lnk"; did you mean "two-link"?' in wrong.err


@pytest.mark.parametrize(
    "options",
    [
        ("--max-iterations", "-1"), ("--max-iterations", "1.5"), ("--seed", "-1"), ("--seed", "x"),
        ("--tolerance-m", "0"), ("--tolerance-m", "nan"), ("--tolerance-deg", "-1"), ("--tolerance-deg", "inf"),
        ("--root", "fre"), ("--backend", "cuda"), ("--from-frame", "x"), ("--from-frame", "-1"),
        ("--prefer-weight", "2"), ("--prefer-weight", "-0.1"), ("--prefer-weight", "nan"), ("--prefer-weight", "half"),
    ],
)  # fmt: skip
def test_wrong_usage(runs: Runs, options: tuple[str, str]) -> None:
    assert f"argument {options[0]}: " in runs.misused(*options)


def test_the_pose_is_written_and_can_be_read_back(runs: Runs, tmp_path: Path) -> None:
    out = tmp_path / "pose.json"
    document = runs.done("-o", out)
    assert read_pose(out, "pose.json", BIPED, []).same_as(pose_of(document))
    again = runs.done("--from-pose", out)
    assert (again["iterations"], again["status"]) == (0, "converged")
    motion = tmp_path / "pose.bvh"
    document = runs.done("-o", motion)
    read = viewer.load(str(motion))
    assert read.clip is not None
    assert len(read.clip) == 1
    there = viewer.fk(read.skeleton, read.clip.pose(0)).positions[read.skeleton.index("LeftHand")]
    np.testing.assert_allclose(there, place(document, "LeftHand"), atol=1e-4)
    for name in ("pose.glb", "pose.gltf"):
        document = runs.done("-o", tmp_path / name)
        stands = viewer.load(str(tmp_path / name)).skeleton
        there = viewer.fk(stands, stands.rest_pose()).positions[stands.index("LeftHand")]
        np.testing.assert_allclose(there, place(document, "LeftHand"), atol=1e-6)
    written = ["g.json", "pose.bvh", "pose.glb", "pose.gltf", "pose.json"]
    assert sorted(path.name for path in tmp_path.iterdir()) == written


def test_outputs_that_are_refused_before_anything_is_read(runs: Runs, tmp_path: Path) -> None:
    for name, found in (("a.txt", '".txt"'), ("a", "no suffix")):
        out = tmp_path / name
        message = runs.refused("-o", out, file="gone.bvh")
        assert message.startswith(f"{out}: expected a name that ends in ")
        assert message.endswith(f", found {found}")
        assert not out.exists()
    (tmp_path / "folder.json").mkdir()
    for where in (tmp_path / "gone" / "p.json", tmp_path / "folder.json"):
        assert runs.refused("-o", where).startswith(f"{where}: ")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder.json", "g.json"]


def test_goals_files_that_are_refused(runs: Runs, tmp_path: Path) -> None:
    path = tmp_path / "g.json"
    for goals, message in (
        ([{"effector": "LeftHnad", "position": [0, 0, 0]}], 'goals[0]: no effector, joint or tip "LeftHnad"; did'),
        ([FOOT[0], {"effector": "Head"}], "goals[1]: expected position, rotation or pin"),
        ([{"effector": "Head", "position": [0, 0, "x"]}], "goals[0].position[2]: expected a number, found"),
        ([{"effector": "Head", "position": [0, 0, 0], "weight": -1}], "goals[0].weight: expected more than 0"),
        ([{"effector": "Head", "rotation": [0, 0, 0, 0]}], 'goals[0]: rotation goal for "Head": target rotation: '),
    ):
        runs.goals(*goals)
        assert runs.refused("--json").startswith(f"{path}: {message}")
    runs.goals()
    assert runs.refused() == f"{path}: a solver needs at least one goal that is enabled"
    runs.goals(FOOT[0] | {"enabled": False})
    assert runs.refused() == f"{path}: a solver needs at least one goal that is enabled"
    path.write_text('{"goals": [', encoding="utf-8")
    assert runs.refused().startswith(f"{path}, line 1, column ")
    path.write_text("{}", encoding="utf-8")
    assert runs.refused() == f"{path}: this is a skeleton file; expected a goals file"
    path.unlink()
    assert runs.refused() == f"{path}: no such file or folder"


def test_what_is_odd_is_a_warning(runs: Runs) -> None:
    runs.goals(FOOT[0] | {"colour": 1})
    result = runs("--json")
    assert result.code == 0
    assert 'goals[0]: unknown key "colour", ignored' in result.err
    assert result.json["status"] == "converged"


def test_the_joints_of_a_robot_are_listed_by_the_names_of_its_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    limit = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'
    joints = [("turn", "revolute", "base", "arm", "0 0 0"), ("reach", "prismatic", "arm", "tool0", "0 0 0")]
    text = "".join(
        f'<joint name="{name}" type="{word}"><parent link="{parent}"/><child link="{child}"/><origin xyz="{place}"/>'
        f'<axis xyz="{"0 0 1" if word == "revolute" else "1 0 0"}"/>{limit}</joint>'
        for name, word, parent, child, place in joints
    )
    links = "".join(f'<link name="{name}"/>' for name in ("base", "arm", "tool0"))
    (tmp_path / "robot.urdf").write_text(f'<robot name="r">{links}{text}</robot>', encoding="utf-8")
    goal = {"effector": "tool0", "position": [0.4, 0.3, 0.0]}  # in the axes of the file: 0.5 at atan2(3, 4)
    (tmp_path / "goal.json").write_text(json.dumps({"goals": [goal]}), encoding="utf-8")
    files = str(tmp_path / "robot.urdf"), str(tmp_path / "goal.json")
    arguments = ["solve", *files, "--units", "raw", "--tolerance-m", "1e-9"]
    assert ran(capsys, *arguments).out.splitlines()[-2:] == ["  turn      36.87°", "  reach    0.5000 m"]
    found = json.loads(ran(capsys, *arguments, "--json").out)["joints"]
    assert list(found) == ["turn", "reach"]
    assert found["turn"] == pytest.approx(np.arctan2(3, 4), abs=1e-6)
    assert found["reach"] == pytest.approx(0.5, abs=1e-6)
