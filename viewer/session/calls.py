"""The calls that change a session, as far as they are recorded."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Protocol


@dataclass(slots=True)
class Call:
    """A call from outside the session.

    Attributes:
        name: of the call in the action log.
        given: its first argument, if any.
        data: its arguments, as JSON can hold them; None if it cannot.
        index: how many undo steps were done before the call.
        idle: the call changed nothing and is not recorded.
    """

    name: str
    given: object = None
    data: list[object] | None = None
    index: int = 0
    idle: bool = False


class CallLog(Protocol):
    """Where calls are recorded."""

    def record(self, name: str, *given: object) -> AbstractContextManager[Call]:
        """Record the call made in the block; calls that it makes itself are not recorded."""


class CallRecorder:
    """Records the calls of a session and its members while there is a log.

    Attributes:
        log: None: calls are not recorded.
    """

    def __init__(self) -> None:
        """Start without a log."""
        self.log: CallLog | None = None

    def __call__(self, name: str, *given: object) -> AbstractContextManager[Call]:
        """Record the call made in the block."""
        return nullcontext(Call(name)) if self.log is None else self.log.record(name, *given)
