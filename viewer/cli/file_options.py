"""Options of the commands that read, convert and make files, and of those that change motion."""

from __future__ import annotations

import argparse
from typing import ClassVar

from viewer.choices import FEET, HANDS, LONGEST_BLEND, PRESETS, PresetName
from viewer.cli import options
from viewer.cli.job import FILES, SKELETONS, Options, argument, flag, option, part, repeated
from viewer.errors import InputError, quote
from viewer.formats.file_formats import FIT_UPS, MOST_DECIMALS, POINT_FILES, UNIT_NAMES, UP_NAMES, check_units

_BUILT_KINDS = ("ball", "hinge", "universal", "slide", "fixed")
AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}

JOINT_KINDS = ("free", "ball", "hinge", "universal", "slide", "fixed")

SHELLS = ("bash", "zsh", "fish")


class InfoOptions(Options):
    examples: ClassVar[str] = """examples:
  ikviewer info walk.bvh
  ikviewer info sample:biped --json
  ikviewer info capture.bvh --units cm --up z
  ikviewer info work.ikv.json"""

    file: str = options.INPUT_FILE
    reading: options.Reading = part(options.Reading)
    json: bool = options.JSON


class FkOptions(Options):
    examples: ClassVar[str] = """examples:
  ikviewer fk walk.bvh --frame 12
  ikviewer fk walk.bvh --frames 0,10,20:30 --json
  ikviewer fk walk.bvh --frames 0:99 --npz positions.npz
  ikviewer fk sample:biped --pose relaxed --json

Metres, Y up, rotations as quaternions (x, y, z, w). Without a frame or pose: the rest pose;
of a session the pose in which it was saved (--pose session)."""

    file: str = options.INPUT_FILE
    reading: options.Reading = part(options.Reading)
    frame: int | None = option("N", "one frame, counted from 0", parse=options.count, one_of="frames")
    frames: list[range] | None = option(
        "LIST",
        "several frames, such as `0,10,20:30` or `0:60:5`; ends are included",
        parse=options.frame_list,
        one_of="frames",
    )
    pose: str | None = options.pose_option("a pose: POSE", one_of="frames")
    clip: str | None = options.CLIP
    npz: str | None = option(
        "OUT",
        "write an `.npz`: `names` (J), `positions` (F, J, 3), `rotations` (F, J, 4), in the file's joint order",
        completes=FILES,
        writes=True,
    )
    json: bool = flag("print one JSON document; with `--frames` a list of them")


def _output_units(text: str) -> str:
    try:
        units = check_units(text)
    except InputError:
        units = "auto"
    if units in {"auto", "raw"}:
        raise InputError(f"expected m, cm, mm, inch or metres per unit, found {quote(text)}")
    return units


def _precision(text: str) -> int:
    if not text.isdecimal() or not text.isascii() or len(text) > 2 or int(text) > MOST_DECIMALS:
        raise InputError(f"expected a whole number from 0 to {MOST_DECIMALS}, found {quote(text)}")
    return int(text)


class ConvertOutput(Options, title="where to"):
    output: str | None = options.output_option(
        "a file; for many inputs a folder (each keeps its name and format) or a name with `{stem}`, the input's "
        "name; replaces existing files, but not inputs"
    )
    force: bool = flag("replace OUT, and inputs that an output would overwrite")
    spread: options.Spreading = part(options.Spreading)


class ConvertMotion(Options, title="the motion"):
    clip: str | None = options.CLIP
    frames: range | None = option(
        "A:B",
        "keep these frames, counted from 0, both ends included (`A:B:STEP`)",
        parse=options.frame_range,
        one_of="frames",
    )
    frame: int | None = option(
        "N", "one frame instead of the motion; `.obj`, `.stl` and `.ply` show frame 0 by default",
        parse=options.count, one_of="frames",
    )  # fmt: skip
    pose: str | None = options.pose_option("one pose instead of the motion: POSE", one_of="frames")
    frame_time: float | None = option(
        "S", "correct the seconds between frames; the frames stay", parse=options.positive
    )
    fps: float | None = option("N", "resample to N frames a second; the duration stays", parse=options.positive)


