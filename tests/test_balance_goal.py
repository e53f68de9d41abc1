"""Goals for balance: the centre of mass stays inside the support polygon by a margin."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from cli_run import ran
from inside.document import DocumentBalance
from inside.formats import goals_file_from_text, goals_to_json, read_goals_file
from inside.ik import Backend
from inside.spatial import Floats

import viewer
from viewer import Contact, Goal, Solver
from viewer.document import new_document
from viewer.errors import FormatError, InputError
from viewer.skeleton import Builder, Pose, find_balance

BIPED = viewer.load("sample:biped").skeleton
RELAXED = BIPED.relaxed_pose()
WORLD = viewer.fk(BIPED, RELAXED)
FEET = [Goal.pin("LeftFoot"), Goal.pin("RightFoot")]
STANDING = tuple(BIPED.index(name) for name in ("LeftFoot", "RightFoot"))
HAND = WORLD.positions[BIPED.index("LeftHand")]
BACKENDS: tuple[Backend, ...] = ("numpy", "numba")


def margin(pose: Pose, floor: float = 0.0) -> float:
    return find_balance(BIPED, viewer.fk(BIPED, pose), floor, STANDING).margin


def lifted(metres: float) -> Pose:
    shifts = np.array(RELAXED.translations)
    shifts[BIPED.roots, 1] += metres
    return Pose(RELAXED.rotations, shifts)


FAR: list[Floats] = [HAND + way for way in ((0.0, 0.1, 0.7), (0.6, 0.2, 0.1), (-0.3, 0.3, 0.8), (0.1, -0.5, 0.7))]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("target", FAR)
def test_a_far_reach_keeps_its_balance(backend: Backend, target: Floats) -> None:
    goals = [*FEET, Goal.position("LeftHand", target)]
    solution = Solver(BIPED, [*goals, Goal.balance()], backend=backend).solve(RELAXED)
    assert solution.status == "converged"
    assert solution.unserved == ()
    assert margin(solution.pose) >= 0.03 - 1e-9
    assert solution.errors_m[2] <= 1e-3
    assert margin(Solver(BIPED, goals, backend=backend).solve(RELAXED).pose) < 0.0


def test_more_margin_leaves_more_room() -> None:
    goals = [*FEET, Goal.position("LeftHand", FAR[0])]
    for asked in (0.0, 0.02, 0.05):
        solution = Solver(BIPED, [*goals, Goal.balance(asked)]).solve(RELAXED)
        assert margin(solution.pose) == pytest.approx(asked, abs=2.1e-3)
        assert margin(solution.pose) >= asked


def test_what_is_in_balance_is_left_alone() -> None:
    goals = [*FEET, Goal.position("LeftHand", np.add(HAND, (0.0, 0.05, 0.0)))]
    alone, balanced = (Solver(BIPED, some).solve(RELAXED) for some in (goals, [*goals, Goal.balance(0.0)]))
    assert margin(alone.pose) > 0.0
    assert balanced.errors_m[3] == 0.0


def test_a_margin_wider_than_the_feet_leads_to_the_middle() -> None:
    solution = Solver(BIPED, [*FEET, Goal.balance(5.0)]).solve(RELAXED)
    widest = max(margin(Solver(BIPED, [*FEET, Goal.balance(m)]).solve(RELAXED).pose) for m in (0.06, 0.07, 0.08))
    assert solution.status == "converged"
    assert margin(solution.pose) >= widest - 3e-3


@pytest.mark.parametrize("backend", BACKENDS)
def test_without_anything_to_stand_on_it_is_idle_and_says_so(backend: Backend) -> None:
    goals = [Goal.position("LeftHand", np.add(HAND, (0.1, 1.0, 0.0))), Goal.balance()]
    solution = Solver(BIPED, goals, backend=backend).solve(lifted(1.0))
    assert solution.unserved == ("balance (nothing to stand on)",)
    assert solution.status == "converged"
    assert np.isnan(solution.errors_m[1])


def test_the_floor_is_that_of_the_contact() -> None:
    goals = [Goal.position("LeftHand", np.add(HAND, (0.1, 1.0, 0.0))), Goal.balance()]
    solution = Solver(BIPED, goals, contact=Contact(floor=1.0)).solve(lifted(1.0))
    assert solution.unserved == ()
    assert solution.errors_m[1] <= 1e-3


def test_a_drag_stays_in_balance() -> None:
    drag = Solver(BIPED, [*FEET, Goal.position("LeftHand", HAND), Goal.balance()]).drag(RELAXED)
    for part in np.linspace(0.0, 1.0, 30):
        targets = np.full((4, 3), np.nan)
        targets[2] = HAND + part * (FAR[0] - HAND)
        solution = drag.move(targets, iterations=8)
        assert margin(solution.pose) >= 0.02
    assert solution.errors_m[2] <= 1e-3


def test_any_figure_has_a_centre_of_mass() -> None:
    """A beam on a post, with a foot to each side: the weight at its end is brought over the feet."""
    builder = Builder().add("base", None, (0.0, 0.0, 0.0), kind="fixed")
    for name, way in (("east", (0.1, 0.0, 0.0)), ("west", (-0.1, 0.0, 0.0)), ("north", (0.0, 0.0, 0.1))):
        builder = builder.add(name, "base", way, kind="fixed")
    builder = builder.add("neck", "base", (0.0, 0.5, 0.0), kind="ball").add(
        "end", "neck", (0.6, 0.0, 0.0), kind="fixed"
    )
    crane = builder.skeleton
    start = crane.rest_pose()
    solution = Solver(crane, [Goal.balance(0.01)]).solve(start)
    assert find_balance(crane, viewer.fk(crane, start)).margin < 0.0
    assert find_balance(crane, viewer.fk(crane, solution.pose)).margin >= 0.01


def test_goals_files_hold_it() -> None:
    goals = goals_file_from_text(
        '{"version": 2, "goals": [{"balance": {"margin": 0.02}}, {"balance": {}}]}', "g", BIPED
    ).goals
    assert goals == (Goal.balance(0.02), Goal.balance())
    written = goals_to_json(goals)
    assert json.loads(written)["goals"] == [{"balance": {"margin": 0.02}}, {"balance": {"margin": 0.03}}]
    assert json.loads(written)["version"] == 2


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ('{"balance": {"margin": -1}}', "goals[0].balance.margin: expected 0 or more, found -1"),
        ('{"balance": 3}', "goals[0].balance: expected an object, found 3"),
        (
            '{"balance": {}, "effector": "Head"}',
            'goals[0]: expected no "effector" beside "balance", found one',
        ),
    ],
)
def test_files_that_say_it_otherwise_are_refused(entry: str, message: str) -> None:
    with pytest.raises(FormatError) as found:
        goals_file_from_text(f'{{"version": 2, "goals": [{entry}]}}', "goals.json", BIPED)
    assert str(found.value) == f"goals.json: {message}"


@pytest.mark.parametrize("value", [-0.01, np.nan, np.inf])
def test_a_margin_is_a_length(value: float) -> None:
    with pytest.raises(
        InputError, match=f"^balance goal: margin: expected a finite number, 0 or more, found {value:g}$"
    ):
        Goal.balance(value)


def test_the_command_keeps_the_balance(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "reach.json"
    file.write_text(goals_to_json((*FEET, Goal.position("LeftHand", FAR[0]))))
    solved = ran(capsys, "solve", "sample:biped", file, "--json", "--balance").json
    assert [goal["kind"] for goal in solved["goals"]] == ["position+rotation"] * 2 + ["position", "balance"]
    assert solved["goals"][3] | {"error_m": 0.0} == {
        "id": "balance",
        "effector": None,
        "kind": "balance",
        "level": 1,
        "error_m": 0.0,
        "error_deg": None,
        "reached": True,
        "yields": False,
    }
    pose = solved["pose"]
    rotations, translations = (
        np.array([pose[part][name] for name in BIPED.names]) for part in ("rotations", "translations")
    )
    assert margin(Pose(rotations, translations)) >= 0.03 - 1e-9


def test_a_goals_file_says_how_high_the_ground_is(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "reach.json"
    goals = (Goal.position("LeftHand", FAR[0]), Goal.balance())
    file.write_text(goals_to_json(goals, ground=-0.5))
    assert read_goals_file(file, "reach.json", BIPED) == (goals, None, -0.5)
    nothing = "balance (nothing to stand on)"
    assert ran(capsys, "solve", "sample:biped", file, "--json").json["unserved"] == [nothing]
    assert ran(capsys, "solve", "sample:biped", file, "--json", "--ground", "0").json["unserved"] == []
    file.write_text(goals_to_json(goals))
    assert json.loads(file.read_text())["version"] == 2
    assert "ground" not in json.loads(file.read_text())
    assert ran(capsys, "solve", "sample:biped", file, "--json").json["unserved"] == []
    assert ran(capsys, "solve", "sample:biped", file, "--json", "--ground=-0.5").json["unserved"] == [nothing]


@pytest.mark.parametrize(
    ("ground", "message"),
    [
        ('"low"', 'ground: expected a number, found the text "low"'),
        ("1e999", "ground: expected a number, found a number past 1.8e308"),
        ("[0]", "ground: expected a number, found a list"),
    ],
)
def test_a_ground_that_is_no_height_is_refused(ground: str, message: str) -> None:
    with pytest.raises(FormatError) as found:
        goals_file_from_text(f'{{"version": 2, "goals": [], "ground": {ground}}}', "goals.json", BIPED)
    assert str(found.value) == f"goals.json: {message}"


def test_a_document_takes_it_from_goals() -> None:
    document = new_document(viewer.load("sample:biped"), goals=[*FEET, Goal.balance(0.05, level=2)])
    assert document.balance == DocumentBalance(on=True, margin=0.05, weight=1.0, level=2)
    assert document.solver_goals()["balance"] == Goal.balance(0.05, level=2)
    assert not new_document(viewer.load("sample:biped")).balance.on


def test_of_several_a_document_takes_the_widest_that_is_enabled() -> None:
    goals = [Goal.balance(0.02), Goal.balance(0.04), Goal.balance(0.09, enabled=False)]
    document = new_document(viewer.load("sample:biped"), goals=goals)
    assert document.balance == DocumentBalance(on=True, margin=0.04, weight=1.0)
