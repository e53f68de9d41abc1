"""Small files of every format to damage, and what damaged files must do.

They must be refused in one good line, or load, be consistent, relax, and open as in the window.
"""

from __future__ import annotations

import io
import random
import tempfile
import zipfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from bvh_texts import ARM, XYZ, ZXY, Joint, text_of
from characters import every_kind
from gltf_files import GltfFile
from inside.cli import as_character
from inside.document import KeyPose, SetGoal, SetMode, SetStiffness
from inside.formats import (
    READ,
    build,
    bvh_lines,
    check_character,
    check_skeleton,
    goals_file_from_text,
    goals_to_json,
    parse_bvh,
    pose_from_text,
    pose_to_json,
)
from inside.motion import POINT_SETS
from inside.session import load_session, open_script, save_session
from mutations import damaged, damaged_tree
from skinned_files import painted, png, strip
from takes import loose, turn

from viewer import load, save
from viewer.document import Mode, new_document
from viewer.errors import InputError, ViewerError
from viewer.ik import Goal
from viewer.session import Session
from viewer.skeleton import fk, fk_clip

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from inside.app import Application
    from inside.spatial import Floats

    from viewer.document import Document
    from viewer.skeleton import Character, Pose, Skeleton

FORMATS = (*READ, ".ikv.json", "actions", "goals", "pose")
"""Suffixes of files, and what else is read: a session's recorded actions, goals files and pose files."""
TREES = (".json", ".gltf", ".ikv.json", "actions", "goals", "pose")
"""Those that are JSON."""
FIGURE = every_kind()
"""Whose goals and poses are read."""
GOALS = (
    Goal.pin("a"),
    Goal.pose("b", (0, 1, 2), (0, 0, 0, 1), weight=2.0),
    Goal.distance("root", 1.0, (0, 0, 0)),
    Goal.aim("euler.tip", (0, 1, 0), (0, 0, 1), offset=(1, 0, 0)),
)
_MOST_WRITTEN = 10_000
"""Frames that are worked out, written and read again: a key far off makes hundreds of thousands, all alike."""
_MOST_TICKS = 60
"""Of a replay: a file may ask for any number, each as long as a frame of the window."""


def two_roots() -> str:
    """Position channels below the root, five orders, a joint without channels, several tips, names that repeat."""
    slide = Joint("slide", (0, 1, 0), "Yposition", tips=[(0, 1, 0), (1, 0, 0)])
    first = Joint("a b", (0, 90, 0), f"{ZXY} {XYZ}", [slide, Joint("slide", (1, 0, 0), "Yrotation Xrotation")])
    second = Joint("Hüfte", (5, 0, 0), "", [Joint("still", channels="")])
    return text_of(first, second, rows=np.random.default_rng(1).uniform(-90, 90, (3, 9)).tolist())


def moving_gltf() -> GltfFile:
    """All three interpolations, scale, a matrix, sparse numbers, a carrier, an end site, a skin."""
    file = GltfFile(
        [
            {"name": "armature", "children": [1], "scale": [0.01, 0.01, 0.01]},
            {"name": "hips", "children": [2, 4], "rotation": [0, 0, 0.6, 0.8]},
            {"name": "arm", "children": [3], "translation": [0, 200, 0], "scale": [1, 2, 1]},
            {"name": "arm.tip", "translation": [0, 30, 0]},
            {"name": "leg", "matrix": [1, 0, 0, 0, 0, 0, 1, 0, 0, -1, 0, 0, 5, 0, 0, 1]},
        ]
    )
    file.tree["skins"] = [{"joints": [1, 2, 4]}]
    turns = [[0.0, 0.0, 0.0, 1.0], [0.0, 0.6, 0.0, 0.8]]
    file.move(1, "translation", [0.0, 0.5, 1.0], [[0, 0, 0], [1, 0, 0], [1, 1, 0]])
    file.move(2, "rotation", [0.0, 1.0], turns, "STEP")
    file.move(4, "rotation", [0.0, 1.0], np.repeat(turns, 3, axis=0), "CUBICSPLINE")
    file.move(2, "scale", [0.25, 0.75], [[1, 1, 1], [1, 1.5, 1]])
    return file


