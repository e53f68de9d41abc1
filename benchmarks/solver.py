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

Compare ikviewer's speed, success and dragging with other solvers. `ikviewer bench` measures ikviewer on your machine,
with the bundled samples.

Figures of one run of `python benchmarks/solver.py --markdown`. Times depend on the machine and its load; ratios within
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
