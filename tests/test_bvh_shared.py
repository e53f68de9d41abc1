"""The real and the malformed files beside the checkout: read as other programs read them, or refused."""

from __future__ import annotations

import json
import subprocess
import sys
import tracemalloc
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from conftest import ROOT, shared_dir
from inside.formats import parse_bvh
from inside.skeleton import tip_positions
from inside.spatial import to_matrix

from viewer import load, save
from viewer.errors import ViewerError
from viewer.skeleton import fk_clip

if TYPE_CHECKING:
    from pathlib import Path

    from viewer.skeleton import Character

FOLDER = shared_dir()
REAL = sorted(path.stem for path in (FOLDER / "data" / "bvh").glob("*.bvh")) if FOLDER else []
absent = pytest.mark.skipif(FOLDER is None, reason="shared data not beside the checkout")


def cases() -> list[Any]:
    """The BVH cases of the malformed files, one parameter each."""
    if FOLDER is None:
        return []
    document = json.loads((FOLDER / "data" / "malformed" / "expectations.json").read_text(encoding="utf-8"))
    return [pytest.param(case, id=case["file"]) for case in document["cases"] if case["kind"] == "bvh"]


@absent
def test_there_are_files_to_read() -> None:
    assert len(REAL) >= 13
    assert len(cases()) >= 55


@pytest.mark.parametrize("stem", REAL)
def test_real_files_agree_with_the_oracle(shared: Path, stem: str) -> None:
    oracle = np.load(shared / "data" / "oracle" / f"{stem}.npz", allow_pickle=False)
    character = load(shared / "data" / "bvh" / f"{stem}.bvh", units="raw")
    skeleton, clip = character.skeleton, character.clip
    assert clip is not None
    assert character.source.layout is not None
    assert list(character.source.layout.names) == oracle["names"].tolist()
    assert skeleton.parents.tolist() == oracle["parents"].tolist()
    assert len(clip) == oracle["frame_count"]
    assert clip.frame_time == oracle["frame_time"]
    assert skeleton.tip_parents.tolist() == oracle["end_parent"].tolist()
    said_otherwise = any(warning.startswith("Frames: says") for warning in character.warnings)
    assert said_otherwise == (oracle["frames_said"] != oracle["frame_count"])
    world = fk_clip(skeleton, clip, oracle["frames"])
    tolerance = 1e-9 * float(oracle["size"])
    np.testing.assert_allclose(skeleton.offsets, oracle["offsets"], rtol=0, atol=tolerance)
    np.testing.assert_allclose(world.positions, oracle["pos"], rtol=0, atol=tolerance)
    np.testing.assert_allclose(to_matrix(world.rotations), oracle["rot"], rtol=0, atol=1e-9)
    np.testing.assert_allclose(tip_positions(skeleton, world), oracle["end_pos"], rtol=0, atol=tolerance)


@pytest.mark.parametrize("stem", REAL)
def test_real_files_in_metres_are_the_oracle_scaled_and_turned(shared: Path, stem: str) -> None:
    oracle = np.load(shared / "data" / "oracle" / f"{stem}.npz", allow_pickle=False)
    character = load(shared / "data" / "bvh" / f"{stem}.bvh")
    assert character.clip is not None
    world = fk_clip(character.skeleton, character.clip, oracle["frames"])
    unit = character.source.metres_per_unit
    turned = oracle["pos"] if character.source.up == "y" else oracle["pos"][..., [0, 2, 1]] * [1, 1, -1]
    np.testing.assert_allclose(world.positions, turned * unit, rtol=0, atol=1e-9 * unit * float(oracle["size"]))