class Seeds(dict[str, list[bytes]]):
    """Files by what they are; where there are none, the failure says where to add them."""

    def __missing__(self, kind: str) -> list[bytes]:
        raise AssertionError(f"add small whole files of {kind} to seeds() in tests/fuzzing.py")


@cache
def seeds() -> Seeds:
    """Small whole files by what they are."""
    figure, gltf = FIGURE.skeleton, moving_gltf()
    dressed = painted(strip(TEXCOORD_0=np.zeros((6, 2))), png(2, 2))
    result = {
        ".bvh": [ARM.encode(), two_roots().encode()],
        ".gltf": [gltf.text().encode(), dressed.text().encode()],
        ".glb": [gltf.glb(), dressed.glb()],
        "goals": [goals_to_json(GOALS).encode()],
        "pose": [pose_to_json(figure, figure.poses["relaxed"]).encode()],
    }
    with tempfile.TemporaryDirectory() as folder:
        for suffix in (".json", ".npz", ".htr", ".gltf", ".glb", ".urdf", ".xml"):
            path = Path(folder, f"a{suffix}")
            save(FIGURE, path)
            result.setdefault(suffix, []).append(path.read_bytes())
        save(build(parse_bvh(two_roots().encode(), "a"), "a", units="cm", up="z"), path := Path(folder, "b.htr"))
        result[".htr"].append(path.read_bytes())
        result |= _positions(Path(folder))
        path = Path(folder, "a.ikv.json")
        result[".ikv.json"] = []
        for made in (Session(new_document(FIGURE)), _keyed()):
            save_session(made.document, path)
            result[".ikv.json"].append(path.read_bytes())
        save_session((made := _recorded()).document, path, made.action_log)
        result["actions"] = [path.read_bytes()]
    result[".xacro"] = result[".urdf"]
    return Seeds(result)


def trc_text(names: Sequence[str], points: Floats, units: str = "m") -> str:
    """Markers (F, K, 3), 50 frames a second, as Pose2Sim writes them; cells of unknown places are empty."""
    head = [
        "PathFileType	4	(X/Y/Z)	a.trc",
        "DataRate	CameraRate	NumFrames	NumMarkers	Units	OrigDataRate	OrigDataStartFrame	OrigNumFrames",
        f"50	50	{len(points)}	{len(names)}	{units}	50	1	{len(points)}",
        "Frame#	Time	" + "			".join(names) + "		",
        "		" + "	".join(f"{axis}{number}" for number in range(1, len(names) + 1) for axis in "XYZ"),
        "",
    ]
    rows = [
        f"{frame + 1}	{frame / 50.0:.3f}	" + "	".join("" if np.isnan(x) else f"{x:.9g}" for x in row.ravel())
        for frame, row in enumerate(points)
    ]
    return "\n".join([*head, *rows, ""])


def _positions(folder: Path) -> dict[str, list[bytes]]:
    """Two frames of keypoints, as an array and as a table, one of them with a gap; and, as arrays, motion of SMPL."""
    points = np.random.default_rng(0).normal(size=(2, 17, 3))
    np.save(folder / "a.npy", points)
    names = POINT_SETS["coco"].points
    header = ",".join(f"{name}.{axis}" for name in names for axis in "xyz")
    rows = "\n".join(",".join(f"{number:.4f}" for number in row.ravel()) for row in points)
    np.savez(folder / "b.npz", poses=points[:, :1].repeat(22, axis=1).reshape(2, -1), trans=points[:, 0], fps=30)
    return {
        ".npy": [(folder / "a.npy").read_bytes()],
        ".trc": [trc_text(names, points).encode()],
        ".csv": [f"{header}\n{rows}\n".encode(), f"{header}\n{',' * 50}\n{rows}\n".encode()],
        ".npz": [(folder / "a.npz").read_bytes(), (folder / "b.npz").read_bytes()],
    }


