"""Timing side by side: all take turns, so that other load on the machine meets all alike.

A turn is a row of problems: a user runs one solver, whose code and data stay in the processor's caches, not nine.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

import numpy as np

from viewer.cli.bench.contender import Contender
from viewer.cli.bench.problems import Problems
from viewer.cli.bench.rigs import Rig
from viewer.cli.bench.score import score
from viewer.cli.output import Json
from viewer.formats.progress import report
from viewer.spatial.checks import Floats

_WARM_UPS = 2
"""Calls before the clock starts: caches fill, kernels load."""
TURN = 20
"""Problems that a contender solves in a row."""
DAMPINGS = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
"""What a rival that takes a damping is tried with before it is measured."""


class Damped(Protocol):
    """A contender whose damping can be chosen."""

    damping: float


def tune(rig: Rig, contenders: Mapping[str, Contender], trials: Problems, budget_s: float) -> dict[str, float]:
    """Give each rival the damping that suits it best; returns those chosen, by name.

    The best is the one with most honest successes on ``trials``, problems that are not measured afterwards; of several
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
            run = judged(rig, trials, contender, record)
            results[damping] = (run["honest"], -record.median_ms)
        chosen[name] = damped.damping = max(results, key=lambda one: results[one])
    return chosen


@dataclass(slots=True)
class Record:
    """One contender's run: seconds of each call, those that it had the processor, and the answers."""

    seconds: list[float] = field(default_factory=list)
    busy: list[float] = field(default_factory=list)
    answers: list[Any] = field(default_factory=list)

    @property
    def median_ms(self) -> float:
        """Median of the calls."""
        return float(np.median(self.seconds)) * 1e3


def round_robin(contenders: Mapping[str, Contender], set_of: Problems, budget_s: float, what: str) -> dict[str, Record]:
    """Solve the problems in turn.

    Args:
        contenders: by name, ready.
        set_of: the problems.
        budget_s: who has used so much time for itself sits out the rest.
        what: to call it in a progress bar.
    """
    records = {name: Record() for name in contenders}
    for contender in contenders.values():
        for _ in range(_WARM_UPS):
            contender.solve(set_of.targets[0], set_of.turns[0])
    gc.collect()
    gc.disable()
    try:
        for first in range(0, len(set_of), TURN):
            report(what, first, len(set_of))
            for name, contender in contenders.items():
                for targets, turns in zip(set_of.targets[first : first + TURN], set_of.turns[first:], strict=False):
                    if sum(records[name].seconds) > budget_s:
                        break
                    _timed(contender, targets, turns, records[name])
    finally:
        gc.enable()
    report(what, len(set_of), len(set_of))
    return records


def _timed(contender: Contender, targets: Floats, turns: Floats, record: Record) -> None:
    busy, started = time.thread_time(), time.perf_counter()
    answer = contender.solve(targets, turns)
    record.seconds.append(time.perf_counter() - started)
    record.busy.append(time.thread_time() - busy)
    record.answers.append(answer)


def judged(rig: Rig, set_of: Problems, contender: Contender, record: Record) -> dict[str, Json]:
    """What a run comes to: counts, percentages, medians."""
    count = len(record.answers)
    poses = [contender.pose(answer) for answer in record.answers]
    rotations, translations = (np.array(arrays) for arrays in zip(*poses, strict=True))
    found = score(rig, set_of.targets[:count], set_of.turns[:count], rotations, translations)
    steps = np.array([contender.iterations(answer) for answer in record.answers])
    return {
        "problems": count,
        "honest": int(found.honest.sum()),
        "solved": int(found.solved.sum()),
        "ms": record.median_ms,
        "cpu_ms": float(np.median(record.busy)) * 1e3,
        "ms_mean": float(np.mean(record.seconds)) * 1e3,
        "ms_p95": float(np.percentile(record.seconds, 95.0)) * 1e3,
        "iterations": float(np.median(steps)),
        "iterations_mean": float(np.mean(steps)),
        "worst_outside_deg": float(np.degrees(found.outside_rad.max())),
    }
