"""Every field of a document counts: a document that differs in it is not equal, is stored so, and has another digest.

The fields are those that the dataclasses have. One that is added makes these tests fail until it is varied here, and
they fail on if equality, session files or the digest forget it.
"""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest
from inside.document import (
    DocumentBalance,
    DocumentContact,
    GoalLayer,
    KeyPose,
    Marker,
    PlantedContact,
    PlantedFeet,
    Prop,
)
from inside.ik import NUMBERS, Number, Value
from inside.session import Digester, document_data, document_of
from sessions import session

from viewer.document import Document, DocumentGoal, Item, Mode, Scope, SolverSettings
from viewer.skeleton import Pose

if TYPE_CHECKING:
    from collections.abc import Callable

NOT_IN_DIGEST = {
    # What a digest is of was made from the character, and no action changes that but with what is read from it.
    "character"
}


@pytest.fixture(scope="module")
def document() -> Document:
    made = session("walk")
    made.dispatch(KeyPose(3))
    return made.document


def _take(document: Document) -> Any:  # noqa: ANN401 - a take
    return KeyPose(7).apply(document).take


def some_value(number: Number) -> Value:
    """One that the number of a goal may have, and has nowhere else."""
    if number.is_direction:
        return (0.0, 0.0, 1.0)
    return min(max(0.5, number.least), number.most)


DOCUMENT: dict[str, Callable[[Document], Any]] = {
    "character": lambda d: replace(d.character, source=replace(d.character.source, license="CC0-1.0 or so")),
    "skeleton": lambda d: replace(d.skeleton, stiffness=np.full(len(d.skeleton), 0.25)),
    "pose": lambda d: Pose(d.skeleton.rest_pose().rotations, d.pose.translations + 0.01),
    "goals": lambda d: (replace(d.goals[0], weight=0.5), *d.goals[1:]),
    "limits_on": lambda d: not d.limits_on,
    "limits_from": lambda _: "clip",
    "unlimited": lambda d: frozenset({d.skeleton.names[2]}),
    "solver": lambda d: replace(d.solver, restarts=not d.solver.restarts),
    "selection": lambda d: (Item("joint", d.skeleton.names[4]),),
    "mode": lambda _: Mode.FK,
    "scope": lambda _: Scope.LIMB,
    "clip": lambda _: None,
    "frame": lambda d: d.frame + 2,
    "take": _take,
    "put_aside": lambda d: (KeyPose(5).apply(replace(d, clip=None, take=None)).take,),
    "auto_key": lambda d: not d.auto_key,
    "planar": lambda _: "xy",
    "contact": lambda d: replace(d.contact, on=True),
    "balance": lambda d: replace(d.balance, on=True),
    "markers": lambda _: (Marker(3, "Contact"),),
}
SOLVER: dict[str, Any] = {
    "method": "dls", "backend": "auto", "root": "locked", "tolerance_m": 0.02, "tolerance_deg": 3.0, "iterations": 7,
    "max_iterations": 77, "until_close": True, "natural": False, "exact": True, "restarts": False, "prefer": "rest",
    "prefer_weight": 0.5, "damping": 0.25, "step": 0.75, "step_cap_deg": 12.0, "truncation": 0.125, "numeric": True,
    "bend": "up", "firm_holds": True,
}  # fmt: skip
HANDLE: dict[str, Any] = {
    "id": "another", "to": "RightHand", "enabled": False,
    "kind": "rotation", "position": (0.25, 1.5, 0.125), "rotation": (1.0, 0.0, 0.0, 0.0),
    "weight": 0.5, "rotation_weight": 0.25,
    "pin_position": True, "pin_rotation": True,
    "offset": (0.0, 0.125, 0.0), "automatic": True, "level": 2, "follows": True,
} | {name: some_value(number) for name, number in NUMBERS.items()}  # fmt: skip
CONTACT: dict[str, Any] = {
    "on": True, "floor": False, "height": 0.25, "bodies": False, "objects": False,
    "props": (Prop(name="ball", radius=0.25),), "exclude": (("LeftHand", "floor"),),
    "grips": (("LeftHand", "held"),),
}  # fmt: skip
BALANCE: dict[str, Any] = {"on": True, "margin": 0.05, "weight": 2.0, "level": 2, "height": 0.25}
PROP: dict[str, Any] = {
    "name": "table", "shape": "box", "center": (0.25, 1.0, 0.5), "rotation": (1.0, 0.0, 0.0, 0.0), "radius": 0.5,
    "size": (1.0, 0.5, 0.25), "path": str(Path("mug.obj").absolute()), "scale": 0.01, "mass": 2.5,
}  # fmt: skip


LAYER: dict[str, Any] = {
    "id": "other", "effector": "RightHand", "first": 2, "full": (5, 6), "last": 9, "position": (0.25, 1.5, 0.125),
    "rotation": (1.0, 0.0, 0.0, 0.0), "space": "Head", "weight": 0.5, "level": 2, "on": False,
}  # fmt: skip


