"""What lies flat on the view: handles, chips, names; and the palette they are drawn in."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from inside.scene import Path, box, short_text, tessellate, text_width
from scenes import SIZE, biped, random_camera, seen, standing
from strategies import seeds

from viewer.gizmo import Fill, Gizmo, Letter, Stroke, Tool
from viewer.scene import PALETTE, Camera, Display, Mark, Scene, draw_list, rgba

if TYPE_CHECKING:
    from inside.scene import Records
    from inside.spatial import Floats


def colours(flat: Records) -> set[str]:
    """Names of the colours in an overlay."""
    found = {tuple(np.round(row, 4)) for row in flat["colour"][:, :3].tolist()}
    names = ("target", "unreached", "effector", "hovered", "accent", "panel", "text3")
    return {name for name in names if tuple(np.round(PALETTE[name], 4)) in found}


def mark_scene(**changes: object) -> tuple[Scene, Mark]:
    """One handle in the air beside the biped, which reaches it."""
    scene = standing(biped())
    place = np.array([0.0, 1.2, 0.3])
    mark = Mark("LeftHand", 9, place, place)._replace(**changes)  # type: ignore[arg-type]
    return replace(scene, marks=(mark,)), mark


def overlay(scene: Scene) -> Records:
    """Of the three-quarter view."""
    return draw_list(scene, seen(scene)).flat


def test_states_of_handles_have_their_colours() -> None:
    short = {"target": np.array([0.2, 1.3, 0.3]), "reached": False, "error_m": 0.178}
    assert colours(overlay(mark_scene()[0])) == {"target", "effector"}
    assert colours(overlay(mark_scene(hovered=True)[0])) == {"hovered", "effector"}
    assert colours(overlay(mark_scene(on=False, target=None)[0])) == {"text3"}
    assert colours(overlay(mark_scene(selected=True)[0])) == {"accent", "target", "effector"}
    assert colours(overlay(mark_scene(**short)[0])) == {"unreached", "effector", "panel"}
    assert colours(overlay(mark_scene(root=True, target=None)[0])) == {"effector"}
    assert colours(overlay(mark_scene(pin_position=True)[0])) == {"target", "panel"}
    assert colours(overlay(mark_scene(pin_position=True, **short)[0])) == {"unreached", "effector", "panel"}
    hidden = replace(mark_scene()[0], display=Display(goals=False))
    assert len(overlay(hidden)) == 0


def test_each_kind_of_handle_has_its_own_shape() -> None:
    kinds: list[dict[str, object]] = [
        {}, {"target": None}, {"root": True}, {"on": False, "target": None},
        {"pin_position": True}, {"pin_rotation": True}, {"pin_position": True, "pin_rotation": True},
    ]  # fmt: skip
    sizes = [len(overlay(mark_scene(**kind)[0])) for kind in kinds]
    assert len(set(sizes)) == len(kinds)


def extent(flat: Records, colour: str) -> Floats:
    """(2,) width and height in pixels of all triangles of one colour."""
    some = (np.abs(flat["colour"][:, :3] - PALETTE[colour]) < 1e-4).all(axis=1)
    places = flat["position"][some]
    return np.asarray(places.max(axis=0) - places.min(axis=0))


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_sizes_of_signs_by_hand(scale: float) -> None:
    """A diamond of half-diagonal 9 with a line of 2, feathered; corners of a diamond reach sqrt 2 as far out."""
    scene, _ = mark_scene()
    projection = seen(scene)
    drawing = draw_list(scene, projection, scale).flat
    corner = math.sqrt(2.0)
    np.testing.assert_allclose(extent(drawing, "target"), 18.0 * scale + 2.0 * corner * (scale + 0.5), atol=0.05)
    np.testing.assert_allclose(extent(drawing, "effector"), 2.0 * 2.8 * scale + 1.0, atol=0.2)
    pinned = draw_list(mark_scene(pin_position=True)[0], projection, scale).flat
    np.testing.assert_allclose(extent(pinned, "target"), 18.0 * scale + 2.0 * scale + 1.0, atol=0.05)


def test_a_handle_inside_the_gizmo_is_smaller_and_needs_no_ring() -> None:
    scene, mark = mark_scene(selected=True)
    projection = seen(scene)
    gizmo = Gizmo(Tool.MOVE, mark.position, np.eye(3)).shapes(projection)
    with_gizmo = draw_list(scene, projection, 1.0, gizmo).flat
    assert extent(with_gizmo, "target")[0] < extent(draw_list(scene, projection).flat, "target")[0]
    assert "accent" not in colours(with_gizmo)


def test_the_chip_says_how_far_the_target_is_missed_and_stays_on_the_view() -> None:
    texts = {0.178: "178 mm short", 0.0032: "3.2 mm short", 2e-5: "0.020 mm short", 1.2: "1200 mm short"}
    assert {metres: short_text(metres) for metres in texts} == texts
    turned = {(2e-16, 120.0): "120.0° off", (0.0, 3.25): "3.2° off", (2e-5, 0.02): "0.020 mm short"}
    assert {miss: short_text(*miss) for miss in turned} == turned
    assert short_text(0.093, 42.0) == "93 mm short"
    scene, _ = mark_scene(target=np.array((0.2, 1.3, 0.3)), reached=False, error_deg=120.0)
    assert [words.text for words in draw_list(scene, seen(scene)).texts] == ["120.0° off"]
    for target in ((0.2, 1.3, 0.3), (1.05, 0.2, 0.0), (-1.0, 2.0, 0.0)):
        scene, _ = mark_scene(target=np.array(target), reached=False, error_m=0.178)
        (words,) = draw_list(scene, seen(scene)).texts
        assert words.text == "178 mm short"
        assert 0.0 < words.x < SIZE[0] - text_width(words.text, 15.0)
        assert 0.0 < words.y < SIZE[1]


def test_of_overlapping_chips_the_selected_one_stays() -> None:
    place = np.array([0.0, 1.2, 0.3])
    marks = [Mark(name, 9, place, place + 0.1, reached=False, error_m=error, selected=name == "b")
             for name, error in (("a", 0.2), ("b", 0.1), ("c", 0.3))]  # fmt: skip
    scene = replace(standing(biped()), marks=tuple(marks))
    assert [text.text for text in draw_list(scene, seen(scene)).texts] == ["100 mm short"]


@given(seeds)
def test_handles_behind_the_eye_or_far_off_break_nothing(seed: int) -> None:
    random = np.random.default_rng(seed)
    places = random.normal(size=(4, 3)) * 10.0 ** random.uniform(-2, 6, (4, 1))
    marks = [Mark(f"m{at}", 0, a, b, reached=False, error_m=1.0, selected=at == 1)
             for at, (a, b) in enumerate(zip(places, places[::-1], strict=True))]  # fmt: skip
    scene = replace(standing(biped()), marks=tuple(marks), display=Display(names=True, axes=True))
    drawing = draw_list(scene, random_camera(seed).projection(SIZE))
    assert np.isfinite(drawing.flat["position"]).all()
    assert np.abs(drawing.flat["position"]).max(initial=0.0) < 1e4
    assert all(math.isfinite(text.x) and math.isfinite(text.y) for text in drawing.texts)


def test_a_link_to_a_target_behind_the_eye_leads_out_of_the_view() -> None:
    place = np.zeros(3)
    mark = Mark("m", 0, place, np.array([0.5, 0.0, 5.0]), reached=False, error_m=5.0)
    scene = replace(standing(biped()), marks=(mark,))
    drawing = draw_list(scene, Camera(place, distance=2.0).projection(SIZE))
    link = (np.abs(drawing.flat["colour"][:, :3] - PALETTE["unreached"]) < 1e-4).all(axis=1)
    reach = drawing.flat["position"][link][:, 0]
    assert reach.min() == pytest.approx(378.0, abs=2.0)
    assert reach.max() > 756.0
    assert not drawing.texts


def test_the_gizmos_shapes_are_drawn_over_the_handles() -> None:
    scene, _ = mark_scene()
    area, line = Fill(box(10, 10, 20, 20), "y", 0.5), Stroke(np.array([(0.0, 0.0), (9.0, 9.0)]), 2.0, "x")
    drawing = draw_list(scene, seen(scene), 1.0, [area, line, Letter("Y", np.array([30.0, 40.0]), "y")])
    over = tessellate([Path(area.points, rgba("y", 0.5)), Path(line.points, rgba("x"), 2.0)])
    assert np.array_equal(drawing.flat[len(overlay(scene)) :], over)
    (letter,) = drawing.texts
    assert (letter.text, letter.x, letter.y, letter.anchor, letter.colour) == ("Y", 30.0, 40.0, "centre", rgba("y"))


def test_view_axes_are_drawn_where_they_are_wanted() -> None:
    plain = replace(standing(biped()), marks=())
    scene = replace(plain, display=Display(view_axes=True))
    drawing = draw_list(scene, seen(scene))
    assert len(draw_list(plain, seen(scene)).flat) == 0
    assert drawing.flat["position"][:, 0].min() > SIZE[0] - 2.0 * 52.0
    assert drawing.flat["position"][:, 1].max() < 2.0 * 52.0
    assert [text.text for text in drawing.texts] == ["X", "Y", "Z"], "from behind to the front"
    lit = replace(scene, hovered_axis="-x")
    assert "hovered" in colours(draw_list(lit, seen(lit)).flat)


def test_names_do_not_overlap_and_the_selected_one_is_shown() -> None:
    scene = standing(biped())
    chosen = scene.skeleton.index("Spine2")
    scene = replace(scene, marks=(), selected=frozenset([chosen]), display=Display(names=True, limits="none"))
    texts = draw_list(scene, seen(scene)).texts
    assert 5 < len(texts) <= len(scene.skeleton)
    assert ("Spine2", rgba("accent")) in {(text.text, text.colour) for text in texts}
    spans = [(t.x, t.y - 6.5, t.x + text_width(t.text, 13.0), t.y + 6.5) for t in texts]
    for at, a in enumerate(spans):
        for b in spans[:at]:
            assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]


def test_axes_of_the_selected_joint_have_one_length_on_the_screen_and_letters() -> None:
    scene = standing(biped())
    hand = scene.skeleton.index("LeftHand")
    scene = replace(scene, marks=(), selected=frozenset([hand]), display=Display(axes=True, limits="none"))
    projection = seen(scene)
    drawing = draw_list(scene, projection)
    assert len(drawing.lines) == 3
    np.testing.assert_allclose(drawing.lines["start"], np.tile(scene.world.positions[hand], (3, 1)), atol=1e-6)
    lengths = np.linalg.norm(drawing.lines["end"] - drawing.lines["start"], axis=1)
    np.testing.assert_allclose(lengths * projection.pixels_per_metre(scene.world.positions[hand]), 38.0, rtol=1e-4)
    assert [text.text for text in drawing.texts] == ["X", "Y", "Z"]
    assert [text.colour for text in drawing.texts] == [rgba("x"), rgba("y"), rgba("z")]


def luminance(name: str) -> float:
    """Relative luminance of WCAG 2."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in PALETTE[name]]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize(("name", "ground", "least"), [
    ("text", "panel", 4.5), ("text2", "panel", 4.5), ("text3", "panel", 4.5), ("text", "accent_dk", 4.5),
    ("on_accent", "accent", 4.5), ("err", "panel", 4.5), ("warn", "panel", 4.5), ("ok", "panel", 4.5),
    *((name, "bg_top", 3.0) for name in ("x", "y", "z", "left", "right", "centre", "effector", "target", "unreached",
                                         "limit", "hovered", "accent", "ghost")),
])  # fmt: skip
def test_colours_stand_out_from_what_they_are_on(name: str, ground: str, least: float) -> None:
    lighter, darker = sorted((luminance(name), luminance(ground)), reverse=True)
    assert (lighter + 0.05) / (darker + 0.05) >= least
