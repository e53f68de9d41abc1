"""Stepping through all poses that meet the goals, where these leave no freedom: elbow up and down, an arm's flips."""

from __future__ import annotations

from functools import partial

from viewer.document.actions import SetPose
from viewer.errors import InputError
from viewer.ik.all_solutions import MOST_STARTS, all_solutions
from viewer.ik.solver import Solver
from viewer.ik.solver_options import keywords_of
from viewer.session import Session
from viewer.session.lab import LabProblem, lab_problem
from viewer.skeleton import Pose
from viewer.ui.commands import CommandBinding, CommandBindings
from viewer.ui.messages import Message
from viewer.ui.view import View

_ABOUT = "solution"
_SLOW_STARTS = 64
"""Without compiled kernels a solve takes a hundred times as long."""


class Solutions:
    """The commands Next and Previous solution."""

    def __init__(self, session: Session, view: View) -> None:
        """Start without any found."""
        self._session, self._view = session, view
        self._found: tuple[Pose, ...] = ()
        self._place, self._shown = 0, session.document.pose

    def step(self, by: int) -> None:
        """Show the next of all poses that meet the goals, in the order of their distance from where this began.

        Raises:
            InputError: there are infinitely many, or none was found.
        """
        document = self._session.document
        if document.pose is not self._shown or not self._found:
            problem = lab_problem(document, document.pose)
            if problem is None:
                raise InputError("no goal is enabled")
            self._search(problem)
            if not self._found[0].is_near(document.pose):
                by = min(by, 0)  # forwards the nearest comes first
        self._place = (self._place + by) % len(self._found)
        count = len(self._found)
        self._session.dispatch(SetPose(self._found[self._place], f"Solution {self._place + 1} of {count}"))
        self._shown = self._session.document.pose
        words = f"Solution {self._place + 1} of {count}" if count > 1 else "This is the only solution found"
        for message in [one for one in self._view.bar.messages if one.about == _ABOUT]:
            self._view.bar.close(message)
        self._view.post(Message(words, about=_ABOUT))

    def _search(self, problem: LabProblem) -> None:
        solver = Solver(problem.skeleton, problem.goals, **keywords_of(problem.options))
        ready = self._session.kernels.state == "ready"
        found = all_solutions(solver, problem.start, starts=MOST_STARTS if ready else _SLOW_STARTS)
        if not found:
            raise InputError("no pose meets the goals")
        self._place = 0
        self._found = tuple(problem.shown(solution.pose) for solution in found)

    def bindings(self) -> CommandBindings:
        """How its commands are run."""
        return {
            "solution.next": CommandBinding(partial(self.step, 1)),
            "solution.previous": CommandBinding(partial(self.step, -1)),
        }
