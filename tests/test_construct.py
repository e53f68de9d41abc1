"""What is made in Python is checked there: what can be made can be saved everywhere, all else names field and joint."""

from __future__ import annotations

import math
import re
from contextlib import nullcontext, suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET
from xml.sax.saxutils import escape

import numpy as np
import pytest
from characters import assert_same
from hypothesis import given, strategies as st
from inside.formats import WRITTEN
from inside.session import character_data, character_of
from inside.skeleton import chain
from strategies import quickly, random_clip, random_pose, random_quaternions, random_skeleton, seeds

import viewer
from viewer.errors import InputError
from viewer.skeleton import (
    Character,
    Clip,
    Effector,
    EffectorGoal,
    JointKind,
    JointLimits,
    LimitForm,
    Pose,
    Skeleton,
    Source,
    fk,
    fk_clip,
)

if TYPE_CHECKING:
    from collections.abc import Callable

FORMATS = [s for s in WRITTEN if not (s.startswith(".usd") and find_spec("pxr") is None)]
NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12)
PLAIN = st.text("abcXYZ 日_.:-", min_size=1, max_size=8).map(str.strip).filter(bool)
IDENTITY = (0.0, 0.0, 0.0, 1.0)
ROUNDING = 1e-14
"""Not all radians are some number of degrees to the last bit."""


def as_typed(skeleton: Skeleton) -> dict[str, Any]:
    """The fields of a skeleton as a person may write them: lists, words, axes and rotations that are not quite unit."""
    return {
        "name": skeleton.name,
        "names": list(skeleton.names),
        "parents": skeleton.parents.tolist(),
        "offsets": skeleton.offsets.tolist(),
        "rest_rotations": (skeleton.rest_rotations * 1.0004).tolist(),
        "kinds": [str(kind) for kind in skeleton.kinds],
        "axes": (skeleton.axes * 3.0).tolist(),
        "limits": list(skeleton.limits),
        "stiffness": skeleton.stiffness.tolist(),
        "tip_parents": skeleton.tip_parents.tolist(),
        "tip_offsets": skeleton.tip_offsets.tolist(),
        "effectors": list(skeleton.effectors),
        "poses": dict(skeleton.poses),
    }


@st.composite
def characters(draw: st.DrawFn, names: st.SearchStrategy[str] = NAMES) -> Character:
    """Characters of 1 to 8 joints of every kind, limit and unit, typed by hand: with tips, effectors, poses, motion."""
    seed = draw(seeds)
    random = np.random.default_rng(seed)
    bare = random_skeleton(seed, draw(st.integers(1, 8)))
    joints = len(bare)
    called = draw(st.lists(names, min_size=joints, max_size=joints, unique=True))
    goals = [goal.value for goal in EffectorGoal]
    effectors = [
        Effector(name, int(random.integers(joints)), random.normal(size=3), goals[random.integers(len(goals))])  # type: ignore[arg-type]
        for name in draw(st.lists(names, max_size=3, unique=True))
    ]
    poses = {name: random_pose(seed, bare) for name in draw(st.lists(names, max_size=2, unique=True))}
    skeleton = Skeleton(**as_typed(bare) | {"names": called, "effectors": effectors, "poses": poses})
    clip = replace(random_clip(seed, skeleton, draw(st.integers(1, 3))), keys=(0,))
    scale = draw(st.sampled_from([1.0, 0.01, 0.0254, 0.0564444]))
    source = Source(metres_per_unit=scale, units=str(scale), up=draw(st.sampled_from("yz")))
    return Character(skeleton, {clip.name: clip} if draw(st.booleans()) else {}, source)


def loaded(character: Character, suffix: str) -> Character:
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"a{suffix}"
        viewer.save(character, path)
        return viewer.load(path, units=character.source.metres_per_unit, up=character.source.up)


