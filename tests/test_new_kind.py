"""A kind of goal is its module and its name in a list: all else follows, the branch in the kernels too."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

HEIGHT = '''"""Goals for a height: the effector is to be so far above the ground, wherever else."""

from __future__ import annotations

import numpy as np

from viewer.ik.goals.goal import Goal
from viewer.ik.goals.kind import FileKey, First, GoalDrawing, Kind, Measure, Rows, Shell, stand_at, stand_of
from viewer.ik.goals.goal import Number, Unit

_HEIGHT = Number(name="height", unit=Unit.LENGTH, title="Height", least=0.0)


def height_residual(s, w, g, row, e):
    w.by_move[g, 0, 0], w.by_move[g, 0, 1], w.by_move[g, 0, 2] = 0.0, 1.0, 0.0
    miss = s.goal_numbers[g, 0] - w.point[g, 1]
    e[row] = s.goal_weight[g] * miss
    w.miss[g, 0] = abs(miss)
    return float(w.miss[g, 0] / s.tolerance[0])


def height_first(before, skeleton, world):
    return First({"height": float(stand_at(before.effector, before.offset, skeleton, world).point[1])})


def height_keeps(goal):
    return Shell(goal.number("height"), goal.number("height"), (0.0, 1.0, 0.0))


def height_drawing(goal, skeleton, world):
    stand = stand_of(goal, skeleton, world)
    ends = np.array([[-0.1, 0.0, 0.0], [0.1, 0.0, 0.0]]) + stand.point
    ends[:, 1] = goal.number("height")
    return GoalDrawing(stand.joint, stand.point, guides=(ends,))


KINDS = (Kind(
    word="height",
    title="Height",
    hint="Be at a height above the ground",
    rows=(Rows(Measure.LENGTH, height_residual),),
    keys={"height": FileKey("height", "Above the ground.", _HEIGHT)},
    since=2,
    keeps=height_keeps,
    first=height_first,
    drawing=height_drawing,
),)
'''
USE = """
import json
from pathlib import Path
from types import SimpleNamespace
import numpy as np
import viewer
from viewer.document import actions as act
from viewer.formats.goals_json import goals_file_from_text, goals_to_json
from viewer.ik.goals import CODES, ROW_KINDS
from viewer.ik.kernels.joints import goal_residual
from viewer.document import new_document
from viewer.session import Session
from viewer.opengl.pictures import marks_of
from viewer.session.session_files import load_session, save_session
from viewer.session.user_files import Preferences
from viewer.ui import Controller
from viewer.ui.number_format import Rect
from viewer.ui.scene_builder import goal_marks

biped = viewer.load("sample:biped")
skeleton = biped.skeleton
text = json.dumps({"goals": [{"effector": "LeftHand", "height": 1.5}, {"effector": "LeftFoot", "pin": True}]})
goals = goals_file_from_text(text, "goals.json", skeleton).goals
assert goals_file_from_text(goals_to_json(goals), "goals.json", skeleton).goals == goals
solution = viewer.Solver(skeleton, goals, backend="numpy").solve(skeleton.relaxed_pose())
assert solution.status == "converged", solution
assert [CODES[kind.word] for kind in ROW_KINDS] == list(range(len(ROW_KINDS)))
system = SimpleNamespace(
    goal_kind=[CODES["height"]], goal_row=[0], goal_numbers=np.array([[1.5]]), goal_weight=[2.0],
    tolerance=[0.1, 0.1],
)
work = SimpleNamespace(point=np.zeros((1, 3)), by_move=np.zeros((1, 3, 3)), miss=np.zeros((1, 2)))
e = np.zeros(1)
assert goal_residual(system, work, 0, e) == 15.0
assert e[0] == 3.0
for method in ("ccd", "two-link", "single-bone"):
    assert "LeftHand" in viewer.Solver(skeleton, goals, method=method).solve(skeleton.relaxed_pose()).unserved, method
arm = viewer.load("sample:claw-arm").skeleton
top = float(viewer.fk(arm, arm.rest_pose()).positions[:, 1].max())
for height in (0.8 * top, 9.0):
    goal = viewer.Goal(kind="height", effector="claw_a", numbers=(("height", height),))
    solution = viewer.Solver(arm, [goal], backend="numpy").solve(arm.rest_pose())
    assert (solution.status == "unreachable") == (height == 9.0), solution
print(*solution.diagnosis)
try:
    viewer.Goal(kind="height", effector="LeftHand", numbers=(("height", -1.0),))
except viewer.ViewerError as error:
    print(error)
