"""The laboratory: states of every iteration, and what is said of them."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from cli_run import ran
from conftest import ROOT
from inside.formats import CURVES, amount
from inside.ik import METHODS, MethodName
from PIL import Image
from sessions import QUICK

import viewer
from viewer import Goal, InputError, Solver, Status
from viewer.opengl import film_traces

if TYPE_CHECKING:
    from pathlib import Path

    from inside.spatial import Floats

BIPED = viewer.load(str(ROOT / "skeletons" / "biped.json")).skeleton
GOALS = (
    Goal.pin("LeftFoot"),
    Goal.pin("RightFoot"),
    Goal.position("LeftHand", (0.5, 1.3, 0.4)),
    Goal.position("RightHand", (-0.2, 0.9, 0.5)),
)
EVERY = ("default", *METHODS)
CAPS = pytest.CaptureFixture[str]


@pytest.mark.parametrize("method", EVERY)
@pytest.mark.parametrize("limits", [True, False])
def test_each_state_is_that_of_a_solve_that_stops_there(method: MethodName, limits: bool) -> None:
    start = BIPED.rest_pose()
    (trace,) = viewer.lab(BIPED, GOALS, [method], pose=start, iterations=5, limits=limits, backend=QUICK).each
    last = len(trace.solutions) - 1
    for k, state in enumerate(trace.solutions):
        most = 5 if k == last else k
        alone = Solver(BIPED, GOALS, method=trace.method, max_iterations=most, limits=limits, backend=QUICK).solve(
            start
        )
        assert state.pose.same_as(alone.pose)
        assert (state.status, state.iterations, state.unserved) == (alone.status, alone.iterations, alone.unserved)
        np.testing.assert_array_equal(state.errors_m, alone.errors_m)
        np.testing.assert_array_equal(state.errors_deg, alone.errors_deg)
        assert state.at_limit == alone.at_limit


@pytest.mark.parametrize("method", ["dls", "sdls", "ccd", "two-link"])
def test_states_before_goals_out_of_reach_have_the_status_of_a_solve_that_stops_there(method: MethodName) -> None:
    far = [Goal.position("LeftHand", (1.5, 1.3, 0.4)), Goal.pin("LeftFoot"), Goal.pin("RightFoot")]
    start = BIPED.relaxed_pose()
    (trace,) = viewer.lab(BIPED, far, [method], pose=start, iterations=12, backend=QUICK).each
    for k, state in enumerate(trace.solutions[:-1]):
        alone = Solver(BIPED, far, method=method, max_iterations=k, backend=QUICK).solve(start)
        assert (k, state.status) == (k, alone.status)
        assert state.pose.same_as(alone.pose)


def test_arrays_have_a_row_a_method_and_stay_where_a_method_stopped() -> None:
    traces = viewer.lab(BIPED, GOALS, ("dls", "transpose"), iterations=8, backend=QUICK)
    assert traces.methods == ("dls", "transpose")
    assert traces.labels == ("LeftFoot", "RightFoot", "LeftHand", "RightHand")
    count = traces.iterations + 1
    assert count == 9
    assert traces.errors.shape == traces.errors_deg.shape == (2, count, 4)
    assert np.isnan(traces.errors_deg[:, :, 2:]).all()
    assert traces.seconds.shape == (2, count)
    assert (np.diff(traces.seconds, axis=1) >= 0.0).all()
    stopped = traces.of("dls").last
    assert stopped.iterations < 8
    np.testing.assert_array_equal(traces.errors[0, -1], stopped.errors_m)
    assert traces.poses[0][-1].same_as(stopped.pose)
    assert traces.each[0].turns(0).max() < 1e-9
    assert traces.each[0].turns(8).max() > 0.1


def differences(pose: viewer.Pose) -> Floats:
    """(6, D) how the two hands move with the coordinates, by central differences of forward kinematics alone."""
    values = viewer.coordinates(BIPED, pose)
    effectors = {one.name: one for one in BIPED.effectors}

    def hands(q: Floats) -> Floats:
        world = viewer.fk(BIPED, viewer.pose_at(BIPED, q, pose))
        return np.concatenate(
            [world.point(effectors[name].joint, np.array(effectors[name].offset)) for name in ("LeftHand", "RightHand")]
        )

    steps = 1e-6 * np.eye(len(values))
    return np.stack([(hands(values + step) - hands(values - step)) / 2e-6 for step in steps], axis=1)


def test_the_jacobian_and_its_singular_values_are_those_of_differences() -> None:
    goals = [Goal.position("LeftHand", (0.5, 1.3, 0.4)), Goal.position("RightHand", (-0.2, 0.9, 0.5))]
    traces = viewer.lab(BIPED, goals, ("dls",), iterations=6, backend=QUICK)
    jacobian = traces.jacobian(2)
    expected = differences(traces.poses[0][2])
    np.testing.assert_allclose(np.asarray(jacobian), expected, atol=1e-6)
    sizes = np.linalg.svd(expected, compute_uv=False)
    np.testing.assert_allclose(jacobian.singular_values, sizes, atol=1e-6)
    assert jacobian.rank == np.linalg.matrix_rank(expected, tol=1e-4)
    assert jacobian.condition == pytest.approx(sizes[0] / sizes[-1], rel=1e-4)
    assert jacobian.manipulability == pytest.approx(np.sqrt(np.linalg.det(expected @ expected.T)), rel=1e-4)
    assert jacobian.places() == {"LeftHand": slice(0, 3), "RightHand": slice(3, 6)}
    directions, axes = jacobian.ellipsoid(slice(0, 3))
    np.testing.assert_allclose((directions.T * axes**2) @ directions, expected[:3] @ expected[:3].T, atol=1e-5)


def test_a_straight_arm_is_singular_along_itself() -> None:
    arm = viewer.load("sample:two-link").skeleton
    straight = viewer.fk(arm, arm.rest_pose()).point(1, np.array(arm.effectors[0].offset))
    goal = Goal.position("tip", 0.5 * straight)
    jacobian = Solver(arm, [goal], backend=QUICK).jacobian(arm.rest_pose())
    directions, axes = jacobian.ellipsoid(slice(0, 3))
    assert directions.shape == (3, 3)
    assert axes[1:].tolist() == pytest.approx([0.0, 0.0], abs=1e-12)
    assert jacobian.manipulability < 1e-12
    assert jacobian.condition > 1e12
    along = straight / np.linalg.norm(straight)
    assert max(abs(float(d @ along)) for d, size in zip(directions, axes, strict=True) if size > 1e-9) < 1e-9


def test_the_manipulability_of_two_links_is_that_of_the_textbook() -> None:
    """Their three rows have two freedoms, and one row is 0: what counts is how far they move in their plane."""
    arm = viewer.load("sample:two-link").skeleton
    l1, l2 = (float(np.linalg.norm(place)) for place in (arm.offsets[1], arm.effectors[0].offset))
    for bend in (-2.0, 0.3, 1.5):
        pose = viewer.pose_at(arm, np.array([0.4, bend]))
        jacobian = Solver(arm, [Goal.position("tip", (0.0, 0.0, 0.0))], limits=False, backend=QUICK).jacobian(pose)
        assert jacobian.manipulability == pytest.approx(l1 * l2 * abs(np.sin(bend)), abs=1e-12)


def test_reasons_name_limits_goals_that_are_not_served_and_slow_steps() -> None:
    far = [Goal.position("LeftHand", (0.5, 1.3, 0.4)), Goal.rotation("Head", (0.0, 0.3, 0.0, 0.954))]
    traces = viewer.lab(BIPED, far, ("two-link", "transpose", "default"), iterations=5, backend=QUICK)
    limb, transpose, default = traces.each
    assert limb.why == "two-link does not serve Head."
    assert re.fullmatch(r"transpose: the last iteration gained [\d.e-]+ mm.*\.", transpose.why)
    assert transpose.how == "not there after 5"
    assert default.last.status is not Status.CONVERGED or default.why == ""
    met = viewer.lab(BIPED, [Goal.pin("LeftFoot")], ("dls",), backend=QUICK).each[0]
    assert (met.how, met.why) == ("met at the start", "")
    turned = viewer.lab(BIPED, [Goal.rotation("Head", (0.0, 0.3, 0.0, 0.954))], ("dls",), backend=QUICK).each[0]
    assert not turned.in_metres
    assert turned.error(0) == pytest.approx(np.nanmax(turned.at(0).errors_deg))


@pytest.mark.parametrize(
    ("methods", "words"),
    [
        (("default", "cdc"), 'no method "cdc"; did you mean "ccd"?'),
        (("ccd", "ccd"), 'methods: "ccd" is named twice'),
        ((), "methods: expected 1 to 8, found 0"),
        (EVERY[:9], "methods: expected 1 to 8, found 9"),
    ],
)
def test_methods_are_checked(methods: tuple[MethodName, ...], words: str) -> None:
    with pytest.raises(InputError) as caught:
        viewer.lab(BIPED, GOALS, methods)
    assert str(caught.value) == words


def test_a_method_that_did_not_take_part_is_named() -> None:
    traces = viewer.lab(BIPED, GOALS, ("dls",), iterations=1, backend=QUICK)
    with pytest.raises(InputError, match='method: expected one of dls, found "ccd"'):
        traces.of("ccd")


# The command and its report


@pytest.fixture
def goals(tmp_path: Path) -> str:
    path = tmp_path / "reach.json"
    asked = [{"effector": "LeftHand", "position": [0.5, 1.3, 0.4]}, {"effector": "LeftFoot", "pin": True}]
    path.write_text(json.dumps({"version": 1, "type": "goals", "goals": asked}), encoding="utf-8")
    return str(path)


def lab(capsys: CAPS, *arguments: str) -> Any:  # noqa: ANN401 - the result of a command
    return ran(capsys, "lab", "sample:biped", *arguments, "--backend", QUICK)


def test_a_line_a_method(goals: str, capsys: CAPS) -> None:
    done = lab(capsys, goals, "--methods", "dls,transpose", "--iterations", "20")
    assert done.code == 0
    lines = done.out.splitlines()
    assert re.fullmatch(r"dls +[\d.]+ mm +[\d.]+ ms +met after \d+", lines[0])
    assert re.fullmatch(r"transpose +[\d.]+ mm +[\d.]+ ms +not there after 20", lines[1])
    assert lines[2].startswith("transpose: the last iteration gained")


class Page(HTMLParser):
    """What a browser would make of a page: its text, and everything that it would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.texts: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.fetched += [f"{tag} {name}" for name, _ in attrs if name in {"src", "href", "data", "action"}]
        if tag not in {"meta", "br"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_the_page_fetches_nothing_and_has_the_numbers_of_the_json(goals: str, tmp_path: Path, capsys: CAPS) -> None:
    methods = ("default", "dls", "ccd", "transpose")
    for suffix in ("html", "json"):
        done = lab(
            capsys, goals, "--methods", ",".join(methods), "--iterations", "15", "-o", str(tmp_path / f"r.{suffix}")
        )
        assert done.code == 0, done.err
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    page = Page()
    page.feed(text)
    assert page.fetched == []
    assert "url(" not in text
    assert "http" not in text
    assert page.open == []
    document = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    words = " ".join(page.texts)
    for curve, method in zip(CURVES, document["methods"], strict=False):
        assert f"{curve.letter} " in words
        assert method["how"] in words
        shown = 1000.0 * method["error"][-1]
        assert (f"{shown:.0f} mm" if shown >= 100.0 else f"{shown:.1f} mm") in words
        assert f"rank {method['jacobian']['rank']}" in words
    assert len(re.findall("<polyline", text)) == 2 * len(methods)


def test_the_json_has_a_row_an_iteration(goals: str, capsys: CAPS) -> None:
    done = lab(capsys, goals, "--methods", "dls,transpose", "--iterations", "7", "--json")
    document = json.loads(done.out)
    assert document["goals"] == ["LeftHand", "LeftFoot"]
    assert (document["version"], document["type"], document["unit"]) == (1, "lab", "m")
    for method in document["methods"]:
        assert len(method["errors_m"]) == len(method["seconds"]) == len(method["error"]) == method["iterations"] + 1
        assert method["errors_deg"][0][0] is None
        assert method["error"][-1] == max(method["errors_m"][-1])
        assert len(method["turned_deg"]) == len(document["joints"])


def test_the_film_has_a_picture_an_iteration_and_a_second_of_the_last(goals: str, tmp_path: Path, capsys: CAPS) -> None:
    path = tmp_path / "film.gif"
    done = lab(capsys, goals, "--methods", "dls,transpose", "--iterations", "3", "-o", str(path))
    assert done.out.splitlines()[-1] == f"wrote {path}: 13 pictures of 960 x 720, 10 a second, 1.30 s"
    with Image.open(path) as film:
        shown = film.n_frames  # type: ignore[attr-defined]  # equal pictures are one
        assert shown == 4
        film.seek(shown - 1)
        assert film.info["duration"] == 1000


def test_a_film_tells_how_far_each_method_is_and_draws_it_where_it_is() -> None:
    skeleton = viewer.load("sample:two-link").skeleton
    traces = viewer.lab(skeleton, [viewer.Goal.position("tip", (0.3, 0.5, 0.0))], ["dls", "transpose"], iterations=4)
    film, last = film_traces(skeleton, traces), traces.iterations
    assert film.texts is not None
    for number in (0, 2, last, len(film) - 1):
        k = min(number, last)
        scene, texts = film.scene(number), [text.text for text in film.texts(number, 1.0)]
        first, second = traces.each
        np.testing.assert_array_equal(scene.world.positions, viewer.fk(skeleton, first.at(k).pose).positions)
        for ghost in scene.ghosts:
            np.testing.assert_array_equal(ghost.world.positions, viewer.fk(skeleton, second.at(k).pose).positions)
        assert len(scene.ghosts) == (0 if number == 0 else 1)  # all begin together
        assert texts[2] == f"Iteration {k} of {last}"
        assert texts[0].startswith(f"A  dls: {amount(first.error(k), metres=True)}")
        assert (first.how in texts[0]) is (k >= first.last.iterations)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--methods", "default,cdc"), 'ikviewer lab: error: argument --methods: no method "cdc"; did you mean "ccd"?'),
        (
            ("-o", "report.txt"),
            'error: report.txt: expected a name that ends in .html, .json, .png, .mp4, .gif, found ".txt"',
        ),
        (("--methods", ","), "ikviewer lab: error: argument --methods: expected 1 to 8, found 0"),
    ],
)
def test_what_cannot_be_done_is_one_line(goals: str, arguments: tuple[str, ...], words: str, capsys: CAPS) -> None:
    done = lab(capsys, goals, *arguments)
    assert done.code == (2 if "argument" in words else 1)
    assert done.err.splitlines()[-1] == words


def test_goals_that_are_all_off_are_refused(tmp_path: Path, capsys: CAPS) -> None:
    path = tmp_path / "off.json"
    asked = [{"effector": "LeftHand", "position": [0, 1, 0], "enabled": False}]
    path.write_text(json.dumps({"version": 1, "type": "goals", "goals": asked}), encoding="utf-8")
    assert lab(capsys, str(path)).err.endswith("a solver needs at least one goal that is enabled\n")