FEET: dict[str, Any] = {
    "contacts": (PlantedContact("LeftFoot", "ball", 2, 4, ignored=True),), "blend": 0.5, "pelvis": 0.25, "weight": 0.5,
    "on": False,
}  # fmt: skip


def noticed(document: Document, changed: Document, name: str) -> None:
    """Equality, storage and digest tell them apart, and storage brings the changed one back."""
    assert not changed.same_as(document)
    assert not document.same_as(changed)
    before, after = (msgspec.json.encode(document_data(one)) for one in (document, changed))
    assert before != after
    again = document_of(msgspec.json.decode(after, type=type(document_data(changed))), Path())
    assert again.same_as(changed)
    if name not in NOT_IN_DIGEST:
        assert Digester().digest(changed) != Digester().digest(document)


def test_every_field_is_varied_here() -> None:
    cure = "give it a value, which its default is not, in the table of this file"
    assert set(DOCUMENT) == {one.name for one in fields(Document) if one.init}, cure
    assert set(SOLVER) == {one.name for one in fields(SolverSettings)}, cure
    assert set(CONTACT) == {one.name for one in fields(DocumentContact)}, cure
    assert set(BALANCE) == {one.name for one in fields(DocumentBalance)}, cure
    assert set(FEET) == {one.name for one in fields(PlantedFeet)}, cure
    assert set(LAYER) == {one.name for one in fields(GoalLayer)}, cure
    assert set(PROP) == {one.name for one in fields(Prop)}, cure
    assert set(HANDLE) == {one.name for one in fields(DocumentGoal)} - {"effector"}, cure  # which is the skeleton's


@pytest.mark.parametrize("name", DOCUMENT)
def test_every_field_of_a_document_counts(document: Document, name: str) -> None:
    if name == "clip":  # its keys are on it
        document = replace(document, take=None)
    noticed(document, replace(document, **{name: DOCUMENT[name](document)}), name)


@pytest.mark.parametrize("name", SOLVER)
def test_every_setting_of_the_solver_counts(document: Document, name: str) -> None:
    assert getattr(document.solver, name) != SOLVER[name]
    noticed(document, replace(document, solver=replace(document.solver, **{name: SOLVER[name]})), name)


@pytest.mark.parametrize("name", HANDLE)
def test_every_field_of_a_handle_counts(document: Document, name: str) -> None:
    handle = replace(document.goals[0], id="one", rotation=(0.0, 0.0, 0.0, 1.0), pin_position=False, pin_rotation=False)
    if name == "follows":  # which a goal that is on does not
        handle = replace(handle, enabled=False)
    assert getattr(handle, name) != HANDLE[name]
    one, other = (
        replace(document, goals=(*document.goals, h)) for h in (handle, replace(handle, **{name: HANDLE[name]}))
    )
    noticed(one, other, name)


@pytest.mark.parametrize("name", CONTACT)
def test_every_setting_of_contact_counts(document: Document, name: str) -> None:
    assert getattr(document.contact, name) != CONTACT[name]
    if name == "grips":  # they are on a prop
        document = replace(document, contact=replace(document.contact, props=(Prop(name="held"),)))
    noticed(document, replace(document, contact=replace(document.contact, **{name: CONTACT[name]})), name)


@pytest.mark.parametrize("name", BALANCE)
def test_every_setting_of_balance_counts(document: Document, name: str) -> None:
    assert getattr(document.balance, name) != BALANCE[name]
    noticed(document, replace(document, balance=replace(document.balance, **{name: BALANCE[name]})), name)


@pytest.mark.parametrize("name", LAYER)
def test_every_field_of_a_layer_counts(document: Document, name: str) -> None:
    layer = GoalLayer(id="one", effector="LeftHand", first=1, full=(4, 6), last=8, position=(0.0, 1.0, 0.0))
    assert getattr(layer, name) != LAYER[name]
    one, other = (
        replace(document, take=replace(_take(document), layers=(some,)))
        for some in (layer, replace(layer, **{name: LAYER[name]}))
    )
    noticed(one, other, name)


@pytest.mark.parametrize("name", FEET)
def test_every_field_of_planted_feet_counts(document: Document, name: str) -> None:
    feet = PlantedFeet(contacts=(PlantedContact("LeftFoot", "heel", 1, 3),))
    assert getattr(feet, name) != FEET[name]
    one, other = (
        replace(document, take=replace(_take(document), feet=some))
        for some in (feet, replace(feet, **{name: FEET[name]}))
    )
    noticed(one, other, name)


@pytest.mark.parametrize("name", PROP)
def test_every_field_of_a_prop_counts(document: Document, name: str) -> None:
    prop = Prop(name="ball")
    assert getattr(prop, name) != PROP[name]
    one, other = (
        replace(document, contact=DocumentContact(props=(p,))) for p in (prop, replace(prop, **{name: PROP[name]}))
    )
    noticed(one, other, name)
