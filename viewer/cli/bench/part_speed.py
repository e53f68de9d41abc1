"""Speed and honest success of one-shot solves, side by side with the rivals."""

from __future__ import annotations

from typing import NamedTuple

from viewer.cli.bench.contender import Contender, Entry, version_of
from viewer.cli.bench.entries import MINK, MUJOCO, NUMBA, NUMPY, OURS, PINOCCHIO, present
from viewer.cli.bench.plan import Plan
from viewer.cli.bench.problems import PARTS
from viewer.cli.bench.timing import judged, round_robin, tune
from viewer.cli.output import Json
from viewer.errors import InputError

SETS = ("humanoid", "claw", "fingers")
CHAINS = (10, 100, 1000)
CHAIN = "any"
"""The one class of problems that chains have."""
_MOST_CHAIN_PROBLEMS = 50
_TRIALS = 30
"""Problems of another seed on which rivals are tuned."""
_LONGEST_FOR_RIVALS = 100


class Ratio(NamedTuple):
    """A line of the table of aims: how many times faster than whom, on which set and class."""

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


def measure(plan: Plan) -> Json:
    """Runs by set, class and contender; the ratios; who was there and who not."""
    ours = [entry for entry in OURS if not (plan.quick and entry.name == NUMBA)]  # compiling is not quick
    entries, absent = present([*ours, *plan.rivals])
    runs: dict[str, dict[str, dict[str, Json]]] = {}
    for name in SETS:
        for kind in PARTS:
            runs.setdefault(name, {})[kind] = _side_by_side(plan, entries, name, kind, plan.count)
    for links in CHAINS:
        taking_part = entries if links <= _LONGEST_FOR_RIVALS else [e for e in entries if e.name in (NUMBA, NUMPY)]
        name = f"chain-{links}"
        runs[name] = {CHAIN: _side_by_side(plan, taking_part, name, CHAIN, min(plan.count, _MOST_CHAIN_PROBLEMS))}
    return {
        "contenders": [
            {"name": e.name, "package": e.package, "version": version_of(e.package), "how": e.note} for e in entries
        ],
        "absent": dict(absent),
        "sets": {name: dict(kinds) for name, kinds in runs.items()},
        "ratios": ratios(runs, aims=plan.aims),
    }


def _side_by_side(plan: Plan, entries: list[Entry], name: str, kind: str, count: int) -> dict[str, Json]:
    rig = plan.source.rig(name)
    set_of = plan.source.problems(rig, kind, plan.at_most(count), plan.seed)
    contenders: dict[str, Contender] = {}
    for entry in entries:
        try:
            contenders[entry.name] = entry.make(rig)
        except InputError:  # this rig is nothing for it
            continue
    trials = plan.source.problems(rig, kind, plan.at_most(_TRIALS), plan.seed + 1)
    dampings = tune(rig, contenders, trials, plan.budget_s / 40.0)
    records = round_robin(contenders, set_of, plan.budget_s, f"{name} {kind}")
    return {
        who: judged(rig, set_of, contenders[who], record) | {"damping": dampings.get(who)}
        for who, record in records.items()
    }


def ratios(runs: dict[str, dict[str, dict[str, Json]]], *, aims: bool) -> list[Json]:
    """`RATIOS` as measured, for every adapter of the rival; those whose rival is absent are left out."""
    lines: list[Json] = []
    for ratio, name in [(one, name) for one in RATIOS for name in runs[one.rig][one.kind]]:
        theirs = runs[ratio.rig][ratio.kind][name]
        ours = runs[ratio.our_rig or ratio.rig][ratio.kind].get(ratio.ours)
        if name.partition(",")[0] != ratio.rival or not isinstance(theirs, dict) or not isinstance(ours, dict):
            continue
        line: dict[str, Json] = {"rival": name, "ours": ratio.ours, "rig": ratio.rig, "class": ratio.kind}
        line |= {"our_rig": ratio.our_rig or ratio.rig, "their_ms": theirs["ms"], "our_ms": ours["ms"]}
        line |= {"times_faster": _quotient(theirs, ours, "ms"), "times_faster_cpu": _quotient(theirs, ours, "cpu_ms")}
        lines.append(line | ({"at_least": ratio.least, "aim": ratio.aim} if aims else {}))
    return lines


def _quotient(theirs: dict[str, Json], ours: dict[str, Json], key: str) -> float:
    above, below = theirs[key], ours[key]
    assert isinstance(above, float)
    assert isinstance(below, float)
    return above / below
