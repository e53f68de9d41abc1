"""Positions of joints to a skeleton with motion: exact positions come back, noise and gaps are borne."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_run import Ran, ran
from fuzzing import trc_text
from inside.formats import POINT_FILES, read_trc_points
from inside.motion import POINT_SETS, PresetName, point_noise, smpl_figure
from inside.spatial import Floats, angle_between, exp, multiply, rotate

import viewer
from viewer.errors import InputError
from viewer.skeleton import Clip, JointKind, Skeleton, fk, fk_clip

COUNTS = "expected 22 (humanml3d), 24 (smpl), 33 (mediapipe), 17 (coco), 26 (halpe26), 25 (body25) joints"
NO_PRESET = 'expected the joints of a preset, found "a", "a": a skeleton says how they hang together'
EXACT = 2e-4
"""Metres that a figure may be off exact positions."""


def waving(skeleton: Skeleton, frames: int = 90, seed: int = 0, size: float = 0.4) -> Clip:
    """Every joint swings about its own axis; the root walks."""
    random = np.random.default_rng(seed)
    axes = random.normal(size=(len(skeleton), 3)) * size
    steps = np.arange(frames)[:, None, None]
    turns = exp(
        axes * np.sin(steps / random.uniform(6, 15, (len(skeleton), 1)) + random.uniform(0, 6, (len(skeleton), 1)))
    )
    root = skeleton.offsets[0] + np.arange(frames)[:, None] * (0.0, 0.0, 0.02)
    return Clip.from_arrays(skeleton, multiply(skeleton.rest_rotations, turns), root)


def random_skeleton(seed: int, joints: int = 18) -> Skeleton:
    """A tree of balls at random rest rotations, with forks and a hinge or two."""
    random = np.random.default_rng(seed)
    parents = [-1] + [int(random.integers(max(0, joint - 3), joint)) for joint in range(1, joints)]
    rest = exp(random.normal(size=(joints, 3)))
    return Skeleton(
        name="random", names=tuple(f"j{joint}" for joint in range(joints)), parents=np.array(parents),
        offsets=random.normal(size=(joints, 3)) * 0.3, rest_rotations=rest,
        kinds=(JointKind.FREE, *(JointKind.BALL for _ in parents[1:])), axes=np.zeros((joints, 2, 3)),
        limits=(None,) * joints, stiffness=np.zeros(joints), tip_parents=np.zeros(0, dtype=np.intp),
        tip_offsets=np.zeros((0, 3)),
    )  # fmt: skip


def places(character: viewer.Character) -> Floats:
    assert character.clip is not None
    return fk_clip(character.skeleton, character.clip).positions


def off(character: viewer.Character, wanted: Floats) -> Floats:
    """(F, J) metres."""
    return np.asarray(np.linalg.norm(places(character) - wanted, axis=-1))


@pytest.mark.parametrize("seed", range(8))
def test_exact_positions_of_any_skeleton_come_back(seed: int) -> None:
    skeleton = random_skeleton(seed)
    wanted = fk_clip(skeleton, waving(skeleton, seed=seed)).positions
    assert off(viewer.fit(skeleton, wanted, fps=60), wanted).max() < EXACT


@pytest.mark.parametrize("millimetres", [0.0, 5.0])
def test_a_body_that_moves_under_a_root_that_stays_is_no_bone(millimetres: float) -> None:
    """As in captures with a root at the origin: the hips are translated, and no bone of one length leads to them."""
    skeleton = random_skeleton(3)
    skeleton = replace(skeleton, parents=np.array([-1, 0, *np.maximum(skeleton.parents[2:], 1)]))
    clip = waving(skeleton)
    moved = clip.local_translations()
    moved[:, 1] += moved[:, 0]
    moved[:, 0] = 0.0
    wanted = fk_clip(skeleton, clip.with_motion(clip.rotations, moved)).positions
    noise = 1e-3 * millimetres * np.random.default_rng(0).normal(size=wanted.shape)
    made = viewer.fit(skeleton, wanted + noise, fps=60)
    missed = off(made, wanted)
    assert missed[:, 1:].mean() < max(EXACT, 1e-3 * millimetres)
    assert missed.max() < max(EXACT, 5e-3 * millimetres)
    assert not any("the points may be others" in warning for warning in made.warnings)


def test_a_rig_with_hinges_keeps_its_kinds() -> None:
    walk, biped = viewer.load("sample:walk"), viewer.load("sample:biped").skeleton
    assert walk.clip is not None
    made = viewer.fit(biped, fk_clip(walk.skeleton, walk.clip).positions)
    assert made.skeleton.kinds == biped.kinds
    own = places(made)
    assert off(viewer.fit(biped, own), own).max() < EXACT


@pytest.mark.parametrize("preset", ["humanml3d", "smpl"])
def test_joints_of_a_preset_make_a_figure_in_a_t_pose(preset: PresetName) -> None:
    skeleton = smpl_figure(1.8)
    motion = waving(skeleton)
    world = fk_clip(skeleton, motion)
    wanted = world.positions
    if preset == "smpl":
        hands = [
            wanted[:, wrist] + rotate(world.rotations[:, wrist], (out * 0.1, 0, 0))
            for wrist, out in ((skeleton.index("left_wrist"), 1), (skeleton.index("right_wrist"), -1))
        ]
        wanted = np.concatenate([wanted, np.stack(hands, axis=1)], axis=1)
    made = viewer.fit(None, wanted, fps=25)
    assert made.skeleton.names == POINT_SETS[preset].points
    assert off(made, wanted).max() < EXACT
    assert made.clip is not None
    assert made.clip.fps == 25
    rest = fk(made.skeleton, made.skeleton.rest_pose()).positions
    at = dict(zip(made.skeleton.names, rest, strict=True))
    assert at["left_wrist"][0] > 0.5 > -0.5 > at["right_wrist"][0]
    assert at["left_foot"][2] > at["left_ankle"][2] + 0.05
    assert np.allclose(at["left_hip"][1:], at["right_hip"][1:], atol=1e-6)


def test_elbows_and_knees_bend_about_the_plane_of_the_limb() -> None:
    skeleton = smpl_figure()
    elbow, knee = skeleton.index("left_elbow"), skeleton.index("right_knee")
    turns = np.tile((0.0, 0.0, 0.0, 1.0), (60, len(skeleton), 1))
    bend = np.linspace(0.0, 2.0, 60)[:, None]
    turns[:, elbow] = exp(bend * (0.0, -1.0, 0.0))
    turns[:, knee] = exp(bend * (1.0, 0.0, 0.0))
    turns[:, skeleton.index("left_shoulder")] = exp((0.7, 0.0, 0.0))
    motion = Clip.from_arrays(skeleton, turns)
    made = viewer.fit(None, fk_clip(skeleton, motion).positions)
    assert made.clip is not None
    for joint, most in ((elbow, 1e-6), (knee, 7.0)):  # a shank of this figure is not quite straight at rest
        assert np.degrees(angle_between(made.clip.rotations[:, joint], turns[:, joint])).max() < most


def plain(marker: str) -> str:
    """The landmark that a marker of Pose2Sim is: ``left_hip`` for ``LHip``."""
    side = {"L": "left_", "R": "right_"}.get(marker[0], "") if marker[1:2].isupper() else ""
    return side + (marker[1:] if side else marker).replace("BigToe", "foot_index").lower()


@pytest.mark.parametrize(
    ("preset", "without"),
    [("mediapipe", "eye mouth"), ("coco", ""), ("halpe26", ""), ("halpe26", "Eye Ear"), ("body25", ""),
     ("body25", "Eye Ear Neck CHip")],
)  # fmt: skip
def test_landmarks_of_detectors_make_a_figure(preset: PresetName, without: str) -> None:
    """The landmarks are those of a figure in motion, whose back bends; those that no joint needs may be missing."""
    skeleton = smpl_figure()
    names = [name for name in POINT_SETS[preset].points if not any(part in name for part in without.split())]
    world = fk_clip(skeleton, waving(skeleton, size=0.2))
    at = {name: world.positions[:, joint] for joint, name in enumerate(skeleton.names)}
    head = skeleton.index("head")
    face = {"nose": (0, 0.05, 0.12), "left_ear": (0.08, 0.06, 0), "right_ear": (-0.08, 0.06, 0)}

    def landmark(name: str) -> Floats:
        if name in at:
            return at[name]
        side = name.partition("_")[0]
        hung = f"{side}_ankle" if "foot" in name or "heel" in name else f"{side}_wrist"
        if hung not in at or "eye" in name or "ear" in name or "mouth" in name:
            return at["head"] + rotate(world.rotations[:, head], np.array(face.get(name, (0.0, 0.08, 0.1))))
        spread = {"heel": (0, -0.05, -0.06), "foot_index": (0, -0.05, 0.18), "index": (0.09, 0, 0.03)}
        offset = spread.get(name.partition("_")[2], (0.08, 0.0, -0.03))
        return at[hung] + rotate(world.rotations[:, skeleton.index(hung)], np.array(offset))

    points = np.stack([landmark(plain(name)) for name in names], axis=1)
    made = viewer.fit(None, points, joints=names if without else None)
    assert len(made.skeleton) == 18
    found = dict(zip(made.skeleton.names, np.moveaxis(places(made), 1, 0), strict=True))
    for name in ("left_hip", "right_knee", "left_ankle"):
        assert np.linalg.norm(found[name] - at[name], axis=-1).max() < EXACT
    for name in ("left_shoulder", "right_elbow", "left_wrist"):
        assert np.linalg.norm(found[name] - at[name], axis=-1).mean() < 0.03


def test_noise_is_measured_and_smoothed_and_gaps_are_bridged() -> None:
    walk = viewer.load("sample:walk")
    assert walk.clip is not None
    wanted = fk_clip(walk.skeleton, walk.clip).positions
    random = np.random.default_rng(3)
    noisy = wanted + random.normal(0.0, 0.01 / np.sqrt(3.0), wanted.shape)
    noisy[random.random(noisy.shape[:2]) < 0.2] = np.nan
    assert point_noise(wanted, walk.skeleton.parents.tolist()) == 0.0
    assert 0.004 < point_noise(noisy, walk.skeleton.parents.tolist()) < 0.008
    made = viewer.fit(walk.skeleton, noisy)
    assert off(made, wanted).mean() < 0.008 < np.nanmean(np.linalg.norm(noisy - wanted, axis=-1))
    assert any(warning.endswith("mm on each axis: smoothed") for warning in made.warnings)


def test_points_that_noise_alone_moves_apart_are_not_taken_for_others() -> None:
    walk = viewer.load("sample:walk")
    assert walk.clip is not None
    offsets = walk.skeleton.offsets.copy()
    offsets[walk.skeleton.index("Neck")] = 0.0
    skeleton = replace(walk.skeleton, offsets=offsets)  # the neck is at the place of the chest
    wanted = fk_clip(skeleton, replace(walk.clip, offsets=offsets)).positions
    noisy = wanted + np.random.default_rng(3).normal(0.0, 0.005, wanted.shape)
    (smoothed,) = viewer.fit(skeleton, noisy).warnings
    assert smoothed.endswith("mm on each axis: smoothed")


def test_short_gaps_are_bridged_without_a_word_and_long_ones_are_named() -> None:
    walk = viewer.load("sample:walk")
    assert walk.clip is not None
    wanted = fk_clip(walk.skeleton, walk.clip).positions
    hand = walk.skeleton.index("LeftHand")
    short, long = wanted.copy(), wanted.copy()
    short[20:26, hand] = np.nan
    long[20:60, hand] = np.nan
    made = viewer.fit(walk.skeleton, short, fps=30)
    assert made.warnings == ()
    assert off(made, wanted).max() < 0.02
    said = '"LeftHand" has no position in frames 20 to 59 (1.33 s): bridged all the same'
    assert viewer.fit(walk.skeleton, long, fps=30).warnings == (said,)
    missing = wanted.copy()
    missing[:, hand] = np.nan
    never = '"LeftHand" has no position in any frame: it keeps its place at rest'
    assert viewer.fit(walk.skeleton, missing).warnings == (never,)


def test_bones_of_another_size_are_made_as_in_the_positions() -> None:
    walk = viewer.load("sample:walk")
    assert walk.clip is not None
    wanted = 1.2 * fk_clip(walk.skeleton, walk.clip).positions
    made = viewer.fit(walk.skeleton, wanted)
    assert off(made, wanted).max() < EXACT
    assert made.warnings[0].startswith(
        "bones are longer or shorter than in the rig, and are made as in the positions: "
    )


def test_points_of_a_preset_move_a_rig_that_has_other_joints() -> None:
    skeleton = smpl_figure()
    wanted = fk_clip(skeleton, waving(skeleton)).positions
    rig = viewer.load("sample:biped").skeleton
    made = viewer.fit(rig, wanted, preset="humanml3d")
    assert made.skeleton.names == rig.names
    found, upper, lower = places(made), rig.index("LeftArm"), rig.index("LeftForeArm")
    bones = (
        found[:, lower] - found[:, upper],
        wanted[:, skeleton.index("left_elbow")] - wanted[:, skeleton.index("left_shoulder")],
    )
    one, two = (bone / np.linalg.norm(bone, axis=-1, keepdims=True) for bone in bones)
    assert np.degrees(np.arccos(np.clip((one * two).sum(axis=-1), -1.0, 1.0))).mean() < 8.0


def test_points_in_another_order_are_noticed() -> None:
    skeleton = smpl_figure()
    mixed = fk_clip(skeleton, waving(skeleton)).positions[:, np.random.default_rng(0).permutation(22)]
    assert "in another order" in " ".join(viewer.fit(None, mixed).warnings)


@pytest.mark.parametrize(
    ("positions", "words", "message"),
    [
        (np.zeros((5, 22)), {}, "fit: expected positions (frames, joints, 3), found (5, 22)"),
        (np.zeros((0, 22, 3)), {}, "fit: expected at least one frame, found none"),
        (np.zeros((5, 1, 3)), {}, "fit: expected at least 2 joints, found 1"),
        (np.full((5, 22, 3), np.nan), {}, "fit: expected positions, found NaN in every frame"),
        (
            np.zeros((5, 22, 3)),
            {"preset": "cmu"},
            'fit: preset: expected humanml3d, smpl, mediapipe, coco, halpe26, body25, found "cmu"',
        ),
        (np.zeros((5, 22, 3)), {"preset": "coco"}, "fit: expected positions of 17 joints, found 22"),
        (np.zeros((5, 22, 3)), {"fps": 0}, "fit: fps: expected more than 0 frames per second, found 0"),
        (
            np.zeros((5, 7, 3)),
            {},
            f"fit: {COUNTS}, found 7: names or a skeleton say what others are",
        ),
        (np.zeros((5, 2, 3)), {"joints": ["a", "a"]}, f"fit: {NO_PRESET}"),
    ],
)  # fmt: skip
def test_what_cannot_be_fitted(positions: Floats, words: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as error:
        viewer.fit(None, positions, **words)
    assert str(error.value) == message


def test_names_that_the_rig_does_not_have() -> None:
    rig = viewer.load("sample:two-link").skeleton
    with pytest.raises(InputError, match=r'^fit: no joint "nose"'):
        viewer.fit(rig, np.zeros((5, 2, 3)), joints=[rig.names[0], "nose"])


# --- files


@pytest.fixture
def fit_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Runs `ikviewer fit` in the test's folder."""
    monkeypatch.chdir(tmp_path)
    return lambda *words: ran(capsys, "fit", *words)


