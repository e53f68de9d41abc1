"""``ikviewer solve``, ``layer`` and ``lab``: a pose by goals, goals over time on a motion, methods side by side."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np

import viewer
from viewer.choices import Backend, MethodName, RootMode
from viewer.cli import inputs
from viewer.cli.goal_inputs import check_enabled, contact_of, goal_from, goals_of, layers_of
from viewer.cli.job import Json, Result, UsageError, warn
from viewer.cli.many_files import Kind, one_or_each
from viewer.cli.options import usage_of
from viewer.cli.solving_options import BENDS, LabOptions, LayerOptions, SolveOptions, Solving
from viewer.errors import InputError, one_line, plural, prefixed, quote, shown
from viewer.formats.file_formats import PICTURES, POSES
from viewer.formats.files import write_whole
from viewer.formats.lab_report import amount, report_document, report_text
from viewer.formats.save import check_no_session
from viewer.formats.skeleton_json import pose_to_json
from viewer.formats.video import write_png
from viewer.ik.all_solutions import all_solutions
from viewer.ik.findings import FAR, far
from viewer.ik.goals import KINDS, Goal, goal_ids
from viewer.ik.goals.pose_goal import holds
from viewer.ik.lab import Traces, checked_methods, lab
from viewer.ik.methods import EVERY_METHOD, Tuning
from viewer.ik.solution import Solution, Status
from viewer.ik.solver import Solver
from viewer.ik.solver_options import ONE_SHOT, Options, SolverOptions, serves_levels
from viewer.motion import Layer, solve_layers, with_windows
from viewer.skeleton import Character, JointKind, Pose, Skeleton, joint_space, limit_violation

LAB_OUTPUTS = (".html", ".json", *PICTURES)
_REPEATS = 5


def run_solve(options: SolveOptions) -> Result | Iterator[Result]:
    """Solve, and write the pose with ``-o``; of a folder every file."""
    _check_usage(options)
    kind = Kind("solving", "solved", suffix=".json", check=lambda path: _pose_output(str(path)))
    return one_or_each(kind, _solve, options, options.file, options.output, options.spread)


def _solve(options: SolveOptions) -> Result:
    output = None if options.output is None else _pose_output(options.output)
    character = inputs.load_clip(options.file, options.reading, options.start.clip)
    goals, solution, every = _solved(character, options)
    if output is not None:
        _write(character, solution.pose, goals, output)
    joints = _joint_values(character, solution.pose)
    positions: Json = {name: value for name, value, _ in joints}
    report = _report(character.skeleton, goals, solution, options.solving) | {"joints": positions}
    if every is not None:
        report["solutions"] = every
    lines = _report_lines(report)
    if character.source.joint_names:
        width = max((len(name) for name, *_ in joints), default=0)
        lines += [
            f"  {shown(name):{width}}  {f'{value:8.4f} m' if slides else f'{math.degrees(value):8.2f}°'}"
            for name, value, slides in joints
        ]
    if output is None:
        return Result(lines, document=report)
    return Result(notes=[*lines, one_line(f"wrote {output}")], document=report)


def _solved(character: Character, options: SolveOptions) -> tuple[tuple[Goal, ...], Solution, int | None]:
    """The goals, including holds, the solution, and the number of all solutions with ``--solution``."""
    skeleton = character.skeleton
    goals, contact, ground = ((), None, None) if options.goals is None else goals_of(options.goals, skeleton)
    contact = contact_of(options.touching, contact, skeleton)
    ground = ground if options.solving.ground is None else options.solving.ground
    if options.goals_from:
        goals += tuple(goal_from(named, skeleton) for named in options.goals_from)
    start = inputs.start_of(character, options.file, options.start)
    chosen = _solver_options(options, skeleton) | {"contact": contact, "ground": ground}
    if options.solving.hold:
        kept = holds(skeleton, start, goals)
        if serves_levels(goals, Options(**chosen)):
            kept = tuple(replace(goal, level=0 if goal.pinned else 2, hold=not goal.pinned) for goal in kept)
        goals += kept
    if options.solving.balance and not any(KINDS[goal.kind].balances for goal in goals):
        goals += (Goal.balance(),)
    check_enabled(goals, options.goals)
    solver = Solver(skeleton, goals, **chosen)
    try:
        solution, every = _chosen(solver, start, options.solving.solution)
    except InputError as error:
        if not str(error).startswith("function goal: "):
            raise
        raise InputError(f"{' or '.join(options.goals_from)}: {error}") from error
    if options.solving.exact and solution.status is not Status.CONVERGED:
        warn(["--exact: not every goal can be met: the pose is the one that it started from"])
    return goals, solution, every


def _chosen(solver: Solver, start: Pose, number: int | None) -> tuple[Solution, int | None]:
    """The solution; or one of all that there are, and their number."""
    if number is None:
        return solver.solve(start), None
    every = all_solutions(solver, start)
    if number > len(every):
        raise InputError(f"--solution {number}: {len(every)} found")
    return every[number - 1], len(every)


def _check_usage(options: SolveOptions) -> None:
    """Raise UsageError if there are no goals, or an option does not apply to the solver."""
    if options.goals is None and not options.goals_from:
        raise UsageError("expected GOALS or --goals-from FILE.py:NAME, found neither")
    solver = options.solving.solver
    for name, value in options.lesson.values().items():
        methods = [method.name for method in EVERY_METHOD.values() if name in method.takes]
        if value not in {None, False} and solver not in methods:
            named = " or ".join(filter(None, (", ".join(methods[:-1]), methods[-1])))
            raise UsageError(f"argument --{name}: {solver} has no use for it: expected --solver {named}")


def _solver_options(options: SolveOptions, skeleton: Skeleton) -> SolverOptions:
    """Keyword arguments of `Solver`."""
    chosen, lesson, settings = options.solving, options.lesson, ONE_SHOT
    if lesson.damping is not None:
        settings = settings._replace(damping=lesson.damping**2, damping_scale=0.0)
    return {
        "method": cast("MethodName", chosen.solver),  # the parser has checked these words
        "limits": not chosen.no_limits,
        "backend": cast("Backend", chosen.backend),
        "root": cast("RootMode", chosen.root),
        "tolerance_m": chosen.tolerance_m,
        "tolerance_deg": chosen.tolerance_deg,
        "max_iterations": chosen.max_iterations,
        "seed": chosen.seed,
        "exact": chosen.exact,
        "preferred": None if chosen.prefer is None else inputs.named_pose(skeleton, chosen.prefer),
        "preferred_weight": chosen.prefer_weight,
        "settings": settings,
        "tuning": Tuning(
            damping=lesson.damping,
            step=1.0 if lesson.step is None else lesson.step,
            numeric=lesson.numeric,
            elbow=0 if lesson.bend is None else BENDS[lesson.bend],
        ),
    }


def _pose_output(name: str) -> Path:
    check_no_session(Path(name))
    return inputs.checked_output(name, POSES)


def _write(character: Character, pose: Pose, goals: tuple[Goal, ...], path: Path) -> None:
    if path.suffix.casefold() == ".png":
        write_png(viewer.render(character, pose, goals=goals), path)
        return
    if path.suffix.casefold() == ".json":
        write_whole(path, pose_to_json(character.skeleton, pose))
        return
    inputs.saved(character, path, pose=pose)


# --- the report of a solution


def _report(skeleton: Skeleton, goals: tuple[Goal, ...], solution: Solution, chosen: Solving) -> dict[str, Json]:
    """The JSON document; numbers that a goal does not have are null."""
    entries: list[dict[str, Json]] = []
    errors_m, errors_deg = solution.errors_m.tolist(), solution.errors_deg.tolist()
    yields = solution.yields.tolist()
    for place, (name, goal, metres, degrees) in enumerate(
        zip(goal_ids(goals), goals, errors_m, errors_deg, strict=True)
    ):
        has_m, has_deg = not math.isnan(metres), not math.isnan(degrees)
        near_m, near_deg = metres <= chosen.tolerance_m, degrees <= chosen.tolerance_deg
        reached = (has_m or has_deg) and (near_m or not has_m) and (near_deg or not has_deg)
        entry: dict[str, Json] = {
            "id": name,
            "effector": goal.effector or None,
            "kind": goal.kind,
            "level": goal.level,
            "error_m": metres if has_m else None,
            "error_deg": degrees if has_deg else None,
            "reached": reached,
            "yields": yields[place],
        }
        if goal.residuals is not None:
            entry["function"] = getattr(goal.residuals, "__name__", "")
        entries.append(entry)
    return {
        "status": solution.status.value,
        "iterations": solution.iterations,
        "seconds": solution.seconds,
        "backend": solution.backend,
        "goals": [*entries],
        "levels": _levels(goals, entries),
        "max_limit_violation_deg": _violation_deg(skeleton, solution.pose),
        "at_limit": list(solution.at_limit),
        "diagnosis": list(solution.diagnosis),
        "unserved": list(solution.unserved),
        "contacts": [
            {"body": one.body, "other": one.other, "depth_m": one.depth_m, "point": list(one.point)}
            for one in solution.contacts
        ],
        "pose": {
            "version": 1,
            "type": "pose",
            "skeleton": skeleton.name,
            "rotations": dict(zip(skeleton.names, solution.pose.rotations.tolist(), strict=True)),
            "translations": dict(zip(skeleton.names, solution.pose.translations.tolist(), strict=True)),
        },
    }


def _joint_values(character: Character, pose: Pose) -> list[tuple[str, float, bool]]:
    """Hinges and slides by the names that the file has for joints: radians or metres, and whether it is a slide."""
    skeleton = character.skeleton
    values = joint_space(skeleton).measure(pose.rotations, pose.translations)[:, 0].tolist()
    return [
        (character.source.name_of(name), value + 0.0, kind is JointKind.SLIDE)
        for name, kind, value in zip(skeleton.names, skeleton.kinds, values, strict=True)
        if kind.dofs == 1
    ]


def _levels(goals: tuple[Goal, ...], entries: list[dict[str, Json]]) -> list[Json]:
    """The levels in use, the first one first: how many goals each has, how many are reached, and whether it yields."""
    levels: list[Json] = []
    for level in sorted({goal.level for goal in goals if goal.enabled}):
        here = [entry for goal, entry in zip(goals, entries, strict=True) if goal.enabled and goal.level == level]
        reached, yields = (sum(bool(entry[key]) for entry in here) for key in ("reached", "yields"))
        levels.append({"level": level, "goals": len(here), "reached": reached, "yields": yields > 0})
    return levels


def _violation_deg(skeleton: Skeleton, pose: Pose) -> float:
    """Degrees of the largest limit violation; slides, which are measured in metres, are ignored."""
    space = joint_space(skeleton)
    turning = ~skeleton.of_kind(JointKind.SLIDE)
    limited = (np.isfinite(space.lower) | np.isfinite(space.upper)).any(axis=-1)
    return float(np.degrees(limit_violation(skeleton, pose)[turning & limited].max(initial=0.0)))


def _report_lines(report: dict[str, Json]) -> list[str]:
    entries: Any = report["goals"]
    diagnosis: Any = report["diagnosis"]
    unserved: Any = report["unserved"]
    seconds: Any = report["seconds"]
    steps = plural(cast("int", report["iterations"]), "iteration")
    lines = [f"{report['status']}: {steps}, {1e3 * seconds:.1f} ms, {report['backend']}"]
    if "solutions" in report:
        lines[0] += f", one of {report['solutions']} solutions"
    for entry in entries:
        errors = []
        if entry["kind"] == "function" and entry["error_m"] is not None:
            errors.append(f"{entry['error_m']:.4g}")  # a function's numbers have no known unit
        elif entry["error_m"] is not None:
            errors.append(f"{1e3 * entry['error_m']:.1f} mm" if entry["error_m"] < FAR else far(entry["error_m"]))
        if entry["error_deg"] is not None:
            errors.append(f"{entry['error_deg']:.2f}°")
        words = ("off    ", True), ("reached", entry["reached"]), ("yields ", entry["yields"]), ("missed ", True)
        mark = next(word for word, holds in words[bool(errors) :] if holds)
        whose = entry["effector"] or entry.get("function")
        goal = f"{shown(str(whose))} {entry['kind']}" if whose else entry["kind"]
        lines.append(f"  {mark}  {goal}{': ' if errors else ''}{', '.join(errors)}")
    touches: Any = report["contacts"]
    lines += [f"  touches  {shown(one['body'])}: {shown(one['other'])}" for one in touches]
    lines += [one_line(f"  {line}") for line in diagnosis]
    lines += [f"  not served by this solver: {shown(str(name))}" for name in unserved]
    return lines


# --- layer


def run_layer(options: LayerOptions) -> Result:
    """Read, solve the layers' frames, write."""
    output = inputs.character_output(options.output)
    character = inputs.load_clip(options.file, options.reading, options.clip)
    clip = inputs.motion_of(character, options.file)
    layers = layers_of(options.layers, character.skeleton)
    with prefixed(options.layers):
        windows = solve_layers(character.skeleton, clip, layers, backend=options.backend, limits=not options.no_limits)
    warn(f"{options.layers}: {line}" for line in _together(layers))
    changed = with_windows(clip, windows)
    inputs.saved(inputs.with_motion(character, changed), output)
    rows: list[Json] = []
    lines = []
    misses = {
        index: (miss, window) for window in windows for index, miss in zip(window.layers, window.misses, strict=True)
    }
    for index, layer in enumerate(layers):
        name = " and ".join(map(shown, layer.effectors))
        if index not in misses:
            lines.append(f"{name}: off")
            rows.append({"effector": layer.goal.effector, "enabled": False})
            continue
        miss, window = misses[index]
        first, last = window.first, window.first + len(window.rotations) - 1
        lines.append(
            f"{name}: frames {first} to {last}; with all its weight at most "
            f"{1e3 * miss.metres:.2f} mm and {miss.degrees:.2f} degrees off"
        )
        rows.append(
            {
                "effector": layer.goal.effector,
                "frames": [first, last],
                "error_m": miss.metres,
                "error_deg": miss.degrees,
            }
        )
    held = inputs.motion_held(output, plural(len(clip), "frame"))
    return Result(lines, notes=[f"wrote {output}: {held}"], document={"layers": rows})


