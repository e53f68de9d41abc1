"""The solver, kinematics and readers beside other libraries, on neutral problems if they are there, else on our own.

    python benchmarks/compare.py                      every part, as text
    python benchmarks/compare.py speed drag --seed 7  some parts, fresh problems
    python benchmarks/compare.py --markdown           a page for docs/benchmarks.md
    python benchmarks/compare.py --own                our own problems, as `ikviewer bench` has them

The rivals come with ``pip install '.[bench]'``; a missing one is named and left out. A quiet machine gives true
figures; ratios within one run hold better than times.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, Protocol, cast

import rivals
from neutral import FOLDER, NeutralSource
from own_parts import OWN_PARTS
from problem_sets import OwnSource
from rivals import MINK, MUJOCO, PINOCCHIO, Entry

from viewer.cli import bench_command, bench_measures as measures
from viewer.cli.bench_command import Table, number, version_of
from viewer.cli.bench_measures import (
    CHAIN,
    NUMBA,
    NUMPY,
    TURN,
    Contender,
    Plan,
    Problems,
    Reader,
    Rig,
    Source,
    judged,
    measure_files,
    our_makers,
    round_robin,
)
from viewer.cli.job import Json, print_json, progress_bars
from viewer.cli.solving_options import BENCH_COUNT, BENCH_PARTS, BENCH_SEED

PARTS = (*BENCH_PARTS, *(part for part in OWN_PARTS if part not in BENCH_PARTS))

PAGE = """# Benchmarks

Compare ikviewer's speed, success and dragging with other solvers. `ikviewer bench` measures ikviewer on your machine,
with the bundled samples.

Figures of one run of `python benchmarks/compare.py --markdown`. Times depend on the machine and its load; ratios within
one run are more reliable.

- **Success**: every goal within 1 mm and 0.5 degrees, every limit kept to 0.001 radians, recomputed from the pose by
  independent kinematics. *Honest* marks such results.
- **Start**: the rest pose, which lies on limits. Every solver stops by itself.
- **Time**: the complete call, from targets to answer, without converting a rival's numbers into a pose. Solvers take
  turns of twenty problems; the first call after another solver's takes 0.1 ms or more longer for each of them, because
  the processor's caches are cold.
- **Fairness**: one thread against one. A rival with a damping has the best of six values for each rig and class, found
  on other problems.
- **Pinocchio and MuJoCo** have no solver for several goals: the loop around them is ours, as in their examples, in
  Python and numpy. *C++* is the same loop compiled for this machine, called once per solve from Python.
{neutral}
{heading}
"""
NEUTRAL = """\
- **Problems**: those of a neutral benchmark, with a seed that nothing was tuned on. A *neutral adapter* is that
  benchmark's own program for a rival; it returns complete poses, so its time includes a Python loop over the joints,
  which takes longer than an easy solve of MuJoCo's. The aims refer to it.
