"""``ikviewer solve``: pose a skeleton by its goals."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from viewer.cli.inputs import check_kept
from viewer.cli.options import (
    SOLVERS,
    add_clip,
    add_input,
    add_json,
    check_frames,
    chosen_clip,
    count,
    load_input,
    method,
    motion_of,
    part,
    positive,
)
from viewer.cli.output import print_json, print_text, warn
from viewer.cli.poses import named_pose
from viewer.cli.sessions import shown_pose
from viewer.cli.solve_report import report_lines, report_of
from viewer.errors import InputError, quote

if TYPE_CHECKING:
    import argparse

    from viewer.ik.goals import Goal
    from viewer.skeleton.character import Character
    from viewer.skeleton.pose import Pose

HELP = "pose a skeleton so that all goals of a goals file are met at once"
EXAMPLES = """examples:
  ikviewer solve sample:biped reach.json
  ikviewer solve walk.bvh reach.json --from-frame 12 --hold -o posed.bvh
  ikviewer solve sample:claw-arm grip.json --json --solver dls

A goals file:
  {"version": 1, "type": "goals", "goals": [
    {"effector": "LeftHand", "position": [0.4, 1.2, 0.3]}, {"effector": "RightFoot", "pin": true}]}
Metres, Y up. It starts from the relaxed pose (of a session: the pose in which it was saved) unless told otherwise,
and exits 0 whenever it gives a pose."""

OUTPUTS = (".json", ".bvh", ".glb", ".gltf", ".png")
_ROOTS = ("free", "translate", "locked")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this command."""
    add_input(parser)
    parser.add_argument("goals", metavar="GOALS", help="goals file (JSON)")
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
    group.add_argument("--solver", type=method, default="default", metavar="NAME", help=SOLVERS)
    group.add_argument("--backend", choices=("auto", "numpy", "numba"), default="auto")
    group.add_argument("--no-limits", action="store_true", help="ignore joint limits")
    group.add_argument("--hold", action="store_true", help="keep all other effectors where they are, and pin the feet")
    group.add_argument("--prefer", metavar="P", help="draw what the goals leave free to this pose: rest, relaxed, ...")
    group.add_argument("--prefer-weight", type=part, default=1.0, metavar="W", help="how strongly: 0 to 1 (default 1)")
    group.add_argument("--root", choices=_ROOTS, default="free", help="what a free root may do (default: free)")
    group.add_argument("--tolerance-m", type=positive, default=1e-3, metavar="M", help="metres (default 0.001)")
    group.add_argument("--tolerance-deg", type=positive, default=0.5, metavar="D", help="degrees (default 0.5)")
    group.add_argument("--max-iterations", type=count, default=200, metavar="N", help="default 200")
    group.add_argument("--seed", type=count, default=0, metavar="N", help="of the poses that restarts begin from")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Solve, print what came of it, write the pose if asked."""
    # The solver is imported here: other commands start without it.
    from viewer.formats.goals_json import read_goals
    from viewer.ik.holds import holds
    from viewer.ik.solver import Solver

    output = None if arguments.output is None else _checked_output(arguments.output)
    check_kept(output, arguments)
    character = chosen_clip(load_input(arguments, arguments.file), arguments.clip, arguments.file)
    skeleton = character.skeleton
    warnings: list[str] = []
    goals = read_goals(Path(arguments.goals), arguments.goals, skeleton, warnings)
    warn(f"{arguments.goals}: {warning}" for warning in warnings)
    start = _start(character, arguments)
    if arguments.hold:
        goals += holds(skeleton, start, goals)
    if not any(goal.enabled for goal in goals):
        raise InputError(f"{arguments.goals}: a solver needs at least one goal that is enabled")
    solver = Solver(
        skeleton,
        goals,
        method=arguments.solver,
        limits=not arguments.no_limits,
        backend=arguments.backend,
        root=arguments.root,
        tolerance_m=arguments.tolerance_m,
        tolerance_deg=arguments.tolerance_deg,
        max_iterations=arguments.max_iterations,
        seed=arguments.seed,
        preferred=None if arguments.prefer is None else named_pose(skeleton, arguments.prefer),
        preferred_weight=arguments.prefer_weight,
    )
    solution = solver.solve(start)
    if output is not None:
        _write(character, solution.pose, goals, output)
    report = report_of(skeleton, goals, solution, arguments)
    if arguments.json:
        print_json(report)
    else:
        print_text("\n".join(report_lines(report, output)))
    return 0


def _checked_output(name: str) -> Path:
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
        from viewer.formats.pose_json import pose_to_json

        write_whole(path, pose_to_json(character.skeleton, pose))
        return
    from viewer.formats.save import save

    warn(f"{path}: {warning}" for warning in save(character, path, pose=pose))