def _keyed() -> Session:
    """A small figure with keys."""
    made = loose("two-link")
    for frame in (0, 10, 30):
        turn(made, "elbow", (0.0, 0.0, 0.3))
        made.dispatch(KeyPose(frame))
    return made


def _recorded() -> Session:
    """Edits on a small figure, and frames gone to."""
    made = _keyed()
    made.record_actions()
    made.dispatch(SetStiffness("shoulder", 0.1))
    made.dispatch(SetGoal("tip", weight=2.0))
    made.dispatch(SetMode(Mode.FK))
    turn(made, "elbow", (0.0, 0.0, 0.3))
    made.seek(3)
    made.undo()
    return made


def mutant(kind: str, number: int) -> bytes:
    """A damaged file: the same for the same number."""
    dice = random.Random(number)
    data = dice.choice(seeds()[kind])
    if kind == ".npz" and dice.random() < 0.7:
        return _damaged_member(data, dice)
    if kind == ".glb" and dice.random() < 0.8:
        return _damaged_chunk(data, dice)
    if kind in TREES and dice.random() < 0.6:
        return damaged_tree(data, dice)
    return damaged(data, dice)


def _damaged_member(data: bytes, dice: random.Random) -> bytes:
    """A zip with an array damaged inside, its checksum right again."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = dice.choice(list(members))
    members[name] = damaged(members[name], dice)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", dice.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
        for member, content in members.items():
            archive.writestr(zipfile.ZipInfo(member), content)
    return packed.getvalue()


def _damaged_chunk(data: bytes, dice: random.Random) -> bytes:
    """A GLB with its JSON or its numbers damaged, its lengths right again."""
    length = int.from_bytes(data[12:16], "little")
    text, numbers = data[20 : 20 + length], data[28 + length :]
    if dice.random() < 0.3:
        numbers = damaged(numbers, dice)
    else:
        text = damaged_tree(text, dice) if dice.random() < 0.7 else damaged(text, dice)
    text += b" " * (-len(text) % 4)
    chunks = len(text).to_bytes(4, "little") + b"JSON" + text + len(numbers).to_bytes(4, "little") + b"BIN\0" + numbers
    return b"glTF" + (2).to_bytes(4, "little") + (12 + len(chunks)).to_bytes(4, "little") + chunks


def fault(kind: str, data: bytes, folder: Path, *, frame: bool = False) -> str | None:
    """None where a file is refused as it should be, or all that holds of what loads holds; else what is wrong.

    Args:
        kind: one of `FORMATS`.
        data: the file.
        folder: for those that are read from a disk.
        frame: whether what opens is drawn, too.
    """
    name = f"f{kind}" if kind.startswith(".") else f"{kind}.ikv.json" if kind == "actions" else f"{kind}.json"
    path = folder / name
    try:
        opened = _opened(kind, data, path)
    except ViewerError as error:
        return None if _well_said(str(error), name, str(path)) else f"message: {error!r}"
    except Exception as error:  # noqa: BLE001 - whatever else escapes is what is looked for
        return f"escaped: {type(error).__name__}: {error}"
    try:
        if isinstance(opened, Session):
            return _broken_document(opened.document) or _drawn(opened.document, frame=frame)
        return _broken(opened) or _shown(opened, frame=frame)
    except Exception as error:  # noqa: BLE001
        return f"escaped from what was loaded: {type(error).__name__}: {error}"


def _opened(kind: str, data: bytes, path: Path) -> Character | Session:
    """What a file holds; of goals and poses the document of `FIGURE` with them."""
    text = data.decode("utf-8", "replace")
    match kind:
        case ".bvh":
            return check_character(build(parse_bvh(data, path.name), path.name, units="auto", up="auto"), path.name)
        case "goals":
            return _on_figure(path.name, goals=goals_file_from_text(text, path.name, FIGURE.skeleton).goals)
        case "pose":
            return _on_figure(path.name, pose=pose_from_text(text, path.name, FIGURE.skeleton))
    path.unlink(missing_ok=True)  # to write over a file takes disks some milliseconds
    path.write_bytes(data)
    if kind == ".ikv.json":
        return Session(load_session(path))
    if kind == "actions":
        script = open_script(path)
        for _ in range(_MOST_TICKS):
            if script.finished:
                break
            script.tick(0.0)
        return script.session
    return load(path)


def _on_figure(name: str, **options: Any) -> Session:  # noqa: ANN401 - passed on as they are
    """A session of `FIGURE`; what refuses it knows no file, and the caller adds its name."""
    try:
        return Session(new_document(FIGURE, **options))
    except InputError as error:
        raise InputError(f"{name}: {error}") from error


def _well_said(message: str, *names: str) -> bool:
    return message.startswith(names) and len(message) < 600 and message.isprintable()


def _finite(arrays: Iterable[object]) -> bool:
    return all(bool(np.isfinite(array).all()) for array in arrays)  # type: ignore[call-overload]


def _broken(character: Character) -> str | None:
    """What does not hold of a loaded character: finite arrays, unit rotations, kinematics, a BVH file of it."""
    skeleton, clip = character.skeleton, character.clip
    pose = skeleton.relaxed_pose() if clip is None else clip.pose(0)
    arrays = [skeleton.offsets, skeleton.tip_offsets, skeleton.stiffness, skeleton.axes, pose.translations]
    turns = [skeleton.rest_rotations, pose.rotations]
    worlds = [fk(skeleton, skeleton.rest_pose()), fk(skeleton, pose)]
    if clip is not None:
        arrays.append(clip.translations)
        turns.append(clip.rotations)
        worlds.append(fk_clip(skeleton, clip if len(clip) <= _MOST_WRITTEN else clip.frames(0, _MOST_WRITTEN)))
    arrays += [world.positions for world in worlds]
    if not _finite(arrays):
        return "numbers that are not finite"
    if not all(np.allclose(np.linalg.norm(turn, axis=-1), 1.0, atol=1e-9) for turn in turns):
        return "rotations that are no unit quaternions"
    if clip is not None and len(clip) > _MOST_WRITTEN:
        return None
    lines, _ = bvh_lines(character)
    again = parse_bvh("".join(lines).encode(), "again")
    rows = 0 if not any(again.channels) else 1 if clip is None else len(clip)
    if len(again.joints) != len(skeleton) or len(again.values) != rows:
        return "a BVH file that holds something else"
    return None


def _shown(character: Character, *, frame: bool) -> str | None:
    """What does not hold of a character that is relaxed and opened as the window opens it."""
    relaxed = character.skeleton.relaxed_pose()
    wrong = _wrong_pose(character.skeleton, relaxed, "a relaxed pose")
    return (
        wrong or _broken_document(session := Session(new_document(character)).document) or _drawn(session, frame=frame)
    )


def _broken_document(document: Document) -> str | None:
    check_skeleton(document.skeleton, poses=[document.pose])
    as_character(document)
    return _wrong_pose(document.skeleton, document.pose, "a document's pose")


def _wrong_pose(skeleton: Skeleton, pose: Pose, what: str) -> str | None:
    world = fk(skeleton, pose)
    return None if _finite([pose.rotations, pose.translations, world.positions]) else f"{what} that is not finite"


@cache
def _window() -> Application:
    """One window for all: opening another takes longer than a hundred cases."""
    from inside.app import open_window  # noqa: PLC0415 - most cases are not drawn
    from inside.session import Preferences  # noqa: PLC0415

    return open_window(Session(new_document(FIGURE)), Preferences(), size=(640, 400))


def _drawn(document: Document, *, frame: bool) -> str | None:
    """Draw the window with the document, twice: panels take their sizes in the first frame."""
    if frame:
        app = _window()
        app.controller.opening.show(document)
        app.draw(0.0)
        app.draw(0.1)
    return None