class Form(Options, title="the output"):
    to_units: str | None = option(
        "U", "units of the output: `m`, `cm`, `mm`, `inch` or metres per unit (default as read)",
        parse=options.checked(_output_units), words=UNIT_NAMES[1:-1],
    )  # fmt: skip
    to_up: str | None = option(
        "", "up axis of the output: `y` or `z` (default as read)", choices=UP_NAMES[1:], kind="axis"
    )
    precision: int | None = option(
        "N",
        "decimals of numbers, 0 to 17 (default: enough to lose nothing that matters)",
        parse=options.checked(_precision),
    )
    joints: bool = flag(
        "`.csv`: joint values by name, a column per degree of freedom (radians, metres), instead of positions"
    )


class ConvertOptions(Options):
    usage: ClassVar[str] = """ikviewer convert [options] IN OUT
       ikviewer convert [options] IN... -o FOLDER
       ikviewer convert [options] IN... -o '{stem}.glb'"""
    examples: ClassVar[str] = """examples:
  ikviewer convert walk.bvh walk.json
  ikviewer convert capture.bvh short.bvh --frames 100:400 --fps 30
  ikviewer convert *.bvh -o 'glb/{stem}.glb'   (many files; a folder means the files in it and below)
  ikviewer convert captures/ -o slow/ --fps 30 --jobs 4
  ikviewer convert zup.bvh yup.bvh --up z --to-up y --to-units cm
  ikviewer convert work.ikv.json take.glb      (what was recorded in the window, as it is played)
  ikviewer convert fox.glb run.bvh --clip Run
  ikviewer convert walk.bvh stride.stl --frame 12
  ikviewer convert wrong.bvh right.bvh --frame-time 0.008333

--fps resamples and keeps the duration; --frame-time corrects the file and keeps the frames.
OUT must not exist unless --force is given; -o replaces what is there."""

    paths: list[str] = argument(
        "IN",
        f"{options.FILE_KINDS}s, sessions (`.ikv.json`), folders, `sample:NAME` or `-` (standard input); without "
        "`-o` the last is OUT, a new file, whose suffix says the format",
        nargs="+",
        completes=SKELETONS,
        writes=True,  # the last may be; the command itself keeps the others
    )
    to: ConvertOutput = part(ConvertOutput)
    reading: options.Reading = part(options.Reading)
    motion: ConvertMotion = part(ConvertMotion)
    form: Form = part(Form)
    json: bool = flag("print one JSON document about what was written; of many files a list")


class CheckOptions(Options):
    examples: ClassVar[str] = """examples:
  ikviewer check *.bvh
  ikviewer check captures/          (every skeleton, motion and session in the folder and below)
  ikviewer check captures/ --jobs 4 --json

Each line begins with ok, warning or refused; with --quiet there are those of refused files only."""

    files: list[str] = argument(
        "FILE", "files, folders, `sample:NAME` or `-` (standard input)", nargs="+", completes=FILES
    )
    reading: options.Reading = part(options.Reading)
    jobs: int = options.JOBS
    scheduler: str | None = options.SCHEDULER
    json: bool = options.JSON