def assert_equal(character: Character, again: Character, tolerance: float) -> None:
    still = {"still": Clip("still", 1.0, character.skeleton.rest_rotations[None], [], np.zeros((1, 0, 3)),  # type: ignore[arg-type]
                           character.skeleton.offsets)}  # fmt: skip
    if character.clip is None:
        assert again.clip is None
        character, again = replace(character, clips=still), replace(again, clips=still)
    assert_same(character, again, tolerance)
    for own, other in zip(character.skeleton.effectors, again.skeleton.effectors, strict=True):
        np.testing.assert_allclose(own.offset, other.offset, rtol=tolerance, atol=tolerance)


@quickly
@given(characters())
def test_what_is_made_is_read_back_equal_from_json_npz_and_sessions(character: Character) -> None:
    turned = character.source.up == "z" or character.source.metres_per_unit != 1.0
    assert_equal(character, loaded(character, ".json"), 1e-12 if turned else ROUNDING)
    # NPZ is metres, Y up.
    metres = replace(character, source=Source())
    assert_equal(metres, loaded(metres, ".npz"), ROUNDING)
    session = character_of(character_data(character), Path(), "character")
    assert_equal(character, session, 0.0)
    assert session.source == character.source


@quickly
@given(characters(PLAIN))
def test_what_is_made_is_read_back_with_its_names_tree_and_places_from_bvh_and_gltf(character: Character) -> None:
    skeleton, clip = character.skeleton, character.clip
    ours = fk(skeleton, skeleton.rest_pose()) if clip is None else fk_clip(skeleton, clip)
    size = float(np.abs(ours.positions).max()) + 1.0
    for suffix, near in ((".bvh", 2e-6), (".glb", 1e-5)):
        again = loaded(character, suffix)
        order = [again.skeleton.names.index(name) for name in skeleton.names]
        parents = again.skeleton.parents[order].tolist()
        assert [order.index(p) if p >= 0 else -1 for p in parents] == skeleton.parents.tolist()
        other = again.skeleton
        theirs = fk(other, other.rest_pose()) if again.clip is None else fk_clip(other, again.clip)
        if clip is None and again.clip is not None:
            assert len(again.clip) == 1
        places = theirs.positions[..., order, :].reshape(-1, *ours.positions.shape[-2:])
        np.testing.assert_allclose(
            places,
            np.broadcast_to(ours.positions.reshape(-1, *places.shape[1:]), places.shape),
            rtol=0,
            atol=near * size,
        )


def _in_xml(skeleton: Skeleton) -> bool:
    """Whether XML can hold all names, by a parser's judgement."""
    names = (skeleton.name, *skeleton.names, *(effector.name for effector in skeleton.effectors))
    try:
        ET.fromstring(f"<a>{escape(' '.join(names))}</a>")
    except ET.ParseError:
        return False
    return True


@quickly
@given(
    characters(),
    st.sampled_from([1.0, 1e-300, 1e-30, 1e20, 1e39, 1e160, 1e308]),
    st.sampled_from([1.0, 1e-9, 1e-300, 1e300]),
)
def test_what_is_made_saves_in_every_format_or_says_what_it_cannot_hold(
    character: Character, scale: float, slow: float
) -> None:
    skeleton = character.skeleton
    sized = replace(
        skeleton,
        offsets=np.clip(skeleton.offsets, -1, 1) * scale,
        tip_offsets=np.clip(skeleton.tip_offsets, -1, 1) * scale,
    )
    clips = {name: replace(clip, frame_time=slow, offsets=sized.offsets) for name, clip in character.clips.items()}
    large = replace(character, skeleton=sized, clips=clips)
    with TemporaryDirectory() as folder:
        for suffix in FORMATS:
            path = Path(folder) / f"a{suffix}"
            held = scale == 1.0 and slow == 1.0 and (suffix not in {".urdf", ".xml"} or _in_xml(skeleton))
            with nullcontext() if held else suppress(InputError):
                viewer.save(large, path)
                held = True
            assert path.exists() == held
    assert_equal(large, character_of(character_data(large), Path(), "character"), 0.0)


