"""The benchmark: problems can be solved, the score agrees with hand-made cases, the command does what it says."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from characters import every_kind
from conftest import ROOT
from inside.cli import (
    NEAR_ENOUGH_M,
    NUMPY,
    Plan,
    Rig,
    Samples,
    drags,
    main,
    measure,
    report,
    score as library_score,
)
from inside.skeleton import joint_space
from inside.spatial import from_axis_angle, normalized

from viewer.errors import InputError
from viewer.skeleton import JointKind, JointLimits, fk_arrays

sys.path.insert(0, str(ROOT / "benchmarks"))
import compare
from compare import Comparison
from own_parts import OWN_PARTS
from problem_sets import (
    RIGS,
    UNREACHABLE,
    OwnSource,
    angle_between,
    find_rig as rig,
    matrices,
    outside,
    problems,
    score,
    world,
)
from rivals import MINK, RIVALS
from rivals.models import mechanism, mjcf, pose_arrays, urdf

if TYPE_CHECKING:
    from pathlib import Path

Z = (0.0, 0.0, 1.0)


# --- problems


@pytest.mark.parametrize("name", RIGS)
@pytest.mark.parametrize("kind", ["near", "medium", "far", UNREACHABLE])
def test_every_hidden_pose_solves_its_problem_inside_the_limits(name: str, kind: str) -> None:
    made = rig(name)
    some = problems(made, kind, 20, seed=5)
    found = score(made, some.targets, some.turns, some.rotations, some.translations)
    assert found.outside_rad.max() < 1e-9
    assert found.outside_m.max() < 1e-12
    if kind == UNREACHABLE:
        np.testing.assert_allclose(found.metres, 0.5, atol=1e-12)
        assert not found.solved.any()
    else:
        assert found.valid.all()


@pytest.mark.parametrize("name", [*Samples.sets, "chain-10"])
def test_the_commands_score_is_that_of_the_independent_one(name: str) -> None:
    made = Samples().rig(name)
    some = problems(made, "far", 20, seed=5)
    random = np.random.default_rng(2)
    for size in (0.0, 1e-4, 0.05):
        rotations = normalized(some.rotations + size * random.normal(size=some.rotations.shape))
        found = library_score(made, some.targets, some.turns, rotations, some.translations)
        expected = score(made, some.targets, some.turns, rotations, some.translations)
        np.testing.assert_allclose(found.metres, expected.metres, atol=1e-12)
        np.testing.assert_allclose(found.degrees, expected.degrees, atol=1e-6)
        np.testing.assert_allclose(found.outside_m, expected.outside_m, atol=1e-9)
        # Angles outside a joint's kind are measured from the nearest turn that it allows; which that is, may differ.
        assert (found.outside_rad > 0.5 * expected.outside_rad - 1e-9).all()
        assert (found.outside_rad < 2.0 * expected.outside_rad + 1e-9).all()
        assert found.valid.tolist() == expected.valid.tolist()


def test_far_poses_reach_the_ends_of_their_ranges_and_near_ones_do_not() -> None:
    made = rig("claw")
    space = joint_space(made.skeleton)
    for kind, most in (("near", 0.151), ("far", 1.0)):
        some = problems(made, kind, 200, seed=5)
        coordinates = space.measure(some.rotations, some.translations)
        limited = np.isfinite(space.upper) & (space.upper > space.lower)
        part = (coordinates / np.where(coordinates > 0, space.upper, space.lower))[:, limited]
        assert 0.9 * most < part.max() <= most + 1e-9


def test_problems_are_those_of_their_seed() -> None:
    made = rig("humanoid")
    one, again, other = (problems(made, "near", 4, seed) for seed in (1, 1, 2))
    assert np.array_equal(one.targets, again.targets)
    assert not np.allclose(one.targets, other.targets)
    assert not np.allclose(one.targets, problems(made, "medium", 4, 1).targets)


def test_chains_are_asked_for_points_between_a_tenth_and_nine_tenths_of_their_length() -> None:
    distances = np.linalg.norm(problems(rig("chain-10"), "any", 500, seed=5).targets[:, 0], axis=-1)
    assert distances.min() >= 0.1
    assert distances.max() <= 0.9
    # Uniform by volume: most lie far out.
    assert np.median(distances) > 0.6


def test_a_motion_begins_at_rest_and_moves_smoothly() -> None:
    made = rig("humanoid")
    motion = drags(made, 1, 240, seed=5)[0]
    rest, _ = world(made.skeleton, made.skeleton.rest_rotations[None], made.skeleton.offsets[None])
    np.testing.assert_allclose(motion.targets[0], rest[0, made.joints], atol=1e-12)
    assert np.linalg.norm(np.diff(motion.targets, axis=0), axis=-1).max() < 0.1


def test_an_unknown_rig_is_named_and_near_ones_are_offered() -> None:
    with pytest.raises(InputError, match=r'no rig "humanoit"; did you mean "humanoid"\?'):
        rig("humanoit")


def test_the_humanoid_has_the_joints_of_a_motion_capture_and_stands_as_the_biped_does() -> None:
    made, sample = rig("humanoid").skeleton, rig("biped").skeleton
    assert len(made) == 31
    here, _ = world(made, made.rest_rotations[None], made.offsets[None])
    there, _ = world(sample, sample.rest_rotations[None], sample.offsets[None])
    for joint, name in enumerate(sample.names):
        np.testing.assert_allclose(here[0, made.names.index(name)], there[0, joint], atol=1e-12)


# --- the score


def test_the_score_knows_kinematics_as_the_library_does() -> None:
    skeleton = every_kind().skeleton
    random = np.random.default_rng(0)
    rotations = normalized(random.normal(size=(5, len(skeleton), 4)))
    translations = random.normal(size=(5, len(skeleton), 3))
    places, frames = world(skeleton, rotations, translations)
    theirs = fk_arrays(skeleton.parents, rotations, translations)
    np.testing.assert_allclose(places, theirs.positions, atol=1e-12)
    assert angle_between(frames, matrices(theirs.rotations)).max() < 1e-12


def test_the_score_measures_limits_as_the_library_does() -> None:
    skeleton = every_kind().skeleton
    space = joint_space(skeleton)
    lower = np.where(np.isfinite(space.lower), space.lower, -1.2)
    upper = np.where(np.isfinite(space.upper), space.upper, 1.2)
    drawn = np.random.default_rng(1).uniform(lower - 0.1, upper + 0.1, (200, len(skeleton), 3))
    rotations, translations = space.rebuild(
        drawn, np.tile(skeleton.rest_rotations, (200, 1, 1)), np.tile(skeleton.offsets, (200, 1, 1))
    )
    excess = space.excess(space.measure(rotations, translations))
    slides = np.array([kind is JointKind.SLIDE for kind in skeleton.kinds])
    angles, lengths = outside(skeleton, rotations, translations)
    np.testing.assert_allclose(angles, excess[:, ~slides].max(axis=1), atol=1e-9)
    np.testing.assert_allclose(lengths, excess[:, slides].max(axis=1), atol=1e-9)


def arm(kind: JointKind = JointKind.HINGE, limits: JointLimits | None = None) -> Rig:
    """Two joints, a metre apart, a tip a metre farther on: along y at rest; the first one of that kind about z."""
    base = rig("chain-2").skeleton
    axes = np.zeros((2, 2, 3))
    axes[:, 0] = Z
    kinds = (kind, JointKind.FIXED)
    return Rig.of("arm", replace(base, kinds=kinds, axes=axes, limits=(limits, None), poses={}), ["tip"])


def turned(made: Rig, degrees: float, axis: tuple[float, float, float] = Z) -> tuple[Any, Any]:
    rotations = made.skeleton.rest_rotations.copy()
    rotations[0] = from_axis_angle(axis, np.radians(degrees))
    return rotations[None], made.skeleton.offsets[None].copy()


def test_a_right_angle_by_hand() -> None:
    made = arm(limits=JointLimits.coordinates((0.0, np.pi / 2)))
    still = np.array([[[0.0, 0.0, 0.0, 1.0]]])
    found = score(made, np.array([[[-1.0, 0.0, 0.0]]]), still, *turned(made, 90.0))
    assert found.metres[0] < 1e-12
    assert found.valid[0]
    missed = score(made, np.array([[[-1.0, 0.0, 0.002]]]), still, *turned(made, 90.0))
    assert missed.metres[0] == pytest.approx(0.002)
    assert missed.metres[0] > NEAR_ENOUGH_M
    assert not missed.solved[0]


def test_a_pose_past_a_limit_is_solved_but_not_valid() -> None:
    made = arm(limits=JointLimits.coordinates((0.0, np.radians(80.0))))
    still = np.array([[[0.0, 0.0, 0.0, 1.0]]])
    found = score(made, np.array([[[-1.0, 0.0, 0.0]]]), still, *turned(made, 90.0))
    assert found.solved[0]
    assert not found.valid[0]
    assert found.outside_rad[0] == pytest.approx(np.radians(10.0))


def test_a_hinge_that_turns_about_another_axis_and_a_bone_that_grows_are_caught() -> None:
    made = arm()
    angles, _ = outside(made.skeleton, *turned(made, 30.0, (1.0, 0.0, 0.0)))
    assert angles[0] == pytest.approx(np.radians(30.0))
    rotations, translations = turned(made, 30.0)
    translations[0, 1, 1] += 0.01
    _, lengths = outside(made.skeleton, rotations, translations)
    assert lengths[0] == pytest.approx(0.01)


def test_nan_is_never_a_success() -> None:
    made = arm()
    rotations, translations = turned(made, 0.0)
    still = np.array([[[0.0, 0.0, 0.0, 1.0]]])
    found = score(made, np.array([[[0.0, 1.0, 0.0]]]), still, rotations * np.nan, translations)
    assert not found.solved[0]
    assert not found.valid[0]


# --- the rig in other people's words


@pytest.mark.parametrize("name", ["humanoid", "claw", "fingers", "chain-3"])
def test_a_pose_goes_through_the_rivals_axes_unchanged(name: str) -> None:
    made = rig(name)
    built = mechanism(made.skeleton, spherical=True)
    some = problems(made, "far", 5, seed=5)
    space = joint_space(made.skeleton)
    for rotations, translations in zip(some.rotations, some.translations, strict=True):
        coordinates = space.measure(rotations, translations)
        values = [coordinates[axis.joint, int(axis.name.rpartition(":")[2])] for axis in built.all_axes()]
        balls = np.array([rotations[joint] for joint in built.spherical])
        root = (translations[0], rotations[0]) if built.floating else None
        again, moved = pose_arrays(built, np.array(values), balls, root)
        assert angle_between(matrices(again), matrices(rotations)).max() < 1e-9
        np.testing.assert_allclose(moved, translations, atol=1e-12)


@pytest.mark.parametrize("name", ["humanoid", "claw", "fingers", "planar"])
def test_models_for_rivals_have_every_axis_with_its_range_once(name: str) -> None:
    made = rig(name)
    built = mechanism(made.skeleton, spherical=False)
    axes = {axis.name: (axis.lower, axis.upper) for axis in built.all_axes()}
    in_urdf = {
        joint.get("name"): limits
        for joint in parsed(urdf(made, built)).iter("joint")
        for limits in joint.findall("limit")
    }
    assert {name: (float(one.get("lower", "")), float(one.get("upper", ""))) for name, one in in_urdf.items()} == axes
    in_mjcf = [joint for joint in parsed(mjcf(made, built)).iter("joint") if joint.get("type") != "free"]
    ranges = {joint.get("name"): joint.get("range", "").split() for joint in in_mjcf}
    assert {name: tuple(map(float, ends)) for name, ends in ranges.items()} == axes
    assert len(list(parsed(mjcf(made, built)).iter("site"))) == len(made.effectors)


def parsed(xml: str) -> ET.Element:
    return ET.fromstring(xml)


def test_what_no_rival_can_be_told_is_refused() -> None:
    with pytest.raises(InputError, match='they know no swing-twist limits, and "Spine" has such'):
        mechanism(rig("biped").skeleton, spherical=True)


# --- the command


def test_the_command_prints_one_document_with_the_keys_it_promises() -> None:
    command = [sys.executable, "-P", "-m", "viewer", "bench", "drag", "files", "--quick", "--json"]
    environment = dict(os.environ, PYTHONPATH=str(ROOT))
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    document = json.loads(done.stdout)
    assert set(document) == {"machine", "seed", "count", "quick", "parts"}
    assert document["quick"] is True
    assert {"processor", "cores", "system", "python", "numpy", "numba", "ikviewer"} == set(document["machine"])
    assert set(document["parts"]) == {"drag", "files"}
    assert document["parts"]["drag"]["biped"]["frames"] == 40
    assert document["parts"]["drag"]["biped"]["ms"] > 0
    assert set(document["parts"]["files"]) == {"forward_kinematics", "load_ms", "long_bvh"}
    assert document["parts"]["files"]["load_ms"]["sample:biped"] > 0


def test_an_unknown_part_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["bench", "sped"])
    assert stopped.value.code == 2
    assert 'no part "sped"; did you mean "speed"?' in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--count", "0"], ["--seed", "-1"], ["--count", "many"]])
def test_numbers_out_of_range_are_wrong_usage(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["bench", *words])
    assert stopped.value.code == 2
    assert "expected a whole number" in capsys.readouterr().err


@pytest.mark.parametrize("part", ["drag", "files"])
def test_every_part_measures_and_its_figures_become_tables(part: str) -> None:
    assert_tables(report.tables(part, json.loads(json.dumps(measure(part, Plan(count=1, quick=True))))))


@pytest.mark.parametrize("part", OWN_PARTS)
def test_every_part_of_the_comparison_measures_and_its_figures_become_tables(part: str) -> None:
    figures = Comparison(Plan(OwnSource(), count=1, quick=True), (), aims=False).measure(part)
    assert_tables(list(compare.tables(part, json.loads(json.dumps(figures)))))


def assert_tables(tables: list[report.Table]) -> None:
    for table in tables:
        assert table.rows
        assert {len(row) for row in table.rows} == {len(table.header)}
        assert report.as_text(table).startswith(table.title)
        assert compare.as_markdown(table).count("\n") >= len(table.rows) + 2


def test_the_comparison_measures_what_is_ours_where_there_is_no_rival() -> None:
    alone = Comparison(Plan(OwnSource(), count=2, quick=True), RIVALS[4:], aims=False)
    figures: Any = alone.measure("files")
    assert "ikviewer" in figures["long_bvh"]["ms"]
    assert [table.title for table in compare.tables("files", figures)] == ["Forward kinematics", "Loading"]


def test_ratios_are_those_of_the_rivals_that_ran() -> None:
    run = {"ms": 2.0, "cpu_ms": 1.0}
    theirs = {f"{MINK}, neutral adapter": {"ms": 8.0, "cpu_ms": 5.0}}
    kinds = ("near", "far", "any")
    rigs = ("humanoid", "fingers", "chain-100", "chain-1000")
    runs = {name: dict.fromkeys(kinds, {NUMPY: run} | (theirs if name == "humanoid" else {})) for name in rigs}
    (line,) = compare.ratios(runs, aims=True)
    assert (line["rival"], line["ours"], line["class"]) == (f"{MINK}, neutral adapter", NUMPY, "near")
    assert (line["times_faster"], line["times_faster_cpu"], line["at_least"]) == (4.0, 5.0, 2)


# --- figures kept over time


def run_of(dragging: float, seed: int = 1, processor: str = "P") -> dict[str, Any]:
    """A run as the command prints it, with one figure."""
    machine = {"processor": processor, "cores": 2, "system": "S", "ikviewer": "0.1"}
    keys = ("below_1_mm_percent", "error_mm_p99", "joint_step_deg_p99", "joint_step_deg_max")
    parts = {"drag": {"biped": dict.fromkeys(keys) | {"ms": dragging}}}
    return {"machine": machine, "seed": seed, "count": 200, "quick": False, "parts": parts}


def test_runs_are_kept_and_compared_with_the_last_one_under_the_same_conditions(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "runs.jsonl"
    assert report.read(file) == []
    for run in (run_of(4.0), run_of(2.0), run_of(9.0, seed=2), run_of(8.0, processor="Q")):
        report.add(file, run)
    with file.open("a", encoding="utf-8") as broken:
        broken.write('{"date": "2026-11-')  # the machine went down in the middle of it
    runs = report.read(file)
    assert [len(runs), runs[0]["date"]] == [4, report.read(file)[0]["date"]]
    before = report.comparable(runs, run_of(1.0))
    assert before == runs[1]
    assert report.changes(before, run_of(1.0)).rows == [("drag biped, ms a frame", "2", "1", "0.50")]
    assert report.comparable(runs, run_of(1.0, seed=7)) is None
    assert report.comparable(runs, run_of(1.0) | {"parts": {}}) is None


def test_the_command_shows_the_history_and_measures_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    words = ["bench", "--history", "--history-file", str(file)]
    assert main(words) == 0
    assert capsys.readouterr().out == f"{file}: no run yet\n"
    for percent in (4.0, 2.5):
        report.add(file, run_of(percent))
    assert main(words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["Figures over time", "2 runs. Machines: 1: P, 2 cores."]
    assert [line.split()[-2:] for line in lines[3:]] == [["0.1", "0.1"], ["1", "1"], ["4", "2.5"]]
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == report.read(file)
    file.write_text("HIERARCHY\nROOT Hips\n", encoding="utf-8")
    assert main(words) == 1
    expected = 'expected runs of ikviewer bench, a line of JSON each, found "HIERARCHY"'
    assert capsys.readouterr().err == f"error: {file}: {expected}\n"


def test_a_run_is_added_to_the_history_and_a_quick_one_is_not(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("viewer.cli.bench_command.measure_apart", lambda name, _: run_of(3.0)["parts"][name])
    file = tmp_path / "runs.jsonl"
    words = ["bench", "drag", "--history-file", str(file), "--json"]
    assert main([*words, "--quick"]) == 0
    assert not file.exists()
    assert main(words) == main(words) == 0
    assert [run["parts"] for run in report.read(file)] == [run_of(3.0)["parts"]] * 2
    capsys.readouterr()
    assert main(words) == 0
    assert json.loads(capsys.readouterr().out)["parts"] == run_of(3.0)["parts"]
    assert main(words[:-1]) == 0
    titles = [
        line for line in capsys.readouterr().out.splitlines() if line in {"Dragging", "figure"} or "Since" in line
    ]
    assert [title.partition(" ")[0] for title in titles] == ["Dragging", "Since"]
    file.unlink()
    file.mkdir()  # nothing can be kept there
    assert main(words) == 1
    assert capsys.readouterr().err.startswith(f"error: {file}: ")


# --- neutral problems, where they are


def test_our_score_agrees_with_that_of_the_neutral_problems(shared: Path) -> None:
    folder = shared / "bench"
    if not (folder / "problems.py").is_file():
        pytest.skip("neutral problems not beside the checkout")
    neutral = runpy.run_path(str(ROOT / "benchmarks" / "neutral.py"))
    source, xyzw = neutral["NeutralSource"](folder), neutral["xyzw"]
    random = np.random.default_rng(0)
    for name in ("humanoid", "claw", "fingers"):
        made = source.rig(name)
        theirs, targets, turns, moved, hidden = source.library.generate(name, "far", 20, 5)
        translations = np.tile(made.skeleton.offsets, (len(hidden), 1, 1))
        translations[:, 0] += moved
        for rotations in (hidden, normalized(hidden + 0.02 * random.normal(size=hidden.shape))):
            expected = source.library.score(theirs, targets, turns, moved, rotations)
            found = score(made, targets, xyzw(turns), xyzw(rotations), translations)
            np.testing.assert_allclose(found.metres, expected["pos"], atol=1e-12)
            np.testing.assert_allclose(np.radians(found.degrees), expected["rot"], atol=1e-9)
            np.testing.assert_allclose(found.outside_rad, expected["viol"], atol=1e-9)
            assert found.valid.tolist() == expected["honest"].tolist()
