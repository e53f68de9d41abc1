"""Effects during a drag: a ring around a target that becomes missed, a flash of a joint that reaches its limit."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from viewer.gizmo import Fill, Shape, Stroke
from viewer.scene import Scene
from viewer.spatial.checks import Floats
from viewer.spatial.projection import Projection
from viewer.ui.picture import SceneBuilder
from viewer.ui.view import View

RING_SECONDS, FLASH_SECONDS = 0.4, 0.2
_RING_FROM, _RING_TO = 9.0, 16.0
"""Radii of the ring, logical pixels."""
_FLASH_RADIUS, _FLASH_ALPHA = 11.0, 0.7
_CIRCLE = np.stack([np.cos(np.linspace(0.0, 2.0 * np.pi, 33)[:-1]), np.sin(np.linspace(0.0, 2.0 * np.pi, 33)[:-1])], 1)


class _Effect(NamedTuple):
    """A ring around a goal's target, or a flash of a joint; ``name`` is the goal's id or the joint's name."""

    ring: bool
    name: str
    since: float


class Effects:
    """Rings and flashes, which only drags start: opening or undoing starts none."""

    def __init__(self, view: View, scenes: SceneBuilder) -> None:
        """Start without effects."""
        self._view, self._scenes = view, scenes
        self._missed: frozenset[str] | None = None
        self._stuck: frozenset[int] = frozenset()
        self._running: list[_Effect] = []
        self._now = 0.0

    def tick(self, now: float) -> bool:
        """Start and end effects; whether any runs."""
        self._now = now
        if self._view.dragging and not self._view.preferences.reduce_motion:
            self._begin(self._scenes.scene(), now)
        else:
            self._missed = None
        if self._running:
            left = [one for one in self._running if now - one.since < (RING_SECONDS if one.ring else FLASH_SECONDS)]
            self._running = left
            self._view.changed()
        return bool(self._running)

    def _begin(self, scene: Scene, now: float) -> None:
        missed = frozenset(
            mark.name for mark in scene.marks if not (mark.reached or mark.quiet) and mark.target is not None
        )
        if self._missed is not None:
            self._running += [_Effect(ring=True, name=name, since=now) for name in missed - self._missed]
            names = (scene.skeleton.names[joint] for joint in scene.at_limit - self._stuck)
            self._running += [_Effect(ring=False, name=name, since=now) for name in names]
        self._missed, self._stuck = missed, scene.at_limit

    def shapes(self, scene: Scene, projection: Projection, scale: float) -> list[Shape]:
        """Shapes of the running effects."""
        shapes: list[Shape] = []
        for effect in self._running:
            position = _place(scene, effect)
            pixel = None if position is None else projection.project(position)
            if pixel is None or not np.isfinite(pixel).all():
                continue
            part = min((self._now - effect.since) / (RING_SECONDS if effect.ring else FLASH_SECONDS), 1.0)
            if effect.ring:
                radius = (_RING_FROM + part * (_RING_TO - _RING_FROM)) * scale
                shapes.append(Stroke(pixel + radius * _CIRCLE, 2.0 * scale, "unreached", 1.0 - part, closed=True))
            else:
                circle = pixel + _FLASH_RADIUS * scale * _CIRCLE
                shapes.append(Fill(circle, "limit", _FLASH_ALPHA * (1.0 - part)))
        return shapes


def _place(scene: Scene, effect: _Effect) -> Floats | None:
    if effect.ring:
        return next((mark.target for mark in scene.marks if mark.name == effect.name), None)
    names = scene.skeleton.names
    return scene.world.positions[names.index(effect.name)] if effect.name in names else None