ARM = viewer.load("sample:two-link").skeleton
"""Two joints, "shoulder" and "elbow"."""
HINGED = replace(ARM, kinds=["ball", "hinge"], axes=[[[0, 0, 0]] * 2, [[0, 0, 2], [0, 0, 0]]], limits=[None, None])  # type: ignore[arg-type]
EFFECTOR = Effector("hand", 1)
CLIP = Clip("wave", 0.5, np.tile(IDENTITY, (3, 2, 1)), [0], np.zeros((3, 1, 3)), ARM.offsets)  # type: ignore[arg-type]
BAD_NUMBERS = [math.nan, math.inf, -math.inf]
NO_TEXT = [None, 7, "", "\ud800", b"bytes"]


def with_item(array: Any, index: tuple[int, ...], value: float) -> Any:  # noqa: ANN401 - of any numbers
    changed = np.array(array, dtype=np.float64)
    changed[index] = value
    return changed


WRONG_SKELETONS: list[tuple[str, st.SearchStrategy[Any], str]] = [
    ("name", st.sampled_from([None, 7, "\ud800"]), "skeleton name: expected "),
    ("names", st.sampled_from(NO_TEXT).map(lambda bad: ["shoulder", bad]), r"skeleton names\[1\]: expected "),
    ("names", st.sampled_from(["ab", None, 7, ["one"], ["a", "b", "c"]]), "skeleton |"),
    ("names", st.just(["elbow", "elbow"]), 'joint names must be unique, found "elbow" twice'),
    ("parents", st.integers(1, 9).map(lambda j: [-1, j]), 'skeleton parents of "elbow": expected each parent before'),
    (
        "parents",
        st.integers(-9, -2).map(lambda j: [j, 0]),
        'skeleton parents of "shoulder": expected each parent before',
    ),
    (
        "parents",
        st.sampled_from([[-1, 0.5], [None, 0], ["", "shoulder"], [-1], 0, [-1, 2**70]]),
        "skeleton parents: exp",
    ),
    (
        "offsets",
        st.sampled_from(BAD_NUMBERS).map(lambda v: with_item(ARM.offsets, (1, 2), v)),
        'skeleton offsets of "elbow": expected finite numbers, found',
    ),
    (
        "offsets",
        st.sampled_from([None, [[0, 0, 0]], [["a"] * 3] * 2, [[0, 0], [0, 0, 0]], [[True] * 3] * 2, 1j]),
        "skeleton offsets: expected ",
    ),
    (
        "rest_rotations",
        st.sampled_from([0.0, 0.99, 1.01, 2.0, math.nan, 1e300]).map(
            lambda v: with_item(ARM.rest_rotations, (1, 3), v)
        ),
        'skeleton rest_rotations of "elbow": expected ',
    ),
    (
        "kinds",
        st.sampled_from(["hnge", "", None, 3]).map(lambda k: ["ball", k]),
        'skeleton kinds of "elbow": expected one',
    ),
    ("kinds", st.just(["ball", "free"]), 'skeleton kinds of "elbow": expected free on roots only'),
    ("kinds", st.sampled_from(["hinge", ("hinge",)]), "skeleton kinds: expected "),
    ("axes", st.just(np.zeros((2, 2, 3))), 'skeleton axes of "elbow": expected a direction, found the zero vector'),
    (
        "axes",
        st.sampled_from(BAD_NUMBERS).map(lambda v: with_item(HINGED.axes, (1, 0, 2), v)),
        'skeleton axes of "elbow": expected finite numbers',
    ),
    ("limits", st.just([None]), "skeleton limits: expected "),
    (
        "limits",
        st.sampled_from([(0, 1), "none", 3]).map(lambda v: [None, v]),
        'skeleton limits of "elbow": expected Joi',
    ),
    (
        "limits",
        st.just([None, JointLimits.swing_twist(0, (0, 1), (0, 1), (0, 1))]),
        'skeleton limits of "elbow": expected limits of a hinge',
    ),
    (
        "limits",
        st.just([None, JointLimits.coordinates((0, 1), (0, 1))]),
        'skeleton limits of "elbow": expected limits of',
    ),
    (
        "limits",
        st.floats(13.0, 1e6).map(lambda v: [None, JointLimits.coordinates((0.0, v))]),
        r'skeleton limits of "elbow": expected angles within \+-12.5664 radians, found 0, .*: degrees\?$',
    ),
    (
        "stiffness",
        st.sampled_from([-0.1, 1.1, *BAD_NUMBERS]).map(lambda v: [0.0, v]),
        'skeleton stiffness of "elbow": exp',
    ),
    ("tip_parents", st.sampled_from([[2], [-1], [0.5], ["hand"], 1]), "skeleton tip_parents: expected "),
    (
        "tip_offsets",
        st.sampled_from([[[0, 0, math.nan]], [[0, 0, math.inf]]]),
        'skeleton tip_offsets of "elbow": expected',
    ),
    ("effectors", st.sampled_from([None, "hand", ["hand"], [EFFECTOR, EFFECTOR]]), "skeleton effectors: expected "),
    (
        "effectors",
        st.integers(2, 99).map(lambda j: [Effector("hand", j)]),
        'skeleton effectors: joint of "hand": expected',
    ),
    ("poses", st.sampled_from([None, ["rest"], {"rest": 1}, {1: ARM.rest_pose()}]), "skeleton poses: "),
    ("poses", st.just({"rest": Pose([IDENTITY], [[0, 0, 0]])}), 'skeleton poses: "rest": expected 2 joints, found 1'),  # type: ignore[arg-type]
    (
        "mobility",
        st.sampled_from([1.0, [[1, 2, 3]], [[-1, 0, 0]] * 2, [[math.inf] * 3] * 2]),
        "skeleton mobility: expected",
    ),
    (
        "mobility_matrices",
        st.sampled_from([1.0, np.zeros((2, 3)), [[[1, 2, 3], [0, 1, 0], [0, 0, 1]]] * 2]),
        "skeleton mobility_",
    ),
]


