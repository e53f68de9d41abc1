"""What is to be measured: on which problems, how many of them, from which seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Protocol

from viewer.cli.bench import problems, rigs
from viewer.cli.bench.contender import Entry
from viewer.cli.bench.entries import RIVALS
from viewer.cli.bench.options import COUNT, SEED
from viewer.cli.bench.problems import Problems
from viewer.cli.bench.rigs import Rig
from viewer.ik.solver_options import Backend


class Source(Protocol):
    """Where rigs and problems come from: ours, or a neutral set of somebody else's."""

    def rig(self, name: str) -> Rig:
        """A rig by name."""

    def problems(self, rig: Rig, kind: str, count: int, seed: int) -> Problems:
        """Problems of a class."""

    def drags(self, rig: Rig, sequences: int, frames: int, seed: int) -> list[Problems]:
        """Motions to follow."""


class OwnSource:
    """The bundled samples and our own problems."""

    def rig(self, name: str) -> Rig:
        """See `viewer.cli.bench.rigs`."""
        return rigs.rig(name)

    def problems(self, rig: Rig, kind: str, count: int, seed: int) -> Problems:
        """See `viewer.cli.bench.problems`."""
        return problems.problems(rig, kind, count, seed)

    def drags(self, rig: Rig, sequences: int, frames: int, seed: int) -> list[Problems]:
        """See `viewer.cli.bench.problems`."""
        return problems.drags(rig, sequences, frames, seed)


@dataclass(frozen=True, slots=True)
class Plan:
    """One run of the benchmarks.

    Attributes:
        source: of rigs and problems.
        rivals: who is measured besides us, where importable.
        seed: of the problems.
        count: problems of each set and class.
        quick: a few of everything, to see that it works.
        aims: whether the figures that this project aims at stand beside those measured: they mean the neutral problems.
    """

    source: Source = field(default_factory=OwnSource)
    rivals: tuple[Entry, ...] = RIVALS
    seed: int = SEED
    count: int = COUNT
    quick: bool = False
    aims: bool = False

    def at_most(self, number: int) -> int:
        """``number``, or a few if this is to be quick."""
        return min(number, 2) if self.quick else number

    def some(self, names: Sequence[str]) -> Sequence[str]:
        """All names, or the first if this is to be quick."""
        return names[:1] if self.quick else names

    @property
    def backend(self) -> Backend:
        """What the default solver runs on: compiled, if that can be and pays."""
        return "numpy" if self.quick or find_spec("numba") is None else "numba"

    @property
    def budget_s(self) -> float:
        """Seconds that one contender may use on one set and class."""
        return 0.5 if self.quick else 20.0
