"""``ikviewer solve``: pose a skeleton by its goals."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from viewer.cli.options import add_input, add_json, check_frames, count, load_input, motion_of, positive
from viewer.cli.output import Json, print_json, print_text, warn
from viewer.cli.poses import named_pose
from viewer.errors import InputError, quote
from viewer.skeleton.coordinates import joint_space
from viewer.skeleton.kinds import JointKind
from viewer.skeleton.violation import limit_violation

if TYPE_CHECKING:
    import argparse

    from viewer.ik.goals import Goal
    from viewer.ik.solution import Solution
    from viewer.skeleton.character import Character
    from viewer.skeleton.pose import Pose
    from viewer.skeleton.skeleton import Skeleton

HELP = "pose a skeleton so that all goals of a goals file are met at once"
EXAMPLES = """examples:
  ikviewer solve sample:biped reach.json
  ikviewer solve walk.bvh reach.json --from-frame 12 --hold -o posed.bvh
  ikviewer solve sample:claw-arm grip.json --json --solver dls

A goals file:
  {"version": 1, "type": "goals", "goals": [
    {"effector": "LeftHand", "position": [0.4, 1.2, 0.3]}, {"effector": "RightFoot", "pin": true}]}
Metres, Y up. It starts from the relaxed pose unless told otherwise, and exits 0 whenever it gives a pose."""

OUTPUTS = (".json", ".bvh", ".glb", ".gltf", ".png")
_ROOTS = ("free", "translate", "locked")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this command."""
    add_input(parser)
    parser.add_argument("goals", metavar="GOALS", help="goals file (JSON)")
    parser.add_argument(
        "-o", "--output", metavar="OUT", help="write the pose: .json, .bvh, .glb, .gltf (one frame) or .png (a picture)"
    )
    start = parser.add_argument_group("where to start").add_mutually_exclusive_group()
    start.add_argument("--from-rest", action="store_true", help="from the rest pose")
    start.add_argument("--from-frame", type=int, metavar="N", help="from a frame of the motion, counted from 0")
    start.add_argument("--from-pose", metavar="P", help="from a pose of FILE by name, or a pose file")
    group = parser.add_argument_group("how to solve")
    group.add_argument("--solver", default="default", metavar="NAME", help="default, dls, sdls, ccd, ...")
    group.add_argument("--backend", choices=("auto", "numpy", "numba"), default="auto")
    group.add_argument("--no-limits", action="store_true", help="ignore joint limits")
    group.add_argument("--hold", action="store_true", help="keep all other effectors where they are, and pin the feet")
    group.add_argument("--prefer", metavar="P", help="draw what the goals leave free to this pose: rest, relaxed, ...")
    group.add_argument("--prefer-weight", type=float, default=1.0, metavar="W", help="how strongly: 0 to 1 (default 1)")
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
    character = load_input(arguments, arguments.file)
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
    report = _report(skeleton, goals, solution, arguments)
    if arguments.json:
        print_json(report)
    else:
        print_text("\n".join(_lines(report, output)))
    return 0


def _checked_output(name: str) -> Path:
    path = Path(name)
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
    return character.skeleton.rest_pose() if arguments.from_rest else character.skeleton.relaxed_pose()


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


def _report(
    skeleton: Skeleton, goals: tuple[Goal, ...], solution: Solution, arguments: argparse.Namespace
) -> dict[str, Json]:
    """The JSON form; numbers that a goal has none of are null."""
    entries: list[Json] = []
    errors_m, errors_deg = solution.errors_m.tolist(), solution.errors_deg.tolist()
    for goal, metres, degrees in zip(goals, errors_m, errors_deg, strict=True):
        asked = [not math.isnan(metres), not math.isnan(degrees)]
        near = [metres <= arguments.tolerance_m, degrees <= arguments.tolerance_deg]
        reached = any(asked) and all(met for met, wanted in zip(near, asked, strict=True) if wanted)
        entries.append(
            {
                "effector": goal.effector,
                "kind": goal.kind.value,
                "error_m": metres if asked[0] else None,
                "error_deg": degrees if asked[1] else None,
                "reached": reached,
            }
        )
    return {
        "status": solution.status.value,
        "iterations": solution.iterations,
        "seconds": solution.seconds,
        "backend": solution.backend,
        "goals": entries,
        "max_limit_violation_deg": _violation_deg(skeleton, solution.pose),
        "at_limit": list(solution.at_limit),
        "diagnosis": list(solution.diagnosis),
        "unserved": list(solution.unserved),
        "pose": {
            "version": 1,
            "type": "pose",
            "skeleton": skeleton.name,
            "rotations": dict(zip(skeleton.names, solution.pose.rotations.tolist(), strict=True)),
            "translations": dict(zip(skeleton.names, solution.pose.translations.tolist(), strict=True)),
        },
    }


def _violation_deg(skeleton: Skeleton, pose: Pose) -> float:
    """Degrees by which the worst joint is outside; slides are measured in metres and left out."""
    turning = np.array([kind is not JointKind.SLIDE for kind in skeleton.kinds])
    limited = np.isfinite(joint_space(skeleton).lower).any(axis=-1) | np.isfinite(joint_space(skeleton).upper).any(
        axis=-1
    )
    return float(np.degrees(limit_violation(skeleton, pose)[turning & limited].max(initial=0.0)))


def _lines(report: dict[str, Json], output: Path | None) -> list[str]:
    """The form for people."""
    entries, diagnosis, unserved = report["goals"], report["diagnosis"], report["unserved"]
    assert isinstance(entries, list)
    assert isinstance(diagnosis, list)
    assert isinstance(unserved, list)
    milliseconds = 1e3 * float(str(report["seconds"]))
    lines = [f"{report['status']}: {report['iterations']} iterations, {milliseconds:.1f} ms, {report['backend']}"]
    for entry in entries:
        assert isinstance(entry, dict)
        off = []
        if entry["error_m"] is not None:
            off.append(f"{1e3 * float(str(entry['error_m'])):.1f} mm")
        if entry["error_deg"] is not None:
            off.append(f"{float(str(entry['error_deg'])):.2f}°")
        if not off:
            lines.append(f"  off      {entry['effector']} {entry['kind']}")
            continue
        mark = "reached" if entry["reached"] else "missed "
        lines.append(f"  {mark}  {entry['effector']} {entry['kind']}: {', '.join(off)}")
    lines += [f"  {line}" for line in diagnosis]
    lines += [f"  not served by this solver: {name}" for name in unserved]
    if output is not None:
        lines.append(f"wrote {output}")
    return lines
