"""Pose libraries: files and pictures in a folder, and poses that go to other skeletons, flipped or blended."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from cli_run import ran
from inside.document import actions as act, fitted_pose, mirrored_pose
from inside.session import Preferences
from inside.skeleton import counterparts, transferred
from inside.ui import LibraryPoses
from sessions import character, session

import viewer
from viewer.document import Item
from viewer.errors import FormatError, InputError, OutputError, ViewerError
from viewer.session import Session
from viewer.skeleton import Pose, Skeleton, blend_poses
from viewer.ui import View

BIPED = character("biped").skeleton
WALK = character("walk")
NO_PICTURE = np.zeros((128, 128, 3), np.uint8)


@pytest.fixture(autouse=True)
def undrawn(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Most laws need no pictures, and machines that draw with software are slow."""
    if "drawn" not in request.node.name:
        monkeypatch.setattr("viewer.opengl.pose_library.draw_pose", lambda *_: NO_PICTURE)


def walking() -> Pose:
    """A pose of the walk, whose joints have another order than the biped's."""
    assert WALK.clip is not None
    return WALK.clip.pose(12)


def stride() -> Pose:
    """The same pose of the biped."""
    return transferred(WALK.skeleton, walking(), BIPED, BIPED.rest_pose()).pose


def renamed(skeleton: Skeleton, names: dict[str, str]) -> Skeleton:
    """Other names, other axes in every joint, half as large: what a skeleton of another program is like."""
    names = {name: names.get(name, name) for name in skeleton.names}
    return replace(
        skeleton,
        name="other",
        names=tuple(names[name] for name in skeleton.names),
        offsets=0.5 * skeleton.offsets,
        tip_offsets=0.5 * skeleton.tip_offsets,
        effectors=(),
        poses={},
        bodies=None,
    )


def other_axes(skeleton: Skeleton) -> tuple[Skeleton, np.ndarray[tuple[int, ...], np.dtype[np.float64]]]:
    """The same figure with every joint's axes rotated; (J, 4): joint_from_joint of the old and new axes."""
    rng = np.random.default_rng(5)
    turn = rng.normal(size=(len(skeleton), 4))
    turn /= np.linalg.norm(turn, axis=1, keepdims=True)
    above = np.where(skeleton.parents[:, None] >= 0, turn[skeleton.parents], (0.0, 0.0, 0.0, 1.0))
    q = viewer.quaternions
    conjugate = turn * (-1.0, -1.0, -1.0, 1.0)
    above_conjugate = above * (-1.0, -1.0, -1.0, 1.0)
    made = replace(
        skeleton,
        name="turned",
        rest_rotations=q.multiply(q.multiply(above_conjugate, skeleton.rest_rotations), turn),
        offsets=q.rotate(above_conjugate, skeleton.offsets),
        tip_offsets=q.rotate(conjugate[skeleton.tip_parents], skeleton.tip_offsets),
        limits=(None,) * len(skeleton),
        effectors=(),
        poses={},
        bodies=None,
    )
    return made, turn


# Files


def test_a_kept_pose_comes_back_to_the_last_bit(tmp_path: Path) -> None:
    library = viewer.PoseLibrary(tmp_path / "poses")
    assert (len(library), library.problems) == (0, ())
    assert library.keep(WALK.skeleton, walking(), "Stride", ["walk", "left foot"]) == "Stride"
    again = viewer.PoseLibrary(tmp_path / "poses")
    assert again.names == ("Stride",)
    assert again.pose("Stride", WALK.skeleton).same_as(walking())
    [pose] = again.poses
    assert (pose.tags, pose.joints, pose.skeleton) == (("walk", "left foot"), 22, "walk")
    # It is an ordinary pose file, too.
    text = (tmp_path / "poses" / "Stride.json").read_text()
    assert '"type": "pose"' in text


