"""``ikviewer bench``: runs on this machine, their figures as tables, and changes since earlier runs.

Each part runs in a separate process: that keeps parts independent, sets numpy's libraries to one thread before they are
loaded, and limits a crash to one part. `benchmarks/compare.py` measures other libraries by the same code.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeAlias

import viewer
from viewer.cli import bench_measures as measures
from viewer.cli.bench_measures import NUMBA, NUMPY, TURN, Plan
from viewer.cli.job import Json, Result, add_fields, made_from, print_json, progress_bars, warn
from viewer.cli.solving_options import BENCH_PARTS, BenchOptions
from viewer.errors import InputError, MachineError, OutputError, plural, quote, reason, writing
from viewer.session.user_files import log_folder

Figures: TypeAlias = Any
"""JSON of a part's own shape."""
_SMALL = 1e-3
"""Smaller figures are shown as "< 0.001"."""

_WORK = """
import signal
signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C reaches the command, too, which ends this process
from viewer.cli.bench_command import work
work()
"""
_WORKER = (sys.executable, "-P", "-c", _WORK)
_MOST_RUNS = 6
"""Columns of a table that fits a terminal."""


@dataclass(frozen=True, slots=True)
class Table:
    """A title, a note that explains the columns, and rows of cells."""

    title: str
    note: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]


def heading(about: Mapping[str, Any]) -> str:
    """The machine and the run, on two lines."""
    on = about["machine"]
    cores = f"{on['cores']} cores" if on["cores"] != 1 else "1 core"
    versions = ", ".join(f"{name} {on[name]}" for name in ("ikviewer", "python", "numpy", "numba") if on[name])
    quick = "; quick: these figures mean nothing" if about["quick"] else ""
    run = f"seed {about['seed']}, {about['count']} problems{quick}"
    return f"{on['processor']}, {cores}, {on['system']}; {versions}\n{run}"


def as_text(table: Table) -> str:
    """Columns for a terminal."""
    widths = [max(len(cell) for cell in column) for column in zip(table.header, *table.rows, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) if column == 0 else cell.rjust(width) for column, (cell, width) in enumerate(cells))
        for cells in (list(zip(row, widths, strict=True)) for row in (table.header, *table.rows))
    ]
    return "\n".join([table.title, *([table.note] if table.note else []), *(f"  {line.rstrip()}" for line in lines)])


def tables(part: str, figures: Figures) -> list[Table]:
    """The tables of one part's figures."""
    return _PARTS[part][1](figures)


def number(value: Json, digits: int = 3) -> str:
    """A number with significant digits and without an exponent; a dash for None."""
    if not isinstance(value, (int, float)):
        return "-"
    if value == 0 or abs(value) >= 10 ** (digits - 1):
        return f"{value:,.0f}"
    return f"{value:.{digits}g}" if abs(value) >= _SMALL else f"< {_SMALL}"


def _speed(figures: Figures) -> list[Table]:
    note = (
        f"Median ms of a whole Python call, {TURN} in a row, one thread; and valid solutions of the problems tried: "
        "goals met and limits kept."
    )
    return [_side_by_side("One-shot solves", note, figures["sets"])]


def _side_by_side(title: str, note: str, sets: Figures, *, iterations: bool = False) -> Table:
    """A row for each set and class, a column for each contender."""
    names = list(dict.fromkeys(name for kinds in sets.values() for runs in kinds.values() for name in runs))
    rows = [
        (f"{rig} {kind}", *(_run(runs.get(name), iterations=iterations) for name in names))
        for rig, kinds in sets.items()
        for kind, runs in kinds.items()
    ]
    return Table(title, note, ("rig and class", *names), rows)


def _run(run: Figures, *, iterations: bool = False) -> str:
    if run is None:
        return "-"
    damping = f", λ {run['damping']:.0e}".replace("e-0", "e-") if "damping" in run else ""
    steps = f", {number(run['iterations'])} it" if iterations else ""
    return f"{number(run['ms'])} ms, {run['valid']}/{run['problems']}{damping}{steps}"


def _methods(figures: Figures) -> list[Table]:
    note = "Median ms, valid solutions, median iterations; those for comparison run on numpy."
    return [_side_by_side("Every solver by its name", note, figures, iterations=True)]


def by_key(title: str, note: str, what: str, columns: Mapping[str, str], runs: Mapping[str, Figures]) -> Table:
    """A row for each run by its label, which is ``what``; ``columns`` are the keys of its figures, by header."""
    rows = [(label, *(number(run[key]) for key in columns.values())) for label, run in runs.items()]
    return Table(title, note, (what, *columns), rows)


def _drag(figures: Figures) -> list[Table]:
    columns = {
        "% of frames below 1 mm": "below_1_mm_percent",
        "mm off p99": "error_mm_p99",
        "joint step p99, deg": "joint_step_deg_p99",
        "largest, deg": "joint_step_deg_max",
        "ms a frame": "ms",
    }
    note = "Ten motions of 240 frames, followed from rest with two iterations a frame."
    return [by_key("Dragging", note, "rig", columns, figures)]