@given(st.data())
def test_a_wrong_field_of_a_skeleton_is_named_with_its_joint(data: st.DataObject) -> None:
    field, values, message = data.draw(st.sampled_from(WRONG_SKELETONS))
    refused(lambda: replace(HINGED, **{field: data.draw(values)}), message)


WRONG_PARTS: list[tuple[Callable[[Any], object], list[Any], str]] = [
    (lambda v: replace(EFFECTOR, name=v), NO_TEXT, "effector name: expected "),
    (
        lambda v: replace(EFFECTOR, joint=v),
        [-1, 0.5, None, True, [0]],
        'effector "hand": joint: expected a whole number',
    ),
    (
        lambda v: replace(EFFECTOR, joint=v),
        ["elbow"],
        'effector "hand": joint: expected its index, found "elbow": skeleton',
    ),
    (
        lambda v: replace(EFFECTOR, offset=v),
        [None, (0, 0), (0, 0, math.nan), "abc", 1],
        'effector "hand": offset: expected',
    ),
    (
        lambda v: replace(EFFECTOR, goal=v),
        ["pose", "", None, 1],
        'effector "hand": goal: expected one of "position", "rot',
    ),
    (lambda v: JointLimits(v, [0], [1]), ["twist", None], "joint limits: form: expected one of"),  # type: ignore[arg-type]
    (
        JointLimits.coordinates,
        [(1.0, 0.0), (math.nan, 1.0), (0.0, math.nan), (math.inf, math.inf), (-math.inf, -math.inf)],
        "coordinates limits: range 0: expected the lower end first, found ",
    ),
    (JointLimits.coordinates, [1.0, None, ("a", "b"), (0.0,), (0, 1, 2)], "joint limits: ranges"),
    (
        lambda v: JointLimits.swing_twist(1, *v),
        [[(0, 1)] * 2, [(0, 1)] * 4, []],
        "swing-twist limits: expected 3 lower and",
    ),
    (
        lambda v: JointLimits.swing_twist(v, *[(0, 1)] * 3),
        [-1, 3, 1.5, "y", None],
        "joint limits: twist axis: expected",
    ),
    (
        lambda v: JointLimits.swing_twist(1, (0, 1), v, (0, 1)),
        [(0.0, 90.0), (-45, 45), (-7, 0)],
        r"swing-twist limits about y: expected a range within \+-3.14159 radians, found .*: degrees\?$",
    ),
    (
        lambda v: JointLimits.swing_twist(1, (0, 1), v, (0, 1)),
        [(0.0, 3.2), (-4.0, 1.0)],
        "swing-twist limits about y: .*[0-9]$",
    ),
    (
        lambda v: JointLimits.euler("yxz", v, (0, 1), (0, 1)),
        [(0, 2.0), (-90, 90)],
        r"euler limits about x: expected a range within \+-1.5708 radians for the middle angle of yxz, found ",
    ),
    (
        lambda v: JointLimits.euler(v, *[(0, 1)] * 3),
        ["xyx", "XYZ", "", None, 7],
        "joint limits: order: expected one of xyz",
    ),
    (lambda v: replace(CLIP, name=v), [None, 7, "\ud800"], "clip name: expected "),
    (
        lambda v: replace(CLIP, frame_time=v),
        [0, -1.0, math.nan, math.inf, "0.1", None, True],
        'clip "wave": frame time: exp',
    ),
    (
        lambda v: replace(CLIP, rotations=with_item(CLIP.rotations, (2, 1, 3), v)),
        [0.0, 0.99, 2.0, math.nan, math.inf],
        'clip "wave": rotations of joint 1 in frame 2: expected ',
    ),
    (lambda v: replace(CLIP, rotations=v), [None, 1, [[IDENTITY]] * 3, [], "turns"], 'clip "wave": '),
    (lambda v: replace(CLIP, translated=v), [[2], [-1], [0, 0], [0.5], None, ["shoulder"]], 'clip "wave": trans'),
    (
        lambda v: replace(CLIP, translations=with_item(CLIP.translations, (1, 0, 2), v)),
        BAD_NUMBERS,
        'clip "wave": translations of joint 0 in frame 1: expected finite numbers, found ',
    ),
    (lambda v: replace(CLIP, offsets=v), [None, [[0, 0, 0]], [[0, 0, math.nan]] * 2], 'clip "wave": '),
    (lambda v: replace(CLIP, keys=v), [[3], [-1], [0.5], "all", 1, [None]], 'clip "wave": keys: expected '),
    (lambda v: Pose(v, [[0, 0, 0]]), [[[0, 0, 0, 2]], [[0, 0, 0, math.nan]], [[0, 0, 0]], None, 1], "pose rotations"),  # type: ignore[arg-type]
    (lambda v: Pose([IDENTITY], v), [[[0, 0, math.nan]], [[0, 0]], [[0, 0, 0]] * 2, None, "x"], "pose translations"),  # type: ignore[arg-type]
    (Character, [None, "sample:biped", 1], "character skeleton: expected a Skeleton, found "),
    (
        lambda v: Character(ARM, v),
        [None, [CLIP], {"wave": 1}, {3: CLIP}],
        "c(haracter clips|lip name): expected |character",
    ),
    (
        lambda v: Character(chain(v), {"wave": CLIP}),
        [1],
        'character clips: "wave": expected motion of 1 joints, found 2',
    ),
    (lambda v: Character(ARM, source=v), [None, "m", {}], "character source: expected a Source, found "),
    (lambda v: Character(ARM, warnings=v), ["one", None, [1]], "character warnings: expected "),
    (lambda v: Character(ARM, limits_from=v), [1, True], "character limits_from: expected text"),
    (
        lambda v: Source(metres_per_unit=v),
        [0.0, -1.0, math.nan, math.inf, "m", None, True],
        "source metres_per_unit: exp",
    ),
    (lambda v: Source(up=v), ["x", "Y", None, 1], "source up: expected y or z"),
]


