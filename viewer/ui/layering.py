"""Layers of goals in the window (*Reach here*): their commands, marks and words."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from viewer.document import Document, GoalLayer, Item, actions as act
from viewer.document.solved_frames import Transform, has_long_layers, miss_of, put_at, target_of, transform_of
from viewer.document.take import layer_of
from viewer.errors import InputError, shown
from viewer.gizmo import RigidMotion
from viewer.motion import Miss
from viewer.scene import Mark
from viewer.session import Session
from viewer.skeleton.names import free_name
from viewer.ui import number_format
from viewer.ui.commands import CommandBinding, CommandBindings, needs
from viewer.ui.view import Mover, ViewPart, one_step

_HOLD, _EASE = 0.1, 0.5
"""Seconds that a new layer holds before and after its frame, and that it takes on either side."""
MISSED = 2e-3, 0.5
"""Metres and degrees from which on a layer counts as missed."""


def layers_of(document: Document) -> tuple[GoalLayer, ...]:
    """The layers of the take shown."""
    return () if document.take is None else document.take.layers


def layer_marks(document: Document, hovered: Item | None) -> list[Mark]:
    """The targets of the layers that act at the frame shown, and of those selected."""
    marks = []
    for layer in layers_of(document):
        item = Item("layer", layer.id)
        acts = layer.on and layer.first <= document.frame <= layer.last
        if not (acts or item in document.selection):
            continue
        try:
            place = target_of(document, layer).position
        except InputError:  # something that it names is gone
            continue
        chosen = item in document.selection
        marks.append(
            Mark(layer.id, -1, place, place, on=layer.on, selected=chosen, hovered=item == hovered, layer=True)
        )
    return marks


class LayerMover(Mover):
    """Moves or rotates the target of a layer, by its id; the layer's frames are solved as it moves."""

    def __init__(self, document: Document, layer: str) -> None:
        self.layer = layer
        self._start = target_of(document, layer_of(document.take, layer))

    def begin(self, session: Session) -> None:
        session.begin(f"Target of layer {self.layer}")
        item = Item("layer", self.layer)
        if item not in session.document.selection:
            session.gestures.update(act.Select((item,)))

    def apply(self, session: Session, motion: RigidMotion) -> None:
        document = session.document
        place = Transform(*motion.apply(*self._start))
        changes = put_at(document, layer_of(document.take, self.layer), *place)
        if changes:
            session.gestures.update(act.SetLayer(self.layer, **changes))


class _Times(NamedTuple):
    """Frames at which a layer begins, holds and ends, as fields of `GoalLayer`."""

    first: int
    full: tuple[int, int]
    last: int


