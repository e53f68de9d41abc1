"""A kind of goal is its module and its name in a list: all else follows, the branch in the kernels too."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

LOFT = '''"""Goals for a loft: the effector is to be so far above the ground, wherever else."""

from __future__ import annotations

import numpy as np

from viewer.ik.goals.goal import Goal
from viewer.ik.goals.kind import FileKey, First, GoalDrawing, Kind, Measure, Rows, Shell, effector_stand
from viewer.ik.goals.goal import Number, Unit

_LOFT = Number(name="made_up_loft", unit=Unit.LENGTH, title="Loft", least=0.0)


def loft_residual(s, w, g, row, e):
    w.by_move[g, 0, 0], w.by_move[g, 0, 1], w.by_move[g, 0, 2] = 0.0, 1.0, 0.0
    miss = s.goal_numbers[g, 0] - w.point[g, 1]
    e[row] = s.goal_weight[g] * miss
    w.miss[g, 0] = abs(miss)
    return float(w.miss[g, 0] / s.tolerance[0])


def loft_shell(goal):
    return Shell(goal.number("made_up_loft"), goal.number("made_up_loft"), (0.0, 1.0, 0.0))


def loft_first(before, skeleton, world):
    return First({"made_up_loft": float(effector_stand(before, skeleton, world).point[1])})


def loft_drawing(goal, skeleton, world):
    stand = effector_stand(goal, skeleton, world)
    ends = np.array([[-0.1, 0.0, 0.0], [0.1, 0.0, 0.0]]) + stand.point
    ends[:, 1] = goal.number("made_up_loft")
    return GoalDrawing(stand.joint, stand.point, guides=(ends,))


KINDS = (Kind(
    word="made_up_loft",
    title="Loft",
    hint="Be so far above the ground",
    rows=(Rows(Measure.LENGTH, loft_residual, shell=loft_shell),),
    keys={"made_up_loft": FileKey("made_up_loft", "Above the ground.", _LOFT)},
    since=2,
    first=loft_first,
    drawing=loft_drawing,
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
from viewer.ui.events import Rect
from viewer.ui.scene_builder import goal_marks

biped = viewer.load("sample:biped")
skeleton = biped.skeleton
text = json.dumps({"goals": [{"effector": "LeftHand", "made_up_loft": 1.5}, {"effector": "LeftFoot", "pin": True}]})
goals = goals_file_from_text(text, "goals.json", skeleton).goals
again = goals_file_from_text(goals_to_json(goals), "goals.json", skeleton).goals
assert again == goals, f"a goals file gives {again} for {goals}"
for method in ("default", "dls", "ccd"):
    solution = viewer.Solver(skeleton, goals, method=method, backend="numpy").solve(skeleton.relaxed_pose())
    assert solution.status == "converged", f"{method}: {solution}"
codes = [CODES[kind.word] for kind in ROW_KINDS]
assert codes == list(range(len(ROW_KINDS))), f"the codes of kinds are {codes}"
system = SimpleNamespace(
    goal_kind=[CODES["made_up_loft"]], goal_row=[0], goal_numbers=np.array([[1.5]]), goal_weight=[2.0],
    tolerance=[0.1, 0.1],
)
work = SimpleNamespace(point=np.zeros((1, 3)), by_move=np.zeros((1, 3, 3)), miss=np.zeros((1, 2)))
e = np.zeros(1)
miss = goal_residual(system, work, 0, e)
assert (miss, e[0]) == (15.0, 3.0), f"1.5 m off by a weight of 2: {miss} tolerances, e = {e}"
for method in ("two-link", "single-bone"):
    unserved = viewer.Solver(skeleton, goals, method=method).solve(skeleton.relaxed_pose()).unserved
    assert "LeftHand" in unserved, f"{method} leaves {unserved} unserved"
arm = viewer.load("sample:claw-arm").skeleton
top = float(viewer.fk(arm, arm.rest_pose()).positions[:, 1].max())
for height in (0.8 * top, 9.0):
    goal = viewer.Goal(kind="made_up_loft", effector="claw_a", numbers=(("made_up_loft", height),))
    solution = viewer.Solver(arm, [goal], backend="numpy").solve(arm.rest_pose())
    assert (solution.status == "unreachable") == (height == 9.0), f"{height} m high: {solution}"
print(*solution.diagnosis)
far = viewer.Goal(kind="made_up_loft", effector="LeftHand", numbers=(("made_up_loft", 1000.0),))
solution = viewer.Solver(skeleton, [far], backend="numpy").solve(skeleton.relaxed_pose())
assert (solution.status, solution.iterations) == ("converged", 0), f"a figure that may go there: {solution}"
try:
    viewer.Goal(kind="made_up_loft", effector="LeftHand", numbers=(("made_up_loft", -1.0),))
except viewer.ViewerError as error:
    print(error)
session = Session(new_document(biped))
before = session.document.pose
session.dispatch(act.SetGoalKind("LeftHand", "made_up_loft"))
assert session.document.pose.is_near(before), "the first values of the kind move the figure"
session.dispatch(act.SetGoal("LeftHand", made_up_loft=1.25))
asked = session.document.goal("LeftHand")
(in_window,) = [mark for mark in goal_marks(session.document) if mark.name == "LeftHand"]
(in_picture,) = marks_of([asked.for_solver()], skeleton, viewer.fk(skeleton, session.document.pose))
for mark in (in_window, in_picture):
    (guide,) = mark.guides
    assert guide[:, 1].tolist() == [1.25, 1.25], f"the guide is at {guide}"
controller = Controller(session, Preferences())
controller.viewport = Rect(0, 0, 800, 600)
def guides():
    lines = controller.draw_list().lines
    ends = np.stack([lines["start"], lines["end"]], axis=1)
    return np.isclose(ends[:, :, 1], 1.25).all(axis=1).sum()
assert guides() == 1, f"{guides()} guides of the goal are drawn"
session.dispatch(act.SetGoalKind("LeftHand", "position"))
assert guides() == 0, f"{guides()} guides of a position are drawn"
session.dispatch(act.SetGoalKind("LeftHand", "made_up_loft"))
asked = session.document.goal("LeftHand")
save_session(session.document, Path("it.ikv.json"))
loaded = load_session(Path("it.ikv.json")).goal("LeftHand")
assert loaded == asked, f"a session gives {loaded} for {asked}"
print(asked.for_solver())
"""
BELT = '''"""Goals for a belt: a coordinate of the effector, such as its height, stays between two values."""

from __future__ import annotations

from viewer.ik.goals.goal import Number, Unit
from viewer.ik.goals.kind import FileKey, First, Kind, Shell, effector_stand, within

_LOW = Number(name="belt_low", unit=Unit.LENGTH, title="Lowest")
_HIGH = Number(name="belt_high", unit=Unit.LENGTH, title="Highest")
_UP = Number(name="belt_up", unit=Unit.WORLD_DIRECTION, title="Along", default=(0.0, 1.0, 0.0))


def belt_check(numbers):
    low, high = numbers["belt_low"], numbers["belt_high"]
    return f"belt_low: expected {high:g} or less, as belt_high is, found {low:g}" if low > high else ""


def belt_first(before, skeleton, world):
    height = float(effector_stand(before, skeleton, world).point[1])
    return First({"belt_low": height - 0.1, "belt_high": height + 0.1} | dict(before.numbers))


def belt_shell(goal):
    return Shell(goal.number("belt_low"), goal.number("belt_high"), dict(goal.numbers)["belt_up"])


KINDS = (Kind(
    word="made_up_belt",
    title="Belt",
    hint="Keep a coordinate between two values",
    rows=(within(belt_shell),),
    keys={
        "belt_low": FileKey("belt_low", "The least height.", _LOW),
        "belt_high": FileKey("belt_high", "The largest height.", _HIGH),
        "belt_up": FileKey("belt_up", "What heights are along.", _UP),
    },
    check=belt_check,
    since=2,
    first=belt_first,
),)
'''
USE_BELT = """
import json
import viewer
from viewer.document import actions as act
from viewer.document import new_document
from viewer.formats.goals_json import goals_file_from_text
from viewer.session import Session

biped = viewer.load("sample:biped")
skeleton = biped.skeleton


def belt(effector, low, high, up=(0.0, 1.0, 0.0)):
    numbers = (("belt_low", low), ("belt_high", high), ("belt_up", up))
    return viewer.Goal(kind="made_up_belt", effector=effector, numbers=numbers)


def along(pose, axis):
    return float(viewer.fk(skeleton, pose).positions[skeleton.index("LeftHand"), axis])


start = skeleton.relaxed_pose()
feet = [viewer.Goal.pin("LeftFoot"), viewer.Goal.pin("RightFoot")]
for low, high, up, axis in (
    (1.2, 1.4, (0.0, 1.0, 0.0), 1), (0.1, 0.3, (0.0, 0.0, 2.0), 2), (0.2, 0.25, (1.0, 0.0, 0.0), 0)
):
    solution = viewer.Solver(skeleton, [belt("LeftHand", low, high, up), *feet], backend="numpy").solve(start)
    at = along(solution.pose, axis)
    assert solution.status == "converged", f"{low} to {high} along {up}: {solution}"
    assert low - 1e-3 <= at <= high + 1e-3, f"{low} to {high} along {up}: {at}"
solver = viewer.Solver(skeleton, [belt("LeftHand", -9.0, 9.0), *feet], backend="numpy")
assert solver.solve(start).pose.is_near(start), "a hand that is inside its belt moves"
arm = viewer.load("sample:claw-arm").skeleton
for low, high, up in ((-9.0, -7.0, (0.0, 1.0, 0.0)), (7.0, 9.0, (1.0, 0.0, 0.0)), (-9.0, 9.0, (1.0, 0.0, 0.0))):
    asked = viewer.Solver(arm, [belt("claw_a", low, high, up)], backend="numpy")
    solution = asked.solve(arm.rest_pose())
    assert (solution.status == "unreachable") == (low * high > 0.0), f"{low} to {high} along {up}: {solution}"
for ask in (
    lambda: belt("LeftHand", 2.0, 1.5),
    lambda: goals_file_from_text(
        json.dumps({"goals": [{"effector": "LeftHand", "belt_low": 2, "belt_high": 1.5}]}), "goals.json", skeleton
    ),
):
    try:
        ask()
    except viewer.ViewerError as error:
        print(error)
session = Session(new_document(biped))
session.dispatch(act.SetGoalKind("LeftHand", "made_up_belt"))
session.dispatch(act.SetGoal("LeftHand", belt_low=1.25, belt_high=1.5, belt_up=(0.0, 1.0, 0.0)))
try:
    session.dispatch(act.SetGoal("LeftHand", belt_low=2.0))
except viewer.ViewerError as error:
    print(error)
print(session.document.goal("LeftHand").for_solver())

walk = viewer.load("sample:walk")
session = Session(new_document(walk))
name = session.document.goals[0].id
session.dispatch(act.SetGoalKind(name, "made_up_belt"))
session.dispatch(act.SetGoal(name, belt_low=1.0, belt_high=2.0, belt_up=(0.0, 1.0, 0.0)))
again = viewer.load("sample:walk", units="m", up="z")
session.dispatch(act.SetUnits("m", "z", again))
goal = session.document.goal(name)
print(*(round(number, 9) + 0.0 for number in (goal.belt_low, goal.belt_high, *goal.belt_up)))
"""

