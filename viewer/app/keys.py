"""Names of keys: what GLFW, moderngl-window and Dear ImGui call what `viewer.ui.events` calls ``"a"`` or ``"kp4"``."""

from __future__ import annotations

from imgui_bundle import imgui

LETTERS = "abcdefghijklmnopqrstuvwxyz"
DIGITS = "0123456789"

_SAME = ("space", "escape", "enter", "tab", "backspace", "delete", "insert", "home", "end", "comma", "period", "minus",
         "equal", "slash", "backslash", "semicolon", "apostrophe")  # fmt: skip
_OTHER = {
    "left": ("LEFT", "left_arrow"),
    "right": ("RIGHT", "right_arrow"),
    "up": ("UP", "up_arrow"),
    "down": ("DOWN", "down_arrow"),
    "pageup": ("PAGE_UP", "page_up"),
    "pagedown": ("PAGE_DOWN", "page_down"),
    "bracketleft": ("LEFT_BRACKET", "left_bracket"),
    "bracketright": ("RIGHT_BRACKET", "right_bracket"),
    "grave": ("GRAVE_ACCENT", "grave_accent"),
    "kpenter": ("KP_ENTER", "keypad_enter"),
    "kpadd": ("KP_ADD", "keypad_add"),
    "kpsubtract": ("KP_SUBTRACT", "keypad_subtract"),
    "kpmultiply": ("KP_MULTIPLY", "keypad_multiply"),
    "kpdivide": ("KP_DIVIDE", "keypad_divide"),
    "kpdecimal": ("KP_DECIMAL", "keypad_decimal"),
}
_MODIFIERS = {
    "shift": ("SHIFT", "shift"),
    "ctrl": ("CONTROL", "ctrl"),
    "alt": ("ALT", "alt"),
    "super": ("SUPER", "super"),
}

PUNCTUATION = {",": "comma", ".": "period", "-": "minus", "=": "equal", "[": "bracketleft", "]": "bracketright",
               "/": "slash", ";": "semicolon", "'": "apostrophe", "\\": "backslash"}  # fmt: skip
"""Names of what keys print."""


def _glfw_names() -> dict[str, str]:
    names = {name.upper(): name for name in _SAME}
    names |= {letter.upper(): letter for letter in LETTERS} | {digit: digit for digit in DIGITS}
    names |= {f"KP_{digit}": f"kp{digit}" for digit in DIGITS} | {f"F{number}": f"f{number}" for number in range(1, 13)}
    names |= {theirs: name for name, (theirs, _) in _OTHER.items()}
    for name, (theirs, _) in _MODIFIERS.items():
        names |= {f"LEFT_{theirs}": name, f"RIGHT_{theirs}": name}
    return names


GLFW_NAMES = _glfw_names()
"""Our name of each key that GLFW has a constant ``KEY_...`` for."""


def _imgui_keys() -> dict[str, imgui.Key]:
    keys = {name: getattr(imgui.Key, name) for name in _SAME}
    keys |= {letter: getattr(imgui.Key, letter) for letter in LETTERS}
    keys |= {digit: getattr(imgui.Key, f"_{digit}") for digit in DIGITS}
    keys |= {f"kp{digit}": getattr(imgui.Key, f"keypad{digit}") for digit in DIGITS}
    keys |= {f"f{number}": getattr(imgui.Key, f"f{number}") for number in range(1, 13)}
    keys |= {name: getattr(imgui.Key, theirs) for name, (_, theirs) in _OTHER.items()}
    keys |= {name: getattr(imgui.Key, f"left_{theirs}") for name, (_, theirs) in _MODIFIERS.items()}
    return keys


IMGUI_KEYS = _imgui_keys()
"""imgui's key of each of our names."""

IMGUI_MODIFIERS = {
    "ctrl": imgui.Key.mod_ctrl,
    "shift": imgui.Key.mod_shift,
    "alt": imgui.Key.mod_alt,
    "super": imgui.Key.mod_super,
}


def by_layout(position: str, printed: str | None) -> str:
    """The name of a key: letters and their neighbours by what the layout prints, all others by where they are.

    Args:
        position: the name of the key that is there on a US keyboard.
        printed: what the key prints in the person's layout, or None where it is not known.

    Returns:
        ``"a"`` for the key left of S on QWERTY and for the one above it on AZERTY. Where a layout prints other scripts
        (Cyrillic, Greek), a letter is where QWERTY has it, as in other programs.
    """
    if not printed or len(printed) != 1 or (len(position) > 1 and position not in PUNCTUATION.values()):
        return position
    printed = printed.lower()
    if printed in LETTERS:
        return printed
    if position in DIGITS:
        return position
    return PUNCTUATION.get(printed, position)
