"""The solver beside its rivals, on neutral problems if they are there, else on our own.

    python benchmarks/solver.py                      every part, as text
    python benchmarks/solver.py speed drag --seed 7  some parts, fresh problems
    python benchmarks/solver.py --markdown > docs/benchmarks.md
    python benchmarks/solver.py --own                our own problems, as `ikviewer bench` has them

The rivals come with ``pip install '.[bench]'``; who is missing is named and left out. A quiet machine gives true
figures; ratios within one run hold better than times.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pinocchio_native
from neutral import FOLDER, NeutralSource

from viewer.cli.bench import parts, report
from viewer.cli.bench.options import about, add_options, as_words, plan_of
from viewer.cli.output import Json, print_json, progress_bars

if TYPE_CHECKING:
    from viewer.cli.bench.plan import Plan

PAGE = """# Benchmarks

Figures of one run of `python benchmarks/solver.py --markdown`; `ikviewer bench` measures the same on the bundled
samples, anywhere. Times depend on the machine and on what else it does; ratios within one run hold better.

A success is honest: every goal within 1 mm and 0.5 degrees, every limit kept to 0.001 radians, recomputed from the pose
by kinematics that share no code with any solver. All start from the rest pose, which lies on limits, and stop by
themselves. A call is timed whole, from targets to answer; turning a rival's own numbers into a pose is not counted.
Solvers take turns of twenty problems: the first call after another solver's, with code and data driven out of the
processor's caches, takes a tenth of a millisecond more or longer, whichever solver it is.

What is compared with what: one thread with one thread. Each rival that has a damping gets, for each rig and class, the
best of six values, found on other problems. Pinocchio and MuJoCo are libraries of kinematics without a solver for
several goals: the loop around them is ours, as in their examples, in Python and numpy. "Pinocchio ..., C++" is the same
loop in C++, compiled for this machine: what a C++ program pays. It is called once a solve from Python, as ours is.
{neutral}
{heading}
"""
NEUTRAL = """
The problems are those of a neutral benchmark, on a seed that nothing was tuned on. Where a rival is listed with a
"neutral adapter", it is run by that benchmark's own program, which gives whole poses back: its time includes a Python
loop over the joints, which takes longer than an easy solve of MuJoCo's. The aims were set against those.
"""


def main() -> int:
    """Measure, or as a worker measure one part."""
    arguments = parser().parse_args()
    if arguments.worker:
        with progress_bars():
            print_json(parts.measure(arguments.parts[0], plan(arguments)))
        return 0
    chosen = [name for name in parts.PARTS if name in arguments.parts] or list(parts.PARTS)
    worker = [sys.executable, str(Path(__file__).resolve()), "--worker"]
    options = [*as_words(arguments), *source_words(arguments)]
    figures = {name: parts.measure_apart(name, options, worker) for name in chosen}
    problems = "neutral" if is_neutral(arguments) else "own"
    show(arguments, about(arguments) | {"problems": problems}, figures)
    return 0


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("parts", nargs="*", metavar="NAME", help=f"of {', '.join(parts.PARTS)}")
    add_options(made)
    made.add_argument("--neutral", type=Path, default=FOLDER, metavar="DIR", help="folder of the neutral benchmark")
    made.add_argument("--own", action="store_true", help="our own problems even where the neutral ones are there")
    made.add_argument("--json", action="store_true", help="one JSON document")
    made.add_argument("--markdown", action="store_true", help="a page for docs/")
    made.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    return made


def is_neutral(arguments: argparse.Namespace) -> bool:
    """Whether the neutral problems are there and wanted."""
    return not arguments.own and (arguments.neutral / "problems.py").is_file()


def source_words(arguments: argparse.Namespace) -> list[str]:
    """The options of the source again, for a worker."""
    return ["--own"] if arguments.own else ["--neutral", str(arguments.neutral)]


def plan(arguments: argparse.Namespace) -> Plan:
    """What is to be measured."""
    if not is_neutral(arguments):
        return plan_of(arguments)
    source = NeutralSource(arguments.neutral)
    return replace(plan_of(arguments, source), rivals=(*source.rivals(), *pinocchio_native.entries()), aims=True)


def show(arguments: argparse.Namespace, run: dict[str, Json], figures: dict[str, Json]) -> None:
    """Print the figures in the form asked for."""
    if arguments.json:
        print_json(run | {"parts": figures})
        return
    tables = [table for name, found in figures.items() for table in report.tables(name, found)]
    if arguments.markdown:
        neutral = NEUTRAL if is_neutral(arguments) else ""
        print(PAGE.format(heading=report.heading(run), neutral=neutral))
        print("\n\n".join(map(report.as_markdown, tables)))
    else:
        print(report.heading(run))
        print("\n" + "\n\n".join(map(report.as_text, tables)))


if __name__ == "__main__":
    sys.exit(main())
