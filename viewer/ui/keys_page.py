"""docs/keys.md, made from the table of keys: ``python -m viewer.ui.keys_page > docs/keys.md``."""

from __future__ import annotations

import sys

from viewer.ui.commands import HelpRow, help_rows

_PRESETS = {"simple": "Simple", "blender": "Blender", "maya": "Maya"}
_HEAD = """# Keyboard and mouse

<!-- Made from the table in viewer/ui by: python -m viewer.ui.keys_page > docs/keys.md -->

F1 shows this page in the window. LMB, MMB and RMB are the left, middle and right mouse buttons; on macOS Ctrl is Cmd.
Keys act unless a text field has the focus. While something is dragged or grabbed only the keys under "While dragging"
act, so that X, digits and the minus sign have one meaning at a time.

The mouse preset decides what the mouse does beside the figure: Simple (the default), Blender or Maya. The F1 page and
the preferences switch it.
"""


def page() -> str:
    """The text of docs/keys.md."""
    pages = {preset: help_rows(preset) for preset in _PRESETS}
    parts = [_HEAD]
    for group in pages["simple"]:
        parts.append(f"\n## {group}\n\n| keys | what they do |\n|---|---|\n")
        rows: dict[HelpRow, list[str]] = {}
        for preset, groups in pages.items():
            for row in groups[group]:
                rows.setdefault(row, []).append(_PRESETS[preset])
        parts += [_line(row, presets) for row, presets in rows.items()]
    return "".join(parts)


def _line(row: HelpRow, presets: list[str]) -> str:
    chords = ", ".join("+".join(f"`{cap}`" for cap in caps) for caps in row.caps)
    note = "" if len(presets) == len(_PRESETS) else f" ({', '.join(presets)})"
    return f"| {chords} | {row.words}{note} |\n"


if __name__ == "__main__":
    sys.stdout.write(page())
