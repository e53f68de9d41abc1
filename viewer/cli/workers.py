"""The work of a command on many inputs: one after the other, on several processes, or on a Dask cluster.

A file that ends its process is tried once more, and then set aside. The machines of a cluster (extra ``cluster``) see
the same files under the same names, as in a shared folder.
"""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

import viewer
from viewer.cli import job
from viewer.errors import InputError, MachineError, OutputError, ViewerError, missing_library, one_line
from viewer.progress import watched_by

T = TypeVar("T")
R = TypeVar("R")

Trial: TypeAlias = Callable[[Any, str], Any]
"""From an item and its name in messages to its result or error, in any process."""

MOST_DEATHS = 2
"""Workers that one item may end."""
LONGEST = 600.0
"""Seconds that one item may take."""
_MOST_PROCESSES = 61
"""The most that a process can wait for on Windows."""
_GRACE = 0.05

_PATIENCE = 10.0
"""Seconds in which a scheduler has to answer."""
_one_at_a_time = threading.Lock()
"""The lock with which the output of items to stderr is kept apart in a process with several threads."""


class Done(NamedTuple):
    """The outcome of an item.

    Attributes:
        result: what the work returned, or its error.
        printed: its output to stderr.
        seconds: that it took.
        peak_mb: the most memory that its process has had so far, 0 if the system does not say.
        set_aside: it ended its process every time.
    """

    result: Any
    printed: str = ""
    seconds: float = 0.0
    peak_mb: float = 0.0
    set_aside: bool = False


def tried_each(
    work: Callable[[T], R],
    items: Sequence[T],
    jobs: int,
    scheduler: str | None = None,
    name: Callable[[T], str] = str,
    arrived: Callable[[T, Done], object] = lambda *_: None,
) -> Iterator[tuple[T, Done]]:
    """Yield every item with the outcome of ``work(item)``, in order; ``name`` is an item's in messages.

    One job is this process alone; ``scheduler`` is the address of a Dask scheduler whose workers do it. Other processes
    import the work, a function of a module or a `partial` of one. ``arrived`` is called with each item as soon as it is
    done, which may be before those in front of it.

    Raises:
        MachineError: the machine lacks something, and so every item would fail.
    """
    trial = partial(_attempt, work)
    if not scheduler and (jobs == 1 or len(items) < 2):
        for item in items:
            since = time.perf_counter()
            result = trial(item, name(item))
            done = Done(result, seconds=time.perf_counter() - since)
            arrived(item, done)
            yield item, done
        return
    answers = on_cluster(trial, items, name, scheduler) if scheduler else on_processes(trial, items, name, jobs)
    early: dict[int, Done] = {}
    turn = 0
    for place, done in answers:
        arrived(items[place], done)
        early[place] = done
        while turn in early:
            answer = early.pop(turn)
            for line in answer.printed.splitlines():
                job.print_error(line)
            yield items[turn], answer
            turn += 1


def _attempt(work: Callable[[T], R], item: T, name: str) -> R | ViewerError:
    """The result, or the error of this item; neither a bad file nor a bug stops the other items."""
    try:
        return work(item)
    except (MachineError, BrokenPipeError):
        raise
    except ViewerError as error:
        failure: ViewerError = _naming(name, error)
        cause: Exception = error
    except Exception as error:  # noqa: BLE001 - see above
        from viewer.session.user_files import fault_line  # noqa: PLC0415 - only for a bug

        failure, cause = InputError(fault_line(error, name)), error
    if job.is_debug():
        job.print_traceback(cause)
    return failure


def _naming(name: str, error: ViewerError) -> ViewerError:
    """The error in a line that names the item: of many, it may be the only one that a goal or a pose does not fit."""
    line = str(error)
    if isinstance(error, OutputError) or line.startswith(tuple(f"{one_line(name)}{mark}" for mark in (":", ","))):
        return error
    return InputError(f"{name}: {line}")


# --- processes


