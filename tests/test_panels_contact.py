"""The inspector's sections about contact: what they show, that nothing leaves the panel, and what their controls do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from imgui_bundle import imgui
from inside.document import AddProp, DocumentBalance, ExcludePair, Prop, Select, SetContact, Shape
from panel_window import PanelWindow
from test_document_contact import CUBE

import viewer
from viewer.document import Item
from viewer.skeleton import Character


@contextmanager
def shown(character: Character, size: tuple[int, int] = (1280, 800), scale: float = 1.0) -> Iterator[PanelWindow]:
    window = PanelWindow(character, size, scale)
    try:
        yield window
    finally:
        window.close()


SIZES = pytest.mark.parametrize(("size", "scale"), [((960, 600), 1.0), ((2560, 1600), 2.0)])


def furnished(window: PanelWindow, folder: Path) -> None:
    """A ball, a box, a mesh with a long name, one whose file is gone; two pairs."""
    path, gone = folder / "cube.obj", folder / "gone.obj"
    for file in (path, gone):
        file.write_text(CUBE, encoding="utf-8")
    dispatch = window.session.dispatch
    dispatch(SetContact(on=True))
    dispatch(AddProp(Prop(name="ball", center=(0.8, 1.0, 0.0))))
    dispatch(AddProp(Prop(name="box", shape=Shape.BOX, center=(0.8, 1.0, 0.8))))
    dispatch(AddProp(Prop(name="a mesh with a name that is far too long " * 3, shape=Shape.MESH, path=str(path))))
    dispatch(AddProp(Prop(name="gone", shape=Shape.MESH, path=str(gone))))
    dispatch(ExcludePair("LeftHand", "ball"))
    dispatch(ExcludePair("RightHand", "floor"))
    gone.unlink()


def inside(window: PanelWindow) -> None:
    window.frames(4)
    rects = window.ui.regions.rects
    boxes = [box for box in window.boxes if box.panel == "inspector"]
    assert boxes
    rect = next(r for r in rects.values() if r.x <= boxes[0].left <= r.x + r.w and r.y <= boxes[0].top <= r.y + r.h)
    for box in boxes:
        assert rect.x <= box.left, box
        assert box.right <= rect.x + rect.w + 1, box


@SIZES
def test_nothing_leaves_the_inspector_sideways(size: tuple[int, int], scale: float, tmp_path: Path) -> None:
    with shown(viewer.load("sample:biped-hands"), size, scale) as window:
        furnished(window, tmp_path)
        props = [Item("prop", prop.name) for prop in window.session.document.contact.props]
        joints = [Item("joint", name) for name in ("Hips", "LeftHand")]
        for chosen in ((), *((item,) for item in (*props, *joints))):
            window.session.dispatch(Select(chosen))
            inside(window)


def test_what_counts_is_switched_in_the_inspector() -> None:
    with shown(viewer.load("sample:biped")) as window:
        window.frames(3)
        assert "Contact" in window.words("inspector")
        window.click("inspector", "contact")
        window.frames(2)
        assert window.session.document.contact.on
        for part in ("floor", "bodies", "objects"):
            window.click("inspector", part)
            window.frames(2)
            assert not getattr(window.session.document.contact, part)
        assert window.session.history.labels == (
            "Contact on", "Floor contact off", "Body contact off", "Contact with props off"
        )  # fmt: skip


def test_props_and_pairs_are_listed_and_removed(tmp_path: Path) -> None:
    with shown(viewer.load("sample:biped"), (1280, 1000)) as window:
        furnished(window, tmp_path)
        window.session.dispatch(Select(()))
        window.frames(4)
        assert {"ball", "box", "gone"} <= set(window.words("inspector"))
        assert "LeftHand \N{EN DASH} ball" in window.words("inspector")
        window.click("inspector", "keep apart RightHand floor")
        window.frames(2)
        assert window.session.document.contact.exclude == (("LeftHand", "ball"),)
        window.click("inspector", "remove box")
        window.frames(2)
        assert "box" not in [prop.name for prop in window.session.document.contact.props]
        window.click("inspector", "ball##ball")
        window.frames(3)
        assert window.session.document.active == Item("prop", "ball")
        window.click("inspector", "Remove")
        window.frames(2)
        assert "ball" not in [prop.name for prop in window.session.document.contact.props]
        assert len(window.session.document.contact.exclude) == 0


def test_a_joint_has_its_radius_only_while_bodies_matter() -> None:
    with shown(viewer.load("sample:biped")) as window:
        window.session.dispatch(Select((Item("joint", "LeftHand"),)))
        window.frames(3)
        assert not [box for box in window.boxes if box.name.startswith("radius")]
        window.session.dispatch(SetContact(on=True))
        window.frames(3)
        assert [box.name for box in window.boxes if box.name.startswith("radius")] == ["radius 0"]
        assert "30 mm" in window.words("inspector")
        window.session.dispatch(Select((Item("joint", "Hips"),)))
        window.frames(3)
        assert [box.name for box in window.boxes if box.name.startswith("radius")] == [
            "radius 0",
            "radius 1",
            "radius 2",
        ]
        window.session.dispatch(SetContact(on=False))
        window.controller.run("show.capsules")
        window.frames(3)
        assert [box.name for box in window.boxes if box.name.startswith("radius")] == [
            "radius 0",
            "radius 1",
            "radius 2",
        ]


def test_a_radius_in_millimetres_is_typed_in_any_unit() -> None:
    with shown(viewer.load("sample:biped"), (1280, 1200)) as window:
        window.session.dispatch(SetContact(on=True))
        window.session.dispatch(Select((Item("joint", "LeftHand"),)))
        window.frames(3)
        for typed, said in (("4 cm", "40 mm"), ("35", "35 mm"), ("0.05 m", "50 mm")):
            window.double_click("inspector", "radius 0")
            window.frames(3)
            window.write(typed)
            window.rest()
            assert said in window.words("inspector"), typed


def test_what_a_joint_ignores_is_taken_back_by_a_click() -> None:
    with shown(viewer.load("sample:biped"), (1280, 1000)) as window:
        window.session.dispatch(SetContact(on=True))
        window.session.dispatch(ExcludePair("LeftHand", "Spine2"))
        window.session.dispatch(Select((Item("joint", "LeftHand"),)))
        window.frames(3)
        (name,) = [box.name for box in window.boxes if box.name.endswith("##Spine2")]
        window.click("inspector", name)
        window.frames(2)
        assert len(window.session.document.contact.exclude) == 0


def test_the_hand_in_the_toolbar_switches_contact_and_the_right_button_opens_its_parts() -> None:
    with shown(viewer.load("sample:biped")) as window:
        window.click("toolbar", "contact.all")
        window.frames(2)
        assert window.session.document.contact.on
        window.click("toolbar", "contact.all", which=1)
        assert window.popup
        assert window.session.document.contact.on


def test_balance_is_switched_in_the_toolbar_and_its_margin_typed_in_centimetres() -> None:
    with shown(viewer.load("sample:biped")) as window:
        window.click("toolbar", "balance.keep")
        window.frames(4)
        assert window.session.document.balance == DocumentBalance(on=True)
        assert {"Balance", "balanced, 3 cm to spare", "3.0 cm", "inside the edge"} <= set(window.words("inspector"))
        assert {"Balance", "5.00"} <= set(window.words("goals"))
        for typed, metres in (("4.5", 0.045), ("6 mm + 1", 0.016), ("-4", 0.0), ("no number", 0.0)):
            window.rest()
            window.double_click("inspector", "margin")
            window.write(typed)
            window.tap(imgui.Key.escape)
            assert window.session.document.balance.margin == pytest.approx(metres)
        window.click("inspector", "level 0")
        window.frames(3)
        assert window.session.document.balance.level == 0
        listed = window.words("goals")
        assert listed.index("Must") < listed.index("Balance") < listed.index("Want")
        window.session.dispatch(Select((Item("effector", "LeftHand"),)))
        window.frames(3)
        window.click("goals", "goal for balance")
        window.frames(3)
        assert window.session.document.selection == ()
        window.click("inspector", "balance")
        window.frames(3)
        assert window.session.document.balance == DocumentBalance(margin=0.0, level=0)
        assert "want" not in window.words("goals")
        assert window.session.history.labels[:1] == ("Balance on",)
        assert window.session.history.labels[-1] == "Balance off"
