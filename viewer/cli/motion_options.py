"""Options of the commands that change motion."""

from __future__ import annotations

import argparse
from typing import ClassVar

from viewer.choices import FEET, HANDS, PRESETS, PresetName
from viewer.cli import options
from viewer.cli.job import FILES, SKELETONS, Options, argument, flag, option, part
from viewer.errors import quote
from viewer.formats.file_formats import POINT_FILES, UNIT_NAMES, check_units

# --- retarget


def _reference(text: str) -> str | int:
    if text in {"auto", "rest"}:
        return text
    try:
        return options.count(text)
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError(f"expected auto, rest or a frame, found {quote(text)}") from None


def _scale(text: str) -> float | None:
    if text == "auto":
        return None
    try:
        return options.positive(text)
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError(f"expected auto or a number above 0, found {quote(text)}") from None


class RetargetOutput(Options, title="where to"):
    """Where the outputs go."""

    output: str | None = options.output_option(
        "a file, whose suffix says the format; for many motions a folder or a name with `{stem}`, the motion's name; "
        "without it nothing is written but the map"
    )
    suffix: str | None = option("S", "format of the files in a folder: `.bvh`, `.glb`, ... (default: the motion's)")
    spread: options.Spreading = part(options.Spreading)


class Pairing(Options, title="the pairs"):
    """Which joints belong together, and in which poses they are compared."""

    map: str | None = option("MAP", "a map file, whose pairs replace those found", completes=FILES, reads=True)
    save_map: str | None = option("MAP", "write all pairs to a map file, to be corrected", completes=FILES)
    reference: str | int = option(
        "P",
        "neutral pose of the motion's skeleton: `rest`, a frame, or `auto` (default): the rest pose if it is "
        "upright and symmetric, else the most neutral frames",
        parse=_reference,
        default="auto",
        words=("auto", "rest"),
    )
    target_reference: str | int = option(
        "P", "neutral pose of RIG, a frame of its own motion", parse=_reference, default="auto", words=("auto", "rest")
    )


class RetargetMotion(Options, title="the motion"):
    """How it is put on the other skeleton."""

    clip: str | None = options.CLIP
    scale: float | None = option(
        "S", "of the path: `auto` (default): the ratio of the legs, or a number", parse=_scale, words=("auto",)
    )
    in_place: bool = flag("the hips stay above their first place")
    feet: str = option(
        "",
        "`plant` (default): standing feet stay where they are; `follow`: ankles go where the motion's go; `off`",
        choices=FEET,
        default="plant",
    )
    hands: str = option(
        "",
        "`free` (default): as the arms turn; `reach`: wrists go where the motion's go; `touch`: hands keep their "
        "places at what they are near: the other hand, head, chest, thighs",
        choices=HANDS,
        default="free",
    )
    limits: bool = flag("keep all joints inside their limits")


class RetargetOptions(Options):
    """Options of ``ikviewer retarget``."""

    usage: ClassVar[str] = """ikviewer retarget [options] MOTION --to RIG -o OUT
       ikviewer retarget [options] MOTION... --to RIG -o FOLDER
       ikviewer retarget [options] MOTION --to RIG [--save-map MAP.json]"""
    examples: ClassVar[str] = """examples:
  ikviewer retarget walk.bvh --to sample:biped-hands -o out.glb
  ikviewer retarget captures/ --to hero.glb -o hero/ --suffix .glb --jobs 4 --resume
  ikviewer retarget odd.bvh --to hero.glb --save-map map.json   (pairs only: nothing else is written)
  ikviewer retarget odd.bvh --to hero.glb --map map.json -o odd.glb

Neither skeleton needs a T-pose. A map file names pairs:
  {"version": 1, "type": "map", "pairs": {"LeftArm": "upperarm_l", "Prop": null}}
Joints that it does not name are paired by name and part of the body; null leaves one without a partner."""

    paths: list[str] = argument(
        "MOTION",
        f"{options.FILE_KINDS}s, sessions (`.ikv.json`), folders, `sample:NAME` or `-` (standard input)",
        nargs="+",
        completes=SKELETONS,
        reads=True,
    )
    to: str | None = option(
        "RIG", "the skeleton that gets the motion: a file or `sample:NAME`", completes=SKELETONS, reads=True
    )
    where: RetargetOutput = part(RetargetOutput)
    pairing: Pairing = part(Pairing)
    motion: RetargetMotion = part(RetargetMotion)
    reading: options.Reading = part(options.Reading)
    json: bool = options.JSON


# --- feet

_LONGEST_BLEND = 10.0
"""`viewer.motion.plant.LONGEST_BLEND`, repeated because importing that takes longer than parsing a command line."""


def _centimetres(text: str) -> float:
    number = text.strip().casefold().removesuffix("cm").strip()
    value = options.finite(number) if number else -1.0
    if value < 0.0:
        raise argparse.ArgumentTypeError(f"expected 0 or more centimetres, found {quote(text)}")
    return value


