"""Getting the compiled kernels ready while the window is in use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from viewer.ik.backends import engine_for
from viewer.ik.backends.warming import warm_up

State = Literal["compiling", "ready", "numpy"]


class Kernels:
    """Whether the compiled kernels serve, are being compiled, or numpy serves for good."""

    def __init__(self) -> None:
        """Begin with what this process has."""
        self._compiling = False

    def start(self, then: Callable[[], None]) -> None:
        """Compile in another process; ``then`` is called, in another thread, when that is done or has failed."""
        if self.state != "numpy":
            return
        self._compiling = True

        def done() -> None:
            self._compiling = False
            then()

        warm_up(wait=False, then=done)

    @property
    def state(self) -> State:
        """Which of the three it is."""
        if engine_for("auto")[1] == "numba":
            return "ready"
        return "compiling" if self._compiling else "numpy"