def _together(layers: Sequence[Layer]) -> Iterator[str]:
    """A line for each pair of layers that move one effector at the same time."""
    acting = [(index, layer) for index, layer in enumerate(layers) if layer.on and layer.weight > 0.0]
    for place, (second, later) in enumerate(acting):
        for first, earlier in acting[:place]:
            both = [name for name in later.effectors if name in earlier.effectors]
            same = both and later.goal.kind == earlier.goal.kind
            if same and max(earlier.start, later.start) < min(earlier.end, later.end):
                name = " and ".join(map(quote, both))
                yield f"layers[{first}] and layers[{second}] move {name} at the same time: the later one prevails"


# --- lab


def run_lab(options: LabOptions) -> Result:
    """Solve by every method; print a line for each, write the report with ``-o``."""
    with usage_of("--methods"):
        checked_methods(options.methods)
    output = None if options.output is None else inputs.checked_output(options.output, LAB_OUTPUTS)
    character = inputs.load_clip(options.file, options.reading, options.start.clip)
    traces = _traces(character, options)
    source = Path(options.file).name
    document = report_document(traces, source=source, seed=options.seed)
    lines = _lines(traces)
    if output is None:
        return Result(lines, document=document)
    wrote = f"wrote {output}"
    if output.suffix.casefold() in {".html", ".json"}:
        write_whole(output, report_text(traces, output, source=source, seed=options.seed))
    elif output.suffix.casefold() == ".png":
        from viewer.opengl.filming import render_traces  # noqa: PLC0415 - only pictures need OpenGL

        write_png(render_traces(character, traces), output)
    else:
        from viewer.cli.picture_commands import write_film  # noqa: PLC0415
        from viewer.opengl.filming import film_traces  # noqa: PLC0415

        words, _, _ = write_film(film_traces(character, traces), output)
        wrote = f"{wrote}: {words}"
    return Result(notes=[*lines, one_line(wrote)], document=document)


def _traces(character: Character, options: LabOptions) -> Traces:
    skeleton = character.skeleton
    goals, contact, ground = goals_of(options.goals, skeleton)
    check_enabled(goals, options.goals)
    return lab(
        skeleton,
        goals,
        checked_methods(options.methods),
        pose=inputs.start_of(character, options.file, options.start),
        iterations=options.iterations,
        repeats=_REPEATS,
        limits=not options.no_limits,
        root=cast("RootMode", options.root),
        backend=cast("Backend", options.backend),
        tolerance_m=options.tolerance_m,
        tolerance_deg=options.tolerance_deg,
        seed=options.seed,
        contact=contact,
        ground=ground,
        tuning=Tuning(damping=options.damping),
    )


def _lines(traces: Traces) -> list[str]:
    """A line a method, and why it did not meet the goals."""
    width = max(map(len, traces.methods))
    lines = []
    for trace in traces.each:
        miss = amount(trace.error(trace.last.iterations), metres=trace.in_metres)
        lines.append(f"{trace.method:{width}}  {miss:>9}  {1000.0 * trace.seconds[-1]:8.2f} ms  {trace.how}")
    return [*lines, *(trace.why for trace in traces.each if trace.why)]
