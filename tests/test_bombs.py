"""Small files that ask for much: refused or loaded within 512 MB of memory and five seconds of the processor.

The limits are the operating system's, set in a process of its own: one that asks for more is refused the memory (the
command then says "not enough memory", which no bound of ours does), or killed.
"""

from __future__ import annotations

import base64
import io
import json
import os
import struct
import subprocess
import sys
import zipfile
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from conftest import ROOT, shared_dir
from gltf_files import GltfFile, arm
from inside.formats import READ, bounds
from inside.session import load_session, pack, session_bytes, unpack
from inside.skeleton import FreeNames

import viewer
from viewer import save
from viewer.document import new_document

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

resource = pytest.importorskip("resource", reason="limits of a process are Unix's")

MEMORY = 512 << 20
SECONDS = 10
"""Of processor time, which a loaded machine stretches: on a quiet one each file takes less than five."""
LIMITED = """
import resource, sys
from viewer.cli.main import main
resource.setrlimit(resource.RLIMIT_AS, ({memory}, {memory}))
for file in sys.argv[1:]:
    used = resource.getrusage(resource.RUSAGE_SELF)
    until = int(used.ru_utime + used.ru_stime) + 1 + {seconds}
    resource.setrlimit(resource.RLIMIT_CPU, (until, resource.RLIM_INFINITY))
    main(["check", file])
"""


def checked(files: list[Path], home: Path) -> dict[Path, str]:
    """What `ikviewer check` says of each file under the limits, of which Python and the program take 120 MB."""
    code = LIMITED.format(memory=MEMORY, seconds=SECONDS)
    # The library of linear algebra reserves memory for every thread that the machine could have.
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "IKVIEWER_HOME": str(home), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code, *map(str, files)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    said = {file: [line for line in done.stdout.splitlines() if str(file) in line] for file in files}
    ended = [file.name for file, lines in said.items() if not lines][:1]
    assert (done.returncode, done.stderr, ended) == (0, "", [])
    return {file: lines[-1] for file, lines in said.items()}


def grid(last: float, joints: int) -> str:
    """Three keys of one joint, the last far from the first two: 30 frames in every second between."""
    file = GltfFile([{"name": f"j{i}", "children": [i + 1]} for i in range(joints - 1)] + [{"name": "last"}])
    file.tree["skins"] = [{"joints": list(range(joints))}]
    file.move(0, "translation", [0.0, 0.034, last], np.zeros((3, 3)))
    return file.text()


def stated(count: int) -> str:
    """Numbers without data."""
    file = arm()
    file.move(1, "translation", [0.0, 1.0], [[0, 0, 0], [1, 0, 0]])
    file.tree["accessors"][1] = {"componentType": 5126, "count": count, "type": "VEC3"}
    return file.text()


def shared_bytes() -> str:
    """Many arrays on the same numbers."""
    file = arm()
    keys = np.arange(60_000.0)
    file.move(1, "translation", keys.tolist(), np.zeros((len(keys), 3)))
    first = file.tree["accessors"][1]
    sampler = file.tree["animations"][0]["samplers"][0]
    for _ in range(600):
        file.tree["accessors"].append(dict(first))
        other = {**sampler, "output": len(file.tree["accessors"]) - 1}
        target = {"node": 2, "path": "translation"}
        file.tree["animations"].append({"channels": [{"sampler": 0, "target": target}], "samplers": [other]})
    return file.text()


def equal_clips(count: int) -> str:
    file = arm()
    file.move(1, "translation", [0.0, 1.0], [[0, 0, 0], [1, 0, 0]])
    file.tree["animations"] *= count
    return file.text()


def bare_chain(count: int) -> str:
    """Nodes below each other, of which the last moves: all others only carry it."""
    file = GltfFile([{"name": "j", "children": [i + 1]} for i in range(count - 1)] + [{"name": "j"}])
    file.move(count - 1, "translation", [0.0, 1.0], [[0, 0, 0], [1, 0, 0]])
    return file.text()


