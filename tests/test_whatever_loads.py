"""Every file that loads can be relaxed, solved, drawn and opened in a window: all that the tests know, and odd ones."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
from bvh_texts import ARM, Joint, read, text_of
from cli_run import FIGURE_BVH
from conftest import shared_dir
from fuzzing import seeds, two_roots
from hypothesis import example, given, settings, strategies as st
from inside.app import open_window
from inside.formats import sample_names, skeleton_from_text
from inside.session import Preferences
from inside.skeleton import find_figure
from odd_figures import odd_figure

import viewer
from viewer.document import new_document
from viewer.errors import ViewerError
from viewer.ik import Status
from viewer.session import Session
from viewer.skeleton import effector_of
from viewer.ui import state_of

if TYPE_CHECKING:
    from pathlib import Path

    from viewer.skeleton import Character

# What numpy has to warn of is a number that is none.
pytestmark = pytest.mark.filterwarnings("error")

FOLDER = shared_dir()
_SIZE = (640, 480)


def files() -> list[Path]:
    """The files beside the checkout that load, and those that showed defects."""
    if FOLDER is None:
        return []
    data = FOLDER / "data"
    some = [path for part in ("bvh", "gltf", "findings") for path in sorted((data / part).glob("*.*"))]
    some += sorted((data / "malformed").glob("ok_*"))
    readable = (".bvh", ".json", ".gltf", ".glb")
    return [path for path in some if path.suffix in readable]


def pose_and_solve(character: Character) -> None:
    """Relax it, and ask its first effector from there to where it stands at rest."""
    skeleton = character.skeleton
    relaxed = skeleton.relaxed_pose()
    assert np.isfinite(viewer.fk(skeleton, relaxed).positions).all()
    name = skeleton.effectors[0].name if skeleton.effectors else skeleton.names[-1]
    place = effector_of(skeleton, name)
    target = viewer.fk(skeleton, skeleton.rest_pose()).point(place.joint, np.array(place.offset))
    solver = viewer.Solver(skeleton, [viewer.Goal.position(name, target)], backend="numpy", max_iterations=20)
    solution = solver.solve(relaxed)
    assert solution.status in Status
    assert np.isfinite(viewer.fk(skeleton, solution.pose).positions).all()


def show(character: Character) -> None:
    """Draw a picture and a frame of the window."""
    assert viewer.render(character, size=(64, 48), samples=0).shape == (48, 64, 3)
    app = open_window(Session(new_document(character)), Preferences(), size=_SIZE)
    try:
        app.step(100.0)
        state = state_of(app.controller, _SIZE)
    finally:
        app.close()
    assert state["joints"] == len(character.skeleton)
    json.dumps(state, allow_nan=False)


def use(character: Character) -> None:
    pose_and_solve(character)
    show(character)


@pytest.mark.parametrize("name", [*sample_names(), "chain-40"])
def test_samples(name: str) -> None:
    use(viewer.load(f"sample:{name}"))


@pytest.mark.parametrize("text", [ARM, FIGURE_BVH, two_roots(), text_of(Joint("lone"))])
def test_small_bvh_texts(text: str) -> None:
    use(read(text, units="auto"))


@pytest.mark.parametrize("suffix", [".json", ".npz"])
def test_every_kind_of_joint(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_bytes(seeds()[suffix][0])
    use(viewer.load(path))


@pytest.mark.skipif(FOLDER is None, reason="shared data not beside the checkout")
@pytest.mark.parametrize("path", files(), ids=lambda path: path.name)
def test_files_beside_the_checkout(path: Path) -> None:
    try:
        character = viewer.load(path)
    except ViewerError:
        if path.parent.name != "findings":
            raise
    else:
        use(character)


def limb_on(joint: str, *, fan: int) -> str:
    """Twin limbs whose lower bones end in end sites of joints that stand in the knee: one, or a fan of them."""
    sides = {"Left": 1, "Right": -1}
    below = {
        side: [Joint(f"{side}{joint}{n}", tips=[(x / 10, -4, x)]) for n, x in enumerate(range(fan))] for side in sides
    }
    legs = [
        Joint(f"{side}a", (3 * sign, 0, 0), children=[Joint(f"{side}b", (0, -4, 0), children=below[side])])
        for side, sign in sides.items()
    ]
    return text_of(Joint("root", children=[*legs, Joint("top", (0, 2, 0), tips=[(0, 2, 0)])]))


@pytest.mark.parametrize("fan", [1, 2, 4])
@pytest.mark.parametrize("joint", ["c", "Hand", "Toe"])
def test_a_lower_bone_that_ends_on_a_joint_in_its_own_place(joint: str, fan: int) -> None:
    character = read(limb_on(joint, fan=fan), units="m")
    figure = find_figure(character.skeleton)
    if figure is not None:
        world = viewer.fk(character.skeleton, character.skeleton.rest_pose())
        for limb in figure.limbs:
            assert np.linalg.norm(world.point(*limb.tip) - world.positions[limb.lower]) >= 4.0
    use(character)


def test_a_lower_bone_ends_where_its_last_joint_does() -> None:
    skeleton = read(limb_on("c", fan=1), units="m").skeleton
    figure = find_figure(skeleton)
    assert figure is not None
    ends = [(leg.end, skeleton.names[leg.tip[0]], leg.tip[1].tolist()) for leg in figure.legs]
    assert ends == [(None, "Leftc0", [0, -4, 0]), (None, "Rightc0", [0, -4, 0])]


def test_a_hinge_does_not_bend_the_bone_that_lies_along_it() -> None:
    """Knees that turn about their own shins: the relaxed pose leaves them."""
    joints = [{"name": "Hips", "offset": [0, 1, 0]}, {"name": "Head", "parent": "Hips", "offset": [0, 0.5, 0]}]
    for side, sign in (("Left", 1), ("Right", -1)):
        joints += [
            {"name": f"{side}UpLeg", "parent": "Hips", "offset": [0.1 * sign, 0, 0]},
            {"name": f"{side}Leg", "parent": f"{side}UpLeg", "offset": [0, -0.4, 0],
             "kind": "hinge", "axis": [0, 1, 0]},
            {"name": f"{side}Foot", "parent": f"{side}Leg", "offset": [0, -0.4, 0]},
        ]  # fmt: skip
    character = skeleton_from_text(json.dumps({"joints": joints}), "odd.json")
    assert find_figure(character.skeleton) is not None
    use(character)


@settings(max_examples=60)
@example(5628)
@given(st.integers(0, 2**31))
def test_odd_figures_are_posed_and_solved(seed: int) -> None:
    character = odd_character(seed)
    if character is not None:
        pose_and_solve(character)


@settings(max_examples=12)
@given(st.integers(0, 2**31))
def test_odd_figures_are_shown(seed: int) -> None:
    character = odd_character(seed)
    if character is not None:
        show(character)


def odd_character(seed: int) -> Character | None:
    """The character, None where its limits leave a joint no room."""
    try:
        return skeleton_from_text(json.dumps(odd_figure(seed)), "odd.json")
    except ViewerError as error:
        if "limits" not in str(error):
            raise
        return None


def test_odd_figures_are_figures_often_enough() -> None:
    found = [c for seed in range(150) if (c := odd_character(seed)) is not None and find_figure(c.skeleton)]
    assert len(found) > 15


@pytest.mark.parametrize("metres", [9e6, 1e-6, 1e-30, 1e-162, 5e-324])
def test_from_a_hair_to_a_continent(metres: float) -> None:
    use(two_bones(metres))


@pytest.mark.parametrize("metres", [1.1e7, 1e38, 1e100, 1e160, 1e300])
@pytest.mark.parametrize("suffix", [".json", ".bvh"])
def test_what_is_too_large_to_be_shown_does_not_load(tmp_path: Path, metres: float, suffix: str) -> None:
    if suffix == ".bvh" and metres > 1e100:
        return  # refused as a number
    path = tmp_path / f"far{suffix}"
    joints = [{"name": "a"}, {"name": "b", "parent": "a", "offset": [metres, 0, 0]}]
    text = text_of(Joint("a", children=[Joint("b", (metres, 0, 0))]))
    path.write_text(text if suffix == ".bvh" else json.dumps({"joints": joints}), encoding="utf-8")
    with pytest.raises(ViewerError) as caught:
        viewer.load(path, units="m")
    said = f'{path}: joint "b": expected lengths that keep it within 1e+07 m of the origin, found {metres:g}'
    assert str(caught.value) == said


def test_a_clip_that_goes_too_far_does_not_load(tmp_path: Path) -> None:
    path = tmp_path / "far.bvh"
    path.write_text(text_of(Joint("a", channels="Zposition"), rows=[[0], [-2e7], [1]]), encoding="utf-8")
    with pytest.raises(ViewerError, match=r'far\.bvh: joint "a": expected lengths .* 1e\+07 m .*, found 2e\+07$'):
        viewer.load(path, units="m")


def two_bones(metres: float) -> Character:
    """Two bones, a hinge with limits and a slide of this size."""
    length = metres / 4
    joints = [
        {"name": "a"},
        {"name": "b", "parent": "a", "offset": [length, 0, 0], "kind": "hinge", "axis": [0, 0, 1],
         "limits": {"angle": [-90, 90]}, "tips": [[length, 0, 0]]},
        {"name": "c", "parent": "b", "offset": [0, length, 0], "kind": "slide", "axis": [0, 1, 0],
         "limits": {"distance": [0, length]}},
    ]  # fmt: skip
    return skeleton_from_text(json.dumps({"joints": joints}), "size.json")
