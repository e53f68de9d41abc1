"""Dear ImGui's draw lists on OpenGL: properties of the pixels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from imgui_bundle import imgui
from imgui_harness import Harness
from inside.app import SAMPLE_LIMIT, Blitter, Level, SceneBuffer, apply_theme, cjk_font, copy_list, paint
from inside.opengl import Renderer, create_context
from ui_person import Person

from viewer.scene import PALETTE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SIZE = (320, 200)
BLACK = (0.0, 0.0, 0.0)


@pytest.fixture
def harness() -> Iterator[Harness]:
    with Harness(SIZE) as harness:
        yield harness


def box(left: float, top: float, right: float, bottom: float, colour: str = "accent") -> None:
    drawing = imgui.get_background_draw_list()
    drawing.add_rect_filled((left, top), (right, bottom), paint(colour))


def test_a_rectangle_is_painted_on_its_pixels_and_nowhere_else(harness: Harness) -> None:
    harness.frame(lambda: box(40, 20, 100, 60))
    picture = harness.image(BLACK)
    assert np.allclose(picture[20:60, 40:100] / 255.0, PALETTE["accent"], atol=0.01)
    assert picture.any(axis=2).sum() == 60 * 40


def test_what_lies_outside_its_clip_rectangle_is_not_painted(harness: Harness) -> None:
    def clipped() -> None:
        drawing = imgui.get_background_draw_list()
        drawing.push_clip_rect((50, 30), (70, 40))
        box(0, 0, 320, 200)
        drawing.pop_clip_rect()

    harness.frame(clipped)
    rows, columns = np.nonzero(harness.image(BLACK).any(axis=2))
    assert (rows.min(), rows.max(), columns.min(), columns.max()) == (30, 39, 50, 69)


def test_letters_met_for_the_first_time_are_painted_in_the_same_frame(harness: Harness) -> None:
    def written(text: str) -> int:
        def write() -> None:
            imgui.get_background_draw_list().add_text((20, 20), paint("text"), text)

        harness.frame(write)
        return int((harness.image(BLACK) > 100).any(axis=2).sum())

    counts = [written(text) for text in ("Aa", "Ωμέγα", "Жизнь", "→", "\uf023")]
    assert all(count > 15 for count in counts)


def test_a_list_of_more_than_65536_vertices_is_painted_whole(harness: Harness) -> None:
    def many() -> None:
        for i in range(40_000):
            box(i % 300, i % 180, i % 300 + 1, i % 180 + 1)
        box(300, 190, 310, 195, "warn")

    harness.frame(many)
    assert len(harness.lists[0].vertices) // 20 > 65_536
    assert np.allclose(harness.image(BLACK)[190:195, 300:310] / 255.0, PALETTE["warn"], atol=0.01)


def test_a_larger_scale_makes_new_glyphs_and_scales_from_the_pristine_style(harness: Harness) -> None:
    for scale in (2.0, 3.0, 2.0):
        apply_theme(scale)
        assert imgui.get_style().indent_spacing == 14 * scale

    def write() -> None:
        imgui.push_font(None, 0.0)
        imgui.get_background_draw_list().add_text((0, 0), paint("text"), "Wide")
        assert imgui.get_font_size() == 30.0
        imgui.pop_font()

    harness.frame(write, 2)
    assert (harness.image(BLACK) > 100).any(axis=2).sum() > 200


def test_equal_frames_are_equal_lists_and_a_moved_one_is_not(harness: Harness) -> None:
    kept = []
    for left in (40, 40, 41):
        harness.frame(lambda left=left: box(left, 20, 100, 60))  # type: ignore[misc]  # called at once
        kept.append(harness.lists[0])
    assert kept[1].same_as(kept[0])
    assert not kept[2].same_as(kept[1])
    assert not kept[0].same_as(None)


def test_an_empty_list_is_copied() -> None:
    with Harness(SIZE) as harness:
        harness.frame(lambda: None)
        assert harness.lists == [] or copy_list(imgui.get_background_draw_list()).commands == ()


def test_the_preferred_cjk_font_is_found_in_the_systems_folders(tmp_path: Path) -> None:
    assert cjk_font([tmp_path]) is None
    for name in ("deep/wqy-zenhei.ttc", "other/NotoSansCJK-Regular.ttc", "NotoSansCJK.txt", "arial.ttf"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert cjk_font([tmp_path]) == tmp_path / "other" / "NotoSansCJK-Regular.ttc"


def test_half_resolution_is_drawn_with_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without, the edges of bones are stairs of two pixels."""
    person = Person()
    person.controller.run("show.capsules")
    asked: list[tuple[tuple[int, int], int | None, int]] = []
    plain = Renderer.draw

    def noted(renderer: Renderer, *given: Any, **named: Any) -> None:  # noqa: ANN401 - passed on
        asked.append((given[1].size, named.get("samples"), len(given[0].capsules)))
        plain(renderer, *given, **named)

    monkeypatch.setattr(Renderer, "draw", noted)
    context = create_context()
    stage = SceneBuffer(context, Blitter(context))
    stage.draw(person.controller.draw_list(), person.controller.projection(), Level.HALF, still=False)
    context.release()
    wide, high = person.controller.projection().size
    bodies = len(person.controller.draw_list().capsules)
    assert bodies > 10
    assert asked == [((wide // 2, high // 2), SAMPLE_LIMIT, bodies), ((wide, high), None, 0)]
