"""Pictures and films of the answers of several methods to the same goals: one figure, ghosts with letters, a legend."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from viewer.formats.lab_report import CURVES, amount
from viewer.ik.lab import Trace, Traces
from viewer.opengl.filming import Film, disc_under
from viewer.opengl.pictures import camera_of, render_image, scale_of, scene_of, seen_points
from viewer.scene import Scene, Text, draw_list, rgba
from viewer.scene.method_ghosts import farthest_goal, method_ghosts
from viewer.skeleton import Character, Skeleton, fk

SIZE = (960, 720)
PER_SECOND = 10.0
"""Iterations a second of a film, whose last one stays for a second."""
_MARGIN, _ROW = 24.0, 22.0
"""Logical pixels of the legend."""


def render_traces(character: Character | Skeleton, traces: Traces) -> NDArray[np.uint8]:
    """Draw the answers of a laboratory: the first method's figure, those of the others as ghosts with their letters.

    Args:
        character: whose skeleton the traces are of.
        traces: at least one.

    Returns:
        As `viewer.render`.

    Raises:
        MachineError: as `viewer.render`.
    """
    scene, scale = _scene(character, traces, traces.iterations), scale_of(SIZE)
    projection = camera_of("three-quarter", scene, character, SIZE).projection(SIZE)
    drawn = draw_list(scene, projection, scale)
    legend = _legend(traces, traces.iterations, scale)
    return render_image(replace(drawn, texts=(*drawn.texts, *legend)), projection, 4, scale)


def film_traces(character: Character | Skeleton, traces: Traces) -> Film:
    """The film of a laboratory: a picture an iteration, as `render_traces` draws the last one.

    Args:
        character: whose skeleton the traces are of.
        traces: at least one.
    """
    last = traces.iterations
    first, end = _scene(character, traces, 0), _scene(character, traces, last)
    worlds = [fk(traces.skeleton, trace.at(k).pose) for trace in traces.each for k in range(last + 1)]
    points = seen_points(end, np.concatenate([world.positions for world in worlds]))
    camera = camera_of("three-quarter", first, character, SIZE, points)

    def texts(number: int, scale: float) -> list[Text]:
        iteration = min(number, last)
        counted = _line(f"Iteration {iteration} of {last}", "text2", len(traces.each), scale)
        return [*_legend(traces, iteration, scale), counted]

    return Film(
        count=last + round(PER_SECOND),
        fps=PER_SECOND,
        size=SIZE,
        scene=lambda number: _scene(character, traces, min(number, last)),
        camera=lambda _: camera,
        disc=disc_under(points, first.height),
        texts=texts,
    )


def _scene(character: Character | Skeleton, traces: Traces, iteration: int) -> Scene:
    first, *others = traces.each
    scene = scene_of(character, first.at(iteration).pose, goals=first.solver.goals)
    worlds = (fk(traces.skeleton, trace.at(iteration).pose) for trace in others)
    lettered = zip(CURVES[1:], worlds, strict=False)
    ghosts = method_ghosts(traces.skeleton, scene.world, lettered, farthest_goal(first), scene.height)
    return replace(scene, ghosts=ghosts)


def _legend(traces: Traces, iteration: int, scale: float) -> list[Text]:
    """A line a method: its letter, how far it is, and how it ended."""
    lines = [
        (f"{curve.letter}  {_words(trace, iteration)}", curve.ink)
        for curve, trace in zip(CURVES, traces.each, strict=False)
    ]
    return [_line(words, ink, row, scale) for row, (words, ink) in enumerate(lines)]


def _line(words: str, ink: str, row: int, scale: float) -> Text:
    return Text(words, _MARGIN * scale, (_MARGIN + _ROW * row) * scale, rgba(ink), 15)


def _words(trace: Trace, iteration: int) -> str:
    words = f"{trace.method}: {amount(trace.error(iteration), metres=trace.in_metres)}"
    return words if iteration < trace.last.iterations else f"{words}, {trace.how}"