@pytest.fixture
def joints(tmp_path: Path) -> Floats:
    skeleton = smpl_figure()
    positions = fk_clip(skeleton, waving(skeleton)).positions
    np.save(tmp_path / "a.npy", positions)
    return positions


def test_a_file_of_joints_becomes_a_bvh_that_another_program_reads(
    fit_in: Callable[..., Ran], tmp_path: Path, joints: Floats
) -> None:
    pybvh = pytest.importorskip("pybvh")
    result = fit_in("a.npy", "--fps", "25", "-o", "a.bvh")
    assert (result.code, result.out) == (0, "wrote a.bvh: 22 joints, 90 frames at 25 fps\n")
    other = pybvh.read_bvh_file(tmp_path / "a.bvh")
    assert other.frame_count == 90
    found = np.asarray(other.node_positions())
    names = [node.name for node in other.nodes]
    for joint, name in enumerate(POINT_SETS["humanml3d"].points):
        assert np.abs(found[:, names.index(name)] - joints[:, joint]).max() < EXACT


@pytest.mark.parametrize(
    ("change", "options"),
    [
        (lambda x: x, ()),
        (lambda x: x.astype(np.float32), ()),
        (lambda x: x.reshape(len(x), -1), ()),
        (lambda x: 1000.0 * np.stack([x[..., 0], -x[..., 2], x[..., 1]], axis=-1), ()),
        (lambda x: 100.0 * np.stack([x[..., 0], -x[..., 1], -x[..., 2]], axis=-1), ()),
        (lambda x: np.stack([x[..., 0], -x[..., 2], x[..., 1]], axis=-1) / 0.3, ("--units", "0.3", "--up", "z")),
    ],
)
def test_shapes_units_and_axes(
    fit_in: Callable[..., Ran],
    tmp_path: Path,
    joints: Floats,
    change: Callable[[Floats], Floats],
    options: tuple[str, ...],
) -> None:
    np.save(tmp_path / "b.npy", change(joints))
    assert fit_in("b.npy", *options, "-o", "b.json").code == 0
    assert off(viewer.load(tmp_path / "b.json"), joints).max() < EXACT


