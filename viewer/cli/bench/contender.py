"""Who takes part: our solver and the rivals behind one interface, so that all are timed and scored alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Protocol

from viewer.cli.bench.rigs import Rig
from viewer.spatial.checks import Floats

STOP_M = 0.98e-3
STOP_DEG = 0.49
"""Where a rival's loop stops: a little inside the score's tolerances, so that both agree on what is reached."""


class Contender(Protocol):
    """One solver made ready for one rig; every solve starts from the rig's rest pose."""

    def solve(self, targets: Floats, turns: Floats) -> Any:  # noqa: ANN401 - each has an answer of its own
        """Reach targets (G, 3), metres, and turns (G, 4), (x, y, z, w). The whole call is timed."""

    def pose(self, answer: Any) -> tuple[Floats, Floats]:  # noqa: ANN401
        """Local rotations (J, 4) and translations (J, 3) of an answer; not timed: a user takes it as it is."""

    def iterations(self, answer: Any) -> int:  # noqa: ANN401
        """Steps that the answer took."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A contender that can be made for any rig it serves.

    Attributes:
        name: in tables.
        package: whose version is reported.
        modules: that must be importable.
        make: from a rig; raises InputError where the rig is nothing for it.
        note: how it was used.
    """

    name: str
    package: str
    modules: tuple[str, ...]
    make: Callable[[Rig], Contender]
    note: str

    def missing(self) -> str | None:
        """Why it cannot take part, or None."""
        for module in self.modules:
            try:
                import_module(module)
            except ImportError as error:
                return f"{self.package} cannot be imported: {str(error).splitlines()[0]}"
        return None


def version_of(package: str) -> str | None:
    """The installed version of a package."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None