class BuildOptions(Options):
    examples: ClassVar[str] = """examples:
  ikviewer build --chain 5 --length 0.2 -o arm.json
  ikviewer build --chain 30 --kind hinge --axis z --base fixed -o tail.json
  ikviewer edit arm.json --add "finger parent=joint5 offset=0.05,0.05,0" -o hand.json

The chain is upright and begins at the origin; its end is an effector. `ikviewer edit` adds branches."""

    chain: int = option("N", "number of bones", parse=options.count, required=True)
    length: float = option("M", "length of each, metres (default {default})", parse=options.positive, default=0.2)
    kind: str = option("", "how its joints move (default {default})", choices=_BUILT_KINDS, default="ball")
    axis: str = option("", "axis of hinges and slides (default {default})", choices=tuple(AXES), default="x")
    limit: float | None = option("DEG", "limit hinges to this many degrees either way", parse=options.positive)
    base: str = option(
        "", "how the first joint moves (default as the others)", choices=("free", *_BUILT_KINDS), default=None
    )
    name: str = option("NAME", "of the skeleton (default {default})", default="chain")
    output: str = options.output_option("the file to write; its suffix says the format", required=True)
    json: bool = flag("print one JSON document about what was written")


class EditOptions(Options):
    examples: ClassVar[str] = """examples:
  ikviewer edit sample:two-link --add "hand parent=elbow offset=0,0.3,0" -o arm.json
  ikviewer edit arm.json --add "thumb parent=hand offset=0.03,0.05,0 kind=hinge axis=0,0,1 limits=0,60" -o hand.json
  ikviewer edit walk.bvh --remove LeftToeBase --remove RightToeBase -o short.bvh
  ikviewer edit rig.json --rename Bip01=Hips --mirror LeftArm -o both.json

Edits are made in the order of the options below, whatever their order on the command line. Lengths are metres in the
parent's frame, angles degrees. Clips, poses and skins keep what remains; what a clip loses is said."""

    file: str = options.INPUT_FILE
    reading: options.Reading = part(options.Reading)
    rename: list[str] = repeated("OLD=NEW", "rename a joint. May be given several times, as all below")
    add: list[str] = repeated(
        "JOINT", "a joint: `NAME parent=P offset=X,Y,Z`, and as needed `kind=hinge axis=X,Y,Z limits=LOW,HIGH`"
    )
    split: list[str] = repeated(
        "NAME=NEW[@PART]", "split the bone that ends at a joint by a new one (PART of it, default 0.5)"
    )
    reparent: list[str] = repeated("NAME=PARENT", "hang a joint, with all below it, on another")
    kind: list[str] = repeated(
        "NAME=KIND", f"how a joint moves: {', '.join(JOINT_KINDS)}; axes and limits are chosen by the bones"
    )
    mirror: list[str] = repeated("NAME", "make the other side of a branch, reflected at x = 0; names get a side")
    remove: list[str] = repeated("NAME", "remove a joint; what hangs on it stays")
    remove_branch: list[str] = repeated("NAME", "remove a joint with all below it")
    output: str = options.output_option("the file to write; its suffix says the format", required=True)
    json: bool = flag("print one JSON document about what was written")


class SamplesOptions(Options):
    examples: ClassVar[str] = """examples:
  ikviewer samples
  ikviewer view demo:two-link                  (a demo, in the window)
  ikviewer convert sample:biped biped.json     (a copy to start from)
  ikviewer info sample:chain-100               (a chain of 100 links)"""

    json: bool = options.JSON


class CompletionOptions(Options):
    examples: ClassVar[str] = """examples:
  ikviewer completion bash > ~/.local/share/bash-completion/completions/ikviewer
  ikviewer completion zsh > ~/.zfunc/_ikviewer          (a folder of $fpath)
  ikviewer completion fish > ~/.config/fish/completions/ikviewer.fish
  eval "$(ikviewer completion bash)"                    (this shell alone)"""

    shell: str = argument("SHELL", ", ".join(f"`{shell}`" for shell in SHELLS), choices=SHELLS)


_reference = options.or_word({"auto": "auto", "rest": "rest"}, options.count, "auto, rest or a frame")
_scale = options.or_word({"auto": None}, options.positive, "auto or a number above 0")


class RetargetOutput(Options, title="where to"):
    output: str | None = options.output_option(
        "a file, whose suffix says the format; for many motions a folder or a name with `{stem}`, the motion's name; "
        "without it nothing is written but the map"
    )
    suffix: str | None = option("S", "format of the files in a folder: `.bvh`, `.glb`, ... (default: the motion's)")
    spread: options.Spreading = part(options.Spreading)