session = Session(new_document(biped))
before = session.document.pose
session.dispatch(act.SetGoalKind("LeftHand", "height"))
assert session.document.pose.is_near(before)
session.dispatch(act.SetGoal("LeftHand", height=1.25))
asked = session.document.goal("LeftHand")
(in_window,) = [mark for mark in goal_marks(session.document) if mark.name == "LeftHand"]
(in_picture,) = marks_of([asked.for_solver()], skeleton, viewer.fk(skeleton, session.document.pose))
for mark in (in_window, in_picture):
    (guide,) = mark.guides
    assert guide[:, 1].tolist() == [1.25, 1.25]
controller = Controller(session, Preferences())
controller.viewport = Rect(0, 0, 800, 600)
def guides():
    lines = controller.draw_list().lines
    ends = np.stack([lines["start"], lines["end"]], axis=1)
    return np.isclose(ends[:, :, 1], 1.25).all(axis=1).sum()
assert guides() == 1
session.dispatch(act.SetGoalKind("LeftHand", "position"))
assert guides() == 0
session.dispatch(act.SetGoalKind("LeftHand", "height"))
asked = session.document.goal("LeftHand")
save_session(session.document, Path("it.ikv.json"))
assert load_session(Path("it.ikv.json")).goal("LeftHand") == asked
print(asked.for_solver())
"""
BAND = '''"""Goals for a band: a coordinate of the effector, such as its height, stays between two values."""

from __future__ import annotations

import numpy as np

from viewer.ik.goals.goal import Goal
from viewer.ik.goals.kind import (
    FileKey, First, Kind, Measure, Rows, Shell, largest, stand_at,
)
from viewer.ik.goals.goal import Number, Unit

_LOW = Number(name="low", unit=Unit.LENGTH, title="Lowest")
_HIGH = Number(name="high", unit=Unit.LENGTH, title="Highest")
_UP = Number(name="up", unit=Unit.WORLD_DIRECTION, title="Along", default=(0.0, 1.0, 0.0))


def band_residual(s, w, g, row, e):
    low, high = s.goal_numbers[g, 0], s.goal_numbers[g, 1]
    along = 0.0
    for i in range(3):
        along += s.goal_numbers[g, 2 + i] * w.point[g, i]
    miss = min(max(along, low), high) - along
    for i in range(3):
        w.by_move[g, 0, i] = s.goal_numbers[g, 2 + i] if miss != 0.0 else 0.0
    e[row] = s.goal_weight[g] * miss
    w.miss[g, 0] = abs(miss)
    return float(w.miss[g, 0] / s.tolerance[0])


def band_residuals(s, w, frames, some, places, e):
    low, high, up = s.goal_numbers[some, 0], s.goal_numbers[some, 1], s.goal_numbers[some, 2:5]
    along = (up * w.point[some]).sum(axis=-1)
    miss = np.clip(along, low, high) - along
    w.by_move[some, 0] = np.where((miss != 0.0)[:, None], up, 0.0)
    w.miss[some, 0] = np.abs(miss)
    e[places[:, 0]] = s.goal_weight[some] * miss
    return largest(np.abs(miss).tolist(), s.goal_weight[some])


def band_check(numbers):
    low, high = numbers["low"], numbers["high"]
    return f"low: expected {high:g} or less, as high is, found {low:g}" if low > high else ""


def band_first(before, skeleton, world):
    height = float(stand_at(before.effector, before.offset, skeleton, world).point[1])
    return First({"low": height - 0.1, "high": height + 0.1} | dict(before.numbers))


def band_keeps(goal):
    return Shell(goal.number("low"), goal.number("high"), dict(goal.numbers)["up"])


KINDS = (Kind(
    word="band",
    title="Band",
    hint="Keep a coordinate between two values",
    rows=(Rows(Measure.LENGTH, band_residual, band_residuals),),
    keys={
        "low": FileKey("low", "The least height.", _LOW),
        "high": FileKey("high", "The largest height.", _HIGH),
        "up": FileKey("up", "What heights are along.", _UP),
    },
    check=band_check,
    since=2,
    keeps=band_keeps,
    first=band_first,
),)
'''
USE_BAND = """
import json
from dataclasses import replace
import numpy as np
import viewer
from viewer.document import actions as act
from viewer.document import new_document
from viewer.formats.goals_json import goals_file_from_text
from viewer.session import Session

biped = viewer.load("sample:biped")
skeleton = biped.skeleton


def band(**numbers):
    return viewer.Goal(kind="band", effector="LeftHand", numbers=tuple(numbers.items()))


def along(pose, axis):
    return float(viewer.fk(skeleton, pose).positions[skeleton.index("LeftHand"), axis])


