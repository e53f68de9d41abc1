"""Options of the commands that solve, compare solvers and simulate."""

from __future__ import annotations

import argparse
import re
from functools import partial
from pathlib import Path
from typing import ClassVar, NamedTuple

from viewer.choices import ASSISTS, BASES, Assist, Base
from viewer.cli import options
from viewer.cli.job import FILES, Options, argument, flag, option, part, repeated
from viewer.cli.options import Look
from viewer.errors import quote, unknown_name

BENDS = {"up": 1, "down": -1}

SIMULATED_FPS = 60
"""Frames a second of simulations."""

_PUSH = re.compile(r"(.+)=([^=@]+)@([^@]+)")

BENCH_PARTS = {
    "speed": "one-shot solves on each backend: milliseconds, valid solutions",
    "methods": "success and iterations of every solver by its name",
    "drag": "following a cursor: closeness, joint steps",
    "batch": "10,000 problems in one call",
    "start": "cold starts: from nothing to the first solved pose",
    "files": "forward kinematics, loading",
}
"""The parts of ``ikviewer bench`` with descriptions; `viewer.cli.bench_command.measure` runs them."""
BENCH_SEED = 20_261_121
"""Its problems were not used for tuning."""
BENCH_COUNT = 200
"""Problems of each class."""


class Touching(Options, title="what it must not go through"):
    floor: float | None = option("Y", "a level floor at this height, metres", parse=options.finite)
    bodies: bool = flag("its own body: capsules around the bones, from the file or fitted")
    object: list[options.ShapeText] = options.objects_option("a fixed object")


def _own_goal(text: str) -> str:
    file, _, name = text.rpartition(":")
    if not name or Path(file).suffix != ".py":
        raise argparse.ArgumentTypeError(f"expected FILE.py:NAME, found {quote(text)}")
    return text


class Start(Options, title="where to start"):
    from_rest: bool = flag("start from the rest pose", one_of="start")
    from_frame: int | None = option(
        "N", "start from a frame of the motion, counted from 0", parse=options.count, one_of="start"
    )
    from_pose: str | None = options.pose_option("start from POSE", one_of="start")
    clip: str | None = options.CLIP


class Solving(Options, title="how to solve"):
    solver: str = options.solver_option("default")
    backend: str = options.backend_option("auto")
    no_limits: bool = options.NO_LIMITS
    hold: bool = flag("hold all other effectors in place and pin the feet, as the window does")
    balance: bool = flag("keep the centre of mass 3 cm inside the support polygon")
    ground: float | None = option(
        "Y",
        "height of the ground for `--balance`, metres (default: that of the goals file, else `--floor`, else 0)",
        parse=options.finite,
    )
    prefer: str | None = options.pose_option("preferred pose for what the goals leave free: POSE; default solver only")
    prefer_weight: float = option("W", "its strength, 0 to 1 (default)", parse=options.fraction, default=1.0)
    root: str = options.ROOT
    tolerance_m: float = options.TOLERANCE_M
    tolerance_deg: float = options.TOLERANCE_DEG
    max_iterations: int = option(
        "N", "limit of iterations, restarts included (default {default})", parse=options.count, default=200
    )
    seed: int = option(
        "N", "seed of the restart poses; the same seed gives the same pose", parse=options.count, default=0
    )
    solution: int | None = option(
        "K",
        "where the goals leave no freedom: the K-th of all poses that meet them, 1 the nearest to the start, those "
        "below the floor last; how many there are is printed",
        parse=partial(options.count, least=1),
    )
    exact: bool = flag("all or nothing: if a goal is missed, the result is the start pose, with a warning")


class Lesson(Options, title="for lessons and comparison"):
    damping: float | None = option(
        "X",
        "for lessons: constant damping lambda for `default` and `dls` (default: by the error)",
        parse=options.positive,
    )
    step: float | None = option(
        "X",
        "for lessons: the fraction of each step to take, for methods with a Jacobian (default 1)",
        parse=options.positive,
    )
    numeric: bool = flag("for lessons: Jacobian by central differences; equal to 1e-5, slower")
    bend: str | None = option(
        "",
        "for `two-link`: elbow above (`up`) or below (`down`), if both reach",
        choices=tuple(BENDS),
    )


