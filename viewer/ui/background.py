"""Background work while the window is used: its result is taken over when nothing else is under way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from viewer.errors import ViewerError
from viewer.session import Session
from viewer.session.long_work import LongWork

T = TypeVar("T")
JobName = Literal["planting", "retargeting"]


@dataclass(frozen=True, slots=True, eq=False)
class Job(Generic[T]):
    """Work in a thread, and the functions that handle its result.

    Attributes:
        work: makes the result.
        title: of its card.
        hint: the effect of its button *Cancel*.
        is_current: whether its input is still unchanged.
        take_over: shows the result.
        outdated: called instead if it is no longer current.
        failed: called with the error.
        cancelled: called when the user cancels it.
    """

    work: LongWork[T]
    title: str
    hint: str
    is_current: Callable[[], bool]
    take_over: Callable[[T], None]
    outdated: Callable[[], None]
    failed: Callable[[ViewerError], None]
    cancelled: Callable[[], None]


class Background:
    """The jobs under way, at most one of each name.

    Attributes:
        jobs: by name.
    """

    def __init__(self, session: Session) -> None:
        """Start without jobs."""
        self._session = session
        self.jobs: dict[JobName, Job[Any]] = {}

    def is_under_way(self, name: JobName) -> bool:
        """Whether there is such a job."""
        return name in self.jobs

    def start(self, name: JobName, job: Job[Any]) -> None:
        """Start a job, in place of the one with this name."""
        self.drop(name)
        self.jobs[name] = job

    def drop(self, name: JobName) -> None:
        """Stop a job, if there is one, and drop its result."""
        job = self.jobs.pop(name, None)
        if job is not None:
            job.work.cancel()

    def cancel(self, name: JobName) -> None:
        """Stop a job as the user asked."""
        job = self.jobs[name]
        self.drop(name)
        job.cancelled()

    def cancel_all(self) -> None:
        """Stop all jobs as the user asked."""
        for name in tuple(self.jobs):
            self.cancel(name)

    def close(self) -> None:
        """Stop all jobs, as the window closes."""
        for name in tuple(self.jobs):
            self.drop(name)

    def tick(self) -> None:
        """Take over finished results; not during gestures and recordings, which continue from the document shown."""
        session = self._session
        if session.gestures.gesture is not None or session.recorder.recording:
            return
        for name, job in tuple(self.jobs.items()):
            if not job.is_current():
                self.drop(name)
                job.outdated()
            elif not job.work.busy:
                self.drop(name)
                if job.work.error is not None:
                    job.failed(job.work.error)
                else:
                    job.take_over(job.work.result)