class Layering(ViewPart):
    """Commands on layers."""

    def reach(self) -> None:
        """Keep the selected effector where it is now in this frame, and the motion before and after as it is.

        A layer that already acts on it in this frame gets another target; else there is a new one.
        """
        self._keep(self._around)

    def hold(self) -> None:
        """Keep the selected effector where it is now in all frames that are played.

        A layer that already acts on it in this frame is extended; else there is a new one.
        """
        first, last = self._session.document.played
        self._keep(lambda: _Times(first, (first, last), last))

    def _keep(self, times: Callable[[], _Times]) -> None:
        """Make a layer keep the selected effector where it is now, at the times of a new layer.

        Times of one that is there already change only if these span the whole motion.
        """
        session, document = self._session, self._session.document
        name = self._effector()
        if name is None:
            return
        place = transform_of(document, name)
        frame = document.frame
        here = (one for one in layers_of(document) if one.on and one.first <= frame <= one.last)
        layer = next((one for one in here if one.effector == name), None)
        if layer is None:
            layer = _new(document, name, place, times())
            change: act.Action = act.AddLayer(layer)
        else:
            longer = {} if times == self._around else times()._asdict()
            change = act.SetLayer(layer.id, **put_at(document, layer, *place), **longer)
        session.stop_recording()
        with one_step(session, change.label) as do:
            do(change)
            do(act.Select((Item("layer", layer.id),)))
        session.seek(frame)
        session.stage.lost_pose = None  # the layer keeps the edited pose that `seek` replaced
        self._view.note(self.words(layer.id))

    def _around(self) -> _Times:
        """The times of a layer that holds around the frame shown."""
        document = self._session.document
        first, last = document.played
        frame, step = document.frame, document.frame_time
        hold, ease = max(round(_HOLD / step), 0), max(round(_EASE / step), 1)
        full = max(frame - hold, first), min(frame + hold, last)
        return _Times(max(full[0] - ease, first), full, min(full[1] + ease, last))

    def words(self, name: str) -> str:
        """``LeftHand reaches there from frame 12 to 47``, or how far it stays away."""
        document = self._session.document
        layer = layer_of(document.take, name)
        solving = has_long_layers(document.take, document.frames - 1)
        missed = "" if solving else miss_words(self._session, layer)
        effector = shown(layer.effector)
        if solving:
            return f"{effector} is held in frames {layer.first} to {layer.last}, which are solved while you go on"
        return (
            f"{effector} {missed}" if missed else f"{effector} reaches there, in frames {layer.first} to {layer.last}"
        )

    def bake(self) -> None:
        self._session.dispatch(act.BakeLayers())

    def remove(self) -> None:
        names = self._document.selected("layer")
        self._do_all([act.RemoveLayer(name) for name in names], f"Remove {len(names)} layers")

    def _effector(self) -> str | None:
        """The effector or joint that is selected, or that the selected layer is for."""
        document = self._session.document
        item = document.active
        if item is None or item.kind == "prop":
            return None
        if item.kind == "layer":
            return layer_of(document.take, item.name).effector
        return document.goal(item.name).effector if item.kind == "effector" else item.name

    def _lacks(self) -> str:
        if self._effector() is None:
            return "select a hand, a foot or another effector"
        return "" if self._document.has_motion else "there is no motion: open a clip, or set keys"

    def bindings(self) -> CommandBindings:
        return {
            "layer.reach": CommandBinding(self.reach, self._lacks),
            "layer.hold": CommandBinding(self.hold, self._lacks),
            "layer.bake": CommandBinding(self.bake, needs("there are no layers", lambda: layers_of(self._document))),
            "goal.remove": CommandBinding(self.remove, when=lambda: bool(self._document.selected("layer"))),
        }


def _new(document: Document, name: str, place: Transform, times: _Times) -> GoalLayer:
    """A layer that holds an effector at a place, with its rotation if its goal has one."""
    goal = next((one for one in document.goals if one.id == name), None)
    turned = goal is not None and goal.enabled and goal.sets_pose and goal.has_rotation
    x, y, z = place.position.tolist()
    a, b, c, d = place.rotation.tolist()
    rotation = (a, b, c, d) if turned else None
    name_free = free_name(name, [layer.id for layer in layers_of(document)])
    return GoalLayer(id=name_free, effector=name, position=(x, y, z), rotation=rotation, **times._asdict())


def solving_words(session: Session, layer: GoalLayer) -> str:
    """``solving, 43 %`` while the frames of a long layer are not all known, else ""."""
    part = session.layers.part
    long = layer.on and has_long_layers(session.document.take, session.document.frames - 1)
    return f"solving, {int(100.0 * part)} %" if part < 1.0 and long else ""


def miss_words(session: Session, layer: GoalLayer) -> str:
    """``stays 3.2 cm away``, or "" where the target is reached or it is not known yet."""
    document = session.document
    if document.take is None or solving_words(session, layer):
        return ""
    miss = _miss(_MissKey(document, layer))
    if miss.metres > MISSED[0]:
        return f"stays {number_format.fixed(100.0 * miss.metres, 1)} cm away"
    return f"stays {number_format.fixed(miss.degrees, 0)}\N{DEGREE SIGN} away" if miss.degrees > MISSED[1] else ""


class _MissKey:
    """A layer of a document as a key: equal where its miss is equal, for any frame and pose shown."""

    def __init__(self, document: Document, layer: GoalLayer) -> None:
        self.document, self.layer = document, layer
        self._about = document.take, document.skeleton, document.clip_data, document.contact, layer

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _MissKey) and all(a is b for a, b in zip(self._about, other._about, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(map(id, self._about)))


@lru_cache(maxsize=64)
def _miss(key: _MissKey) -> Miss:
    return miss_of(key.document, key.layer)