class SolveOptions(Options):
    examples: ClassVar[str] = """examples:
  ikviewer solve sample:biped reach.json
  ikviewer solve walk.bvh reach.json --from-frame 12 --hold -o posed.bvh
  ikviewer solve sample:claw-arm grip.json --json --solver dls
  ikviewer solve sample:two-link tip.json --solver two-link --bend up
  ikviewer solve captures/ reach.json -o 'poses/{stem}.json' --jobs 4
  ikviewer solve sample:biped reach.json --floor 0 --bodies --object sphere:0.1@0,1,0.4
  ikviewer solve sample:biped --goals-from mine.py:above       (runs mine.py; def above(world): ...)

A goals file:
  {"version": 1, "type": "goals", "goals": [
    {"effector": "LeftHand", "position": [0.4, 1.2, 0.3]}, {"effector": "RightFoot", "pin": true}]}
Metres, Y up. The start is the relaxed pose by default, of a session the pose in which it was saved. The exit code is 0
whenever there is a pose."""

    file: str = options.INPUT_FILE
    reading: options.Reading = part(options.Reading)
    goals: str | None = options.goals_argument(nargs="?")
    goals_from: list[str] = repeated(
        "FILE.py:NAME",
        "run FILE.py and take its function NAME as a goal: f(world) or f(world, skeleton) returns numbers to bring "
        "to zero. May be given several times; GOALS may then be left out",
        parse=_own_goal,
        completes=FILES,
    )
    output: str | None = options.output_option(
        "write the pose: a pose file (`.json`), a picture (`.png`), or the figure in that pose in any other format of "
        "`convert` that has poses (`.bvh`, `.glb`, `.stl`, ...)"
    )
    start: Start = part(Start)
    solving: Solving = part(Solving)
    touching: Touching = part(Touching)
    lesson: Lesson = part(Lesson)
    spread: options.Spreading = part(options.Spreading)
    json: bool = options.JSON


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


class LabOptions(Options):
    examples: ClassVar[str] = """examples:
  ikviewer lab sample:biped reach.json
  ikviewer lab sample:biped reach.json --methods default,sdls,ccd --iterations 40 -o report.html
  ikviewer lab sample:two-link tip.json --methods pseudo-inverse,dls --damping 0.1 --json
  ikviewer lab sample:biped reach.json --methods ccd,dls -o ccd.gif

All methods start from the same pose (the relaxed one by default) and have the same goals, limits and
tolerances. Times are the least of five runs."""

    file: str = options.INPUT_FILE
    reading: options.Reading = part(options.Reading)
    goals: str = options.goals_argument()
    methods: tuple[str, ...] = option(
        "A,B,...",
        "one to eight methods (default: default,dls,sdls,ccd,fabrik,transpose)",
        parse=_names,
        default=("default", "dls", "sdls", "ccd", "fabrik", "transpose"),
    )
    iterations: int = option("N", "iterations of each at most (default {default})", parse=options.count, default=60)
    output: str | None = options.output_option(
        "write the report: a page (`.html`) that needs nothing else, its numbers (`.json`), a picture of all "
        "answers (`.png`), or a film of all iterations (`.gif`, `.mp4`)"
    )
    start: Start = part(Start)
    no_limits: bool = options.NO_LIMITS
    root: str = options.ROOT
    damping: float | None = option(
        "X", "constant damping lambda for `dls` (default: by the error)", parse=options.positive
    )
    tolerance_m: float = options.TOLERANCE_M
    tolerance_deg: float = options.TOLERANCE_DEG
    seed: int = option("N", "seed of the restart poses of `default`", parse=options.count, default=0)
    backend: str = options.backend_option("auto")
    json: bool = options.JSON


class LayerOptions(Options):
    examples: ClassVar[str] = """examples:
  ikviewer layer walk.bvh button.json -o reaching.bvh
  ikviewer layer fox.glb look.json --clip Run -o looking.glb --json

A layers file:
  {"version": 1, "type": "layers", "layers": [
    {"goal": {"effector": "LeftHand", "position": [0.4, 1.2, 0.3]},
     "start": 0.5, "full": [1.0, 1.2], "end": 1.8}]}
Seconds from the first frame; metres, Y up. Between start and end the effector leaves the motion for its goal and
returns; feet stay where the motion has them, and frames outside keep their values."""

    file: str = options.INPUT_FILE
    layers: str = argument("LAYERS", "a layers file (JSON), or `-` (standard input)", completes=FILES)
    output: str = options.output_option("the motion with the layers on it; its suffix says the format", required=True)
    reading: options.Reading = part(options.Reading)
    clip: str | None = options.CLIP
    backend: str = options.backend_option("auto")
    no_limits: bool = options.NO_LIMITS
    json: bool = options.JSON


class Push(NamedTuple):
    """A push of a joint: its impulse, newton seconds, and when."""

    joint: str
    impulse: tuple[float, ...]
    at: float


class Ball(NamedTuple):
    """A ball: its speed, metres per second, and when it is thrown."""

    speed: float
    at: float


def _push(text: str) -> Push:
    found = _PUSH.fullmatch(text)
    try:
        if found is not None:
            push = Push(
                found.group(1), tuple(map(options.finite, found.group(2).split(","))), options.finite(found.group(3))
            )
            if len(push.impulse) == 3 and push.at >= 0.0:
                return push
    except argparse.ArgumentTypeError:
        pass
    raise argparse.ArgumentTypeError(f"expected JOINT=X,Y,Z@SECONDS, found {quote(text)}")


