"""Figures of earlier runs, one JSON object per line of a file, and the changes since."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from viewer.cli.bench.report import Table, number
from viewer.cli.bench.solves import NUMBA, NUMPY
from viewer.cli.output import Json
from viewer.errors import InputError, OutputError
from viewer.formats.files import reason
from viewer.session.folders import log_folder

_MOST_RUNS = 6
"""Columns of a table that fits a terminal."""


class _Headline(NamedTuple):
    """A figure that is shown over time: its label and its path in the figures of a run."""

    label: str
    path: tuple[str, ...]

    def of(self, run: Mapping[str, Any]) -> float | None:
        """The figure of a run; None if it was not measured."""
        found: Any = run.get("parts")
        for key in self.path:
            found = found.get(key) if isinstance(found, dict) else None
        return float(found) if isinstance(found, (int, float)) else None


_HEADLINES = (
    _Headline("humanoid near, ms", ("speed", "sets", "humanoid", "near", NUMBA, "ms")),
    _Headline("humanoid far, ms", ("speed", "sets", "humanoid", "far", NUMBA, "ms")),
    _Headline("humanoid far, honest", ("speed", "sets", "humanoid", "far", NUMBA, "honest")),
    _Headline("fingers far, ms", ("speed", "sets", "fingers", "far", NUMBA, "ms")),
    _Headline("fingers far, honest", ("speed", "sets", "fingers", "far", NUMBA, "honest")),
    _Headline("humanoid near by numpy, ms", ("speed", "sets", "humanoid", "near", NUMPY, "ms")),
    _Headline("biped-hands far, honest", ("methods", "biped-hands", "far", "default", "honest")),
    _Headline("drag humanoid, ms a frame", ("drag", "humanoid", "following", "2", "ms")),
    _Headline("drag humanoid, % below 1 mm", ("drag", "humanoid", "following", "2", "below_1_mm_percent")),
    _Headline("drag humanoid, largest step, deg", ("drag", "humanoid", "following", "2", "joint_step_deg_max")),
    _Headline("out and back, deg p90", ("drag", "humanoid", "return", "line", "degrees_p90")),
    _Headline("out of reach, deg an iteration", ("unreachable", "humanoid", "deg_per_iteration_max")),
    _Headline("lock-ups while dragging, %", ("lockup", "default", "dragging_percent")),
    _Headline("poses, root given, cm off", ("poses", "means", "a", "position_cm")),
    _Headline("poses, root free, cm off", ("poses", "means", "b", "position_cm")),
    _Headline("batch near, one thread, solves/s", ("batch", "classes", "near", "threads_1", "solves_per_s")),
    _Headline("import viewer, s", ("start", "import_viewer")),
    _Headline("first compiled solve, s", ("start", "first_numba_solve_warm_cache")),
    _Headline("clip kinematics, frames/s", ("files", "forward_kinematics", "clip_frames_per_s")),
    _Headline("load sample:biped, ms", ("files", "load_ms", "sample:biped")),
    _Headline("load a long BVH file, ms", ("files", "long_bvh", "ms", "ikviewer")),
)


def usual_file() -> Path:
    """The history file unless another one is named."""
    return log_folder() / "bench.jsonl"


def read(path: Path) -> list[dict[str, Json]]:
    """All runs, oldest first; none if there is no file. Invalid lines, such as one cut off by a crash, are skipped.

    Raises:
        InputError: the file cannot be read.
    """
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise InputError(f"{path}: {reason(error)}") from error
    runs = []
    for line in lines:
        try:
            run = json.loads(line)
        except ValueError:
            continue
        if isinstance(run, dict) and isinstance(run.get("machine"), dict):
            runs.append(run)
    return runs


def add(path: Path, run: Mapping[str, Json]) -> dict[str, Json]:
    """Append a run, as printed by ``ikviewer bench --json``, with the date; returns the written run.

    Raises:
        OutputError: the file cannot be written.
    """
    dated: dict[str, Json] = {"date": datetime.now(UTC).isoformat(timespec="seconds"), **run}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps(dated)}\n")
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {reason(error)}") from error
    return dated


def comparable(runs: Sequence[dict[str, Json]], run: Mapping[str, Json]) -> dict[str, Json] | None:
    """The last of ``runs`` on the same machine, with the same problems, that shares a figure with ``run``."""
    for earlier in reversed(runs):
        same = _conditions(earlier) == _conditions(run)
        if same and any(line.of(earlier) is not None and line.of(run) is not None for line in _HEADLINES):
            return earlier
    return None


def _conditions(run: Mapping[str, Any]) -> tuple[Json, ...]:
    machine = run["machine"]
    return (machine.get("processor"), machine.get("cores"), machine.get("system"), run.get("seed"), run.get("count"))


def changes(earlier: Mapping[str, Json], run: Mapping[str, Json]) -> Table:
    """Figures that both runs have, side by side."""
    rows = []
    for line in _HEADLINES:
        before, now = line.of(earlier), line.of(run)
        if before is not None and now is not None:
            rows.append((line.label, number(before), number(now), f"{now / before:.2f}" if before else "-"))
    note = f"ikviewer {_version(earlier)} then, {_version(run)} now, on the same machine with the same problems."
    return Table(f"Since {_date(earlier)}", note, ("figure", "then", "now", "now / then"), rows)


def over_time(runs: Sequence[Mapping[str, Json]]) -> Table:
    """The last runs, a column each."""
    shown = runs[-_MOST_RUNS:]
    machines = list(dict.fromkeys(_machine(run) for run in shown))
    rows = [
        ("ikviewer", *map(_version, shown)),
        ("machine", *(str(1 + machines.index(_machine(run))) for run in shown)),
    ]
    for line in _HEADLINES:
        values = [line.of(run) for run in shown]
        if any(value is not None for value in values):
            rows.append((line.label, *map(number, values)))
    named = "; ".join(f"{place}: {machine}" for place, machine in enumerate(machines, 1))
    count = "1 run" if len(runs) == 1 else f"{len(runs)} runs"
    return Table("Figures over time", f"{count}. Machines: {named}.", ("figure", *map(_date, shown)), rows)


def _machine(run: Mapping[str, Any]) -> str:
    return f"{run['machine'].get('processor')}, {run['machine'].get('cores')} cores"


def _version(run: Mapping[str, Any]) -> str:
    return str(run["machine"].get("ikviewer"))


def _date(run: Mapping[str, Json]) -> str:
    return str(run.get("date"))[:16].replace("T", " ")
