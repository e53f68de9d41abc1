"""Contact as a value of a document: actions, what the solver gets, session files, renaming and other units."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from inside.document import (
    AddProp,
    DocumentContact,
    ExcludePair,
    Prop,
    RemoveProp,
    RenameJoint,
    RenameProp,
    SetContact,
    SetLength,
    SetProp,
    SetRadius,
    SetUnits,
    Shape,
    solver_contact,
)
from inside.session import load_session, save_session
from sessions import session

import viewer
from viewer.document import Document, Item
from viewer.errors import FormatError, InputError, quote
from viewer.session import Session
from viewer.skeleton import bodies_of

CUBE = """v 0 0 0
v 1 0 0
v 0 1 0
v 1 1 0
v 0 0 1
v 1 0 1
v 0 1 1
v 1 1 1
f 1 3 4 2
f 5 6 8 7
f 1 2 6 5
f 3 7 8 4
f 1 5 7 3
f 2 4 8 6
"""
BALL = Prop(name="ball", center=(0.0, 1.0, 0.5), radius=0.05)


@pytest.fixture
def biped() -> Session:
    return session("biped")


@pytest.fixture
def cube(tmp_path: Path) -> Path:
    path = tmp_path / "cube.obj"
    path.write_text(CUBE, encoding="utf-8")
    return path


def asked(document: Document) -> viewer.Contact | None:
    return solver_contact(document.contact, document.skeleton)


def test_each_change_is_one_step_that_is_undone_and_done_again(biped: Session) -> None:
    actions = [
        SetContact(on=True),
        SetContact(height=-0.25),
        SetContact(bodies=False),
        AddProp(BALL),
        SetProp("ball", center=(0.0, 1.5, 0.5), rotation=(0.0, 1.0, 0.0, 0.0)),
        SetProp("ball", radius=0.125),
        RenameProp("ball", "apple"),
        ExcludePair("LeftHand", "apple"),
        SetRadius("LeftHand", 0.0625),
        ExcludePair("apple", "LeftHand", excluded=False),
        RemoveProp("apple"),
        SetContact(on=False),
    ]
    documents = [biped.document]
    for action in actions:
        biped.dispatch(action)
        documents.append(biped.document)
        assert biped.history.labels[-1] == action.label
    assert len(biped.history) == len(actions)
    for before in reversed(documents[:-1]):
        assert biped.undo()
        assert biped.document.same_as(before)
    for after in documents[1:]:
        assert biped.redo()
        assert biped.document.same_as(after)


def test_labels_say_what_changed() -> None:
    labels = [
        (SetContact(on=True), "Contact on"),
        (SetContact(floor=False), "Floor contact off"),
        (SetContact(bodies=True), "Body contact on"),
        (SetContact(objects=False), "Contact with props off"),
        (SetContact(height=0.0), "Height of the floor"),
        (AddProp(BALL), "Add ball"),
        (SetProp("ball", center=(0, 0, 0)), "Move ball"),
        (SetProp("ball", rotation=(0, 0, 0, 1)), "Rotate ball"),
        (SetProp("ball", radius=1.0), "Size of ball"),
        (SetProp("ball", mass=2.0), "Mass of ball"),
        (ExcludePair("a", "b"), "Ignore contact of a and b"),
        (ExcludePair("a", "b", excluded=False), "Restore contact of a and b"),
        (SetRadius("LeftHand", 0.1), "Radius of LeftHand"),
    ]
    for action, label in labels:
        assert action.label == label


def test_the_solver_gets_what_is_on(biped: Session) -> None:
    document = biped.document
    assert asked(document) is None
    for action in (AddProp(BALL), ExcludePair("LeftHand", "ball"), SetContact(height=0.5)):
        document = action.apply(document)
    assert asked(document) is None
    document = SetContact(on=True).apply(document)
    ball = viewer.Sphere("ball", (0.0, 1.0, 0.5), 0.05)
    assert asked(document) == viewer.Contact(0.5, bodies=True, objects=[ball], exclude=[("LeftHand", "ball")])
    assert asked(document) is asked(replace(document, frame=document.frame))  # the same object, so solvers are kept
    document = SetContact(floor=False, bodies=False).apply(document)
    assert asked(document) == viewer.Contact(objects=[ball], exclude=[("LeftHand", "ball")])
    # A pair of what is not there any more says nothing.
    assert asked(SetContact(objects=False, floor=True).apply(document)) == viewer.Contact(0.5)
    assert asked(SetContact(objects=False).apply(document)) is None


def test_props_are_selected_and_leave_with_their_pairs(biped: Session) -> None:
    biped.dispatch(AddProp(BALL))
    assert biped.document.selection == (Item("prop", "ball"),)
    biped.dispatch(ExcludePair("LeftHand", "ball"))
    biped.dispatch(ExcludePair("LeftHand", "floor"))
    biped.dispatch(RenameProp("ball", " apple "))
    assert biped.document.selection == (Item("prop", "apple"),)
    assert biped.document.contact.exclude == (("LeftHand", "apple"), ("LeftHand", "floor"))
    biped.dispatch(RemoveProp("apple"))
    assert list(biped.document.contact.exclude) == [("LeftHand", "floor")]


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (
            lambda: SetContact(height=float("nan")),
            "contact: floor: expected a finite number, -1e+07 to 1e+07, found nan",
        ),
        (lambda: SetContact(on=1), "contact: on: expected True or False, found 1"),
        (lambda: SetContact(flor=0.0), 'no setting of contact "flor"; did you mean "floor"?'),
        (lambda: SetRadius("LeftHand", 0.0), 'radius of "LeftHand": expected more than 0, found 0'),
        (lambda: SetRadius("LeftHand", float("nan")), 'radius of "LeftHand": expected a finite number, found nan'),
        (lambda: SetRadius("LeftHnad", 0.1), 'no joint "LeftHnad"; did you mean "LeftHand"'),
        (lambda: SetRadius("LeftHand", 0.1, 7), 'joint "LeftHand": no capsule 7, it has 0 to 0'),
        (lambda: ExcludePair("LeftHnad", "floor"), 'contact: no joint or prop "LeftHnad"; did you mean "LeftHand"'),
        (lambda: ExcludePair("floor", "floor"), 'contact: expected two names, found "floor" twice'),
        (lambda: AddProp(Prop(name="LeftHand")), 'prop "LeftHand": a joint has this name'),
        (lambda: AddProp(Prop(name="floor")), 'prop: expected another name than that of the floor, found "floor"'),
        (lambda: AddProp(Prop(name="")), "prop: expected a name, found none"),
        (lambda: AddProp(Prop(name="a\nb")), "prop: expected a name of one line, found"),
        (lambda: AddProp(Prop(name="a", radius=-1.0)), 'prop "a": radius: expected more than 0, found -1'),
        (lambda: AddProp(Prop(name="a", mass=-1.0)), 'prop "a": mass: expected a finite number, 0 to 1e+06, found -1'),
        (lambda: AddProp(Prop(name="a", size=(1, 0, 1))), 'prop "a": size: expected more than 0, found 0'),
        (lambda: AddProp(Prop(name="a", center=(0, np.nan, 0))), 'prop "a": center: expected finite numbers'),
        (
            lambda: AddProp(Prop(name="a", shape="cone")),  # type: ignore[arg-type]
            'prop "a": shape: expected one of "sphere", "box", "mesh", found "cone"',
        ),
        (lambda: AddProp(Prop(name="a", shape=Shape.MESH)), 'prop "a": expected the path of a mesh, found none'),
        (lambda: AddProp(Prop(name="a", shape=Shape.MESH, path="no.obj")), 'prop "a": no such file: "no.obj"'),
        (lambda: SetProp("bal", radius=1.0), 'no prop "bal"'),
        (lambda: SetProp("ball", radios=1.0), 'no attribute of a prop "radios"; did you mean "radius"?'),
        (lambda: RenameProp("ball", "LeftHand"), 'prop "LeftHand": a joint has this name'),
        (lambda: RenameProp("ball", "  "), "prop: expected a name, found"),
        (lambda: AddProp(BALL), 'prop "ball": another prop has this name'),
    ],
)
def test_bad_values_are_refused_and_change_nothing(biped: Session, action: object, message: str) -> None:
    biped.dispatch(AddProp(BALL))
    before = biped.document
    with pytest.raises(InputError) as caught:
        biped.dispatch(action())  # type: ignore[operator]
    assert str(caught.value).startswith(message)
    assert biped.document is before


def test_a_joint_takes_the_name_of_no_prop_and_pairs_follow_its_own(biped: Session) -> None:
    biped.dispatch(AddProp(BALL))
    biped.dispatch(ExcludePair("LeftHand", "ball"))
    with pytest.raises(InputError, match='joint "LeftHand": a prop is called "ball"'):
        biped.dispatch(RenameJoint("LeftHand", "ball"))
    biped.dispatch(RenameJoint("LeftHand", "Paw"))
    assert biped.document.contact.exclude == (("Paw", "ball"),)


def test_a_radius_is_edited_and_restored(biped: Session) -> None:
    fitted = bodies_of(biped.document.skeleton)
    (hand,) = [i for i, one in enumerate(fitted.capsules) if biped.document.skeleton.names[one.joint] == "LeftHand"]
    biped.dispatch(SetRadius("LeftHand", 0.08))
    edited = bodies_of(biped.document.skeleton)
    assert edited.capsules[hand].radius == 0.08
    assert [one for i, one in enumerate(edited.capsules) if i != hand] == [
        one for i, one in enumerate(fitted.capsules) if i != hand
    ]
    assert biped.document.character.skeleton.bodies is None  # the file's figure is as it was
    biped.dispatch(SetRadius("LeftHand", None))
    assert biped.document.skeleton.bodies is None


def test_capsules_follow_a_bone_that_becomes_longer(biped: Session) -> None:
    skeleton = biped.document.skeleton
    joint, parent = skeleton.index("LeftForeArm"), skeleton.index("LeftArm")
    biped.dispatch(SetRadius("LeftArm", 0.07))
    biped.dispatch(SetLength("LeftArm", 0.5))
    changed = biped.document.skeleton
    ends = [one.b for one in bodies_of(changed).capsules if one.joint == parent]
    assert ends == [tuple(changed.offsets[joint].tolist())]


def test_other_units_scale_everything(tmp_path: Path) -> None:
    path = tmp_path / "figure.bvh"
    viewer.save(viewer.load("sample:walk"), path, units="cm")
    shown = Session(session("walk").document)
    shown.replace(viewer_document(path))
    for action in (AddProp(BALL), SetContact(height=0.5), SetRadius("LeftHand", 0.08)):
        shown.dispatch(action)
    shown.dispatch(SetUnits("m"))
    contact = shown.document.contact
    assert contact.height == pytest.approx(50.0)
    assert contact.prop("ball").center == pytest.approx((0.0, 100.0, 50.0))
    assert contact.prop("ball").radius == pytest.approx(5.0)
    hand = shown.document.skeleton.index("LeftHand")
    assert [c.radius for c in bodies_of(shown.document.skeleton).capsules if c.joint == hand] == [pytest.approx(8.0)]


def viewer_document(path: Path) -> Document:
    from viewer.document import new_document  # noqa: PLC0415

    return new_document(viewer.load(path, units="cm"))


def test_a_mesh_is_stored_by_its_path_beside_the_session(biped: Session, cube: Path, tmp_path: Path) -> None:
    biped.dispatch(AddProp(Prop(name="cube", shape=Shape.MESH, path=str(cube), scale=0.1)))
    biped.dispatch(SetContact(on=True))
    kept = tmp_path / "pose.ikv.json"
    save_session(biped.document, kept)
    assert json.loads(kept.read_text())["document"]["contact"]["props"][0]["path"] == "cube.obj"
    assert load_session(kept).same_as(biped.document)
    # Both move together, and the mesh is found.
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    for file in (kept, cube):
        file.rename(moved / file.name)
    found = load_session(moved / kept.name)
    assert found.contact.prop("cube").path == str(moved / "cube.obj")
    assert found.contact.prop("cube").problem == ""
    contact = asked(found)
    assert contact is not None
    assert [one.name for one in contact.objects] == ["cube"]


def test_a_missing_mesh_is_said_and_the_rest_opens(biped: Session, cube: Path, tmp_path: Path) -> None:
    biped.dispatch(AddProp(Prop(name="cube", shape=Shape.MESH, path=str(cube))))
    biped.dispatch(AddProp(BALL))
    biped.dispatch(SetContact(on=True))
    kept = tmp_path / "pose.ikv.json"
    save_session(biped.document, kept)
    cube.unlink()
    found = load_session(kept)
    assert found.same_as(biped.document)
    assert found.contact.prop("cube").problem == f'prop "cube": no such file: {quote(str(cube))}'
    contact = asked(found)
    assert contact is not None
    assert [one.name for one in contact.objects] == ["ball"]
    # It is there again: nothing needs to be opened again.
    cube.write_text(CUBE, encoding="utf-8")
    contact = asked(found)
    assert contact is not None
    assert [one.name for one in contact.objects] == ["cube", "ball"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"height": None}, "document.contact.height"),
        (
            {"props": [{"name": "a", "radius": 0.0}]},
            'document.contact.props[0]: prop "a": radius: expected more than 0',
        ),
        ({"props": [{"name": "LeftHand"}]}, 'document.contact: prop "LeftHand": a joint has this name'),
        (
            {"exclude": [["LeftHnad", "floor"]]},
            'document.contact: no joint or prop "LeftHnad"; did you mean "LeftHand"',
        ),
        ({"grips": [["LeftHand", "ball"]]}, 'document.contact: no prop "ball"'),
        (
            {"props": [{"name": "a"}, {"name": "a"}]},
            'document.contact: contact: expected props of different names, found "a"',
        ),
    ],
)
def test_damaged_contact_is_refused_with_its_place(
    biped: Session, tmp_path: Path, change: dict[str, object], message: str
) -> None:
    kept = tmp_path / "pose.ikv.json"
    save_session(biped.document, kept)
    data = json.loads(kept.read_text())
    data["document"]["contact"] = change
    kept.write_text(json.dumps(data))
    with pytest.raises(FormatError) as caught:
        load_session(kept)
    assert message in str(caught.value)


def test_a_document_without_contact_is_stored_as_before(biped: Session, tmp_path: Path) -> None:
    kept = tmp_path / "pose.ikv.json"
    save_session(biped.document, kept)
    assert "contact" not in json.loads(kept.read_text())["document"]
    assert load_session(kept).contact == DocumentContact()
