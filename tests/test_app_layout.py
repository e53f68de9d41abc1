"""The window's arrangement: where parts stand, which fold, how borders move."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st
from inside.app import LEAST_TIMELINE, LEAST_VIEWPORT, SHORT_TIMELINE, SMALLEST_VIEWPORT, Layout, Place
from inside.ui import Panels

from viewer.ui import Rect, Workspace

SCALES = st.sampled_from([1.0, 1.25, 1.5, 2.0, 3.0])


def overlap(a: Rect, b: Rect) -> bool:
    return a.x < b.x + b.w and b.x < a.x + a.w and a.y < b.y + b.h and b.y < a.y + a.h


def test_at_1280x720_it_is_the_design() -> None:
    regions = Layout().regions((1280, 720), 1.0)
    assert regions.viewport == Rect(230, 66, 756, 514)
    assert regions.rects[Place.BOTTOM] == Rect(0, 582, 986, 112)
    assert regions.rects[Place.STATUS] == Rect(0, 694, 1280, 26)
    assert regions.rects[Place.RIGHT_TOP].w == 290 + 2


def test_a_wide_window_has_wider_panels() -> None:
    regions = Layout().regions((1920, 1080), 1.0)
    assert regions.rects[Place.LEFT_TOP].w == 280
    assert regions.rects[Place.RIGHT_TOP].w == 340
    assert regions.rects[Place.BOTTOM].h == 132


@given(
    st.integers(480, 4000),
    st.integers(300, 2200),
    SCALES,
    st.builds(
        Layout,
        st.fixed_dictionaries(
            {},
            optional={name: st.floats(0, 900) for name in ("left", "right", "timeline", "curves", "lanes")}
            | {name: st.floats(0, 1) for name in ("goals", "solver")},
        ),
        st.builds(Panels, st.booleans(), st.booleans(), st.booleans(), st.sampled_from(["", "left", "right"])),
        workspace=st.sampled_from(Workspace),
    ),
)
def test_parts_never_overlap_and_the_view_keeps_its_least_size(
    width: int, height: int, scale: float, layout: Layout
) -> None:
    size = (round(width * scale), round(height * scale))
    regions = layout.regions(size, scale)
    rects = list(regions.rects.values())
    assert not any(overlap(a, b) for i, a in enumerate(rects) for b in rects[:i])
    assert all(r.x >= 0 and r.y >= 0 and r.x + r.w <= size[0] and r.y + r.h <= size[1] for r in rects)
    assert all(r.w > 0 and r.h > 0 for r in rects)
    usual = layout.bottom not in layout.sizes and height >= 600
    assert regions.viewport.w >= (LEAST_VIEWPORT if layout.panels.opened else SMALLEST_VIEWPORT)[0] * scale - 3
    assert regions.viewport.h >= (SMALLEST_VIEWPORT if usual else LEAST_VIEWPORT)[1] * scale * min(height / 430, 1) - 3


def test_below_1100_the_left_panels_fold() -> None:
    assert Place.LEFT_TOP in Layout().regions((1100, 700), 1.0).rects
    assert Place.LEFT_TOP not in Layout().regions((1099, 700), 1.0).rects
    assert Place.LEFT_TOP not in Layout().regions((2198, 1400), 2.0).rects, "logical pixels count"


@pytest.mark.parametrize(
    ("size", "scale"), [((1280, 720), 1.0), ((1280, 720), 2.0), ((960, 600), 2.0), ((1280, 720), 3.0)]
)
def test_the_ruler_is_there_at_every_scale(size: tuple[int, int], scale: float) -> None:
    regions = Layout().regions(size, scale)
    tall = regions.body(Place.BOTTOM).h / scale
    assert tall >= (SHORT_TIMELINE if regions.short_timeline else LEAST_TIMELINE - 22)


def test_where_there_is_less_room_the_timeline_has_no_tabs_and_then_no_ruler() -> None:
    assert not Layout().regions((1280, 720), 2.0).short_timeline
    regions = Layout().regions((1280, 660), 2.0)
    assert regions.short_timeline
    assert regions.body(Place.BOTTOM) == regions.rects[Place.BOTTOM]
    assert regions.rects[Place.BOTTOM].h == 2 * SHORT_TIMELINE
    assert "timeline" not in {border.name for border in regions.borders}
    assert Layout().regions((960, 600), 3.0).rects[Place.BOTTOM].h == 3 * 34


@pytest.mark.parametrize("side", ["left", "right"])
def test_panels_without_room_are_folded_and_opened_all_the_same(side: str) -> None:
    folded = Layout().regions((1280, 720), 2.0)
    assert folded.folded == {"left", "right"}
    regions = Layout(panels=Panels(opened=side)).regions((1280, 720), 2.0)
    assert regions.folded == {"left", "right"} - {side}
    wide = Layout(panels=Panels(opened=side)).regions((1280, 720), 1.0)
    assert wide.rects == Layout().regions((1280, 720), 1.0).rects


def test_in_a_low_window_a_column_is_one_strip_of_tabs() -> None:
    regions = Layout(panels=Panels(opened="left")).regions((1280, 720), 2.0)
    assert regions.place(Place.LEFT_BOTTOM) is Place.LEFT_TOP
    assert Layout().regions((1280, 720), 1.0).place(Place.LEFT_BOTTOM) is Place.LEFT_BOTTOM


def test_hidden_panels_leave_menu_view_and_status() -> None:
    regions = Layout(panels=Panels(hidden=True)).regions((1280, 720), 1.0)
    assert set(regions.rects) == {Place.MENU, Place.VIEWPORT, Place.STATUS}


@pytest.mark.parametrize("scale", [1.0, 2.0])
@pytest.mark.parametrize(
    ("name", "grip", "to", "value"),
    [
        ("left", (229, 300), (300, 300), 300.0),
        ("left", (229, 300), (20, 300), 180.0),
        ("right", (987, 300), (880, 300), 400.0),
        ("timeline", (500, 581), (500, 500), 194.0),
        ("goals", (100, 363), (100, 323), (580 - 323) / 514),
    ],
)
def test_a_border_follows_the_pointer_within_its_range(
    name: str, grip: tuple[float, float], to: tuple[float, float], value: float, scale: float
) -> None:
    layout = Layout()
    regions = layout.regions((round(1280 * scale), round(720 * scale)), scale)
    border = regions.border_at(grip[0] * scale, grip[1] * scale)
    assert border is not None
    assert border.name == name
    layout.drag(name, (to[0] * scale, to[1] * scale), regions)
    assert layout.sizes == {name: pytest.approx(value, abs=0.01)}


def test_what_was_arranged_is_kept_and_reset_brings_the_design_back() -> None:
    layout = Layout({"left": 300.0, "goals": 0.5}, Panels(hidden=True, opened="left"), closed={"curves"})
    assert Layout.of(layout.sizes, layout.closed, layout.panels) == layout
    layout.reset()
    assert layout == Layout()
    assert Layout.of({"left": 300.0, "nonsense": 3.0}, (), Panels()) == Layout({"left": 300.0})


def test_animate_has_a_taller_timeline_of_its_own() -> None:
    layout = Layout(workspace=Workspace.ANIMATE)
    regions = layout.regions((1280, 720), 1.0)
    assert regions.rects[Place.BOTTOM].h == 264
    layout.drag("lanes", (500.0, 400.0), regions)
    assert layout.regions((1280, 720), 1.0).rects[Place.BOTTOM].h == pytest.approx(294, abs=2)
    layout.workspace = Workspace.POSE
    assert layout.regions((1280, 720), 1.0).rects[Place.BOTTOM].h == 112
    assert [*layout.sizes] == ["lanes"]
