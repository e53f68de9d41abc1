"""A picture of the laboratory: the answers of several methods as one figure and its ghosts."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from viewer.formats.lab_report import CURVES, Curve, amount
from viewer.ik.lab import Trace, Traces
from viewer.opengl.offscreen import check_size, render_image
from viewer.opengl.picture import LOGICAL_HEIGHT, camera_of, scene_of
from viewer.scene.drawlist import draw_list
from viewer.scene.look import rgba
from viewer.scene.primitives import Text
from viewer.scene.scene import Ghost
from viewer.skeleton import Character, Skeleton, find_place, fk

_GHOST = 0.5
_MARGIN, _ROW = 24.0, 22.0
"""Of the legend, logical pixels."""


def render_traces(
    character: Character | Skeleton, traces: Traces, *, size: tuple[int, int] = (960, 720), samples: int = 4
) -> NDArray[np.uint8]:
    """Draw the answers of a laboratory: the first method's figure, those of the others as ghosts with their letters.

    Args:
        character: whose skeleton the traces are of.
        traces: at least one.
        size: (width, height) of the picture in pixels.
        samples: per pixel.

    Returns:
        As `render`.

    Raises:
        InputError, MachineError: as `render`.
    """
    check_size(size)
    first, *others = traces.each
    skeleton = first.solver.skeleton
    scene = scene_of(character, first.last.pose, goals=first.solver.goals)
    missed = [0.0 if math.isnan(miss) else miss for miss in first.at(0).errors_m.tolist()]
    goal = first.solver.goals[int(np.argmax(missed))]
    ghosts = []
    for curve, trace in zip(CURVES[1:], others, strict=False):
        world = fk(skeleton, trace.last.pose)
        place = find_place(skeleton, goal.effector) if goal.effector else None
        at = None if place is None else np.asarray(world.point(place.joint, np.add(place.offset, goal.offset)))
        ghosts.append(Ghost(world, _GHOST, curve.letter, curve.ink, at))
    scene = replace(scene, ghosts=tuple(ghosts))
    scale = max(1.0, size[1] / LOGICAL_HEIGHT)
    projection = camera_of("three-quarter", scene, character, size).projection(size)
    drawn = draw_list(scene, projection, scale)
    legend = tuple(
        Text(_words(curve, trace), _MARGIN * scale, (_MARGIN + _ROW * row) * scale, rgba(curve.ink), 15)
        for row, (curve, trace) in enumerate(zip(CURVES, traces.each, strict=False))
    )
    return render_image(replace(drawn, texts=(*drawn.texts, *legend)), projection, samples, scale)


def _words(curve: Curve, trace: Trace) -> str:
    miss = amount(trace.error(trace.last.iterations), metres=trace.in_metres)
    return f"{curve.letter}  {trace.method}: {miss}, {trace.how}"
