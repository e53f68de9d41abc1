"""``ikviewer solve``: pose a skeleton by its goals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from viewer.cli.inputs import check_kept, named_pose, shown_pose
from viewer.cli.options import (
    add_choice,
    add_clip,
    add_input,
    add_json,
    add_solver,
    check_frames,
    chosen_clip,
    count,
    load_input,
    motion_of,
    part,
    positive,
)
from viewer.cli.output import is_quiet, print_json, print_text, warn
from viewer.cli.standard_input import as_file
from viewer.errors import InputError, quote

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from viewer.ik.goals import Goal
    from viewer.ik.solver_options import SolverOptions
    from viewer.skeleton.character import Character
    from viewer.skeleton.pose import Pose
    from viewer.skeleton.skeleton import Skeleton

EXAMPLES = """examples:
  ikviewer solve sample:biped reach.json
  ikviewer solve walk.bvh reach.json --from-frame 12 --hold -o posed.bvh
  ikviewer solve sample:claw-arm grip.json --json --solver dls
  ikviewer solve sample:two-link tip.json --solver two-link --bend up
  ikviewer solve sample:biped --goals-from mine.py:above       (runs mine.py; def above(world): ...)

A goals file:
  {"version": 1, "type": "goals", "goals": [
    {"effector": "LeftHand", "position": [0.4, 1.2, 0.3]}, {"effector": "RightFoot", "pin": true}]}
Metres, Y up. It starts from the relaxed pose (of a session: the pose in which it was saved) unless told otherwise,
and exits 0 whenever it gives a pose."""

OUTPUTS = (".json", ".bvh", ".glb", ".gltf", ".png")
_ROOTS = ("free", "translate", "locked")
_BENDS = {"up": 1, "down": -1}
_DAMPED = ("default", "dls")
_JACOBIAN = (*_DAMPED, "sdls", "pseudo-inverse", "transpose")
_OF = {"damping": _DAMPED, "step": _JACOBIAN, "numeric": _JACOBIAN, "bend": ("two-link",)}
"""The solvers that an option is for."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this command."""
    add_input(parser)
    parser.add_argument("goals", metavar="GOALS", nargs="?", help="goals file (JSON), or - (stdin)")
    parser.add_argument(
        "--goals-from",
        action="append",
        default=[],
        metavar="FILE.py:NAME",
        help="run FILE.py and take its function NAME as a goal: f(world) or f(world, skeleton) returns numbers that "
        "are to become zero. May be given several times, GOALS may then be left out",
    )
    parser.add_argument(
        "-o", "--output", metavar="OUT", help="write the pose: .json, .bvh, .glb, .gltf (one frame) or .png (a picture)"
    )
    group = parser.add_argument_group("where to start")
    start = group.add_mutually_exclusive_group()
    start.add_argument("--from-rest", action="store_true", help="from the rest pose")
    start.add_argument("--from-frame", type=count, metavar="N", help="from a frame of the motion, counted from 0")
    start.add_argument("--from-pose", metavar="P", help="from a pose of FILE by name, or a pose file")
    add_clip(group)
    group = parser.add_argument_group("how to solve")
    add_solver(group, default="default")
    group.add_argument("--hold", action="store_true", help="keep all other effectors where they are, and pin the feet")
    group.add_argument("--prefer", metavar="P", help="draw what the goals leave free to this pose: rest, relaxed, ...")
    group.add_argument("--prefer-weight", type=part, default=1.0, metavar="W", help="how strongly: 0 to 1 (default 1)")
    add_choice(group, "--root", _ROOTS, told="what a free root may do (default: free)", default="free")
    group.add_argument("--tolerance-m", type=positive, default=1e-3, metavar="M", help="metres (default 0.001)")
    group.add_argument("--tolerance-deg", type=positive, default=0.5, metavar="D", help="degrees (default 0.5)")
    group.add_argument("--max-iterations", type=count, default=200, metavar="N", help="default 200")
    group.add_argument("--seed", type=count, default=0, metavar="N", help="of the poses that restarts begin from")
    group.add_argument("--exact", action="store_true", help="exact or nothing: a pose that misses is not taken")
    group = parser.add_argument_group("for lessons and comparison")
    group.add_argument("--damping", type=positive, metavar="X", help="lambda, of default and dls (else by the error)")
    group.add_argument("--step", type=positive, metavar="X", help="part of each step that is gone (default 1)")
    group.add_argument("--numeric", action="store_true", help="the Jacobian by central differences")
    add_choice(group, "--bend", tuple(_BENDS), told="where the elbow is to be, of two-link")
    add_json(parser)
    parser.set_defaults(refuse=parser.error)


