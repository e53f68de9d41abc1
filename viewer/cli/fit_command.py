"""``ikviewer fit``: positions of joints, or SMPL's axis-angles, to a skeleton with motion."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from viewer.cli import inputs, job
from viewer.cli.info_command import length_of
from viewer.cli.job import FILES, SKELETONS, Result, argument, option
from viewer.cli.options import UNITS, checked, json_flag, positive
from viewer.cli.output import Json, warn

if TYPE_CHECKING:  # they load numpy
    from viewer.skeleton import Character, Skeleton

EXAMPLES = """examples:
  ikviewer fit joints.npy -o walk.bvh                      (22 joints: HumanML3D; 24 SMPL, 33 MediaPipe, 17 COCO)
  ikviewer fit landmarks.csv --fps 25 -o dance.glb
  ikviewer fit track.npz --to hero.json -o hero.bvh        (the joints of the rig, in its order)
  ikviewer fit dog.npy --names dog.txt --units mm --up z -o dog.bvh
  ikviewer fit amass.npz --height 1.82 -o person.bvh       (axis-angles of SMPL)

A file of names has a line for each joint: its name, and behind it its parent's where no preset has the names.
Gaps (NaN, empty cells) up to a second are bridged, longer ones are bridged and named."""

PRESETS = ("humanml3d", "smpl", "mediapipe", "coco")
"""`viewer.motion.point_sets.POINT_SETS`, repeated because importing that takes longer than parsing a command line."""
UPS = ("auto", "y", "z", "-y")


def _units(text: str) -> str:
    from viewer.formats.units import check_units

    return check_units(text)


class Options(job.Options):
    """Options of ``ikviewer fit``."""

    file: str = argument(
        "FILE", "positions (frames, joints, 3) as `.npy`, `.npz` or `.csv`, or an `.npz` of AMASS",
        completes=FILES, reads=True,
    )  # fmt: skip
    output: str = option(
        "OUT", "what to write: `.bvh`, `.glb`, `.json` or another format", short="-o", required=True, completes=FILES
    )
    preset: str | None = option(
        "", "what the joints are (default: by their names or number)", choices=PRESETS, kind="preset"
    )
    names: str | None = option(
        "NAMES", "a file with the joints' names, a line each: `NAME`, or `NAME PARENT`", completes=FILES, reads=True
    )
    to: str | None = option(
        "RIG", "the skeleton that moves; without `--names` and `--preset` the joints are its own, in its order",
        completes=SKELETONS, reads=True,
    )  # fmt: skip
    fps: float | None = option("N", "frames a second (default: as the file says, else 30)", parse=positive)
    units: str = option(
        "U",
        "what one unit of the file is: `auto` (default: guessed), `m`, `cm`, `mm`, `inch` or a number of metres",
        parse=checked(_units),
        default="auto",
        words=UNITS,
    )
    up: str = option(
        "", "the up axis of the file: `auto` (default: by head and feet), `y`, `z` or `-y` (images count down)",
        choices=UPS, kind="axis", default="auto",
    )  # fmt: skip
    height: float | None = option("M", "metres of the figure for axis-angles (default 1.7)", parse=positive)
    json: bool = json_flag()


def run(options: Options) -> Result:
    """Fit, and write the character."""
    from viewer.formats.positions import Fitting, fitted
    from viewer.formats.save import check_suffix, save

    output = Path(options.output)
    check_suffix(output)
    inputs.check_kept(output, options)
    how = Fitting(
        preset=options.preset,
        names=options.names,
        rig=_rig(options.to),
        fps=options.fps,
        units=options.units,
        up=options.up,
        height=options.height,
    )
    character = fitted(Path(options.file), options.file, how)
    warn(f"{options.file}: {warning}" for warning in character.warnings)
    warn(f"{output}: {warning}" for warning in save(character, output))
    return Result(notes=[f"wrote {output}: {_summary(character)}"], document=_document(output, character))


def _rig(file: str | None) -> tuple[str, Skeleton] | None:
    if file is None:
        return None
    from viewer.formats.load import load

    return file, load(file).skeleton


def _summary(character: Character) -> str:
    clip = character.clip
    assert clip is not None
    return f"{len(character.skeleton)} joints, {length_of(clip)}"


def _document(output: Path, character: Character) -> Json:
    clip = character.clip
    assert clip is not None
    return {
        "output": str(output), "joints": len(character.skeleton), "frames": len(clip), "frame_time": clip.frame_time,
        "warnings": list(character.warnings),
    }  # fmt: skip