def _batch(figures: Figures) -> list[Table]:
    rows = [
        (
            f"{kind}, {threads.removeprefix('threads_')} thread(s)",
            number(run["solves_per_s"]),
            f"{run['valid']}/{run['problems']}",
        )
        for kind, found in figures["classes"].items()
        for threads, run in found.items()
        if threads.startswith("threads_")
    ]
    note = f"{figures['rig']}, one call for all problems."
    return [Table("Batches", note, ("class, threads", "solves/s", "valid"), rows)]


def _start(figures: Figures) -> list[Table]:
    rows = [(name.replace("_", " "), number(seconds)) for name, seconds in figures.items()]
    return [Table("Cold starts", "Seconds of whole processes.", ("process", "s"), rows)]


def _files(figures: Figures) -> list[Table]:
    found = figures["forward_kinematics"]
    kinematics = [
        (f"a clip of {found['joints']} joints, frames/s", number(found["clip_frames_per_s"])),
        ("one pose of it, us", number(found["pose_us"])),
        ("a chain of 1,000, us", number(found["chain_1000_us"])),
    ]
    loading = [(name, number(ms)) for name, ms in figures["load_ms"].items()]
    long = figures["long_bvh"]
    loading += [(f"{long['megabytes']:.1f} MB of BVH: {name}", number(ms)) for name, ms in long["ms"].items()]
    return [
        Table("Forward kinematics", "", ("what", "figure"), kinematics),
        Table("Loading", "Milliseconds, files in the system's cache.", ("file", "ms"), loading),
    ]


_PARTS: dict[str, tuple[Callable[[Plan], dict[str, Json]], Callable[[Figures], list[Table]]]] = {
    "speed": (measures.measure_speed, _speed),
    "methods": (measures.measure_methods, _methods),
    "drag": (measures.measure_drag, _drag),
    "batch": (measures.measure_batch, _batch),
    "start": (measures.measure_start, _start),
    "files": (measures.measure_files, _files),
}
"""What measures a part, and makes tables of its figures."""
assert _PARTS.keys() == BENCH_PARTS.keys()


# --- earlier runs: one JSON object per line of a file, and the changes since


_HEADLINES = {
    "biped near, ms": ("speed", "sets", "biped", "near", NUMBA, "ms"),
    "biped far, ms": ("speed", "sets", "biped", "far", NUMBA, "ms"),
    "biped far, valid": ("speed", "sets", "biped", "far", NUMBA, "valid"),
    "biped-hands far, ms": ("speed", "sets", "biped-hands", "far", NUMBA, "ms"),
    "biped-hands far, valid": ("speed", "sets", "biped-hands", "far", NUMBA, "valid"),
    "biped near by numpy, ms": ("speed", "sets", "biped", "near", NUMPY, "ms"),
    "drag biped, ms a frame": ("drag", "biped", "ms"),
    "drag biped, % below 1 mm": ("drag", "biped", "below_1_mm_percent"),
    "drag biped, largest step, deg": ("drag", "biped", "joint_step_deg_max"),
    "batch near, one thread, solves/s": ("batch", "classes", "near", "threads_1", "solves_per_s"),
    "import viewer, s": ("start", "import_viewer"),
    "first compiled solve, s": ("start", "first_numba_solve_warm_cache"),
    "clip kinematics, frames/s": ("files", "forward_kinematics", "clip_frames_per_s"),
    "load sample:biped, ms": ("files", "load_ms", "sample:biped"),
    "load a long BVH file, ms": ("files", "long_bvh", "ms", "ikviewer"),
}
"""Figures that are shown over time: their paths in the figures of a run, by label."""


def _headlines(run: Mapping[str, Any]) -> dict[str, float]:
    """The figures that were measured, by label."""
    figures = {}
    for label, path in _HEADLINES.items():
        found: Any = run.get("parts")
        for key in path:
            found = found.get(key) if isinstance(found, dict) else None
        if isinstance(found, (int, float)):
            figures[label] = float(found)
    return figures


def read(path: Path) -> list[dict[str, Json]]:
    """All runs, oldest first; none if there is no file. Invalid lines, as of a crash, are skipped."""
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
    if lines and not lines[0].startswith("{"):  # the next run would be appended to it
        raise InputError(f"{path}: expected runs of ikviewer bench, a line of JSON each, found {quote(lines[0][:20])}")
    return runs


def add(path: Path, run: Mapping[str, Json]) -> dict[str, Json]:
    """Append a run, as printed by ``ikviewer bench --json``, with the date; returns the written run."""
    dated: dict[str, Json] = {"date": datetime.now(UTC).isoformat(timespec="seconds"), **run}
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps(dated)}\n")
    return dated


