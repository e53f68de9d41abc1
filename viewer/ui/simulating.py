"""Physics in the window: the figure is driven to the pose of the document, and can be pulled and hit.

Figures beside each other are simulated together: they push each other, and share the balls. A simulation changes
nothing: the document keeps its pose, which is drawn as a ghost and can still be dragged. *Keep pose* and *Keep as clip*
are one undo step each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from viewer.choices import Assist, Base
from viewer.document import Document
from viewer.document.actions import AddClip, SetPose
from viewer.errors import InputError, MachineError, plural
from viewer.gizmo import Shape, Stroke
from viewer.ik.contact import Object, Sphere
from viewer.latest import Latest
from viewer.physics.drive import STRENGTH_HZ
from viewer.physics.simulation import Physics
from viewer.physics.surroundings import GRAVITY, Standing, Surroundings, Together, with_feet
from viewer.scene import Hit, OtherFigure, PropShape, Text, rgba
from viewer.session import Session
from viewer.session.demo_parts import Push, Trial
from viewer.session.demos import demo_of
from viewer.session.figures import ORIGIN, StageFigure
from viewer.skeleton import Clip, Pose, Skeleton, World, fk, middle_capsule
from viewer.spatial.checks import Floats
from viewer.spatial.projection import Projection
from viewer.spatial.quaternion import conjugate, rotate
from viewer.ui.commands import CommandBinding, CommandBindings, needs
from viewer.ui.contact import ground_of
from viewer.ui.events import Message, Move, Press, Release
from viewer.ui.status import StatusLine
from viewer.ui.view import Gesture, View, Workspace

_LONGEST_S = 0.05
"""Most seconds that are simulated between two frames: a slow machine shows slow motion."""
_ABOUT = "physics"
_COILS, _WIDE = 12, 5.0
"""Bends of a drawn spring, and half its width, logical pixels."""
_LEAST_FRAMES = 2
"""Fewer are no motion."""
_PACE = 0.1
"""Share of the newest frame in the pace that is shown."""


@dataclass(frozen=True, slots=True)
class Forces:
    """The user's choices.

    Attributes:
        strength: how quickly joints answer, hertz.
        assist: what may hold a free root: "held", "helped" or "off".
        gravity: as a fraction of the earth's.
        friction: of all contacts.
        ground: whether there is a floor.
        base: which roots that files fix are free: those of figures with "legs", none ("fixed"), or all ("free").
        self_contact: whether the figure touches itself; None: if it is not too large.
        ball_mass, ball_radius: kilograms and metres; None: by the figure's.
        ball_speed: metres per second.
    """

    strength: float = STRENGTH_HZ
    assist: Assist = "held"
    gravity: float = 1.0
    friction: float = 0.9
    ground: bool = True
    base: Base = "legs"
    self_contact: bool | None = None
    ball_mass: float | None = None
    ball_radius: float | None = None
    ball_speed: float = 8.0


def _figures_of(session: Session) -> list[StageFigure]:
    """The figures that are simulated, the active one first, placed as that one sees them."""
    return [replace(session.stage.figure, placement=ORIGIN), *session.stage.others]


def _made_of(figures: list[StageFigure]) -> list[tuple[object, ...]]:
    """What a simulation of figures is made of, to be compared."""
    return [(one.name, id(one.document.skeleton), one.placement) for one in figures]


def _simulated(document: Document) -> Skeleton:
    """The simulated skeleton: with the feet that its meshes show."""
    own, read = document.skeleton, document.character
    return with_feet(own, read.skin if own.names == read.skeleton.names else None)


class Simulating:
    """The workspace Physics.

    Attributes:
        sim: the simulation; None outside the workspace, or where it cannot run.
        forces: what the user chose; `change` sets it.
        paused: no time passes.
        problem: why it cannot run; "": it can.
        pace: seconds simulated per second of computing.
    """

    def __init__(self, session: Session, view: View) -> None:
        self._session, self._view = session, view
        self.sim: Physics | None = None
        self.forces, self.paused, self.problem, self.pace = Forces(), False, "", 0.0
        self._of: Document | None = None
        self._figures: list[StageFigure] = []
        self._together: Together | None = None
        self._aimed: list[Pose] = []
        self._split = Latest[list[Pose]]()
        self._trial: Trial | None = None
        self._recorded = Latest[list[Document]]()
        self._pulled: Hit | None = None
        self._offset = self._hand = np.zeros(3)

    @property
    def on(self) -> bool:
        return self._view.workspace is Workspace.PHYSICS

    @property
    def pose(self) -> Pose | None:
        """The simulated pose of the active figure; None if none is shown, as after another figure became active."""
        same = self.sim is not None and self._figures[0].document.skeleton is self._session.document.skeleton
        return self._poses()[0] if same else None

    def _poses(self) -> list[Pose]:
        """The simulated poses of all figures, the active one's first."""
        assert self.sim is not None
        if self._together is None:
            return [self.sim.pose]
        together, pose = self._together, self.sim.pose
        return self._split.of(lambda: together.split(pose), together, pose)

    def beside(self, figures: tuple[OtherFigure, ...]) -> tuple[OtherFigure, ...]:
        """The figures beside the active one, in their simulated poses."""
        if self.sim is None or self._together is None:
            return figures
        skeletons = {one.name: one.document.skeleton for one in self._figures}
        worlds = {
            one.name: one.placement.world(fk(one.document.skeleton, pose))
            for one, pose in zip(self._figures, self._poses(), strict=True)
        }
        return tuple(
            replace(one, world=worlds[one.name]) if skeletons.get(one.name) is one.skeleton else one for one in figures
        )

    @property
    def aimed(self) -> Pose | None:
        """The pose that the active figure is driven to; None if none is shown."""
        if self.sim is None or self.pose is None:
            return None
        return self.sim.aimed if self._together is None else self._together.split(self.sim.aimed)[0]

    @property
    def balls(self) -> tuple[PropShape, ...]:
        """The balls that were thrown, as they are drawn."""
        if self.sim is None:
            return ()
        radius = self.sim.model.ball_radius
        places = self.sim.balls.tolist()
        return tuple(
            PropShape(f"ball {n}", Sphere(f"ball {n}", (x, y, z), radius)) for n, (x, y, z) in enumerate(places)
        )

    @property
    def objects(self) -> tuple[Object, ...]:
        """The props of the document at their simulated places."""
        return () if self.sim is None else self.sim.objects

    # Time

    def tick(self) -> bool:
        """Begin and end with the workspace, and simulate the time since the last tick; whether anything moves."""
        self._follow()
        sim, elapsed = self.sim, self._view.elapsed
        if sim is None or self.paused or elapsed is None or self.problem:
            return False
        self._advance(sim, min(elapsed, _LONGEST_S))
        return True

    def _follow(self) -> None:
        """Begin when the workspace is opened or its figures are others, and end when it is left."""
        if not self.on:
            if self.sim is not None:
                self._drop()
            self.problem = ""
            return
        document, figures = self._session.document, _figures_of(self._session)
        if self._of is None or _made_of(figures) != _made_of(self._figures):
            self._begin()
        elif self.sim is not None and document.contact.props is not self._of.contact.props:
            self._begin(self._poses())
        else:
            self._figures = figures

    def _advance(self, sim: Physics, seconds: float) -> None:
        if seconds <= 0.0:
            return
        aimed = [one.document.pose for one in self._figures]
        if any(one is not other for one, other in zip(aimed, self._aimed, strict=True)):
            self._aimed = aimed
            sim.aim(aimed[0] if self._together is None else self._together.pose(aimed))
        began = perf_counter()
        try:
            for event in () if self._trial is None else self._trial.within(sim.seconds, sim.seconds + seconds):
                if isinstance(event, Push):
                    sim.push(event.joint, event.impulse)
                else:
                    sim.throw(event.origin, event.velocity)
            sim.step(seconds)
        except InputError as error:
            self.problem = str(error)
            self._view.fail(error, _ABOUT)
        pace = seconds / max(perf_counter() - began, 1e-9)
        self.pace = pace if self.pace == 0.0 else (1.0 - _PACE) * self.pace + _PACE * pace
        self._view.changed()

    def _begin(self, poses: list[Pose] | None = None) -> None:
        """Make the simulation again, from the given poses of all figures or from those of their documents."""
        document = self._session.document
        self._figures = figures = _figures_of(self._session)
        self._aimed = [one.document.pose for one in figures]
        start = self._aimed if poses is None or len(poses) != len(figures) else poses
        standing = [
            Standing(_simulated(one.document), np.array(one.placement.offset), one.placement.rotation)
            for one in figures
        ]
        self._together = Together.of(standing) if len(figures) > 1 else None
        trial = None if (demo := demo_of(document)) is None else demo.trial
        if trial is not None and trial is not self._trial:
            self.forces = Forces(trial.strength, trial.assist, ball_mass=trial.ball_mass, ball_radius=trial.ball_radius)
        self._trial, forces = trial, self.forces
        self._of, self.sim, self.problem, self.pace = document, None, "", 0.0
        props = [prop for prop in document.contact.props if not prop.problem]
        around = Surroundings(
            gravity=GRAVITY * forces.gravity,
            ground=ground_of(document) if forces.ground else None,
            friction=forces.friction,
            self_contact=forces.self_contact,
            ball_mass=forces.ball_mass,
            ball_radius=forces.ball_radius,
            objects=tuple(prop.solid() for prop in props),
            masses={prop.name: prop.mass for prop in props if prop.mass > 0.0},
        )
        try:
            chosen = {
                "strength": forces.strength, "assist": forces.assist, "surroundings": around, "base": forces.base,
            }  # fmt: skip
            together = self._together
            if together is None:
                sim = Physics(standing[0].skeleton, start[0], **chosen)  # type: ignore[arg-type]
                sim.aim(self._aimed[0])
            else:
                skeletons = [one.skeleton for one in together.figures]
                sim = Physics(together.skeleton, together.pose(start), figures=skeletons, **chosen)  # type: ignore[arg-type]
                sim.aim(together.pose(self._aimed))
            self.sim = sim
        except (InputError, MachineError) as error:
            self.problem = str(error)
        self._view.changed()

    def _drop(self) -> None:
        """End the simulation, and offer its pose."""
        pose, of = self.pose, self._of
        self.sim, self._of, self._pulled, self._recorded = None, None, None, Latest()
        self._view.changed()
        if pose is None or of is None or self._session.document.skeleton is not of.skeleton:
            return
        if not pose.is_near(self._session.document.pose):
            keep = (("Keep pose", lambda: self._keep(pose)),)
            self._view.post(Message("Simulation dropped", actions=keep, about=_ABOUT))

    # What the user does

    def change(self, forces: Forces) -> None:
        """Use other forces: in the running simulation where possible, else in a new one from the present pose."""
        before, self.forces = self.forces, forces
        if self.sim is None:
            return
        now = replace(forces, strength=before.strength, assist=before.assist, ball_speed=before.ball_speed)
        if now != before:
            self._begin(self._poses())
            return
        self.sim.strength, self.sim.assist = forces.strength, forces.assist
        self._view.changed()

    def reset(self) -> None:
        """Start again from the document's pose; moving targets start again, too."""
        targets = self._session.targets
        if targets.motions:
            targets.animate(targets.motions)
        self._begin()

    def throw(self) -> None:
        """Throw a ball along the view's ray under the pointer or, if the pointer is over a button, at the figure."""
        if self.sim is None or self.pose is None:
            return
        view, skeleton = self._view, self._session.document.skeleton
        if view.pointed:
            x, y = view.local(*view.pointer_at)
        else:
            x, y = view.projection().project(middle_capsule(skeleton, fk(skeleton, self.pose))).tolist()
        ray = view.projection().ray(x, y)
        middle = self.sim.pose.translations[0]
        away = float((middle - ray.origin) @ ray.direction)
        start = ray.origin + ray.direction * max(away - 1.2 * self.sim.model.height, 0.0)
        fall = 0.5 * self.sim.surroundings.gravity * (1.2 * self.sim.model.height / self.forces.ball_speed)
        self.sim.throw(start, self.forces.ball_speed * ray.direction + np.array((0.0, fall, 0.0)))
        self.paused = False
        self._view.changed()

    def pause(self) -> None:
        """Stop or go on, moving targets as well."""
        self.paused = not self.paused
        if self.paused:
            self._session.targets.pause()
        else:
            self._session.targets.resume()
        self._view.changed()

    def hold(self) -> None:
        """Stop, if it runs."""
        if self.sim is not None and not self.paused:
            self.pause()

    def single_step(self) -> None:
        """Go on by one frame, paused."""
        self.hold()
        if self.sim is not None and not self.problem:
            self._advance(self.sim, 1.0 / 60.0)

    def keep_pose(self) -> None:
        """Give the document the simulated pose: one undo step."""
        pose = self.pose
        if pose is not None:
            self._keep(pose)

    def _keep(self, pose: Pose) -> None:
        self._session.dispatch(SetPose(pose, "Keep simulated pose"))

    def keep_clip(self) -> None:
        """Make a clip of the simulation since the last reset: one undo step."""
        if self.sim is None:
            return
        clip = self._clip(self.sim.clip, 0)
        self._session.dispatch(AddClip.of(self._session.document, clip))
        self._view.note(f"Kept as clip: {plural(len(clip), 'frame')}")

    def recorded(self) -> list[Document] | None:
        """Documents of all figures, the active one first, with the motion simulated since the last reset; None without.

        A film of them shows what was seen.
        """
        if self.sim is None or self.sim.frames < _LEAST_FRAMES:
            return None
        documents = [one.document for one in self._figures]
        return self._recorded.of(lambda: self._filmed(documents), self.sim, *documents, equal=self.sim.frames)

    def _filmed(self, documents: list[Document]) -> list[Document]:
        assert self.sim is not None
        whole = self.sim.clip
        return [AddClip.of(one, self._clip(whole, number)).apply(one) for number, one in enumerate(documents)]

    def _clip(self, whole: Clip, number: int) -> Clip:
        """A figure's part of the simulated motion."""
        return whole if self._together is None else self._together.clip(whole, number)

    def can_pull(self, hit: Hit | None) -> bool:
        return self.sim is not None and hit is not None and hit.kind in {"bone", "joint"}

    def pull(self, hit: Hit, to: Floats) -> None:
        """Pull the point that was hit to a place (3,), unless the simulation was left meanwhile."""
        if self.sim is None:
            return
        if self._pulled is not hit:
            self._pulled = hit
            world = self._world()
            self._offset = rotate(conjugate(world.rotations[hit.index]), hit.point - world.positions[hit.index])
        self._hand = to
        self.sim.pull(hit.index, self._offset, to)
        self.paused = False
        self._view.changed()

    def release(self) -> None:
        self._pulled = None
        if self.sim is not None:
            self.sim.release()
        self._view.changed()

    def _world(self) -> World:
        assert self.sim is not None
        return fk(self.sim.skeleton, self.sim.pose)

    # What is shown

    @property
    def speed_words(self) -> str:
        """``real time (23 x possible)``; where the machine is too slow for that, ``0.4 x real time``."""
        if self.paused:
            return "paused"
        return f"real time ({self.pace:.0f} x possible)" if self.pace >= 1.0 else f"{self.pace:.1f} x real time"

    @property
    def assist_words(self) -> str:
        """What the help that the root gets does: ``Held by``."""
        return "" if self.sim is None else f"{self.sim.assist.capitalize()} by"

    def status(self, usual: Callable[[], StatusLine]) -> StatusLine:
        """The usual status line, about the simulation unless a goal is dragged, which is solved."""
        sim, line = self.sim, usual()
        if sim is None or self._session.gestures.drag is not None:
            return line
        state = "Physics paused" if self.paused else "Physics runs"
        if not self.paused and 0.0 < self.pace < 1.0:
            state += f" at {self.speed_words}"
        helped = len(sim.model.free) and sim.assist != "off"
        goals = f"{self.assist_words} {100.0 * sim.assist_weights:.0f} % of its weight".lower() if helped else ""
        fps = line.figures.rpartition(" · ")[2]
        figures = fps if fps.endswith("fps") else ""
        return line._replace(icon="dot", tone="idle", state=state, goals=goals, figures=figures, yields="")

    def shapes(self, projection: Projection, scale: float) -> list[Shape]:
        ends = self._spring(projection)
        if ends is None:
            return []
        start, end = ends
        along = end - start
        length = float(np.linalg.norm(along))
        if length < 1.0:
            return []
        across = np.array([-along[1], along[0]]) / length * _WIDE * scale
        part = np.linspace(0.0, 1.0, _COILS + 1)
        side = np.where(np.arange(_COILS + 1) % 2, 1.0, -1.0)
        side[[0, -1]] = 0.0
        points = start + part[:, None] * along + side[:, None] * across
        return [Stroke(points, 1.6 * scale, "hovered")]

    def texts(self, projection: Projection, scale: float) -> tuple[Text, ...]:
        ends = self._spring(projection)
        if ends is None or self.sim is None:
            return ()
        x, y = ends[1].tolist()
        return (Text(f"{self.sim.pull_force:.0f} N", x + 14.0 * scale, y - 12.0 * scale, rgba("text"), 13, "left"),)

    def _spring(self, projection: Projection) -> tuple[Floats, Floats] | None:
        if self._pulled is None or self.sim is None:
            return None
        start = self._world().point(self._pulled.index, self._offset)
        ends = projection.project(np.array([start, self._hand]))
        return (ends[0], ends[1]) if np.isfinite(ends).all() else None

    # Commands

    def _toggle(self) -> None:
        self._view.enter(Workspace.PHYSICS)
        self._follow()
        if self.sim is not None:  # else the panel shows the reason
            self.paused = False
            self._view.note("Physics runs. K stops it, S sets keys")

    def bindings(self) -> CommandBindings:
        def on() -> bool:
            return self.on

        running = needs("physics does not run: K runs it", lambda: self.sim)
        return {
            "physics.run": CommandBinding(self._toggle, checked=lambda: self.on),
            "physics.pause": CommandBinding(self.pause, running, checked=lambda: self.paused),
            "physics.reset": CommandBinding(self.reset, running),
            "physics.throw": CommandBinding(self.throw, running),
            "physics.keep_pose": CommandBinding(self.keep_pose, running),
            "physics.keep_clip": CommandBinding(self.keep_clip, running),
            "play.forwards": CommandBinding(self.pause, running, when=on),
            "play.next": CommandBinding(self.single_step, running, when=on),
            "play.first": CommandBinding(self.reset, when=on),
        }


class PullDrag(Gesture):
    """A point of the simulated figure follows the pointer, in a plane across the view."""

    cursor = "grabbing"

    def __init__(self, view: View, simulating: Simulating, event: Press, hit: Hit) -> None:
        self._view, self._simulating, self._hit = view, simulating, hit
        self.button = event.button

    def move(self, event: Move) -> None:
        self._view.pointer = event
        projection = self._view.projection()
        self._simulating.pull(self._hit, projection.under(*self._view.local(event.x, event.y), self._hit.point))

    def release(self, event: Release) -> None:  # noqa: ARG002 - as of all gestures
        self._simulating.release()