def zipped_arrays(frames: int) -> bytes:
    """An .npz file of a figure that stands still, as small as zips are made."""
    character = viewer.load("sample:two-link")
    text, names = io.BytesIO(), character.skeleton.names
    with zipfile.ZipFile(text, "w", zipfile.ZIP_DEFLATED) as archive:
        arrays = {
            "names": np.array(names), "parents": np.array([-1, 0]), "offsets": np.array(character.skeleton.offsets),
            "frame_time": np.array(0.1),
        }  # fmt: skip
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w") as member:
                np.lib.format.write_array(member, array)
        with archive.open("rotations.npy", "w", force_zip64=True) as member:
            header = {"descr": "<f8", "fortran_order": False, "shape": (frames, 2, 4)}
            np.lib.format.write_array_header_1_0(member, header)
            block = np.tile([0.0, 0.0, 0.0, 1.0], 2 * 100_000).tobytes()
            for _ in range(frames // 100_000):
                member.write(block)
    return text.getvalue()


def session(change: Callable[[dict[str, Any]], object]) -> str:
    """A session file of a small figure, changed."""
    tree = json.loads(session_bytes(new_document(viewer.load("sample:two-link"))))
    change(tree["document"])
    return json.dumps(tree)


def zipped_clips(count: int, frames: int) -> str:
    """A session of clips that pack to nothing."""
    data = np.tile([0.0, 0.0, 0.0, 1.0], 2 * frames).tobytes()
    turns = {"shape": [frames, 2, 4], "zlib": base64.b64encode(zlib.compress(data, 9)).decode(), "type": "f8"}
    places = {"shape": [frames, 0, 3], "zlib": base64.b64encode(zlib.compress(b"")).decode(), "type": "f8"}

    def add(document: dict[str, Any]) -> None:
        clip = {
            "frame_time": 0.1, "rotations": turns, "translated": [], "translations": places,
            "offsets": [[0, 0, 0], [1, 0, 0]], "keys": [],
        }  # fmt: skip
        document["character"]["clips"] = [{"name": f"c{number}", **clip} for number in range(count)]

    return session(add)


def joints(count: int, **more: object) -> str:
    return json.dumps({"joints": [{"name": f"j{i}", **more} for i in range(count)]})


def bvh_roots(count: int) -> str:
    return "HIERARCHY\n" + "ROOT j\n{ OFFSET 0 0 0 CHANNELS 0\n}\n" * count


def segments(hierarchy: str) -> str:
    return f"[Header]\nNumFrames 999999999999999999\n[SegmentNames&Hierarchy]\n{hierarchy}[BasePosition]\n"


def stated_array(shape: str) -> bytes:
    """An .npy file that says that it has numbers, and has none."""
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header


BOMBS: dict[str, Callable[[], str | bytes]] = {
    "grid.gltf": lambda: grid(32768.0, 30),
    "stated.gltf": lambda: stated(80_000_000),
    "huge.gltf": lambda: stated(10**400),
    "shared.gltf": shared_bytes,
    "clips.gltf": lambda: equal_clips(2_500),
    "nodes.gltf": lambda: GltfFile([{"name": "j"}] * 60_000).text(),
    "carriers.gltf": lambda: bare_chain(20_000),
    "glb.glb": lambda: struct.pack("<4sIIII", b"glTF", 2, 20, 0xFFFFFFF0, 0x4E4F534A),
    "stated.npy": lambda: stated_array("(999999999, 22, 3)"),
    "nothing.npy": lambda: stated_array("(0, 22, 3)"),
    "columns.csv": lambda: ",".join(f"j{i}.{axis}" for i in range(60_000) for axis in "xyz") + "\n",
    "columns.trc": lambda: (
        "PathFileType\n\n0\t0\nFrame#\tTime\t" + "".join(f"j{i}\t\t\t" for i in range(60_000)) + "\n\n1"
    ),
    "inflates.npz": lambda: zipped_arrays(4_000_000),
    "clips.ikv.json": lambda: zipped_clips(60, 1_000_000),
    "shape.ikv.json": lambda: session(
        lambda d: d["pose"].update(rotations={"shape": [1 << 28, 4], "zlib": "eJwDAAAAAAE=", "type": "f8"})
    ),
    "order.ikv.json": lambda: session(lambda d: d["character"]["source"].update(joint_order=list(range(10**5)))),
    "names.json": lambda: json.dumps({"joints": [{"name": "j"}] * 20_000}),
    "joints.json": lambda: joints(60_000),
    "tips.json": lambda: joints(1, tips=[[0, 1, 0]] * 60_000),
    "effectors.json": lambda: json.dumps(
        {"joints": [{"name": "j"}], "effectors": [{"name": f"e{i}", "joint": "j"} for i in range(60_000)]}
    ),
    "names.bvh": lambda: bvh_roots(20_000),
    "roots.bvh": lambda: bvh_roots(60_000),
    "names.htr": lambda: segments("".join(f"j{i} GLOBAL\n" for i in range(60_000))),
    "deep.htr": lambda: segments("".join(f"j{i} j{i + 1}\n" for i in range(20_000))),
    "frames.bvh": lambda: bvh_roots(1) + "MOTION\nFrames: 999999999999999999\nFrame Time: 0.01\n",
    "deep.json": lambda: '{"joints": ' + "[" * 1_000_000,
    "deep.gltf": lambda: '{"asset": {"version": "2.0"}, "extras": ' + "[" * 1_000_000 + "]" * 1_000_000 + "}",
    "deep.ikv.json": lambda: '{"document": {"character": ' + "[" * 1_000_000,
    "deep.bvh": lambda: "HIERARCHY\nROOT j\n{\nOFFSET 0 1 0\n" + "JOINT j\n{\nOFFSET 0 1 0\n" * 100_000,
}
LOADED = {"clips.gltf", "carriers.gltf", "names.bvh", "frames.bvh"}
"""Those that are large and whole."""


def test_small_files_cannot_ask_for_much(tmp_path: Path) -> None:
    files = []
    for name, made in BOMBS.items():
        content = made()
        files.append(tmp_path / name)
        files[-1].write_bytes(content if isinstance(content, bytes) else content.encode())
    for file, said in checked(files, tmp_path).items():
        assert said.split()[0] == ("ok" if file.name in LOADED else "refused"), said
        assert "not enough memory" not in said
        assert "fault of the program" not in said


@pytest.mark.parametrize("folder", ["findings", "malformed"])
def test_known_files_ask_for_no_more(tmp_path: Path, folder: str) -> None:
    known = shared_dir()
    files = sorted((known / "data" / folder).glob("*.*")) if known is not None else []
    files = [file for file in files if file.suffix in READ and file.name != "expectations.json"]
    if not files:
        pytest.skip(f"{folder} of the shared data not beside the checkout")
    for said in checked(files, tmp_path).values():
        assert said.startswith(("ok", "refused"))
        assert "not enough memory" not in said


def test_what_stands_still_is_packed_so_that_it_is_read_again() -> None:
    """Deflating a motionless clip would make a thousandth of it, which reading must take for a bomb."""
    still = np.tile([0.0, 0.0, 0.0, 1.0], (300_000, 1))
    stored = pack(still)
    assert not isinstance(stored, list)
    assert still.nbytes <= bounds.MOST_INFLATION * len(stored.zlib)
    assert np.array_equal(unpack(stored, (-1, 4), "a"), still)


def test_a_hundred_thousand_frames_of_sixty_joints_fit() -> None:
    """Whatever they are packed to: such takes exist, and may stand as still as they like."""
    needed = 100_000 * 60 * 4 * 8
    assert bounds.room_for_arrays(0) > needed
    assert bounds.room_for_frames(100_000 * 20) > 100_000 * 60  # the times of its frames and one joint that turns


def test_a_session_of_still_clips_from_before_opens(tmp_path: Path) -> None:
    """Deflated as it was once: it has room as long as it is no larger than a long take."""
    path = tmp_path / "old.ikv.json"
    path.write_text(zipped_clips(3, 20_000), encoding="utf-8")
    assert [len(clip) for clip in load_session(path).character.clips.values()] == [20_000] * 3


def test_blocks_make_what_one_piece_makes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = arm()
    random = np.random.default_rng(0)
    times = np.sort(random.uniform(0.0, 3.0, 40)).tolist()
    file.move(1, "rotation", [0.0, *times], random.normal(size=(41, 4)))
    file.move(2, "translation", [0.0, 1.0, 3.0], random.normal(size=(9, 3)), "CUBICSPLINE")
    file.move(0, "scale", [0.0, 3.0], [[1, 1, 1], [2, 2, 2]])
    whole = viewer.load(file.write(tmp_path / "a.gltf")).clip
    monkeypatch.setattr("viewer.formats.gltf.gltf_reader._BLOCK", 7)
    pieces = viewer.load(tmp_path / "a.gltf").clip
    assert whole is not None
    assert pieces is not None
    assert len(whole) > 20
    assert np.array_equal(whole.rotations, pieces.rotations)
    assert np.array_equal(whole.translations, pieces.translations)


def test_numbers_of_names_go_on_where_they_were() -> None:
    free = FreeNames(["a", "a_3"])
    assert [free.take("a") for _ in range(3)] == ["a_2", "a_4", "a_5"]
    assert [free.take(name) for name in ("b", "b", "b_2")] == ["b", "b_2", "b_2_2"]


@pytest.mark.parametrize("suffix", [".json", ".npz", ".bvh"])
def test_what_lies_beyond_reach_is_refused_in_every_format(tmp_path: Path, suffix: str) -> None:
    character = viewer.load("sample:two-link")
    offsets = character.skeleton.offsets.copy()
    offsets[1] = (2e7, 0.0, 0.0)
    far = replace(character, skeleton=replace(character.skeleton, offsets=offsets, poses={}))
    path = tmp_path / f"a{suffix}"
    save(far, path)
    with pytest.raises(viewer.ViewerError) as raised:
        viewer.load(path, units="m" if suffix == ".bvh" else "auto")
    assert str(raised.value) == (
        f'{path}: joint "elbow": expected lengths that keep it within 1e+07 m of the origin, found 2e+07'
    )
