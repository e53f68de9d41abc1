"""What ``ikviewer solve`` says of a solution."""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import numpy as np

from viewer.cli.output import Json
from viewer.errors import one_line, shown
from viewer.ik.findings import FAR, far
from viewer.ik.goals import Goal, goal_ids
from viewer.ik.solution import Solution
from viewer.skeleton.coordinates import joint_space, limit_violation
from viewer.skeleton.limits import JointKind
from viewer.skeleton.pose import Pose
from viewer.skeleton.skeleton import Skeleton


def report_of(
    skeleton: Skeleton, goals: tuple[Goal, ...], solution: Solution, arguments: argparse.Namespace
) -> dict[str, Json]:
    """The JSON form; numbers that a goal has none of are null."""
    entries: list[Json] = []
    errors_m, errors_deg = solution.errors_m.tolist(), solution.errors_deg.tolist()
    for name, goal, metres, degrees in zip(goal_ids(goals), goals, errors_m, errors_deg, strict=True):
        asked = [not math.isnan(metres), not math.isnan(degrees)]
        near = [metres <= arguments.tolerance_m, degrees <= arguments.tolerance_deg]
        reached = any(asked) and all(met for met, wanted in zip(near, asked, strict=True) if wanted)
        entry: dict[str, Json] = {
            "id": name,
            "effector": goal.effector or None,
            "kind": goal.kind.value,
            "error_m": metres if asked[0] else None,
            "error_deg": degrees if asked[1] else None,
            "reached": reached,
        }
        if goal.residuals is not None:
            entry["function"] = getattr(goal.residuals, "__name__", "")
        entries.append(entry)
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


def _length(error: float) -> str:
    """A miss in metres: ``157.4 mm``, from ten metres on ``12.3 m``."""
    return f"{1e3 * error:.1f} mm" if error < FAR else far(error)


def report_lines(report: dict[str, Json], output: Path | None) -> list[str]:
    """The form for people."""
    entries, diagnosis, unserved = report["goals"], report["diagnosis"], report["unserved"]
    assert isinstance(entries, list)
    assert isinstance(diagnosis, list)
    assert isinstance(unserved, list)
    milliseconds = 1e3 * float(str(report["seconds"]))
    steps = f"{report['iterations']} iteration{'' if report['iterations'] == 1 else 's'}"
    lines = [f"{report['status']}: {steps}, {milliseconds:.1f} ms, {report['backend']}"]
    for entry in entries:
        assert isinstance(entry, dict)
        off = []
        name = entry["effector"] or entry.get("function")
        if entry["kind"] == "function" and entry["error_m"] is not None:
            off.append(f"{float(str(entry['error_m'])):.4g}")  # in whatever unit its numbers have
        elif entry["error_m"] is not None:
            off.append(_length(float(str(entry["error_m"]))))
        if entry["error_deg"] is not None:
            off.append(f"{float(str(entry['error_deg'])):.2f}°")
        if not off:
            lines.append(f"  off      {shown(str(name))} {entry['kind']}")
            continue
        mark = "reached" if entry["reached"] else "missed "
        lines.append(f"  {mark}  {shown(str(name))} {entry['kind']}: {', '.join(off)}")
    lines += [one_line(f"  {line}") for line in diagnosis]
    lines += [f"  not served by this solver: {shown(str(name))}" for name in unserved]
    if output is not None:
        lines.append(one_line(f"wrote {output}"))
    return lines