"""


class Ratio(NamedTuple):
    """A line of the table of aims: how many times faster than which rival, on which set and class."""

    rival: str
    rig: str
    kind: str
    least: float
    aim: float
    ours: str = NUMBA
    our_rig: str = ""


RATIOS = (
    Ratio(PINOCCHIO, "humanoid", "near", 10, 50),
    Ratio(PINOCCHIO, "humanoid", "far", 20, 90),
    Ratio(MUJOCO, "humanoid", "near", 30, 150),
    Ratio(MUJOCO, "humanoid", "far", 30, 120),
    Ratio(MINK, "humanoid", "near", 70, 350),
    Ratio(MINK, "humanoid", "far", 70, 330),
    Ratio(PINOCCHIO, "fingers", "near", 14, 150),
    Ratio(MINK, "fingers", "near", 60, 800),
    Ratio(MINK, "humanoid", "near", 2, 6, NUMPY),
    Ratio(MINK, "chain-100", CHAIN, 4, 40, NUMBA, "chain-1000"),
)
BATCH_AT_LEAST, BATCH_AIM = 200, 1500
"""Times mink's rate, on near problems."""
BATCH_PROBLEMS, BATCH_TRIALS = 100, 30
"""Problems that mink solves one by one, and those that it is tuned on: it has no batches."""
DAMPINGS = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
"""What a rival that takes a damping is tried with before it is measured."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One run.

    Attributes:
        plan: the problems, and how many.
        entries: the rivals.
        aims: whether the figures that this project aims at stand beside those measured: they mean the neutral problems.
    """

    plan: Plan
    entries: tuple[Entry, ...]
    aims: bool

    def measure(self, part: str) -> Json:
        """Measure a part: with the rivals where it has any."""
        with_rivals: dict[str, Callable[[], dict[str, Json]]] = {
            "speed": self._speed,
            "batch": self._batch,
            "files": self._files,
        }
        if part in with_rivals:
            return with_rivals[part]()
        return dict(OWN_PARTS[part][0](self.plan)) if part in OWN_PARTS else bench_command.measure(part, self.plan)

    def _speed(self) -> dict[str, Json]:
        """Runs by set, class and contender; the ratios; which rivals were there and which not."""
        compiled = rivals.compiled() if self.aims else ()  # compiling takes minutes
        entries, absent = rivals.present((*self.entries, *compiled))
        ours = our_makers(self.plan)
        runs = measures.speed_runs(self.plan, ours | {entry.name: entry.make for entry in entries}, tune)
        contenders: list[Json] = [{"name": name, "package": "ikviewer", "how": "viewer.Solver"} for name in ours]
        contenders += [
            {"name": entry.name, "package": entry.package, "version": version_of(entry.package), "how": entry.note}
            for entry in entries
        ]
        return {
            "contenders": contenders,
            "absent": dict(absent),
            "sets": runs,
            "ratios": list(ratios(runs, aims=self.aims)),
        }

    def _batch(self) -> dict[str, Json]:
        """Ours, and by class how many times faster one thread is than mink's one."""
        figures = measures.measure_batch(self.plan)
        rig = self.plan.source.rig(self.plan.source.sets[0])
        classes: Any = figures["classes"]
        for kind, found in classes.items():
            seconds = self._mink_s(rig, kind)
            rate = found["threads_1"]["solves_per_s"]
            found |= {"mink_s": seconds, "times_faster": {name: each * rate for name, each in seconds.items()}}
        return figures | ({"at_least": BATCH_AT_LEAST, "aim": BATCH_AIM} if self.aims else {})

    def _mink_s(self, rig: Rig, kind: str) -> dict[str, float]:
        """Seconds of one solve of mink's, median, by each of its adapters, tuned on trials; none where it is absent."""
        run = self.plan
        entries, _ = rivals.present([entry for entry in self.entries if entry.name.partition(",")[0] == MINK])
        minks = {entry.name: entry.make(rig) for entry in entries}
        tune(
            run.source,
            rig,
            minks,
            run.source.problems(rig, kind, run.at_most(BATCH_TRIALS), run.seed + 1),
            run.budget_s / 40.0,
        )
        some = run.source.problems(rig, kind, run.at_most(BATCH_PROBLEMS), run.seed)
        records = round_robin(minks, some, run.budget_s, "mink")
        return {name: record.median_ms / 1e3 for name, record in records.items()}

    def _files(self) -> dict[str, Json]:
        """Ours, and the long BVH file read by other readers."""
        others = {name: make() for name, (module, make) in READERS.items() if find_spec(module) is not None}
        figures: Any = measure_files(self.plan, others)
        figures["long_bvh"]["versions"] = {name: version_of(name) for name in others}
        found: dict[str, Json] = figures
        return found


def _pybvh() -> Reader:
    library: Any = import_module("pybvh")
    reader: Reader = library.read_bvh_file
    return reader


def _pymotion() -> Reader:
    reader: Any = import_module("pymotion.io.bvh").BVH
    return lambda file: reader().load(file)