def _ball(text: str) -> Ball:
    speed, _, at = text.partition("@")
    try:
        ball = Ball(options.positive(speed), options.finite(at))
        if ball.at >= 0.0:
            return ball
    except argparse.ArgumentTypeError:
        pass
    raise argparse.ArgumentTypeError(f"expected SPEED@SECONDS, a speed above 0, found {quote(text)}")


class SimulateOptions(Options):
    examples: ClassVar[str] = """examples:
  ikviewer simulate sample:biped --push Spine2=0,0,40@1 -o pushed.bvh
  ikviewer simulate sample:claw-arm --goals grip.json --ball 8@2 --json
  ikviewer simulate walk.bvh --follow --strength 10 -o heavy.glb
  ikviewer simulate sample:raptor --ball 8@1 --ball 8@2 -o hit.mp4 --size 1280x720

Joints are driven to the pose in which the goals are met (without goals: the motion's first one, or the relaxed pose),
at most as strongly as muscles. Times are seconds from the start; a push is an impulse in newton seconds, x, y, z of the
world, and lasts a tenth of a second. Needs MuJoCo: pip install 'ikviewer[physics]'."""

    file: str = options.INPUT_FILE
    reading: options.Reading = part(options.Reading)
    goals: str | None = option(
        "GOALS", "a goals file (JSON): the pose to hold meets them", completes=FILES, one_of="aim"
    )
    follow: bool = flag("be driven through the file's motion, instead of to one pose", one_of="aim")
    clip: str | None = options.CLIP
    seconds: float | None = option(
        "S",
        "how long, a frame or more (default 5; with --follow as long as the motion)",
        parse=options.within(1.0 / SIMULATED_FPS, 3600.0, "seconds"),
    )
    push: list[Push] = repeated(
        "JOINT=X,Y,Z@T",
        "push a joint at T seconds by an impulse in newton seconds. May be given several times",
        parse=_push,
    )
    ball: list[Ball] = repeated(
        "V@T",
        "throw a ball at the figure from the front at T seconds, V metres per second; may be repeated",
        parse=_ball,
    )
    object: list[options.ShapeText] = repeated(
        "SHAPE[=KG]",
        f"an object, metres: {options.OBJECT_FORM}. It is fixed; with `=KG` at the end it has that mass, "
        "and moves. May be given several times",
        parse=options.moving_shape_text,
    )
    strength: float = option(
        "HZ", "how quickly joints answer (default {default})", parse=options.at_most(1000.0, "hertz"), default=6.0
    )
    assist: Assist = option(
        "", "what may hold a free root: `held` (by its weight at most), `helped` (0.3 weights) or `off`",
        choices=ASSISTS, default="held",
    )  # fmt: skip
    base: Base = option(
        "", "which roots that a robot's file fixes are free: those of figures with `legs`, none (`fixed`), or all "
        "(`free`); they stand on the floor",
        choices=BASES, default="legs",
    )  # fmt: skip
    ground: float | None = option(
        "Y",
        "height of the floor, metres (default 0, or the lowest joint of a figure that is below)",
        parse=options.finite,
        one_of="floor",
    )
    no_ground: bool = flag("no floor", one_of="floor")
    output: str | None = options.output_option(
        "the motion, by suffix; `.glb`, `.gltf` and films (`.mp4`, `.gif`, `fall_%04d.png`) have objects and balls too"
    )
    look: Look = part(Look)
    json: bool = options.JSON


def _part(name: str) -> str:
    if name not in BENCH_PARTS:
        raise argparse.ArgumentTypeError(unknown_name("part", name, BENCH_PARTS))
    return name


class BenchOptions(Options):
    examples: ClassVar[str] = (
        "parts:\n"
        + "\n".join(f"  {name:<12} {what}" for name, what in BENCH_PARTS.items())
        + """

examples:
  ikviewer bench                        (all parts: some minutes; a quiet machine gives true figures)
  ikviewer bench speed drag
  ikviewer bench --json > figures.json
  ikviewer bench --history              (the figures of earlier runs)

Every run but a quick one is kept, a line of JSON in one file, and compared with the last one on this machine."""
    )

    # argparse checks a default of nargs="*" against choices as one value, so it is checked here.
    parts: list[str] = argument(
        "NAME", f"parts to measure: {', '.join(BENCH_PARTS)}", nargs="*", parse=_part, words=tuple(BENCH_PARTS)
    )
    quick: bool = flag("a few of everything, to see that it works: no figures")
    seed: int = option("S", "seed of the problems", parse=options.count, default=BENCH_SEED)
    count: int = option(
        "N",
        "problems of each kind (default {default})",
        parse=partial(options.count, least=1),
        default=BENCH_COUNT,
    )
    history: bool = flag("show the figures of earlier runs, side by side; nothing is measured")
    history_file: str | None = option(
        "PATH", "where they are kept; `bench.jsonl` in ikviewer's folder of log files unless given", completes=FILES
    )
    json: bool = flag("print one JSON document; with `--history` a list of all runs")