ABOVE = '''"""Goals for a point above a place: the point midway between two effectors is so much higher."""

from __future__ import annotations

from viewer.ik.goals.goal import Number, Unit
from viewer.ik.goals.kind import TO, Constants, FileKey, Kind, Measure, Rows
from viewer.ik.goals.midpoint import midpoint_stand, put_half
from viewer.skeleton import point_of

_HEIGHT = Number(name="made_up_height", unit=Unit.LENGTH, title="Height", default=0.0)


def above_residual(s, w, g, row, e):
    base, square = s.goal_other[g], 0.0
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
    joint, point = point_of(skeleton, goal.effector, goal.offset)
    return Constants(joint, point, (goal.number("made_up_height"),), other=point_of(skeleton, goal.to)[0])


KINDS = (Kind(
    word="made_up_above",
    title="Above",
    hint="Keep the point between two effectors above a place",
    rows=(Rows(Measure.MEAN, above_residual),),
    keys={
        "made_up_above": FileKey("target", "The place."),
        "made_up_height": FileKey("made_up_height", "Above it.", _HEIGHT),
        "to": TO,
    },
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
from viewer.ui.events import Rect
from viewer.ui.scene_builder import goal_marks

biped = viewer.load("sample:biped")
skeleton, ends = biped.skeleton, ("LeftHand", "RightHand")
entry = {"effector": ends[0], "made_up_above": [0.0, 1.0, 0.3], "made_up_height": 0.1, "to": ends[1]}
goals = goals_file_from_text(json.dumps({"goals": [entry]}), "goals.json", skeleton).goals
again = goals_file_from_text(goals_to_json(goals), "goals.json", skeleton).goals
assert again == goals, f"a goals file gives {again} for {goals}"


def midway(pose):
    return viewer.fk(skeleton, pose).positions[[skeleton.index(name) for name in ends]].mean(axis=0)


solution = viewer.Solver(skeleton, goals, backend="numpy").solve(skeleton.relaxed_pose())
assert np.abs(midway(solution.pose) - (0.0, 1.1, 0.3)).max() < 1e-3, f"the point is at {midway(solution.pose)}"
kind = new_document(biped, goals=goals).goal("LeftHand_2").kind
assert kind == "made_up_above", f"a document has it as {kind}"
session = Session(new_document(biped))
before = session.document
controller = Controller(session, Preferences())
controller.viewport = Rect(0, 0, 800, 600)
session.dispatch(act.Select(tuple(Item("effector", name) for name in ends)))
controller.run("goal.add_made_up_above")
assert session.document.pose.is_near(before.pose), "the first values of the kind move the figure"
assert session.errors["LeftHand_2"].reached, f"a new goal is off: {session.errors}"
session.dispatch(act.SetGoal("LeftHand_2", made_up_height=0.2))
rise = midway(session.document.pose) - midway(before.pose)
assert np.abs(rise - (0.0, 0.2, 0.0)).max() < 1e-3, f"the point rises by {rise}"
(mark,) = [mark for mark in goal_marks(session.document) if mark.name == "LeftHand_2"]
assert np.abs(mark.position - midway(session.document.pose)).max() < 1e-9, f"the mark is at {mark.position}"
assert controller.draw_list(), "nothing is drawn"
save_session(session.document, Path("it.ikv.json"))
assert load_session(Path("it.ikv.json")).same_as(session.document), "a session file gives another document"
session.dispatch(act.SetGoalKind("LeftHand_2", "relative"))
session.dispatch(act.RemoveEffector("RightHand"))
print(*(goal.id for goal in session.document.goals if goal.of_two))
print(*session.history.labels[1:], sep="; ")
"""


def with_kind(folder: Path, word: str, module: str, use: str) -> list[str]:
    """What a program prints that uses a made-up kind of goal, which a copy of the package has."""
    shutil.copytree(ROOT / "viewer", folder / "viewer", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "skeletons", folder / "skeletons")
    goals = folder / "viewer" / "ik" / "goals"
    file = goals / f"{word}.py"
    assert not file.exists(), f"{word} is a kind of the product: this test needs a word that is none"
    file.write_text(module, encoding="utf-8")
    kinds = goals / "__init__.py"
    text = kinds.read_text(encoding="utf-8")
    for place in (r"(from viewer.ik.goals import \(?\s*)", r"(MODULES = \()"):
        text, count = re.subn(place, rf"\g<1>{word}, ", text)
        assert count == 1
    kinds.write_text(text, encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(folder)}
    call = [sys.executable, "-c", use]
    done = subprocess.run(call, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_kind_with_a_number_of_its_own_needs_its_module_and_its_name(tmp_path: Path) -> None:
    assert with_kind(tmp_path, "made_up_loft", LOFT, USE) == [
        "claw_a is 7962 mm short: its chain reaches 918 mm, the target is 8880 mm away",
        'made_up_loft goal for "LeftHand": made_up_loft: expected a finite number, 0 or more, found -1',
        '<Goal: made_up_loft "LeftHand" made_up_loft 1.25>',
    ]


def test_a_kind_may_have_several_numbers_which_are_checked_together(tmp_path: Path) -> None:
    wrong = "belt_low: expected 1.5 or less, as belt_high is, found 2"
    lines = with_kind(tmp_path, "made_up_belt", BELT, USE_BELT)
    assert lines[:4] == [
        f'made_up_belt goal for "LeftHand": {wrong}',
        f'goals.json: goals[0]: made_up_belt goal for "LeftHand": {wrong}',
        f'goal "LeftHand": {wrong}',
        '<Goal: made_up_belt "LeftHand" belt_low 1.25 belt_high 1.5 belt_up (0, 1, 0)>',
    ]
    # A centimetre has become a metre, and what was up is ahead.
    assert lines[4:] == ["100.0 200.0 0.0 0.0 -1.0"]


def test_a_kind_about_two_effectors_needs_no_more(tmp_path: Path) -> None:
    labels = (
        "Add made_up_above of LeftHand and RightHand",
        "Set made up height of LeftHand_2",
        "Goal of LeftHand_2: relative",
        "Remove effector RightHand",
    )
    assert with_kind(tmp_path, "made_up_above", ABOVE, USE_ABOVE) == ["", "; ".join(labels)]
