"""``ikviewer simulate``: a figure as a physical body that is driven to a pose, pushed and hit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from types import MappingProxyType
from typing import Any

import numpy as np

from viewer.cli import inputs
from viewer.cli.goal_inputs import check_enabled, goals_of, objects_of
from viewer.cli.job import Result, warn
from viewer.cli.options import ShapeText
from viewer.cli.solving_options import SIMULATED_FPS, SimulateOptions
from viewer.errors import InputError, prefixed
from viewer.formats import file_formats
from viewer.formats.save import check_suffix
from viewer.ik.contact import Contact, Object
from viewer.ik.solver import Solver
from viewer.physics.simulation import Physics
from viewer.physics.surroundings import Surroundings, with_feet
from viewer.scene.look import floor_of
from viewer.skeleton import Character, Pose, World, clip_violation, find_figure, fk, fk_clip, middle_capsule, point_of
from viewer.spatial.checks import FARTHEST, Floats, as_number

_NEAR_M = 0.005
"""A figure has recovered once its effectors are this near to where they were, in heights of the figure."""
_FELL = 0.2
"""A figure has fallen whose root sinks by this part of its height."""
_DISTANCE = 1.5
"""Distance from which balls are thrown, in heights of the figure."""


def run_simulate(options: SimulateOptions) -> Result:
    """Simulate, measure, write."""
    output = None if options.output is None else Path(options.output)
    films = output is not None and file_formats.is_film(output)
    if output is not None:
        if output.suffix.casefold() == ".png" and not films:
            name = f"{output.stem}_%04d.png"
            raise InputError(f"{output}: expected a film, .mp4, .gif or {name}, found one picture")
        if not films:
            check_suffix(output)
    character = inputs.load_clip(options.file, options.reading, options.clip)
    # At the rate of the steps: captured frames would move the aim in jumps.
    motion = inputs.motion_of(character, options.file).resampled(SIMULATED_FPS) if options.follow else None
    aim, known = _aim(character, options) if motion is None else (motion.pose(0), ())
    seconds = options.seconds or (5.0 if motion is None else motion.duration)
    objects, masses = _objects(options.object, known)
    height = floor_of(character) if options.ground is None else options.ground
    ground = None if options.no_ground else as_number(height, "--ground", least=-FARTHEST, most=FARTHEST)
    around = Surroundings(ground=ground, objects=objects, masses=masses)
    sim = Physics(
        with_feet(character.skeleton, character.skin),
        aim,
        strength=options.strength,
        assist=options.assist,
        surroundings=around,
        base=options.base,
    )
    if not sim.model.touches_itself:
        warn([f"{options.file}: more parts than are tested against each other: they pass through one another"])
    warn([f"{options.file}: {line}" for line in sim.warnings])
    for word, times in (("--push", [push.at for push in options.push]), ("--ball", [ball.at for ball in options.ball])):
        if times and max(times) >= seconds:
            raise InputError(f"{word}: expected a time before the end at {seconds:g} s, found {max(times):g}")
    for push in options.push:
        with prefixed("--push"):
            sim.push(push.joint, push.impulse, at=push.at)
    balls = sorted(options.ball, key=lambda ball: ball.at)
    began, poses, weights = perf_counter(), [sim.pose], [0.0]
    for frame in range(1, round(seconds * SIMULATED_FPS) + 1):
        while balls and balls[0].at <= sim.seconds + 1e-9:
            _throw(sim, balls.pop(0).speed)
        if motion is not None:
            sim.aim(motion.pose(min(frame, len(motion) - 1)))
        poses.append(sim.step(1.0 / SIMULATED_FPS))
        weights.append(sim.assist_weights)
    took = perf_counter() - began
    report = _report(sim, poses, weights, options) | {"real_time_factor": round(seconds / took, 2)}
    moved = {one.name: [round(value, 6) for value in one.center] for one in sim.objects if one.name in masses}
    if moved:
        report["objects"] = {name: list(place) for name, place in moved.items()}
    notes = []
    if output is not None:
        notes.append(_film(character, sim, output, options) if films else _write(character, sim, output))
    lines = [f"  {name} ends at {x:.3f}, {y:.3f}, {z:.3f}" for name, (x, y, z) in moved.items()]
    return Result([*_lines(report), *lines], notes=notes, document=report)


def _aim(character: Character, options: SimulateOptions) -> tuple[Pose, Sequence[Object]]:
    """The pose to hold, and the objects of the goals file."""
    first = character.skeleton.relaxed_pose() if character.clip is None else character.clip.pose(0)
    start = inputs.shown_pose(character, options.file) or first
    if options.goals is None:
        return start, ()
    goals, contact, ground = goals_of(options.goals, character.skeleton)
    check_enabled(goals, options.goals)
    solution = Solver(character.skeleton, goals, contact=contact, ground=ground).solve(start)
    if solution.status != "converged":
        warn([f"{options.goals}: {solution.status.value}: the pose to hold comes as near as possible"])
    return solution.pose, () if contact is None else contact.objects


def _objects(given: Sequence[ShapeText], known: Sequence[Object]) -> tuple[tuple[Object, ...], dict[str, float]]:
    """All objects, and the kilograms of those that move."""
    objects = objects_of(given, {one.name for one in known})
    masses = {one.name: each.kilograms for one, each in zip(objects, given, strict=True) if each.kilograms is not None}
    return (*known, *objects), masses


def _write(character: Character, sim: Physics, output: Path) -> str:
    clip = sim.clip
    inputs.saved(replace(character, clips=MappingProxyType({clip.name: clip})), output, objects=sim.objects_at)
    return f"wrote {output}: {inputs.motion_held(output, f'{len(clip)} frames at {clip.fps:g} fps')}"


def _film(character: Character, sim: Physics, output: Path, options: SimulateOptions) -> str:
    """Draw the simulation with its objects and balls."""
    from viewer.cli.picture_commands import usual_rate, write_film  # noqa: PLC0415 - only films need OpenGL
    from viewer.opengl.filming import make_film  # noqa: PLC0415

    clip, look = sim.clip, options.look
    film = make_film(
        replace(character, clips=MappingProxyType({clip.name: clip})),
        fps=usual_rate(output, clip.frame_time),
        size=look.size,
        camera=look.camera,
        samples=look.samples,
        contact=Contact(sim.surroundings.ground),
        objects=sim.objects_at,
    )
    words, _, _ = write_film(film, output)
    return f"wrote {output}: {words}"


def _throw(sim: Physics, speed: float) -> None:
    """Throw a ball from the front at the middle of the figure, aimed so that it arrives there although it falls."""
    figure = find_figure(sim.skeleton)
    forward = np.array((0.0, 0.0, 1.0)) if figure is None else figure.forward * (1.0, 0.0, 1.0)
    target = middle_capsule(sim.skeleton, fk(sim.skeleton, sim.pose))
    distance = _DISTANCE * sim.model.height
    flight = distance / speed
    velocity = -speed * forward + np.array((0.0, 0.5 * sim.surroundings.gravity * flight, 0.0))
    sim.throw(target + distance * forward, velocity)


def _report(sim: Physics, poses: list[Pose], weights: list[float], options: SimulateOptions) -> dict[str, Any]:
    """What happened, as JSON; how long it took is not known here."""
    skeleton, last = sim.skeleton, len(poses) - 1
    names = [effector.name for effector in skeleton.effectors] or list(skeleton.names)
    places = [point_of(skeleton, name) for name in names]

    def ends(world: World) -> Floats:
        return np.stack([world.point(*place) for place in places], axis=-2)

    start = ends(fk(skeleton, poses[0]))
    world = fk_clip(skeleton, sim.clip)
    off = np.linalg.norm(ends(world) - start, axis=-1).max(axis=-1)
    hits = [push.at for push in options.push] + [ball.at for ball in options.ball]
    after = round(SIMULATED_FPS * max(hits)) if hits else 0
    away = np.flatnonzero(off[after:] > _NEAR_M * sim.model.height)
    recovered = None
    if hits and not options.follow and (not away.size or after + away[-1] < last):
        recovered = round((int(away[-1]) + 1 if away.size else 0) / SIMULATED_FPS, 3)
    roots = world.positions[:, sim.model.free, 1]
    fell = bool(roots.size and (roots[0] - roots[-1] > _FELL * sim.model.height).any())
    turning = clip_violation(skeleton, sim.clip)
    slides = np.array([kind.value == "slide" for kind in skeleton.kinds])
    return {
        "seconds": round(sim.seconds, 6),
        "real_time_factor": None,
        "recovered_s": recovered,
        "worst_contact_m": sim.deepest,
        "worst_limit_deg": math.degrees(float(turning[:, ~slides].max(initial=0.0))),
        "assist_weights": float(np.mean(weights[-SIMULATED_FPS:])),
        "fell": fell,
    }


def _lines(report: dict[str, Any]) -> list[str]:
    recovered = report["recovered_s"]
    return [
        f"simulated {report['seconds']:g} s, {report['real_time_factor']:g} times as fast as real time",
        f"  recovered  {'-' if recovered is None else f'{recovered:g} s after the last hit'}",
        f"  contacts   at most {1e3 * report['worst_contact_m']:.1f} mm deep",
        f"  limits     at most {report['worst_limit_deg']:.1f} degrees over",
        f"  held by    {report['assist_weights']:.2f} weights in the last second",
        *(["  fell"] if report["fell"] else []),
    ]