start = skeleton.relaxed_pose()
feet = [viewer.Goal.pin("LeftFoot"), viewer.Goal.pin("RightFoot")]
for numbers, axis in (
    ({"low": 1.2, "high": 1.4}, 1), ({"low": 0.1, "high": 0.3, "up": (0.0, 0.0, 2.0)}, 2),
    ({"low": 0.2, "high": 0.25, "up": (1.0, 0.0, 0.0)}, 0),
):
    solution = viewer.Solver(skeleton, [band(**numbers), *feet], backend="numpy").solve(start)
    assert solution.status == "converged", solution
    assert numbers["low"] - 1e-3 <= along(solution.pose, axis) <= numbers["high"] + 1e-3, numbers
solver = viewer.Solver(skeleton, [band(low=-9.0, high=9.0), *feet], backend="numpy")
assert solver.solve(start).pose.is_near(start)
arm = viewer.load("sample:claw-arm").skeleton
for low, high, up in ((-9.0, -7.0, (0.0, 1.0, 0.0)), (7.0, 9.0, (1.0, 0.0, 0.0)), (-9.0, 9.0, (1.0, 0.0, 0.0))):
    numbers = (("low", low), ("high", high), ("up", up))
    asked = viewer.Solver(arm, [viewer.Goal(kind="band", effector="claw_a", numbers=numbers)], backend="numpy")
    solution = asked.solve(arm.rest_pose())
    assert (solution.status == "unreachable") == (low * high > 0.0), solution
for ask in (
    lambda: band(low=2.0, high=1.5),
    lambda: goals_file_from_text(
        json.dumps({"goals": [{"effector": "LeftHand", "low": 2, "high": 1.5}]}), "goals.json", skeleton
    ),
):
    try:
        ask()
    except viewer.ViewerError as error:
        print(error)
session = Session(new_document(biped))
session.dispatch(act.SetGoalKind("LeftHand", "band"))
session.dispatch(act.SetGoal("LeftHand", low=1.25, high=1.5, up=(0.0, 1.0, 0.0)))
try:
    session.dispatch(act.SetGoal("LeftHand", low=2.0))
except viewer.ViewerError as error:
    print(error)
print(session.document.goal("LeftHand").for_solver())

walk = viewer.load("sample:walk")
session = Session(new_document(walk))
name = session.document.goals[0].id
session.dispatch(act.SetGoalKind(name, "band"))
session.dispatch(act.SetGoal(name, low=1.0, high=2.0, up=(0.0, 1.0, 0.0)))
again = viewer.load("sample:walk", units="m", up="z")
session.dispatch(act.SetUnits("m", "z", again))
goal = session.document.goal(name)
print(*(round(number, 9) + 0.0 for number in (goal.low, goal.high, *goal.up)))
"""

ABOVE = '''"""Goals for a point above a place: the point midway between two effectors is so much higher."""

from __future__ import annotations

from viewer.ik.goals.goal import Number, Unit
from viewer.ik.goals.kind import TO, Constants, FileKey, Kind, Measure, Rows
from viewer.ik.goals.midpoint import midpoint_stand, put_half
from viewer.skeleton import find_place

_HEIGHT = Number(name="height", unit=Unit.LENGTH, title="Height", default=0.0)


def above_residual(s, w, g, row, e):
    base, square = s.goal_base[g], 0.0
    for i in range(3):
        w.vectors[0, i] = w.place[base, i]
        w.vectors[1, i] = 0.5 * (w.point[g, i] + w.place[base, i])
        miss = s.goal_target[g, i] + (s.goal_numbers[g, 0] if i == 1 else 0.0) - w.vectors[1, i]
        e[row + i] = s.goal_weight[g] * miss
        square += miss * miss
        for j in range(3):
            w.by_move[g, i, j] = 1.0 if i == j else 0.0
    put_half(s, w, g, s.goal_joint[g], w.point[g])
    put_half(s, w, g, base, w.vectors[0])
    w.miss[g, 0] = square**0.5
    return float(w.miss[g, 0] / s.tolerance[0])


def above_constants(goal, skeleton):
    one, other = find_place(skeleton, goal.effector), find_place(skeleton, goal.to)
    return Constants(one.joint, goal.offset, (goal.number("height"),), base=other.joint)


KINDS = (Kind(
    word="above",
    title="Above",
    hint="Keep the point between two effectors above a place",
    rows=(Rows(Measure.MEAN, above_residual),),
    keys={"above": FileKey("target", "The place."), "height": FileKey("height", "Above it.", _HEIGHT), "to": TO},
    since=2,
    constants=above_constants,
    stand=midpoint_stand,
),)
'''
USE_ABOVE = """
import json
from pathlib import Path
import numpy as np
import viewer
from viewer.document import Item, actions as act, new_document
from viewer.formats.goals_json import goals_file_from_text, goals_to_json
from viewer.session import Session
from viewer.session.session_files import load_session, save_session
from viewer.session.user_files import Preferences
from viewer.ui import Controller
from viewer.ui.number_format import Rect
from viewer.ui.scene_builder import goal_marks