READERS: dict[str, tuple[str, Callable[[], Reader]]] = {
    "pybvh": ("pybvh", _pybvh),
    "upc-pymotion": ("pymotion", _pymotion),
}


class Damped(Protocol):
    """A contender whose damping can be chosen."""

    damping: float


def tune(
    source: Source, rig: Rig, contenders: Mapping[str, Contender], trials: Problems, budget_s: float
) -> dict[str, float]:
    """Give each rival the damping that suits it best; returns those chosen, by name.

    The best is the one with most valid solutions on ``trials``, problems that are not measured afterwards; of several
    the quickest. A damping that uses up ``budget_s`` is judged by as many problems as it came to.
    """
    chosen = {}
    for name, contender in contenders.items():
        if not hasattr(contender, "damping"):
            continue
        damped = cast("Damped", contender)
        results = {}
        for damping in DAMPINGS:
            damped.damping = damping
            record = round_robin({name: contender}, trials, budget_s, f"tuning {name}")[name]
            run = judged(source, rig, trials, contender, record)
            results[damping] = (run["valid"], -record.median_ms)
        chosen[name] = damped.damping = max(results, key=lambda one: results[one])
    return chosen


def ratios(runs: Mapping[str, Any], *, aims: bool) -> Iterator[dict[str, Json]]:
    """`RATIOS` as measured, for every adapter of the rival; those whose rival is absent are left out."""
    for ratio, name in [(one, name) for one in RATIOS for name in runs[one.rig][one.kind]]:
        theirs = runs[ratio.rig][ratio.kind][name]
        ours = runs[ratio.our_rig or ratio.rig][ratio.kind].get(ratio.ours)
        if name.partition(",")[0] != ratio.rival or ours is None:
            continue
        line: dict[str, Json] = {"rival": name, "ours": ratio.ours, "rig": ratio.rig, "class": ratio.kind}
        line |= {"our_rig": ratio.our_rig or ratio.rig, "their_ms": theirs["ms"], "our_ms": ours["ms"]}
        line |= {
            "times_faster": theirs["ms"] / ours["ms"],
            "times_faster_cpu": theirs["cpu_ms"] / ours["cpu_ms"],
        }
        yield line | ({"at_least": ratio.least, "aim": ratio.aim} if aims else {})


# --- the command line, and what it prints


def as_markdown(table: Table) -> str:
    """A Markdown table under a heading."""
    rule = "|---|" + "---:|" * (len(table.header) - 1)
    note = [table.note, ""] if table.note else []
    header, *rows = (f"| {' | '.join(cells)} |" for cells in (table.header, *table.rows))
    return "\n".join([f"## {table.title}", "", *note, header, rule, *rows])


def main() -> int:
    """Measure, or as a worker measure one part."""
    arguments = parser().parse_args()
    if arguments.worker:
        with progress_bars():
            print_json(comparison(arguments).measure(arguments.parts[0]))
        return 0
    chosen = [name for name in PARTS if name in arguments.parts] or list(PARTS)
    worker = [sys.executable, str(Path(__file__).resolve()), "--worker"]
    source = ["--own"] if arguments.own else ["--neutral", str(arguments.neutral)]
    run = plan_of(arguments)
    figures = {name: bench_command.measure_apart(name, run, worker, source) for name in chosen}
    show(arguments, bench_command.about_run(run) | {"problems": "neutral" if is_neutral(arguments) else "own"}, figures)
    return 0


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("parts", nargs="*", metavar="NAME", help=f"of {', '.join(PARTS)}")
    made.add_argument("--quick", action="store_true", help="a few of everything, to see that it works: no figures")
    made.add_argument("--seed", type=int, default=BENCH_SEED, metavar="S", help="of the problems")
    made.add_argument(
        "--count", type=int, default=BENCH_COUNT, metavar="N", help=f"problems of each kind (default {BENCH_COUNT})"
    )
    made.add_argument("--neutral", type=Path, default=FOLDER, metavar="DIR", help="folder of the neutral benchmark")
    made.add_argument("--own", action="store_true", help="our own problems even where the neutral ones are there")
    made.add_argument("--json", action="store_true", help="one JSON document")
    made.add_argument("--markdown", action="store_true", help="a page for docs/")
    made.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    return made


