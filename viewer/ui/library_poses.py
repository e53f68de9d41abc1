"""Applies poses of the library to the figure shown."""

from __future__ import annotations

from functools import partial

from viewer.document import actions as act
from viewer.document.pose_fitting import fitted_pose
from viewer.errors import ViewerError
from viewer.session import Session
from viewer.skeleton import Pose, Skeleton
from viewer.skeleton.transfer import Transfer, blended
from viewer.ui.commands import CommandBinding, CommandBindings
from viewer.ui.view import View


class LibraryPoses:
    """Applies poses to the selected joints, or to all if none is selected."""

    def __init__(self, session: Session, view: View) -> None:
        """Change a session."""
        self._session, self._view = session, view
        self._blend: tuple[str, Pose, Transfer] | None = None

    def apply(self, name: str, source: Skeleton, pose: Pose, *, flipped: bool = False) -> None:
        """Apply a pose as one undo step.

        Args:
            name: of the pose.
            source: the skeleton that it is of.
            pose: of that skeleton.
            flipped: with left and right swapped.

        Raises:
            InputError: no joint of it fits, or it cannot be flipped.
        """
        found = self._fitted(source, pose, flipped=flipped)
        title = _title(name, flipped=flipped)
        self._session.dispatch(act.PastePose(found.pose, self._names(found), title=title))

    def begin(self, name: str, source: Skeleton, pose: Pose) -> None:
        """Begin to blend a pose in; `blend` sets its share, the session's ``commit`` or ``cancel`` ends it.

        Raises:
            InputError: as of `apply`; nothing is begun.
        """
        found = self._fitted(source, pose, flipped=False)
        title = _title(name, flipped=False)
        self._session.begin(title)
        self._blend = title, self._session.document.pose, found

    def blend(self, share: float) -> None:
        """Pose the figure a part of the way, 0 to 1, from where the blend began to the library's pose."""
        if self._blend is None or self._session.gestures.label != self._blend[0]:
            return
        title, start, found = self._blend
        share = min(max(share, 0.0), 1.0)
        pose = blended(start, found.pose, share, found.joints)
        try:
            self._session.gestures.update(act.PastePose(pose, self._names(found), title=title))
        except ViewerError:
            self._session.cancel()
            raise

    def _fitted(self, source: Skeleton, pose: Pose, *, flipped: bool) -> Transfer:
        return fitted_pose(self._session.document, source, pose, flipped=flipped)

    def _names(self, found: Transfer) -> tuple[str, ...] | None:
        """The joints that change; None: all."""
        names = self._session.document.skeleton.names
        fitting = tuple(names[joint] for joint in found.joints)
        chosen = self._session.document.selected("joint")
        if not chosen:
            return None if len(fitting) == len(names) else fitting
        return tuple(name for name in fitting if name in chosen)

    def bindings(self) -> CommandBindings:
        """How its commands are run."""
        return {"pose.keep": CommandBinding(partial(self._view.request, "keep-pose"))}


def _title(name: str, *, flipped: bool) -> str:
    return f"Pose {name}{' flipped' if flipped else ''}"