biped = viewer.load("sample:biped")
skeleton, ends = biped.skeleton, ("LeftHand", "RightHand")
entry = {"effector": ends[0], "above": [0.0, 1.0, 0.3], "height": 0.1, "to": ends[1]}
goals = goals_file_from_text(json.dumps({"goals": [entry]}), "goals.json", skeleton).goals
assert goals_file_from_text(goals_to_json(goals), "goals.json", skeleton).goals == goals


def midway(pose):
    return viewer.fk(skeleton, pose).positions[[skeleton.index(name) for name in ends]].mean(axis=0)


solution = viewer.Solver(skeleton, goals, backend="numpy").solve(skeleton.relaxed_pose())
assert np.abs(midway(solution.pose) - (0.0, 1.1, 0.3)).max() < 1e-3
assert new_document(biped, goals=goals).goal("LeftHand_2").kind == "above"
session = Session(new_document(biped))
before = session.document
controller = Controller(session, Preferences())
controller.viewport = Rect(0, 0, 800, 600)
session.dispatch(act.Select(tuple(Item("effector", name) for name in ends)))
controller.run("goal.add_above")
assert session.document.pose.is_near(before.pose)
assert session.errors["LeftHand_2"].reached
session.dispatch(act.SetGoal("LeftHand_2", height=0.2))
assert np.abs(midway(session.document.pose) - midway(before.pose) - (0.0, 0.2, 0.0)).max() < 1e-3
(mark,) = [mark for mark in goal_marks(session.document) if mark.name == "LeftHand_2"]
assert np.abs(mark.position - midway(session.document.pose)).max() < 1e-9
assert controller.draw_list()
save_session(session.document, Path("it.ikv.json"))
assert load_session(Path("it.ikv.json")).same_as(session.document)
session.dispatch(act.SetGoalKind("LeftHand_2", "relative"))
session.dispatch(act.RemoveEffector("RightHand"))
print(*(goal.id for goal in session.document.goals if goal.of_two))
print(*session.history.labels[1:], sep="; ")
"""


def with_kind(folder: Path, word: str, module: str, use: str) -> list[str]:
    """What a program prints that uses a kind of goal which a copy of the package has."""
    shutil.copytree(ROOT / "viewer", folder / "viewer", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "skeletons", folder / "skeletons")
    goals = folder / "viewer" / "ik" / "goals"
    (goals / f"{word}.py").write_text(module, encoding="utf-8")
    kinds = goals / "__init__.py"
    text = kinds.read_text(encoding="utf-8")
    for line in ("import aim, ", "MODULES = ("):
        assert text.count(line) == 1
        text = text.replace(line, f"{line}{word}, ")
    kinds.write_text(text, encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(folder)}
    call = [sys.executable, "-c", use]
    done = subprocess.run(call, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_kind_with_a_number_of_its_own_needs_its_module_and_its_name(tmp_path: Path) -> None:
    assert with_kind(tmp_path, "height", HEIGHT, USE) == [
        "claw_a is 7962 mm short: its chain reaches 918 mm, the target is 8880 mm away",
        'height goal for "LeftHand": height: expected a finite number, 0 or more, found -1',
        '<Goal: height "LeftHand" height 1.25>',
    ]


def test_a_kind_may_have_several_numbers_which_are_checked_together(tmp_path: Path) -> None:
    wrong = "low: expected 1.5 or less, as high is, found 2"
    lines = with_kind(tmp_path, "band", BAND, USE_BAND)
    assert lines[:4] == [
        f'band goal for "LeftHand": {wrong}',
        f'goals.json: goals[0]: band goal for "LeftHand": {wrong}',
        f'goal "LeftHand": {wrong}',
        '<Goal: band "LeftHand" low 1.25 high 1.5 up (0, 1, 0)>',
    ]
    # A centimetre has become a metre, and what was up is ahead.
    assert lines[4:] == ["100.0 200.0 0.0 0.0 -1.0"]


def test_a_kind_about_two_effectors_needs_no_more(tmp_path: Path) -> None:
    labels = "Add above of LeftHand and RightHand", "Set height of LeftHand_2", "Goal of LeftHand_2: relative"
    assert with_kind(tmp_path, "above", ABOVE, USE_ABOVE) == ["", "; ".join((*labels, "Remove effector RightHand"))]