@pytest.mark.parametrize("stem", REAL)
def test_real_files_are_written_as_they_were_read(shared: Path, tmp_path: Path, stem: str) -> None:
    character = load(shared / "data" / "bvh" / f"{stem}.bvh")
    out = tmp_path / "out.bvh"
    assert save(character, out) == []
    again = load(out, units=character.source.units.replace("cmu", "0.0564444"), up=character.source.up)
    assert character.clip is not None
    assert again.clip is not None
    assert again.source.layout == character.source.layout
    assert again.skeleton.names == character.skeleton.names
    assert again.clip.frame_time == character.clip.frame_time
    assert again.skeleton.tip_parents.tolist() == character.skeleton.tip_parents.tolist()
    one, other = fk_clip(character.skeleton, character.clip), fk_clip(again.skeleton, again.clip)
    size = float(np.ptp(one.positions[0], axis=0).max())
    np.testing.assert_allclose(other.positions, one.positions, rtol=0, atol=1e-6 * size)
    tips = tip_positions(character.skeleton, one), tip_positions(again.skeleton, other)
    np.testing.assert_allclose(tips[1], tips[0], rtol=0, atol=1e-6 * size)


def load_or_error(path: Path) -> Character | ViewerError:
    try:
        return load(path, units="raw")
    except ViewerError as error:
        return error


@pytest.mark.parametrize("case", cases())
def test_malformed_files_do_what_is_expected_of_them(shared: Path, case: dict[str, Any]) -> None:
    character = load_or_error(shared / "data" / "malformed" / case["file"])
    if isinstance(character, ViewerError):
        assert case["verdict"] in {"refuse", "either"}, str(character)
        missing = [word for word in case.get("error_should_mention", []) if word not in str(character)]
        assert not missing, str(character)
        return
    assert case["verdict"] in {"load", "either"}
    joints, frames = case["joints"], case["frames"]
    found = len(character.clip) if character.clip else 0
    assert len(character.skeleton) in (joints if isinstance(joints, list) else [joints])
    assert found in (frames if isinstance(frames, list) else [frames])
    assert list(character.skeleton.names) == case.get("names", list(character.skeleton.names))
    for name, expected in case.get("world", {}).items():
        if name != "frame":
            assert character.clip is not None
            world = fk_clip(character.skeleton, character.clip, slice(case["world"]["frame"], None))
            place = tip_positions(character.skeleton, world)[0, -1] if name == "end" else None
            joint = 0 if place is not None else character.skeleton.index(name)
            np.testing.assert_allclose(world.positions[0, joint] if place is None else place, expected, atol=1e-4)


def test_peak_memory_is_in_proportion_to_the_numbers(shared: Path) -> None:
    path = shared / "data" / "bvh" / "axisneuron_test.bvh"
    array = parse_bvh(path.read_bytes(), "f").values.nbytes
    tracemalloc.start()
    try:
        load(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= 6 * array


MENDED = (
    "bad_frame_time_zero", "bad_frames_billion", "cut_no_frame_time", "cut_no_motion", "cut_no_rows",
    "ok_extra_row", "ok_missing_row",
)  # fmt: skip


@pytest.mark.parametrize("stem", MENDED)
def test_what_is_mended_is_said(shared: Path, stem: str) -> None:
    words = next(case.values[0] for case in cases() if case.id == f"{stem}.bvh")["error_should_mention"]
    warnings = load(shared / "data" / "malformed" / f"{stem}.bvh", units="raw").warnings
    assert any(all(word in warning for word in words) for warning in warnings), warnings


LIMITED = [case for case in cases() if "mib" in case.values[0]]
PROBE = """
import sys
import viewer.formats.load, viewer.errors
try:
    viewer.formats.load.load(sys.argv[1])
except viewer.errors.ViewerError:
    pass
# Its own peak: getrusage would count what the process that started it had.
with open("/proc/self/status") as status:
    print(next(int(line.split()[1]) // 1024 for line in status if line.startswith("VmHWM:")))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="measures memory as Linux does")
@pytest.mark.parametrize("case", LIMITED)
def test_hostile_files_cost_little(shared: Path, case: dict[str, Any]) -> None:
    command = [sys.executable, "-c", PROBE, str(shared / "data" / "malformed" / case["file"])]
    # Ten times the seconds that are allowed: a hang is caught, a busy machine is not.
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=10 * case["seconds"])
    assert int(done.stdout) <= case["mib"]