class _Worker:
    """A process and what it works on."""

    def __init__(self, trial: Trial, others: Sequence[_Worker]) -> None:
        # A forked process has all modules at once. With threads a fork may hang, and other systems do not support it
        # well.
        forks = sys.platform == "linux" and threading.active_count() == 1
        context: BaseContext = get_context("fork" if forks else "spawn")
        self.link, theirs = context.Pipe()
        inherited = [self.link, *(other.link for other in others)] if forks else []
        manner = job.is_quiet(), job.is_debug()
        self.process: BaseProcess = context.Process(  # type: ignore[attr-defined]  # of every context
            target=_serve, args=(theirs, trial, manner, inherited), daemon=True
        )
        self.process.start()
        theirs.close()
        self.place = -1
        self.since = 0.0

    def give(self, place: int, item: object, name: str) -> None:
        self.place, self.since = place, time.monotonic()
        with contextlib.suppress(OSError):  # its process has ended, which is noticed while waiting for it
            self.link.send((item, name))

    def end(self) -> None:
        with contextlib.suppress(OSError):
            self.link.close()
        self.process.kill()
        self.process.join()


def on_processes(trial: Trial, items: Sequence[T], name: Callable[[T], str], jobs: int) -> Iterator[tuple[int, Done]]:
    """Yield the index and the outcome of every item, in the order in which they are done.

    Raises:
        MachineError: the machine lacks something, and so every item would fail.
        KeyboardInterrupt: after the items in work are done.
    """
    waiting = deque(range(len(items)))
    deaths: dict[int, int] = {}
    workers: list[_Worker] = []
    for _ in range(min(jobs, len(items), _MOST_PROCESSES)):
        workers.append(_Worker(trial, workers))
    stopped, answers = False, list[tuple[int, Done]]()
    try:
        while waiting or answers or any(worker.place >= 0 for worker in workers):
            for worker in workers:
                if worker.place < 0 and waiting and not stopped:
                    place = waiting.popleft()
                    worker.give(place, items[place], name(items[place]))
            # Only now: a worker does not wait until its last answer is dealt with.
            while answers:
                yield answers.pop(0)
            if all(worker.place < 0 for worker in workers):
                if waiting:
                    raise KeyboardInterrupt
                break
            try:
                ready = _ready(workers)
            except KeyboardInterrupt:
                if stopped:
                    raise
                stopped = True
                continue
            for worker in ready:
                place, worker.place = worker.place, -1
                done = _received(worker)
                if done is None:
                    deaths[place] = deaths.get(place, 0) + 1
                    done = _lost(name(items[place]), deaths[place], time.monotonic() - worker.since)
                    worker.end()
                    others = [other for other in workers if other is not worker]
                    workers[workers.index(worker)] = _Worker(trial, others)
                if done is None:
                    waiting.appendleft(place)
                elif isinstance(done.result, MachineError):
                    raise done.result
                else:
                    answers.append((place, done))
    finally:
        for worker in workers:
            worker.end()


def _ready(workers: Sequence[_Worker]) -> list[_Worker]:
    """The busy workers that have answered, have ended, or take too long; waits until there is one."""
    busy = [worker for worker in workers if worker.place >= 0]
    while True:
        left = min(worker.since + LONGEST for worker in busy) - time.monotonic()
        links: list[Connection] = [worker.link for worker in busy]
        heard = wait(links, timeout=max(left, _GRACE))  # a process that has ended has closed its link
        late = time.monotonic() - LONGEST
        found = [worker for worker in busy if worker.link in heard or worker.since < late]
        if found:
            return found


def _received(worker: _Worker) -> Done | None:
    """The answer; None if the process has ended, or is late."""
    try:
        if not worker.link.poll():
            return None
        done: Done = worker.link.recv()
    except (EOFError, OSError):
        return None
    return done


