"""How wide text is, without a font at hand: the advances of Roboto, the face that everything is written in."""

from __future__ import annotations

from functools import lru_cache

_LINE = 2400.0
"""Font units from the top of a line to its bottom: a size in pixels is the height of that."""
_FIRST = 32
_REGULAR = (
    507, 527, 655, 1261, 1150, 1500, 1273, 357, 700, 712, 882, 1161, 402, 565, 539, 844, 1150, 1150, 1150, 1150, 1150,
    1150, 1150, 1150, 1150, 1150, 496, 433, 1041, 1124, 1070, 967, 1839, 1336, 1275, 1333, 1343, 1164, 1132, 1395, 1460,
    557, 1130, 1284, 1102, 1788, 1460, 1408, 1292, 1408, 1261, 1215, 1222, 1328, 1303, 1817, 1284, 1230, 1226, 543, 840,
    543, 856, 924, 633, 1114, 1149, 1072, 1155, 1085, 711, 1149, 1128, 497, 489, 1038, 497, 1795, 1130, 1168, 1149,
    1164, 693, 1056, 669, 1129, 992, 1539, 1015, 969, 1015, 693, 499, 693, 1393,
)  # fmt: skip
_BOLD_WIDER = 1.022
_OTHER = 1170
"""Of Latin, Greek and Cyrillic letters beyond ASCII, about."""
_WIDE, _WIDE_FROM = 2048, 0x2E80
"""Of the letters of East Asia, which are square."""


@lru_cache(maxsize=4096)
def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Pixels that a text of a size (of the whole line, in pixels) is wide; exact in plain Latin, near it elsewhere."""
    units = 0
    for letter in text:
        code = ord(letter)
        if _FIRST <= code < _FIRST + len(_REGULAR):
            units += _REGULAR[code - _FIRST]
        else:
            units += _WIDE if code >= _WIDE_FROM else _OTHER
    return units * size / _LINE * (_BOLD_WIDER if bold else 1.0)
