"""Work done in a thread: its progress, its end when it is cancelled, its errors."""

from __future__ import annotations

import sys
import time

from inside.session import LongWork

from viewer.errors import InputError
from viewer.progress import report


def endless() -> None:
    while True:
        report("first", 4, 4)
        report("second", 1, 4)
        time.sleep(1e-3)


def test_it_says_how_far_it_is_and_ends_when_it_is_cancelled() -> None:
    interval = sys.getswitchinterval()
    work = LongWork(endless, {"first": 0.4, "second": 0.4})
    until = time.monotonic() + 60.0
    while work.part < 0.5 and time.monotonic() < until:
        time.sleep(1e-3)
    assert work.part == 0.5
    assert work.busy
    work.cancel()
    work.wait()
    assert (work.result, work.error, work.busy) == (None, None, False)
    assert sys.getswitchinterval() == interval


def test_what_is_refused_and_faults_are_errors() -> None:
    for raised, said in (
        (InputError("there is no motion"), "there is no motion"),
        (KeyError("hips"), "a fault of the program, KeyError: 'hips'"),
    ):

        def refuse(error: Exception = raised) -> None:
            raise error

        work = LongWork(refuse, {})
        work.wait()
        assert work.result is None
        assert str(work.error) == said