def plan_of(arguments: argparse.Namespace) -> Plan:
    """How many of which problems, of our own."""
    return Plan(OwnSource(), seed=arguments.seed, count=arguments.count, quick=arguments.quick)


def is_neutral(arguments: argparse.Namespace) -> bool:
    """Whether the neutral problems are there, and not declined by ``--own``."""
    return not arguments.own and (arguments.neutral / "problems.py").is_file()


def comparison(arguments: argparse.Namespace) -> Comparison:
    """What the options ask for."""
    run = plan_of(arguments)
    if not is_neutral(arguments):
        return Comparison(run, rivals.RIVALS, aims=False)
    source = NeutralSource(arguments.neutral)
    return Comparison(replace(run, source=source), source.rivals(), aims=True)


def tables(part: str, figures: Any) -> Iterator[Table]:  # noqa: ANN401 - JSON of the part's own shape
    """Our tables of a part, and those that compare."""
    if part == "speed":
        yield _ratio_table(figures)
    yield from OWN_PARTS[part][1](figures) if part in OWN_PARTS else bench_command.tables(part, figures)
    if part == "batch" and figures["classes"]["near"]["times_faster"]:
        yield _batch_table(figures)


def _ratio_table(figures: Any) -> Table:  # noqa: ANN401
    rows = [
        (
            f"{line['rival']}, {line['rig']} {line['class']}",
            line["ours"] + ("" if line["our_rig"] == line["rig"] else f", {line['our_rig']}"),
            number(line["their_ms"]),
            number(line["our_ms"]),
            number(line["times_faster"]),
            number(line["times_faster_cpu"]),
            *(f"{line[key]:g}" for key in ("at_least", "aim") if key in line),
        )
        for line in figures["ratios"]
    ]
    used = dict.fromkeys(f"{one['package']} {one['version']}" for one in figures["contenders"] if "version" in one)
    absent = "; ".join(figures["absent"].values())
    note = (
        f"Medians of whole Python calls, {TURN} in a row in turn, one thread against one. Each rival that takes "
        "a damping has the best of six for that rig and class, found on other problems. "
        f"Rivals: {', '.join(used) or 'none'}."
    )
    header = ["rival, rig and class", "ours", "ms theirs", "ms ours", "times faster", "by CPU time"]
    header += ["at least", "aim"] if rows and len(rows[0]) > len(header) else []
    return Table("Times faster than", note + (f" Absent: {absent}." if absent else ""), header, rows)


def _batch_table(figures: Any) -> Table:  # noqa: ANN401
    faster = {kind: found["times_faster"] for kind, found in figures["classes"].items()}
    minks = list(next(iter(faster.values())))
    rows = [(kind, *(number(times[mink]) for mink in minks)) for kind, times in faster.items()]
    note = "Times mink's rate, one thread against one: mink solves one by one."
    note += f" Near: at least {figures['at_least']}, aim {figures['aim']}." if "aim" in figures else ""
    return Table("Batches beside mink", note, ("class", *minks), rows)


def show(arguments: argparse.Namespace, about: Mapping[str, Json], figures: Mapping[str, Json]) -> None:
    """Print the figures in the form asked for."""
    if arguments.json:
        print_json({**about, "parts": dict(figures)})
        return
    found = [table for name, part in figures.items() for table in tables(name, part)]
    if arguments.markdown:
        print(
            PAGE.format(heading=bench_command.heading(about), neutral=NEUTRAL if about["problems"] == "neutral" else "")
        )
        print("\n\n".join(map(as_markdown, found)))
    else:
        print(bench_command.heading(about))
        print("\n" + "\n\n".join(map(bench_command.as_text, found)))


if __name__ == "__main__":
    sys.exit(main())