def test_tables_and_archives_say_names_and_rate(tmp_path: Path, joints: Floats) -> None:
    names = POINT_SETS["humanml3d"].points
    order = np.random.default_rng(1).permutation(22)
    with (tmp_path / "a.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["time", *(f"{names[joint]}.{axis}" for joint in order for axis in "xyz")])
        writer.writerows([frame / 50.0, *row.ravel().tolist()] for frame, row in enumerate(joints[:, order]))
    np.savez(tmp_path / "a.npz", joints=joints[:, order], names=np.array(names)[order], fps=50)
    for name in ("a.csv", "a.npz"):
        character = viewer.load(tmp_path / name)
        assert character.clip is not None
        assert character.clip.fps == pytest.approx(50)
        assert character.skeleton.names == names
        assert off(character, joints).max() < EXACT


@pytest.mark.parametrize(("units", "scale"), [("m", 1.0), ("mm", 1000.0), ("cm", 100.0)])
def test_markers_of_a_trc_file_have_its_names_rate_and_units(
    tmp_path: Path, joints: Floats, units: str, scale: float
) -> None:
    small = 0.3 * joints  # no guess of units would be right
    (tmp_path / "a.trc").write_text(trc_text(POINT_SETS["humanml3d"].points, scale * small, units))
    character = viewer.load(tmp_path / "a.trc")
    assert character.clip is not None
    assert character.clip.fps == pytest.approx(50.0)
    assert character.skeleton.names == POINT_SETS["humanml3d"].points
    assert off(character, small).max() < EXACT
    assert not any("guess" in one for one in character.warnings)


def test_a_trc_file_may_have_gaps_and_lines_that_end_early(tmp_path: Path, joints: Floats) -> None:
    points, names = joints.copy(), POINT_SETS["humanml3d"].points
    points[3:6, -1] = np.nan
    text = trc_text(names, points)
    for change in (lambda line: line.rstrip("\t"), lambda line: f"{line}\t \r"):
        (tmp_path / "a.trc").write_text("\n".join(map(change, text.splitlines())), newline="")
        found = read_trc_points(tmp_path / "a.trc", "a.trc")
        assert (found.names, found.fps, found.units) == (names, 50.0, "m")
        assert np.allclose(found.points, points, atol=1e-8, equal_nan=True)
    lost = trc_text(names, np.where(np.isnan(points), 9999999.0, points))
    (tmp_path / "a.trc").write_text(lost)  # as Motion Analysis writes what was not measured
    assert np.array_equal(np.isnan(read_trc_points(tmp_path / "a.trc", "a.trc").points), np.isnan(points))
    (tmp_path / "a.trc").write_text(text.replace("\n50\t50\t", "\n\t50\t"))
    assert read_trc_points(tmp_path / "a.trc", "a.trc").fps is None


def test_motion_of_smpl_stands_on_the_floor(fit_in: Callable[..., Ran], tmp_path: Path) -> None:
    angles = np.zeros((12, 52, 3))
    angles[:, 18] = np.linspace(0.0, 1.0, 12)[:, None] * (0.0, -1.0, 0.0)
    angles[:, 0] = (np.pi / 2, 0.0, 0.0)  # upright where Z is up
    places = np.linspace(0.0, 1.0, 12)[:, None] * (0.0, -1.0, 0.0) + (0.3, 0.0, 0.9)
    np.savez(tmp_path / "a.npz", poses=angles.reshape(12, -1), trans=places, mocap_framerate=120.0)
    result = fit_in("a.npz", "--height", "2", "-o", "a.json")
    assert result.code == 0
    character = viewer.load(tmp_path / "a.json")
    assert character.clip is not None
    assert character.clip.fps == pytest.approx(120)
    world = fk_clip(character.skeleton, character.clip).positions
    assert world[..., 1].min() > 0.0
    head, foot = character.skeleton.index("head"), character.skeleton.index("left_foot")
    assert 1.7 < world[0, head, 1] < 1.9
    assert 0.0 < world[0, foot, 1] < 0.05
    # Forwards is +Z here, -Y in AMASS.
    assert world[-1, 0, 2] - world[0, 0, 2] == pytest.approx(1.0, abs=1e-6)


def test_a_tree_is_stated_by_names_and_parents(fit_in: Callable[..., Ran], tmp_path: Path) -> None:
    skeleton = random_skeleton(4, 6)
    wanted = fk_clip(skeleton, waving(skeleton)).positions
    np.save(tmp_path / "a.npy", wanted)
    parents = [skeleton.names[parent] if parent >= 0 else "" for parent in skeleton.parents.tolist()]
    lines = [f"{name} {parent}" for name, parent in zip(skeleton.names, parents, strict=True)]
    (tmp_path / "names.txt").write_text("# joints\n" + "\n".join(lines) + "\n", encoding="utf-8")
    done = fit_in("a.npy", "--names", "names.txt", "--units", "m", "--up", "y", "-o", "a.json")
    assert done.code == 0
    made = viewer.load(tmp_path / "a.json")
    order = [made.skeleton.index(name) for name in skeleton.names]
    assert np.linalg.norm(places(made)[:, order] - wanted, axis=-1).max() < EXACT


FRAMES = np.zeros((5, 22, 3))


def trc(units: str, names: str, *rows: str) -> bytes:
    """A TRC file of a line of names and of rows."""
    head = ["PathFileType\t4", "DataRate\tUnits", f"50\t{units}", f"Frame#\tTime\t{names}", "\t\tX1\tY1\tZ1"]
    return "\n".join([*head, *rows, ""]).encode()


BAD: tuple[tuple[str, Any, tuple[str, ...], str], ...] = (
    ("a.npy", np.zeros((5, 22)), (), "a.npy: expected positions of the shape (frames, joints, 3), found (5, 22)"),
    ("a.npy", np.zeros((5, 22), dtype=str), (), "a.npy: expected positions, found <U1"),
    ("a.npy", np.array([{}], dtype=object), (),
     "a.npy: expected an array of numbers or texts, found Python objects (a pickle), which are not opened"),
    ("a.npy", np.full((5, 22, 3), np.nan), (), "a.npy: expected positions, found NaN in every frame"),
    ("a.npy", np.zeros((0, 22, 3)), (), "a.npy: expected at least one frame, found none"),
    ("a.npy", np.zeros((5, 7, 3)), (),
     f"a.npy: {COUNTS}, found 7: ikviewer fit FILE --to RIG or --names LIST says what they are"),
    ("a.npy", FRAMES, ("--preset", "coco"), "a.npy: expected positions of 17 joints, found 22"),
    ("a.npy", FRAMES, ("--height", "2"),
     "a.npy: a height is for axis-angles (AMASS); positions say how tall a figure is"),
    ("a.npy", FRAMES, ("--to", "sample:two-link"),
     "a.npy: expected positions of the 2 joints of sample:two-link, found 22: --names says which they are"),
    ("a.txt", b"", (), f'a.txt: expected a name that ends in {", ".join(POINT_FILES)}, found ".txt"'),
    ("gone", None, (), "gone: no such file or folder"),
    (".", None, (), ".: expected a file, found a folder"),
    ("a.npy", b"", (), "a.npy: the file is empty; expected an array (.npy)"),
    ("a.npy", b"\x00", (), "a.npy: expected an array (.npy), found something else"),
    ("a.trc", b"", (),
     "a.trc, line 1: expected a table of markers (TRC), which begins with PathFileType, found an empty file"),
    ("a.trc", b"a,b\n1,2\n", (),
     'a.trc, line 1: expected a table of markers (TRC), which begins with PathFileType, found "a,b"'),
    ("a.trc", trc("feet", "Hip\t\t"), (),
     'a.trc, line 3: units: expected auto, m, cm, mm, inch, raw or metres per unit, found "feet"'),
    ("a.trc", trc("mm", ""), (), "a.trc, line 4: expected the names of one or more markers, found 0"),
    ("a.trc", trc("mm", "Hip").replace(b"DataRate", b"NumMarkers"), (),
     "a.trc, line 4: expected the names of 50 markers, found 1"),
    ("a.trc", trc("mm", "Hip\t\t\tHip"), (), 'a.trc, line 4: expected each marker once, found "Hip" again'),
    ("a.trc", trc("mm", "Hip"), (), "a.trc: expected a line for each frame under the header, found none"),
    ("a.trc", trc("mm", "Hip", "1\t0\t1\t2\tq"), (), 'a.trc, line 6: cell 5: expected a number, found "q"'),
    ("a.trc", trc("mm", "Hip", "1\t0\t1\t2\t3\t4"), (), "a.trc, line 6: expected at most 5 cells, found 6"),
    ("a.csv", b"a,b\n1,2\n", (), 'a.csv, line 1: expected a header with NAME.x, NAME.y, NAME.z, found "a", "b"'),
    ("a.csv", b"a.x,a.y\n1,2\n", (), 'a.csv, line 1: expected a column "a.z" beside "a.x"'),
    ("a.csv", b"a.x,a.y,a.z\n1,2\n", (), "a.csv, line 2: expected 3 cells as in the header, found 2"),
    ("a.csv", b"a.x,a.y,a.z\n1,2,q\n", (), 'a.csv, line 2: cell 3: expected a number, found "q"'),
    ("a.csv", b"a.x,a.y,a.z\n", (), "a.csv: expected a line for each frame under the header, found none"),
)  # fmt: skip


@pytest.mark.parametrize(("name", "content", "options", "message"), BAD)
def test_files_that_are_refused(
    fit_in: Callable[..., Ran],
    tmp_path: Path,
    name: str,
    content: bytes | Floats | None,
    options: tuple[str, ...],
    message: str,
) -> None:
    if isinstance(content, bytes):
        (tmp_path / name).write_bytes(content)
    elif content is not None:
        np.save(tmp_path / name, content)
    result = fit_in(name, *options, "-o", "out.bvh")
    assert (result.code, result.err) == (1, f"error: {message}\n")
    assert not (tmp_path / "out.bvh").exists()


def test_a_claimed_size_is_checked_before_it_is_believed(fit_in: Callable[..., Ran], tmp_path: Path) -> None:
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999, 22, 3), }".ljust(117) + b"\n"
    (tmp_path / "a.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    result = fit_in("a.npy", "-o", "out.bvh")
    assert result.err == "error: a.npy: expected 52,799,999,472 bytes for its shape, found 0\n"


def test_json_says_what_was_made(fit_in: Callable[..., Ran], joints: Floats) -> None:
    result = fit_in("a.npy", "-o", "a.glb", "--json", "-q")
    found = json.loads(result.out)
    said = ["30 frames a second are assumed: nothing in the file says it"]
    assert found == {"output": "a.glb", "joints": 22, "frames": len(joints), "frame_time": 1 / 30, "warnings": said}


def test_a_table_of_our_own_is_read_back_by_the_command_that_its_message_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert ran(capsys, "convert", "sample:walk", "walk.csv").code == 0
    refused = ran(capsys, "convert", "walk.csv", "back.bvh")
    assert refused.code == 1
    assert refused.err == (
        'error: walk.csv: expected the joints of a preset, found "Hips", "Spine", "Spine1" and 19 more: '
        "ikviewer fit FILE --to RIG or --names LIST says how they hang together\n"
    )
    assert ran(capsys, "fit", "walk.csv", "--to", "sample:walk", "-o", "back.bvh").code == 0
    again, walk = viewer.load("back.bvh"), viewer.load("sample:walk")
    assert np.linalg.norm(places(again) - places(walk), axis=-1).max() < 0.001


def test_what_is_wrong_in_a_file_of_names_is_said_of_that_file(fit_in: Callable[..., Ran], tmp_path: Path) -> None:
    np.save(tmp_path / "three.npy", np.zeros((5, 3, 3)))
    (tmp_path / "names.txt").write_text("A\nB A\nC Z\n", encoding="utf-8")
    done = fit_in("three.npy", "--names", "names.txt", "-o", "out.bvh")
    line = 'error: three.npy: names.txt: joint "C": parent: no joint "Z"; there is "A", "B", "C"\n'
    assert (done.code, done.err) == (1, line)


def test_names_that_are_no_characters_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "odd.npz"
    np.savez(file, positions=np.zeros((2, 1, 3)), names=np.array([0x110000], np.uint32).view("<U1"))
    with pytest.raises(viewer.FormatError) as caught:
        viewer.load(file)
    assert str(caught.value) == f"{file}: names: expected texts of Unicode characters, found numbers that are none"


def test_points_that_are_all_in_one_place_make_a_figure_of_no_size(tmp_path: Path) -> None:
    np.save(tmp_path / "still.npy", np.zeros((2, 22, 3)))
    assert not viewer.load(tmp_path / "still.npy").skeleton.offsets.any()


@pytest.mark.parametrize("mark", [";", "\t"])
def test_tables_of_spreadsheets_with_decimal_commas_are_read(tmp_path: Path, mark: str) -> None:
    names = POINT_SETS["coco"].points
    header = ["time", *(f"{name}.{axis}" for name in names for axis in "xyz")]
    rows = [[frame / 10.0, *(column + frame / 4.0 for column in range(3 * len(names)))] for frame in range(3)]
    plain, other = tmp_path / "plain.csv", tmp_path / "other.csv"
    lines = [",".join(map(str, row)) for row in rows]
    plain.write_text("\n".join([",".join(header), *lines]))
    lines = [line.replace(",", mark).replace(".", ",") for line in lines]
    other.write_text("\n".join([mark.join(header), *lines]))
    first, second = (viewer.load(file, units="m", up="y").clip for file in (plain, other))
    assert first is not None
    assert second is not None
    assert np.array_equal(first.rotations, second.rotations)
    assert second.fps == pytest.approx(10.0)
