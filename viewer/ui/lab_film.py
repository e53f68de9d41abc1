"""The film of the laboratory: every iteration of the solid method, with the ghosts of the others and the targets."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from viewer.document import Document, world_of
from viewer.document.actions import AddClip
from viewer.ik.lab import Trace
from viewer.scene import Ghost
from viewer.scene.method_ghosts import method_ghosts
from viewer.session import Session
from viewer.session.long_work import LabProblem
from viewer.skeleton import Clip
from viewer.ui.film import ShownMotion
from viewer.ui.laboratory import PER_SECOND, Laboratory
from viewer.ui.view import View


class LabFilm:
    """What is filmed of the laboratory, made once for what is shown there."""

    def __init__(self, session: Session, view: View, laboratory: Laboratory) -> None:
        """Make nothing yet."""
        self._session, self._view, self._lab = session, view, laboratory
        self._made: tuple[Document, object, ShownMotion] | None = None

    def filmed(self) -> ShownMotion | None:
        """What a film shows; None outside the workspace."""
        lab, document = self._lab, self._session.document
        problem, solid = lab.problem, lab.trace
        if lab.pose is None or problem is None or solid is None:
            return None
        key = lab.solid, lab.hidden, lab.methods, lab.worker.revision
        if self._made is None or self._made[0] is not document or self._made[1] != key:
            self._made = document, key, self._film(document, problem, solid)
        return self._made[2]

    def _film(self, document: Document, problem: LabProblem, solid: Trace) -> ShownMotion:
        """A frame for every iteration, and a second of the last one. The user may go on while the film is made."""
        lab, skeleton, height = self._lab, document.skeleton, self._view.height
        last, lettered, others = lab.last, lab.lettered, [(lab.curve(name), one) for name, one in lab.others.items()]
        poses = [problem.shown(solid.at(min(k, last)).pose) for k in range(last + round(PER_SECOND))]
        turns, places = (np.array([getattr(pose, name) for pose in poses]) for name in ("rotations", "translations"))
        clip = Clip.from_arrays(skeleton, turns, places, fps=PER_SECOND, name="Iterations")

        def ghosts(frame: int) -> tuple[Ghost, ...]:
            worlds = [(curve, world_of(skeleton, problem.shown(trace.at(frame).pose))) for curve, trace in others]
            return method_ghosts(skeleton, world_of(skeleton, poses[frame]), worlds, lettered, height)

        # Its first frame has moved the goals along.
        filmed = replace(AddClip.of(document, clip).apply(document), goals=document.goals)
        return ShownMotion(filmed, ghosts=ghosts)