def _lost(name: str, deaths: int, seconds: float) -> Done | None:
    """The outcome of an item whose worker has ended; None: it is tried once more."""
    if seconds >= LONGEST:
        problem = f"{name}: set aside: not done after {LONGEST / 60.0:g} minutes"
        return Done(InputError(problem), seconds=seconds, set_aside=True)
    if deaths < MOST_DEATHS:
        return None
    problem = f"{name}: set aside: the process that worked on it was ended from outside, {deaths} times"
    return Done(InputError(problem), seconds=seconds, set_aside=True)


def _serve(link: Connection, trial: Trial, manner: tuple[bool, bool], inherited: Sequence[Connection]) -> None:
    """In a worker process: do items until the link is closed; the parent handles Ctrl+C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for end in inherited:  # while a copy of the parent's end is open, its death would not be noticed
        end.close()
    job.make_streams_safe()
    job.be_quiet(manner[0], debug=manner[1])
    with watched_by(None), contextlib.suppress(EOFError, OSError):  # the parent has ended, perhaps by a kill
        while True:
            item, name = link.recv()
            link.send(apart(trial, item, name))


def apart(trial: Trial, item: object, name: str) -> Done:
    """Do one item, and keep what it prints to stderr for the parent, which prints it in the items' order."""
    printed, since = io.StringIO(), time.perf_counter()
    with (
        contextlib.redirect_stderr(printed),
        job.warnings_once(on=False),
        np.errstate(over="ignore", invalid="ignore"),
    ):
        try:
            result = trial(item, name)
        except ViewerError as error:
            result = error
    return Done(result, printed.getvalue(), time.perf_counter() - since, _peak_mb())


def _peak_mb() -> float:
    if os.name != "posix":
        return 0.0
    import resource  # noqa: PLC0415 - not on Windows

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)


# --- a cluster


def on_cluster(trial: Trial, items: Sequence[T], name: Callable[[T], str], address: str) -> Iterator[tuple[int, Done]]:
    """As `on_processes`, on the workers of a scheduler: an item whose worker ends is done by another.

    Raises:
        MachineError: Dask is not installed, no scheduler answers, it has no workers, or they have other versions.
    """
    try:
        from distributed import Client, as_completed  # noqa: PLC0415 - an extra
        from distributed.scheduler import KilledWorker  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise missing_library("--scheduler", error) from error
    try:
        client = Client(address, timeout=_PATIENCE)
    except (OSError, ValueError) as error:
        cure = "start one with: dask scheduler"
        raise MachineError(f"--scheduler {address}: no scheduler answers within {_PATIENCE:g} s: {cure}") from error
    with client:
        _check_versions(client, address)
        manner = (job.is_quiet(), job.is_debug())
        sent = {
            client.submit(_there, trial, item, name(item), str(Path.cwd()), manner, pure=False): place
            for place, item in enumerate(items)
        }
        for future in as_completed(list(sent)):
            place = sent.pop(future)
            try:
                done: Done = future.result()
            except KilledWorker:
                problem = f"{name(items[place])}: set aside: the workers that worked on it ended"
                done = Done(InputError(problem), set_aside=True)
            future.release()
            if isinstance(done.result, MachineError):
                raise done.result
            yield place, done


def _check_versions(client: Any, address: str) -> None:  # noqa: ANN401 - Dask may not be installed
    found = client.run(_version)
    if not found:
        raise MachineError(f"--scheduler {address}: it has no workers: start some with: dask worker {address}")
    for worker, version in found.items():
        if version != viewer.__version__:
            expected = f"expected ikviewer {viewer.__version__} on every worker"
            raise MachineError(f"--scheduler {address}: {expected}, found {version} on {worker}")


def _version() -> str:
    return viewer.__version__


def _there(trial: Trial, item: object, name: str, folder: str, manner: tuple[bool, bool]) -> Done:
    """On a worker: do one item in the folder in which the command was called."""
    with _one_at_a_time:
        os.chdir(folder)
        job.be_quiet(manner[0], debug=manner[1])
        return apart(trial, item, name)