def test_names_that_are_taken_get_a_number_also_in_another_case(tmp_path: Path) -> None:
    library = viewer.PoseLibrary(tmp_path)
    names = [library.keep(BIPED, BIPED.relaxed_pose(), name) for name in ("Idle", "Idle", "idle", "Idle 2")]
    assert names == ["Idle", "Idle 2", "idle 3", "Idle 2 2"]
    assert library.rename("idle 3", "Calm") == "Calm"
    assert library.rename("Calm", "IDLE") == "IDLE 3"
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix == ".png") == [
        "IDLE 3.png", "Idle 2 2.png", "Idle 2.png", "Idle.png",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("", 'expected a name for the pose, found ""'),
        ("  ", 'expected a name for the pose, found ""'),
        (".hidden", 'expected a name for the pose, found ".hidden"'),
        ("a/b", 'expected a name without "/", found "a/b"'),
        ("x" * 81, "expected a name of at most 80 letters"),
    ],
)
def test_names_that_no_file_can_have_are_refused(tmp_path: Path, name: str, line: str) -> None:
    library = viewer.PoseLibrary(tmp_path)
    with pytest.raises(InputError) as caught:
        library.keep(BIPED, BIPED.relaxed_pose(), name)
    assert str(caught.value).startswith(line)
    assert list(tmp_path.iterdir()) == []


def test_a_pose_and_a_skeleton_in_the_wrong_order_are_named(tmp_path: Path) -> None:
    library = viewer.PoseLibrary(tmp_path)
    with pytest.raises(InputError, match="expected a skeleton"):
        library.keep(BIPED.relaxed_pose(), BIPED, "One")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="expected a pose"):
        library.keep(BIPED, "One")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_search_finds_every_word_in_names_and_tags(tmp_path: Path) -> None:
    library = viewer.PoseLibrary(tmp_path)
    library.keep(BIPED, BIPED.relaxed_pose(), "Reach up", ["left hand"])
    library.keep(BIPED, BIPED.relaxed_pose(), "Crouch", ["sneak"])
    assert [one.name for one in library.find("HAND reach")] == ["Reach up"]
    assert [one.name for one in library.find("c")] == ["Crouch", "Reach up"]
    assert library.find("hand sneak") == ()
    library.set_tags("Crouch", ["hand", " hand ", ""])
    assert [one.tags for one in library.find("crouch")] == [("hand",)]


def test_files_that_are_no_poses_are_named_and_the_rest_is_shown(tmp_path: Path) -> None:
    library = viewer.PoseLibrary(tmp_path)
    library.keep(BIPED, BIPED.relaxed_pose(), "Good")
    np.savez(tmp_path / "a.npz", rotations=np.zeros((2, 4)))
    (tmp_path / "a.npz").rename(tmp_path / "archive.json")
    (tmp_path / "goals.json").write_text('{"type": "goals", "goals": []}')
    (tmp_path / "empty.json").write_text("")
    (tmp_path / "cycle.json").write_text(
        '{"type": "pose", "rest": {"a": {"offset": [0,0,0], "parent": "b"}, "b": {"offset": [0,0,0]}}}'
    )
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "gone.json").symlink_to(tmp_path / "nowhere")
    assert library.reread()
    assert library.names == ("Good",)
    lines = "\n".join(library.problems)
    assert "archive.json, line 1, column" in lines
    assert "expected text in UTF-8" in lines
    assert "empty.json: the file is empty; expected a JSON object" in lines
    assert 'cycle.json: rest "a".parent: expected the name of a joint above, found "b"' in lines
    assert "goals.json" in lines
    assert "folder.json" in lines
    assert len(library.problems) == 5
    assert not library.reread()  # nothing has changed