class Pairing(Options, title="the pairs"):
    map: str | None = option("MAP", "a map file, whose pairs replace those found", completes=FILES)
    save_map: str | None = option("MAP", "write all pairs to a map file, to be corrected", completes=FILES, writes=True)
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
    )
    to: str | None = option("RIG", "the skeleton that gets the motion: a file or `sample:NAME`", completes=SKELETONS)
    where: RetargetOutput = part(RetargetOutput)
    pairing: Pairing = part(Pairing)
    motion: RetargetMotion = part(RetargetMotion)
    reading: options.Reading = part(options.Reading)
    json: bool = options.JSON


def _centimetres(text: str) -> float:
    number = text.strip().casefold().removesuffix("cm").strip()
    value = options.finite(number) if number else -1.0
    if value < 0.0:
        raise argparse.ArgumentTypeError(f"expected 0 or more centimetres, found {quote(text)}")
    return value


class FeetOptions(Options):
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
        "seconds in which the corrections come and go (default {default})",
        default=0.3,
        parse=options.at_most(LONGEST_BLEND, "seconds"),
    )
    pelvis: float | None = option(
        "CM", "centimetres that the pelvis may move at most (default: as far as the legs need)", parse=_centimetres
    )
    contacts: str | None = option(
        "FILE", "a [contacts file](files.md#contacts-of-feet), or `-`: in place of what is found", completes=FILES
    )
    object: list[options.ShapeText] = options.objects_option("with `--plant`: what the feet step on")
    clip: str | None = options.CLIP
    spread: options.Spreading = part(options.Spreading)
    json: bool = options.JSON


class FitOptions(Options):
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
        completes=FILES,
    )  # fmt: skip
    output: str = options.output_option("what to write: `.bvh`, `.glb`, `.json` or another format", required=True)
    preset: PresetName | None = option(
        "", "what the joints are (default: by their names or number)", choices=PRESETS, kind="preset"
    )
    names: str | None = option(
        "NAMES", "a file with the joints' names, a line each: `NAME`, or `NAME PARENT`", completes=FILES
    )
    to: str | None = option(
        "RIG", "the skeleton that moves; without `--names` and `--preset` the joints are its own, in its order",
        completes=SKELETONS,
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
        choices=FIT_UPS, kind="axis", default="auto",
    )  # fmt: skip
    height: float | None = option("M", "metres of the figure for axis-angles (default 1.7)", parse=options.positive)
    json: bool = options.JSON


class LimitsOptions(Options):
    examples: ClassVar[str] = """examples:
  ikviewer limits captures/ --to hero.json -o hero-limited.json
  ikviewer limits captures/ more.bvh --to sample:biped -o biped.json --quantile 0.002 --margin 10 --json

Every motion is put on the rig, and its mirror image, too. A range reaches from one quantile of what a joint does to the
other, in the motion in which it does most, and on by the margin: half of it beyond the limits that the rig has, up to
twice as far inside them. Frames in which joints are thrown do not count."""

    paths: list[str] = argument("MOTION", "folders and files with motion", nargs="+", completes=SKELETONS)
    to: str = option("RIG", "the skeleton that gets the limits", completes=SKELETONS, required=True)
    output: str = options.output_option("the skeleton with the limits, `.json`", required=True)
    quantile: float = option(
        "Q",
        "part of a motion's frames that may lie beyond each end of a range (default {default})",
        parse=options.within(0.0, 0.1),
        default=1e-3,
    )
    margin: float = option(
        "D",
        "degrees by which ranges are wider (default {default}): half of it beyond the rig's limits, up to twice inside "
        "them",
        parse=options.within(0.0, 180.0, "degrees"),
        default=15.0,
    )
    reading: options.Reading = part(options.Reading)
    jobs: int = options.JOBS
    json: bool = options.JSON