class FeetOptions(Options):
    """Options of ``ikviewer feet``."""

    examples: ClassVar[str] = """examples:
  ikviewer feet walk.bvh
  ikviewer feet walk.bvh --plant -o planted.bvh
  ikviewer feet walk.bvh --json > contacts.json      (edit it, then:)
  ikviewer feet walk.bvh --contacts contacts.json --plant -o planted.glb

Slide: a contact's path by its time. Drift: the largest distance from its middle. MANN: mean of v (2 - 2^(h / 2.5 cm))
below 2.5 cm, v in cm a frame. Skate ratio: part of the frames that slide by more than 2.5 cm."""

    file: str = options.INPUT_FILE
    reading: options.Reading = part(options.Reading)
    plant: bool = flag("plant the feet: hold them still while they touch the ground; needs `-o`")
    output: str | None = options.output_option("with `--plant`: the motion; its suffix says the format")
    blend: float = option(
        "S",
        "seconds in which the corrections come and go (default 0.3)",
        default=0.3,
        parse=options.at_most(_LONGEST_BLEND, "seconds"),
    )
    pelvis: float | None = option(
        "CM", "centimetres that the pelvis may move at most (default: as far as the legs need)", parse=_centimetres
    )
    contacts: str | None = option(
        "FILE",
        "a [contacts file](files.md#contacts-of-feet), or `-`: in place of what is found",
        completes=FILES,
        reads=True,
    )
    object: list[options.ShapeText] = options.objects_option("with `--plant`: what the feet step on")
    clip: str | None = options.CLIP
    spread: options.Spreading = part(options.Spreading)
    json: bool = options.JSON


# --- fit

_FIT_UPS = ("auto", "y", "z", "-y")


class FitOptions(Options):
    """Options of ``ikviewer fit``."""

    examples: ClassVar[str] = """examples:
  ikviewer fit joints.npy -o walk.bvh                      (22 joints: HumanML3D; 24 SMPL, 33 MediaPipe, 17 COCO)
  ikviewer fit landmarks.csv --fps 25 -o dance.glb
  ikviewer fit track.npz --to hero.json -o hero.bvh        (the joints of the rig, in its order)
  ikviewer fit dog.npy --names dog.txt --units mm --up z -o dog.bvh
  ikviewer fit amass.npz --height 1.82 -o person.bvh       (axis-angles of SMPL)

A file of names has a line for each joint: its name, and behind it its parent's where no preset has the names.
Gaps (NaN, empty cells) up to a second are bridged, longer ones are bridged and named."""

    file: str = argument(
        "FILE", f"positions over time ({', '.join(f'`{one}`' for one in POINT_FILES)}), or an `.npz` of AMASS",
        completes=FILES, reads=True,
    )  # fmt: skip
    output: str = options.output_option("what to write: `.bvh`, `.glb`, `.json` or another format", required=True)
    preset: PresetName | None = option(
        "", "what the joints are (default: by their names or number)", choices=PRESETS, kind="preset"
    )
    names: str | None = option(
        "NAMES", "a file with the joints' names, a line each: `NAME`, or `NAME PARENT`", completes=FILES, reads=True
    )
    to: str | None = option(
        "RIG", "the skeleton that moves; without `--names` and `--preset` the joints are its own, in its order",
        completes=SKELETONS, reads=True,
    )  # fmt: skip
    fps: float | None = option("N", "frames a second (default: as the file says, else 30)", parse=options.positive)
    units: str = option(
        "U",
        "what one unit of the file is: `auto` (default: guessed), `m`, `cm`, `mm`, `inch` or a number of metres",
        parse=options.checked(check_units),
        default="auto",
        words=UNIT_NAMES,
    )
    up: str = option(
        "", "the up axis of the file: `auto` (default: by head and feet), `y`, `z` or `-y` (images count down)",
        choices=_FIT_UPS, kind="axis", default="auto",
    )  # fmt: skip
    height: float | None = option("M", "metres of the figure for axis-angles (default 1.7)", parse=options.positive)
    json: bool = options.JSON


# --- limits


class LimitsOptions(Options):
    """Options of ``ikviewer limits``."""

    examples: ClassVar[str] = """examples:
  ikviewer limits captures/ --to hero.json -o hero-limited.json
  ikviewer limits captures/ more.bvh --to sample:biped -o biped.json --quantile 0.002 --margin 10 --json

Every motion is put on the rig, and its mirror image, too. A range reaches from one quantile of what a joint does to the
other, in the motion in which it does most, and on by the margin: half of it beyond the limits that the rig has, up to
twice as far inside them. Frames in which joints are thrown do not count."""

    paths: list[str] = argument("MOTION", "folders and files with motion", nargs="+", completes=SKELETONS, reads=True)
    to: str = option("RIG", "the skeleton that gets the limits", completes=SKELETONS, reads=True, required=True)
    output: str = options.output_option("the skeleton with the limits, `.json`", required=True)
    quantile: float = option(
        "Q",
        "part of a motion's frames that may lie beyond each end of a range (default 0.001)",
        parse=options.within(0.0, 0.1),
        default=1e-3,
    )
    margin: float = option(
        "D",
        "degrees by which ranges are wider (default 15): half of it beyond the rig's limits, up to twice inside them",
        parse=options.within(0.0, 180.0, "degrees"),
        default=15.0,
    )
    reading: options.Reading = part(options.Reading)
    jobs: int = options.JOBS
    json: bool = options.JSON