@pytest.mark.parametrize(("make", "wrong", "message"), WRONG_PARTS, ids=[message[:40] for *_, message in WRONG_PARTS])
def test_wrong_parts_are_refused_by_name(make: Callable[[Any], object], wrong: list[Any], message: str) -> None:
    for value in wrong:
        refused(lambda value=value: make(value), message)  # type: ignore[misc]


def refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError) as caught:
        make()
    assert re.match(message, str(caught.value)), str(caught.value)
    assert "\n" not in str(caught.value)


def test_words_lists_and_lengths_are_taken_as_they_are_meant() -> None:
    skeleton = HINGED
    assert skeleton.kinds == (JointKind.BALL, JointKind.HINGE)
    np.testing.assert_array_equal(skeleton.axes[1], [[0, 0, 1], [0, 0, 0]])
    typed: dict[str, Any] = {"joint": np.int64(1), "offset": [0, 1, 0], "goal": "position+rotation"}
    assert Effector("hand", **typed) == Effector("hand", 1, (0.0, 1.0, 0.0), EffectorGoal.POSE)
    limits = JointLimits("euler", [-1, -1, -1], [1, 1, 1], order="zxy")  # type: ignore[arg-type]
    assert limits.form is LimitForm.EULER
    pose = Pose([[0, 0, 0, 1.0009]], [[1, 2, 3]])  # type: ignore[arg-type]
    np.testing.assert_array_equal(pose.rotations, [IDENTITY])
    assert CLIP.translated.dtype == np.intp
    assert replace(CLIP, keys=(2, 0, 2)).keys == (0, 2)
    assert Character(ARM, {"other": CLIP}).clips["other"].name == "other"
    for array in (skeleton.axes, pose.rotations, CLIP.rotations, limits.lower):
        assert not array.flags.writeable