def test_the_command_lists_poses_and_names_what_is_none(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert ran(capsys, "poses", tmp_path) == (0, "no poses\n", "")
    viewer.PoseLibrary(tmp_path).keep(BIPED, BIPED.relaxed_pose(), "Good", ["greeting"])
    listed = "Good    22 joints of biped  [greeting]\n"
    assert ran(capsys, "poses", tmp_path, "--find", "greet").out == listed
    (tmp_path / "empty.json").write_text("")
    refused = f"{tmp_path / 'empty.json'}: the file is empty; expected a JSON object"
    assert ran(capsys, "poses", tmp_path) == (1, listed, f"error: {refused}\n")
    found = ran(capsys, "poses", tmp_path, "--json")
    assert (found.code, found.err, found.json["problems"]) == (1, f"error: {refused}\n", [refused])
    file = str(tmp_path / "Good.json")
    good = {"name": "Good", "file": file, "skeleton": "biped", "joints": 22, "tags": ["greeting"]}
    assert found.json["poses"] == [good]


def test_a_folder_that_vanishes_is_empty_and_comes_back_with_the_next_pose(tmp_path: Path) -> None:
    library = viewer.PoseLibrary(tmp_path / "deep" / "poses")
    library.keep(BIPED, BIPED.relaxed_pose(), "One")
    shutil.rmtree(tmp_path / "deep")
    with pytest.raises(ViewerError, match=r"One\.json"):
        library.pose("One", BIPED)
    assert library.reread()
    assert (library.names, library.problems) == ((), ())
    with pytest.raises(InputError, match='no pose "One"'):
        library.pose("One", BIPED)
    library.keep(BIPED, BIPED.relaxed_pose(), "Two")
    assert library.names == ("Two",)


def test_a_folder_that_cannot_be_written_is_one_line_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    library = viewer.PoseLibrary(tmp_path / "file" / "poses")
    with pytest.raises(OutputError, match=r"file/poses: cannot be made: "):
        library.keep(BIPED, BIPED.relaxed_pose(), "One")
    assert (tmp_path / "file").read_text() == ""


def test_a_full_disk_leaves_no_half_of_a_pose(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = viewer.PoseLibrary(tmp_path)

    def full(_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("viewer.formats.files.os.fsync", full)
    with pytest.raises(OutputError, match=r"One\.json: cannot be written"):
        library.keep(BIPED, BIPED.relaxed_pose(), "One")
    monkeypatch.undo()
    assert list(tmp_path.iterdir()) == []


def test_a_picture_of_somebody_else_is_neither_replaced_nor_deleted(tmp_path: Path) -> None:
    from PIL import Image  # noqa: PLC0415 - only this test needs it

    Image.fromarray(np.full((20, 30, 3), 7, np.uint8)).save(tmp_path / "Photo.png")
    library = viewer.PoseLibrary(tmp_path)
    (tmp_path / "x").mkdir()
    made = viewer.PoseLibrary(tmp_path / "x")
    made.keep(BIPED, BIPED.relaxed_pose(), "Photo")
    shutil.move(tmp_path / "x" / "Photo.json", tmp_path / "Photo.json")
    library.reread()
    before = (tmp_path / "Photo.png").read_bytes()
    assert library.picture("Photo").shape == (128, 128, 3)
    library.remove("Photo")
    assert (tmp_path / "Photo.png").read_bytes() == before
    assert not (tmp_path / "Photo.json").exists()


def test_pictures_are_drawn_without_a_screen_and_show_the_figure(tmp_path: Path) -> None:
    library = viewer.PoseLibrary(tmp_path)
    library.keep(BIPED, BIPED.relaxed_pose(), "Relaxed")
    (tmp_path / "Relaxed.png").unlink()
    image = library.picture("Relaxed")
    assert image.shape == (128, 128, 3)
    assert (tmp_path / "Relaxed.png").exists()
    np.testing.assert_array_equal(viewer.PoseLibrary(tmp_path).picture("Relaxed"), image)
    bright = image.max(axis=-1) > 110
    rows = np.flatnonzero(bright.any(axis=1))
    assert rows[-1] - rows[0] > 90  # from head to foot
    assert not bright[:, [0, -1]].any()


# Other skeletons


def test_a_pose_file_without_a_skeleton_poses_the_joints_that_it_names(tmp_path: Path) -> None:
    (tmp_path / "bent.json").write_text('{"rotations": {"LeftForeArm": [0, 0, 0.6, 0.8]}}')
    library = viewer.PoseLibrary(tmp_path)
    pose = library.pose("bent", BIPED)
    np.testing.assert_allclose(pose.rotations[BIPED.index("LeftForeArm")], (0.0, 0.0, 0.6, 0.8))
    with pytest.raises(FormatError, match='no joint "LeftForeArm"'):
        library.pose("bent", character("claw-arm").skeleton)
    with pytest.raises(InputError, match="does not hold the bones of its skeleton"):
        library.picture("bent")


def test_a_pose_file_is_listed_with_the_skeleton_that_it_names(tmp_path: Path) -> None:
    (tmp_path / "bent.json").write_text('{"skeleton": "biped", "rotations": {"LeftForeArm": [0, 0, 0.6, 0.8]}}')
    [pose] = viewer.PoseLibrary(tmp_path).poses
    assert pose.skeleton == "biped"


def test_other_names_in_other_axes_take_the_pose_in_the_world() -> None:
    turned, _ = other_axes(BIPED)
    found = transferred(BIPED, stride(), turned, turned.rest_pose())
    assert found.joints == tuple(range(22))
    mine, its = viewer.fk(turned, found.pose), viewer.fk(BIPED, stride())
    np.testing.assert_allclose(mine.positions, its.positions, atol=1e-9)


def test_a_smaller_figure_of_another_convention_bends_by_the_same_angles() -> None:
    names = {
        "Hips": "pelvis", "LeftUpLeg": "thigh_l", "LeftLeg": "calf_l", "LeftFoot": "foot_l",
        "RightUpLeg": "thigh_r", "RightLeg": "calf_r", "RightFoot": "foot_r",
        "LeftArm": "upperarm_l", "LeftForeArm": "lowerarm_l", "LeftHand": "hand_l",
        "RightArm": "upperarm_r", "RightForeArm": "lowerarm_r", "RightHand": "hand_r",
    }  # fmt: skip
    other = renamed(BIPED, names)
    match = counterparts(BIPED, other)
    assert [BIPED.names[joint] for joint in match] == list(BIPED.names)
    found = transferred(BIPED, stride(), other, other.rest_pose())
    mine, its = viewer.fk(other, found.pose), viewer.fk(BIPED, stride())
    np.testing.assert_allclose(mine.positions, 0.5 * its.positions, atol=1e-9)


def test_nothing_in_common_is_said(tmp_path: Path) -> None:
    library = viewer.PoseLibrary(tmp_path)
    library.keep(BIPED, BIPED.relaxed_pose(), "Relaxed")
    with pytest.raises(InputError, match='pose "Relaxed": no joint of it is a joint of "two-link"'):
        library.pose("Relaxed", character("two-link").skeleton)


@pytest.mark.parametrize("rig", ["biped-hands", "raptor", "quadruped"])
def test_transferring_twice_gives_the_same_bits(rig: str) -> None:
    skeleton = character(rig).skeleton
    first = transferred(BIPED, stride(), skeleton, skeleton.relaxed_pose())
    second = transferred(BIPED, stride(), skeleton, first.pose)
    assert first.joints == second.joints
    assert len(first.joints) > 5
    np.testing.assert_allclose(second.pose.rotations, first.pose.rotations, atol=1e-12)


# On the figure


def poses_of(made: Session) -> LibraryPoses:
    return LibraryPoses(made, View(made, Preferences()))


@pytest.mark.parametrize("flipped", [False, True])
@pytest.mark.parametrize("selected", [(), ("LeftArm", "LeftForeArm")])
def test_applied_twice_gives_the_same_bits_and_undo_is_one_step(flipped: bool, selected: tuple[str, ...]) -> None:
    made = session("biped")
    made.dispatch(act.Select(tuple(Item("joint", name) for name in selected)))
    made.dispatch(act.TurnJoint("Hips", viewer.quaternions.from_axis_angle((0.0, 1.0, 0.0), 0.7)))
    start, poses = made.document, poses_of(made)
    poses.apply("Stride", WALK.skeleton, walking(), flipped=flipped)
    after = made.document
    assert not after.pose.same_as(start.pose)
    poses.apply("Stride", WALK.skeleton, walking(), flipped=flipped)
    assert made.document.pose.same_as(after.pose)
    assert made.history.labels[-1] == ("Pose Stride flipped" if flipped else "Pose Stride")
    others = [j for j, name in enumerate(BIPED.names) if selected and name not in selected]
    np.testing.assert_array_equal(after.pose.rotations[others], start.pose.rotations[others])
    while made.history.labels[made.history.index - 1].startswith("Pose Stride"):
        made.undo()
    assert made.document.pose.same_as(start.pose)


def test_flipped_twice_is_the_pose() -> None:
    once = mirrored_pose(BIPED, stride())
    twice = mirrored_pose(BIPED, once)
    same = np.sign(np.sum(twice.rotations * stride().rotations, axis=1, keepdims=True))
    np.testing.assert_allclose(same * twice.rotations, stride().rotations, atol=1e-12)
    np.testing.assert_allclose(twice.translations, stride().translations, atol=1e-12)


def test_the_figure_keeps_the_place_of_its_feet_and_its_heading() -> None:
    made = session("biped")
    made.dispatch(act.TurnJoint("Hips", viewer.quaternions.from_axis_angle((0.0, 1.0, 0.0), 1.2)))
    now = made.document
    away = Pose(now.pose.rotations, now.pose.translations + np.eye(22, 1) * (3.0, 0.0, -2.0))
    made.dispatch(act.SetPose(away))
    before = viewer.fk(BIPED, made.document.pose)
    crouched = stride()
    poses_of(made).apply("Stride", WALK.skeleton, crouched)
    after = viewer.fk(BIPED, made.document.pose)
    feet = [BIPED.index("LeftFoot"), BIPED.index("RightFoot")]
    kept = viewer.fk(BIPED, crouched).positions[feet, 1]
    standing = feet if np.ptp(kept) < 0.18 else [feet[int(np.argmin(kept))]]
    np.testing.assert_allclose(
        after.positions[standing].mean(axis=0)[[0, 2]], before.positions[standing].mean(axis=0)[[0, 2]], atol=1e-9
    )
    ahead = viewer.quaternions.rotate(after.rotations[0], np.array([0.0, 0.0, 1.0]))
    assert np.degrees(np.arctan2(ahead[0], ahead[2])) == pytest.approx(np.degrees(1.2), abs=12.0)


def test_a_blend_is_one_step_and_its_ends_are_exact() -> None:
    made = session("biped")
    poses, start = poses_of(made), made.document.pose
    poses.begin("Stride", WALK.skeleton, walking())
    for share in (0.2, 0.9, 0.4, 1.5):
        poses.blend(share)
    full = made.document.pose
    made.commit()
    assert made.history.labels == ("Pose Stride",)
    made.undo()
    assert made.document.pose.same_as(start)
    poses.apply("Stride", WALK.skeleton, walking())
    np.testing.assert_allclose(made.document.pose.rotations, full.rotations, atol=1e-12)
    poses.begin("Stride", WALK.skeleton, walking())
    poses.blend(0.5)
    made.cancel()
    np.testing.assert_array_equal(made.document.pose.rotations, full.rotations)


def test_blending_goes_the_short_way_at_constant_speed() -> None:
    half = blend_poses(BIPED.relaxed_pose(), stride(), 0.5)
    angle = viewer.quaternions.angle_between
    np.testing.assert_allclose(
        angle(BIPED.relaxed_pose().rotations, half.rotations), angle(half.rotations, stride().rotations), atol=1e-9
    )
    assert blend_poses(BIPED.relaxed_pose(), stride(), 0.0).same_as(BIPED.relaxed_pose())
    assert blend_poses(BIPED.relaxed_pose(), stride(), 1.0).same_as(stride())
    some = blend_poses(BIPED.relaxed_pose(), stride(), 1.0, [3])
    np.testing.assert_array_equal(some.rotations[4:], BIPED.relaxed_pose().rotations[4:])


def test_what_cannot_be_applied_changes_nothing() -> None:
    made = session("two-link")
    before = made.document
    with pytest.raises(InputError, match="none of its joints is one of this skeleton's"):
        poses_of(made).apply("Stride", WALK.skeleton, walking())
    arm = made.document.skeleton
    with pytest.raises(InputError, match="there is nothing to flip"):
        poses_of(made).apply("Rest", arm, arm.rest_pose(), flipped=True)
    assert made.document is before
    assert fitted_pose(made.document, arm, arm.rest_pose()).joints == (0, 1)
