"""A window that tests and scripts drive: when it ends, what it writes, and its state as plain data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from viewer.document import DocumentGoal, Item, Report, stand_of
from viewer.document.document_contact import touches_of
from viewer.formats.files import write_whole
from viewer.ik.goals import KINDS, Goal
from viewer.session.action_log import digest_of
from viewer.session.replay import Replay
from viewer.spatial.checks import Floats
from viewer.ui.controller import Controller
from viewer.ui.events import other_pose_words
from viewer.ui.timeline import key_frames


@dataclass(frozen=True, slots=True)
class Automation:
    """Options for tests and scripts.

    Attributes:
        state_file: rewritten after every change.
        exit_after: number of frames after which the window closes; None: it stays open.
        screenshot: PNG to write once the picture is at rest, or at the last frame.
        script: recorded calls that the session replays.
        until_done: the window closes when the script is done, unless ``exit_after`` is given.
    """

    state_file: Path | None = None
    exit_after: int | None = None
    screenshot: Path | None = None
    script: Replay | None = None
    until_done: bool = False

    @property
    def ends(self) -> bool:
        """Whether the window closes by itself; then it draws without pauses."""
        return self.exit_after is not None or self.until_done

    def is_last(self, drawn: int) -> bool:
        """Whether the frame after ``drawn`` frames is the last one."""
        if self.exit_after is not None:
            return drawn + 1 >= self.exit_after
        return self.until_done and (self.script is None or self.script.finished)


def state_of(
    controller: Controller, window_size: tuple[int, int], fps: float | None = None, *, still: bool = False
) -> dict[str, Any]:
    """The state by name; metres, and window pixels from the top left.

    ``fps`` is None while no frames are drawn; ``still``: nothing has changed for a while, and the picture is a good
    one.
    """
    session, document = controller.session, controller.session.document
    report = session.report
    saved = str(session.path) if session.path else None
    return {
        "frame": document.frame if document.frames else None,
        "window": list(window_size),
        "fps": fps,
        "still": still,
        "joints": len(document.skeleton),
        "height": controller.view.height,
        "effectors": [_effector(controller, goal, report) for goal in document.goals],
        "goals": [
            *(_goal(goal.id, goal, report) for goal in document.goals if goal.enabled),
            *(_goal(name, goal, report) for name, goal in document.body_goals().items()),
        ],
        "selection": [item.name for item in document.selection],
        "solver": {
            "method": document.solver.method,
            "backend": report.backend if report else session.kernels.state,
            "status": str(report.status) if report else None,
            "iterations": report.iterations if report else 0,
            "ms": 1000.0 * report.seconds if report else 0.0,
        },
        "limits": document.limits_on,
        "contact": document.contact.on,
        "contacts": [
            {"body": one.body, "other": one.other, "depth_m": one.depth_m, "point": list(one.point)}
            for one in touches_of(document.contact, document.skeleton, document.pose)
        ],
        "props": [
            {
                "name": one.name,
                "shape": str(one.shape),
                "center": list(one.center),
                "screen": screen(controller, np.array(one.handle)),
            }
            for one in document.contact.props
        ],
        "recording": session.recorder.recording is not None,
        "keys": len(key_frames(document)),
        "playing": bool(session.clock.playing),
        "time": document.frame * document.frame_time,
        "undo_depth": session.history.index,
        "file": saved or document.character.source.path,
        "message": _message(controller),
        "camera": _camera(controller),
        "modified": session.modified,
        "session": saved,
        "mode": str(document.mode),
        "dragging": controller.dragging,
        "viewport": [round(value / controller.view.pixel_ratio) for value in controller.viewport],
        "frames": document.frames,
        "kernels": session.kernels.state,
        "digest": digest_of(document),
        "figures": [
            {
                "name": one.name,
                "active": one is session.stage.figure,
                "hidden": one.hidden,
                "offset": list(one.placement.offset),
                "yaw": one.placement.yaw,
                "frame": one.document.frame if one.document.frames else None,
            }
            for one in session.stage
        ],
    }


def _message(controller: Controller) -> str | None:
    """The newest message in the view; the offer of another pose is the lowest."""
    if controller.session.escape.offered:
        return other_pose_words(controller.session.escape.meets)
    return controller.view.bar.messages[-1].text if controller.view.bar.messages else None


def _camera(controller: Controller) -> dict[str, Any]:
    camera = controller.camera
    return {
        "target": camera.target.tolist(),
        "yaw": camera.yaw,
        "pitch": camera.pitch,
        "distance": camera.distance,
        "orthographic": camera.orthographic,
    }


def _effector(controller: Controller, goal: DocumentGoal, report: Report | None) -> dict[str, Any]:
    document = controller.session.document
    stand = stand_of(document, goal)
    error = report.errors.get(goal.id) if report else None
    asked = None
    if goal.enabled:
        asked = {
            "position": list(goal.position) if goal.has_position and goal.position else None,
            "rotation": list(goal.rotation) if goal.has_rotation and goal.rotation else None,
        }
    return {
        "name": goal.id,
        "screen": screen(controller, stand.point),
        "position": stand.point.tolist(),
        "goal": asked,
        "hold": goal.enabled and goal.sets_pose and not goal.pinned,
        "pinned": goal.enabled and goal.pinned,
        "error_m": error.metres if error else None,
        "selected": Item("effector", goal.id) in document.selection,
    }


def _goal(name: str, goal: Goal | DocumentGoal, report: Report | None) -> dict[str, Any]:
    error = report.errors.get(name) if report else None
    return {
        "id": name,
        "kind": goal.kind,
        "effector": goal.effector or None,
        "level": 0 if goal.pinned else goal.level,
        "error_m": error.metres if error else None,
        "error_deg": error.degrees if error else None,
        "yields": report is not None and name in report.yields,
        **({"object": goal.to} if KINDS[goal.kind].grips else {}),
    }


def screen(controller: Controller, point: Floats) -> list[float] | None:
    """A point (3,) in window pixels from the top left; None if it is not visible."""
    pixel = controller.projection().project(point) + np.array([controller.viewport.x, controller.viewport.y])
    position: list[float] = (pixel / controller.view.pixel_ratio).tolist()
    return position if all(math.isfinite(value) for value in position) else None


def write_state(path: Path, state: dict[str, Any]) -> None:
    """Write the state atomically, by renaming; an OutputError if it cannot be written."""
    import msgspec  # noqa: PLC0415 - only visible windows pay for it

    write_whole(path, msgspec.json.encode(state) + b"\n")
