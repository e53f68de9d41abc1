"""``ikviewer build`` and ``ikviewer edit``: what they make, what motion keeps, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from cli_run import ran

import viewer

CAPS = pytest.CaptureFixture[str]


def edited(capsys: CAPS, tmp_path: Path, file: str, *words: str) -> viewer.Character:
    out = tmp_path / "out.json"
    done = ran(capsys, "edit", file, *words, "-o", str(out))
    assert done.code == 0, done.err
    return viewer.load(out)


def test_build_makes_a_chain_that_is_ready_to_pose(tmp_path: Path, capsys: CAPS) -> None:
    out = tmp_path / "tail.json"
    words = ["--chain", "7", "--length", "0.3", "--kind", "hinge", "--axis", "z", "--limit", "40", "--base", "fixed"]
    done = ran(capsys, "build", *words, "-o", str(out))
    assert (done.code, done.out) == (0, f"wrote {out}: 7 bones of 0.3 m\n")
    skeleton = viewer.load(out).skeleton
    assert [kind.value for kind in skeleton.kinds] == ["fixed", *["hinge"] * 6]
    np.testing.assert_array_equal(skeleton.axes[1:, 0], [[0.0, 0.0, 1.0]] * 6)
    (end,) = skeleton.effectors
    world = viewer.fk(skeleton, skeleton.rest_pose())
    np.testing.assert_allclose(world.point(end.joint, np.array(end.offset)), (0.0, 2.1, 0.0), atol=1e-12)
    goal = viewer.Goal.position("end", (0.9, 1.0, 0.0))
    assert viewer.Solver(skeleton, [goal], backend="numpy").solve(skeleton.rest_pose()).status == "converged"


def test_edit_adds_splits_mirrors_and_changes_kinds(tmp_path: Path, capsys: CAPS) -> None:
    made = edited(
        capsys, tmp_path, "sample:two-link", "--rename", "elbow=elbow_l",
        "--add", "hand_l parent=elbow_l offset=0.1,0.3,0.2 kind=hinge axis=0,0,2 limits=-20,60",
        "--split", "hand_l=wrist_l@0.25", "--kind", "wrist_l=universal", "--mirror", "elbow_l",
    ).skeleton  # fmt: skip
    assert set(made.names) == {"shoulder", "elbow_l", "wrist_l", "hand_l", "elbow_r", "wrist_r", "hand_r"}
    limits = made.limits[made.index("hand_l")]
    assert limits is not None
    np.testing.assert_allclose(np.degrees((limits.lower[0], limits.upper[0])), (-20.0, 60.0))
    places = viewer.fk(made, made.rest_pose()).positions
    left, right = (
        np.array([places[made.index(f"{name}_{side}")] for name in ("elbow", "wrist", "hand")]) for side in "lr"
    )
    np.testing.assert_allclose(right, left * (-1.0, 1.0, 1.0), atol=1e-12)
    np.testing.assert_allclose(left[1] - left[0], 0.25 * (left[2] - left[0]), atol=1e-12)


def test_edit_keeps_the_motion_of_what_remains(tmp_path: Path, capsys: CAPS) -> None:
    before = viewer.load("sample:walk")
    out = tmp_path / "short.bvh"
    done = ran(capsys, "edit", "sample:walk", "--remove", "LeftForeArm", "--remove-branch", "RightFoot", "-o", str(out))
    assert done.code == 0
    assert "the motion of 3 removed joints is dropped: " in done.err
    after = viewer.load(out)
    assert before.clip is not None
    assert after.clip is not None
    assert len(after.clip) == len(before.clip)
    names = [name for name in after.skeleton.names if name != "LeftHand"]
    ours = viewer.fk_clip(before.skeleton, before.clip).positions[:, [before.skeleton.index(n) for n in names]]
    theirs = viewer.fk_clip(after.skeleton, after.clip).positions[:, [after.skeleton.index(n) for n in names]]
    np.testing.assert_allclose(theirs, ours, atol=2e-5)  # the decimals of BVH


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--add", "x parent=nobody"], 'no joint "nobody"; there is "shoulder", "elbow"'),
        (["--add", "elbow parent=shoulder offset=0,1,0"], 'there is a joint "elbow" already'),
        (["--remove", "nobody"], '--remove "nobody": no joint "nobody"; there is "shoulder", "elbow"'),
        (
            ["--add", "x parent=elbow offset=0,1e9,0"],
            'joint "x": expected lengths that keep it within 1e+07 m of the origin, found 1e+09',
        ),
        (
            ["--remove-branch", "shoulder"],
            '"shoulder" with all joints below it cannot be removed: a skeleton needs one',
        ),
        (["--reparent", "shoulder=elbow"], '"elbow" hangs on "shoulder" and cannot be its parent'),
    ],
)
def test_wrong_edits_are_said_and_write_nothing(words: list[str], message: str, tmp_path: Path, capsys: CAPS) -> None:
    out = tmp_path / "out.json"
    done = ran(capsys, "edit", "sample:two-link", *words, "-o", str(out))
    assert done.code == 1
    assert message in done.err
    assert not out.exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--add", "x"], 'argument --add: "x": expected parent=NAME'),
        (["--add", "x parent=elbow offset=0,0"], "offset: expected 3 numbers, found 2"),
        (["--add", "x parent=elbow offset=0,a,0"], 'offset: expected numbers with commas between, found "0,a,0"'),
        (["--add", "x y=3"], 'no word "y": expected one of axis, kind, limits, offset, parent'),
        (["--add", "x parent=elbow kind=elastic"], "kind: expected free, ball, hinge, universal, slide, fixed"),
        (["--split", "elbow=new@q"], 'expected a part between 0 and 1 after @, found "q"'),
        (["--rename", "x"], 'argument --rename: "x": expected OLD=NEW'),
        (["--add", "x parent=elbow kind=hinge axis=1,0,0 limits=5,-5"], "limits: expected LOW,HIGH, found 5,-5"),
        (["--kind", "elbow=magic"], 'argument --kind: "elbow=magic": expected free, ball,'),
    ],
)
def test_edits_that_cannot_be_read_are_wrong_usage(
    words: list[str], message: str, tmp_path: Path, capsys: CAPS
) -> None:
    out = tmp_path / "out.json"
    done = ran(capsys, "edit", "sample:two-link", *words, "-o", str(out))
    assert done.code == 2
    assert message in done.err.splitlines()[-1]
    assert not out.exists()


def test_the_output_is_replaced_as_in_all_commands_but_not_the_input(tmp_path: Path, capsys: CAPS) -> None:
    out = tmp_path / "arm.json"
    for words, joints in ((["build", "--chain", "3"], 3), (["edit", "sample:two-link", "--remove", "elbow"], 1)):
        out.write_text("old", encoding="utf-8")
        assert ran(capsys, *words, "-o", str(out)).code == 0
        assert len(viewer.load(out).skeleton) == joints
    kept = out.read_bytes()
    assert ran(capsys, "edit", str(out), "--rename", "shoulder=s", "-o", str(out)).code == 1
    assert out.read_bytes() == kept
    done = ran(capsys, "build", "--chain", "2", "--length", "1e9", "-o", str(tmp_path / "b.json"))
    assert (done.code, (tmp_path / "b.json").exists()) == (1, False)
    assert "expected lengths that keep it within 1e+07 m of the origin" in done.err
    done = ran(capsys, "build", "--chain", "0", "-o", str(tmp_path / "b.json"))
    assert done.code == 2
    assert done.err.endswith("error: argument --chain: expected 1 to 5000 bones, found 0\n")