def run(arguments: argparse.Namespace) -> int:
    """Solve, print what came of it, write the pose if asked."""
    # The solver is imported here: other commands start without it.
    from viewer.cli.solve_report import report_lines, report_of
    from viewer.ik.holds import holds
    from viewer.ik.solution import Status
    from viewer.ik.solver import Solver

    _check_usage(arguments)
    output = None if arguments.output is None else _checked_output(arguments.output)
    check_kept(output, arguments)
    character = chosen_clip(load_input(arguments, arguments.file), arguments.clip, arguments.file)
    skeleton = character.skeleton
    goals = _goals(arguments, skeleton)
    start = _start(character, arguments)
    if arguments.hold:
        goals += holds(skeleton, start, goals)
    if not any(goal.enabled for goal in goals):
        raise InputError(f"{arguments.goals}: a solver needs at least one goal that is enabled")
    solver = Solver(skeleton, goals, **_options(arguments, skeleton))
    try:
        solution = solver.solve(start)
    except InputError as error:
        if not str(error).startswith("function goal: "):
            raise
        raise InputError(f"{' or '.join(arguments.goals_from)}: {error}") from error
    if arguments.exact and solution.status is not Status.CONVERGED:
        warn(["--exact: not every goal can be met: the pose is the one that it started from"])
    if output is not None:
        _write(character, solution.pose, goals, output)
    report = report_of(skeleton, goals, solution, arguments)
    if arguments.json:
        print_json(report)
    elif output is None or not is_quiet():
        print_text("\n".join(report_lines(report, output)))
    return 0


def _check_usage(arguments: argparse.Namespace) -> None:
    """End with wrong usage (exit 2) where options say nothing to the solver, or there is nothing to solve."""
    if arguments.goals is None and not arguments.goals_from:
        arguments.refuse("expected GOALS or --goals-from FILE.py:NAME, found neither")
    for name, methods in _OF.items():
        if getattr(arguments, name) not in {None, False} and arguments.solver not in methods:
            arguments.refuse(
                f"argument --{name}: {arguments.solver} has no use for it: expected --solver {_or(methods)}"
            )


def _or(names: tuple[str, ...]) -> str:
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _goals(arguments: argparse.Namespace, skeleton: Skeleton) -> tuple[Goal, ...]:
    """Those of the goals file, then those by functions."""
    from viewer.formats.goals_json import read_goals

    goals: tuple[Goal, ...] = ()
    if arguments.goals is not None:
        warnings: list[str] = []
        with as_file(arguments.goals) as path:
            goals = read_goals(path, arguments.goals, skeleton, warnings)
        warn(f"{arguments.goals}: {warning}" for warning in warnings)
    if arguments.goals_from:
        from viewer.cli.own_goals import goal_from

        goals += tuple(goal_from(named, skeleton) for named in arguments.goals_from)
    return goals


def _options(arguments: argparse.Namespace, skeleton: Skeleton) -> SolverOptions:
    """What the solver is told."""
    from viewer.ik.methods import Tuning
    from viewer.ik.settings import ONE_SHOT

    settings = ONE_SHOT
    if arguments.damping is not None:
        settings = settings._replace(damping=arguments.damping**2, damping_scale=0.0)
    return {
        "method": arguments.solver,
        "limits": not arguments.no_limits,
        "backend": arguments.backend,
        "root": arguments.root,
        "tolerance_m": arguments.tolerance_m,
        "tolerance_deg": arguments.tolerance_deg,
        "max_iterations": arguments.max_iterations,
        "seed": arguments.seed,
        "exact": arguments.exact,
        "preferred": None if arguments.prefer is None else named_pose(skeleton, arguments.prefer),
        "preferred_weight": arguments.prefer_weight,
        "settings": settings,
        "tuning": Tuning(
            damping=arguments.damping,
            step=1.0 if arguments.step is None else arguments.step,
            numeric=arguments.numeric,
            elbow=_BENDS.get(arguments.bend, 0),
        ),
    }


def _checked_output(name: str) -> Path:
    from pathlib import Path

    from viewer.formats.save import check_no_session

    path = Path(name)
    check_no_session(path)
    if path.suffix.casefold() not in OUTPUTS:
        found = quote(path.suffix) if path.suffix else "no suffix"
        raise InputError(f"{name}: expected a name that ends in {', '.join(OUTPUTS)}, found {found}")
    return path


def _start(character: Character, arguments: argparse.Namespace) -> Pose:
    if arguments.from_frame is not None:
        clip = motion_of(character, arguments.file)
        check_frames(clip, arguments.file, arguments.from_frame)
        return clip.pose(arguments.from_frame)
    if arguments.from_pose is not None:
        return named_pose(character.skeleton, arguments.from_pose)
    if arguments.from_rest:
        return character.skeleton.rest_pose()
    return shown_pose(character, arguments.file) or character.skeleton.relaxed_pose()


def _write(character: Character, pose: Pose, goals: tuple[Goal, ...], path: Path) -> None:
    if path.suffix.casefold() == ".png":
        from viewer.cli.render import write_png
        from viewer.opengl.picture import render

        write_png(path, render(character, pose, goals=goals))
        return
    if path.suffix.casefold() == ".json":
        from viewer.formats.files import write_whole
        from viewer.formats.motion_json import pose_to_json

        write_whole(path, pose_to_json(character.skeleton, pose))
        return
    from viewer.formats.save import save

    warn(f"{path}: {warning}" for warning in save(character, path, pose=pose))
