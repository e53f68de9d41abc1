"""A film as a person makes one: a virtual screen and real keys."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from PIL import Image
from window_screen import Screen, virtual_screen

import viewer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def screen(tmp_path: Path) -> Iterator[Screen]:
    """A window on a file of its own; films are small and GIFs unless other ones are asked for."""
    walk = viewer.load("sample:walk")
    assert walk.clip is not None
    viewer.save(replace(walk, clips={"walk": walk.clip.frames(0, 11)}), tmp_path / "walk.bvh")
    config = tmp_path / "home" / "config"
    config.mkdir(parents=True)
    film = {"format": "gif", "size": "own", "own": "96x54"}
    (config / "preferences.json").write_text(json.dumps({"film": film}), encoding="utf-8")
    with virtual_screen() as display:
        made = Screen(display, tmp_path, str(tmp_path / "walk.bvh"))
        yield made
        made.kill()


def says(screen: Screen, start: str) -> bool:
    return str(screen.state["message"]).startswith(start)


def press_until(screen: Screen, happens: Callable[[], bool]) -> None:
    """Press Enter until it has worked: a dialog that is not there yet hears nothing."""

    def pressed() -> bool:
        screen.key("Return")
        time.sleep(0.3)
        return happens()

    screen.until(pressed)


def test_two_keys_make_a_film_and_three_replace_it(screen: Screen, tmp_path: Path) -> None:
    path = tmp_path / "walk.gif"
    screen.key("shift+F12")
    press_until(screen, lambda: says(screen, "Wrote walk.gif: 12 pictures of 96"))
    with Image.open(path) as image:
        assert (image.n_frames, image.size) == (12, (96, 54))  # type: ignore[attr-defined]
    before, content = path.stat().st_ino, path.read_bytes()
    screen.key("shift+F12")
    press_until(screen, lambda: path.stat().st_ino != before)
    assert path.read_bytes() == content  # the same film of the same take
    screen.key("ctrl+q")
    assert screen.end()[0] == 0
    kept = json.loads((tmp_path / "home" / "config" / "preferences.json").read_text(encoding="utf-8"))
    assert kept["film"]["format"] == "gif"
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".ikviewer")] == []
