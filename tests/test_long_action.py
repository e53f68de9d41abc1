"""An action done in a thread: its progress, its end when it is cancelled, its errors."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from inside.session import LongAction
from sessions import session

from viewer.document import Action
from viewer.errors import InputError
from viewer.progress import report

if TYPE_CHECKING:
    from viewer.document import Document


@dataclass(frozen=True, slots=True)
class Endless(Action):
    words: ClassVar[str] = "Endless"

    def apply(self, document: Document) -> Document:  # noqa: ARG002 - nothing is made of it
        while True:
            report("first", 4, 4)
            report("second", 1, 4)
            time.sleep(1e-3)


@dataclass(frozen=True, slots=True)
class Refused(Action):
    error: Exception
    words: ClassVar[str] = "Refused"

    def apply(self, document: Document) -> Document:  # noqa: ARG002 - nothing is made of it
        raise self.error


def test_it_says_how_far_it_is_and_ends_when_it_is_cancelled() -> None:
    interval, document = sys.getswitchinterval(), session("walk").document
    work = LongAction(Endless(), document, lambda _: None, {"first": 0.4, "second": 0.4})
    until = time.monotonic() + 60.0
    while work.part < 0.5 and time.monotonic() < until:
        time.sleep(1e-3)
    assert work.part == 0.5
    assert work.busy
    assert work.take is None
    work.cancel()
    work.wait()
    assert (work.take, work.error, work.busy) == (None, None, False)
    assert sys.getswitchinterval() == interval


def test_what_is_refused_and_faults_are_errors() -> None:
    document = session("walk").document
    for raised, said in (
        (InputError("there is no motion"), "there is no motion"),
        (KeyError("hips"), "a fault of the program, KeyError: 'hips'"),
    ):
        work = LongAction(Refused(raised), document, lambda _: None, {})
        work.wait()
        assert work.take is None
        assert str(work.error) == said