def test_rotations_that_are_unit_keep_their_bits() -> None:
    rotations = random_quaternions(np.random.default_rng(0), 3, 2)
    np.testing.assert_array_equal(replace(CLIP, rotations=rotations).rotations, rotations)


def test_a_range_has_the_one_form_that_files_can_hold() -> None:
    def ends(kind: str, limits: JointLimits) -> list[tuple[float, float]] | None:
        axes = [[[1, 0, 0], [0, 1, 0]]] * 2
        kept = replace(ARM, kinds=["ball", kind], axes=axes, limits=[None, limits]).limits[1]  # type: ignore[arg-type]
        return None if kept is None else list(zip(kept.lower.tolist(), kept.upper.tolist(), strict=True))

    inf, pi = math.inf, math.pi
    assert ends("hinge", JointLimits.coordinates((-inf, 1.0))) == [(-pi, 1.0)]
    assert ends("hinge", JointLimits.coordinates((1.0, inf))) == [(1.0, pi)]
    assert ends("universal", JointLimits.coordinates((-2 * pi, 2 * pi), (0, 1))) == [(-inf, inf), (0.0, 1.0)]
    assert ends("slide", JointLimits.coordinates((-inf, inf))) is None
    assert ends("slide", JointLimits.coordinates((-90.0, 90.0))) == [(-90.0, 90.0)]
    single = float(np.float32(pi))
    assert ends("ball", JointLimits.swing_twist(1, (-inf, 1.0), (-single, single), (0.0, 0.0))) == [
        (-pi, 1.0), (-pi, pi), (0.0, 0.0)
    ]  # fmt: skip
    assert ends("ball", JointLimits.euler("xyz", (0.0, 1.0), (-inf, 0.5), (-inf, inf)))[1:] == [  # type: ignore[index]
        (-0.5 * pi, 0.5), (-inf, inf)
    ]  # fmt: skip


def test_a_clip_of_other_lengths_is_written_as_it_is_played() -> None:
    longer = replace(CLIP, offsets=CLIP.offsets * 2.0)
    character = Character(ARM, {"wave": longer})
    for suffix in (".json", ".npz", ".bvh", ".glb"):
        again = loaded(character, suffix)
        assert again.clip is not None
        np.testing.assert_allclose(
            fk_clip(again.skeleton, again.clip).positions, fk_clip(ARM, longer).positions, rtol=0, atol=2e-6
        )


def test_another_skeleton_is_not_written_in_the_order_of_the_file_that_was_read() -> None:
    walk, chain = viewer.load("sample:walk"), viewer.load("sample:chain-3")
    made = replace(walk, skeleton=chain.skeleton, clips={})
    assert (made.source.joint_order, made.source.layout) == ((), None)
    assert walk.source.joint_order == tuple(range(22))
