"""Chips beside targets that are not reached: how far they are missed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from viewer.ik.findings import FAR, far
from viewer.scene import stamps
from viewer.scene.marks import is_on_view
from viewer.scene.palette import rgba
from viewer.scene.primitives import Text
from viewer.scene.texts import text_width

if TYPE_CHECKING:
    from collections.abc import Sequence

    from viewer.scene.marks import Pixel, Seen
    from viewer.scene.primitives import Records
    from viewer.spatial.projection import Projection

_HEIGHT, _PAD, _ICON, _GAP = 26.0, 8.0, 14.0, 6.0
_LEFT, _BELOW, _EDGE = -8.0, 24.0, 4.0
"""Pixels from the target to the chip's top left corner, and that it keeps from the view's edges."""
_SIZE = 15

Box = tuple[float, float, float, float]


def short_text(metres: float, *, too_near: bool = False) -> str:
    """How far a target is missed: ``178 mm short``, ``too near``; small misses with the digits that they have.

    From ten metres on in metres: ``11.1 m short``.
    """
    size = metres * 1000.0
    digits = 0 if size >= 10.0 else 1 if size >= 0.1 else 3
    length = far(metres) if metres >= FAR else f"{size:.{digits}f} mm"
    return f"{length} {'too near' if too_near else 'short'}"


def chip_records(seen: Sequence[Seen], projection: Projection, scale: float) -> tuple[Records, list[Text]]:
    """FLAT triangles and texts; of chips that would overlap the one of the selected or the larger miss stays."""
    missed = [one for one in seen if one.is_short and one.mark.error_m > 0.0 and is_on_view(one.at, projection, scale)]
    taken: list[Box] = []
    signs: list[tuple[Records, Pixel]] = []
    texts: list[Text] = []
    for one in sorted(missed, key=lambda miss: (not miss.mark.selected, -miss.mark.error_m)):
        words = short_text(one.mark.error_m, too_near=one.mark.too_near)
        wide = round((2.0 * _PAD + _ICON + _GAP) * scale + text_width(words, _SIZE * scale, bold=True))
        high = round(_HEIGHT * scale)
        left, top = _placed(one.at, (wide, high), projection.size, scale)
        if any(_overlap((left, top, left + wide, top + high), other) for other in taken):
            continue
        taken.append((left, top, left + wide, top + high))
        middle = top + 0.5 * high
        signs.append((stamps.chip(wide, high, scale), (left, top)))
        signs.append((stamps.warning(scale, _ICON), (left + (_PAD + 0.5 * _ICON) * scale, middle)))
        start = left + (_PAD + _ICON + _GAP) * scale
        texts.append(Text(words, start, middle, rgba("text"), _SIZE, halo=False, bold=True))
    return stamps.placed(signs), texts


def _placed(at: Pixel, chip: tuple[int, int], size: tuple[int, int], scale: float) -> Pixel:
    """Top left corner of a chip: below its target, within the view, on whole pixels."""
    edge = _EDGE * scale
    left = min(max(at[0] + _LEFT * scale, edge), max(size[0] - chip[0] - edge, edge))
    top = min(max(at[1] + _BELOW * scale, edge), max(size[1] - chip[1] - edge, edge))
    return float(round(left)), float(round(top))


def _overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