def comparable(runs: Sequence[dict[str, Json]], run: Mapping[str, Json]) -> dict[str, Json] | None:
    """The last of ``runs`` on the same machine, with the same problems, that shares a figure with ``run``."""
    for earlier in reversed(runs):
        if _conditions(earlier) == _conditions(run) and _headlines(earlier).keys() & _headlines(run).keys():
            return earlier
    return None


def _conditions(run: Mapping[str, Any]) -> tuple[Json, ...]:
    machine = run["machine"]
    return (machine.get("processor"), machine.get("cores"), machine.get("system"), run.get("seed"), run.get("count"))


def changes(earlier: Mapping[str, Json], run: Mapping[str, Json]) -> Table:
    """Figures that both runs have, side by side."""
    before = _headlines(earlier)
    rows = [
        (label, number(before[label]), number(now), f"{now / before[label]:.2f}" if before[label] else "-")
        for label, now in _headlines(run).items()
        if label in before
    ]
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
    figures = [_headlines(run) for run in shown]
    measured = [label for label in _HEADLINES if any(label in each for each in figures)]
    rows += [(label, *(number(each.get(label)) for each in figures)) for label in measured]
    named = "; ".join(f"{place}: {machine}" for place, machine in enumerate(machines, 1))
    count = plural(len(runs), "run")
    return Table("Figures over time", f"{count}. Machines: {named}.", ("figure", *map(_date, shown)), rows)


def _machine(run: Mapping[str, Any]) -> str:
    return f"{run['machine'].get('processor')}, {run['machine'].get('cores')} cores"


def _version(run: Mapping[str, Any]) -> str:
    return str(run["machine"].get("ikviewer"))


def _date(run: Mapping[str, Json]) -> str:
    return str(run.get("date"))[:16].replace("T", " ")


# --- a run


def run_bench(options: BenchOptions) -> Result | Iterator[Result]:
    """Measure part by part, or show earlier figures."""
    file = log_folder() / "bench.jsonl" if options.history_file is None else Path(options.history_file)
    earlier = read(file)
    if options.history:
        lines = [as_text(over_time(earlier)) if earlier else f"{file}: no run yet"]
        return Result(lines, document=[*earlier])
    return _measured(options, file, earlier)


def _measured(options: BenchOptions, file: Path, earlier: list[dict[str, Json]]) -> Iterator[Result]:
    """The tables of each chosen part when it is done, then the changes since the last run, and all figures."""
    plan = plan_of(options)
    about = about_run(plan)
    yield Result([heading(about)])
    figures: dict[str, Json] = {}
    for name in [name for name in BENCH_PARTS if name in options.parts] or list(BENCH_PARTS):
        figures[name] = measure_apart(name, plan)
        yield Result(["", "\n\n".join(as_text(table) for table in tables(name, figures[name]))])
    found = about | {"parts": figures}
    before = None if options.quick else comparable(earlier, found)
    if not options.quick:
        try:
            add(file, found)
        except OutputError as error:  # the figures themselves are printed
            warn([str(error)])
    changed = () if before is None else ["", as_text(changes(before, found))]
    yield Result(changed, document=found, is_whole=True)


def plan_of(options: BenchOptions) -> Plan:
    """The plan that a command line asks for, with our own problems."""
    return Plan(seed=options.seed, count=options.count, quick=options.quick)


def measure_apart(part: str, plan: Plan, worker: Sequence[str] = _WORKER, words: Sequence[str] = ()) -> Json:
    """Measure a part in a separate process.

    The worker makes the source itself and prints one JSON document; ``words`` are for its command line.
    """
    command = [*worker, part, "--seed", str(plan.seed), "--count", str(plan.count), *words]
    command += ["--quick"] if plan.quick else []
    done = subprocess.run(command, env=measures.environment(), stdout=subprocess.PIPE, text=True, check=False)  # noqa: S603 - a program of ours
    if done.returncode != 0:
        raise MachineError(f"bench {part}: the process that measured it ended with {done.returncode} (see above)")
    result: Json = json.loads(done.stdout)
    return result


def work() -> None:
    """Entry point of the separate process: measure the part of the command line and print JSON."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    add_fields(parser, BenchOptions)
    options = made_from(BenchOptions, parser.parse_args())
    with progress_bars():
        result = measure(options.parts[0], plan_of(options))
    print_json(result)


def measure(part: str, plan: Plan) -> Json:
    """Measure a part, one of `BENCH_PARTS`, in this process."""
    return _PARTS[part][0](plan)


def about_run(plan: Plan) -> dict[str, Json]:
    """The machine and the parameters of a run, for reports."""
    return {"machine": machine(), "seed": plan.seed, "count": plan.at_most(plan.count), "quick": plan.quick}


def machine() -> dict[str, Json]:
    """Processor, cores, system, and the versions that matter."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "ikviewer": viewer.__version__,
        **{package: version_of(package) for package in ("numpy", "numba")},
    }


def version_of(package: str) -> str | None:
    """The installed version of a package."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _processor() -> str:
    """The processor's product name, which Linux has in a file."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or platform.machine())
