"""Takes the pictures of the pages anew, in a hidden window: ``python docs/make_pictures.py [NAME ...]``.

All pictures, or those named, such as ``lab``. Needs OpenGL 3.3, software is enough.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from PIL import Image

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))

from window_pilot import Pilot  # noqa: E402 - tests are no package

import viewer  # noqa: E402
from viewer.document import Item  # noqa: E402
from viewer.document.actions import Select  # noqa: E402

COLOURS = 256
"""Of a picture: panels have few, and files become a quarter as large."""
Crop = tuple[int, int, int, int]
"""Left, top, right, bottom: pixels of the window."""
VIEWPORT: Crop = (230, 67, 985, 560)
CURVES: Crop = (0, 460, 986, 694)
STANDING: Crop = (418, 135, 798, 522)
CHEST: Crop = (418, 90, 798, 477)
MIDDLE, CORNER = (608.0, 322.0), (960.0, 560.0)
"""Pixels of the viewport: where the figure is, and where nothing is."""
KEY = (432.0, 600.0)
"""The key of a curve."""


def shown(file: str, *commands: str) -> Pilot:
    """A window on a file, with smooth edges, after some commands."""
    pilot = Pilot(smooth=True)
    pilot.app.controller.files.open(file)
    pilot.step(5)
    return do(pilot, *commands)


def do(pilot: Pilot, *commands: str) -> Pilot:
    """Run commands by their names."""
    for command in commands:
        assert pilot.app.controller.run(command), command
        pilot.step(5)
    return pilot


def pulled(pilot: Pilot, effector: str, dx: float, dy: float) -> Pilot:
    """Drag an effector by pixels."""
    x, y = pilot.effector(effector)["screen"]
    pilot.drag((x, y), (x + dx, y + dy), steps=40)
    pilot.settle()
    return pilot


def wheeled(pilot: Pilot, steps: float) -> Pilot:
    """Turn the wheel in the middle of the viewport: in by positive steps."""
    pilot.move(*MIDDLE)
    pilot.inputs.scroll(0.0, steps)
    pilot.settle()
    pilot.move(*CORNER)
    return pilot


def taken(pilot: Pilot, crop: Crop | None = None) -> Image.Image:
    """The picture of a window, or of a part of it; the window is closed."""
    picture = Image.fromarray(np.ascontiguousarray(pilot.picture()[..., :3])).crop(crop)
    pilot.close()
    return picture


def beside(*pictures: Image.Image) -> Image.Image:
    """Pictures of one height in a row."""
    row = Image.new("RGB", (sum(one.width for one in pictures), pictures[0].height))
    x = 0
    for one in pictures:
        row.paste(one, (x, 0))
        x += one.width
    return row


def window() -> Image.Image:
    """A figure that reaches far down, in balance: README."""
    return taken(pulled(shown("sample:biped", "balance.keep", "show.capsules"), "LeftHand", 121, 94))


def raptor() -> Image.Image:
    """A head that is pulled too far away: README."""
    return taken(pulled(wheeled(shown("sample:raptor"), -4.0), "Head", 180, 40))


def lab() -> Image.Image:
    """Five methods after three iterations: docs/lab.md."""
    pilot = pulled(shown("sample:biped", "workspace.lab"), "LeftHand", 60, -180)
    laboratory = pilot.app.controller.laboratory
    while len(laboratory.traces) < len(laboratory.methods) or laboratory.worker.busy:
        time.sleep(0.01)
        pilot.step(30)
    laboratory.go_to(3)
    pilot.step(30)
    return taken(pilot)


def physics() -> Image.Image:
    """A claw that a ball hits: docs/physics.md."""
    pilot = shown("demo:claw-hit", "view.three_quarter")
    pilot.step(80)
    return taken(pilot, VIEWPORT)


def goals() -> Image.Image:
    """Balance, and a grip: docs/window.md."""
    pictures = []
    for name, steps, crop in (("balance", 0.0, STANDING), ("grip", 3.0, CHEST)):
        pilot = shown(f"demo:{name}")
        pilot.app.controller.demos.close()
        pictures.append(taken(wheeled(pilot, steps), crop))
    return beside(*pictures)


def layers() -> Image.Image:
    """A walk that reaches up: docs/record.md."""
    pilot = shown("sample:walk", "workspace.animate")
    pilot.session.seek(20)
    pilot.step(5)
    do(pilot, "feet.plant").settle()
    pulled(pilot, "LeftHand", 20, -110)
    do(pilot, "layer.reach").settle()
    return taken(pilot)


def curves() -> Image.Image:
    """Curves of an arm, a key selected: docs/record.md."""
    pilot = shown("sample:biped")
    for frame, dx, dy in ((0, 0, -1), (25, 60, -120), (50, -80, 70), (80, -30, -60), (110, 40, 20)):
        pilot.app.controller.playback.go(frame)
        pilot.step(5)
        do(pulled(pilot, "LeftHand", dx, dy), "key.set")
    pilot.session.dispatch(Select((Item("joint", "LeftArm"),)))
    pilot.app.controller.playback.go(50)
    pilot.app.controller.view.request("show-panel", "curves")
    pilot.settle()
    pilot.click(*KEY)
    return taken(pilot, CURVES)


def retarget() -> Image.Image:
    """A walk and the figure that gets it: docs/retarget.md."""
    with tempfile.TemporaryDirectory() as folder:
        hero = Path(folder) / "hero.json"
        viewer.save(viewer.load("sample:biped-hands"), hero)
        pilot = shown(str(hero))
        pilot.app.controller.retargeting.open("sample:walk")
        pilot.session.seek(12)
        pilot.settle()
        return taken(pilot)


PICTURES: dict[str, Callable[[], Image.Image]] = {
    made.__name__: made for made in (window, raptor, lab, physics, goals, layers, curves, retarget)
}


def main(names: Sequence[str]) -> None:
    """Take the pictures with these names, or all."""
    for name in names or PICTURES:
        palette = PICTURES[name]().quantize(COLOURS, Image.Quantize.MAXCOVERAGE, kmeans=3, dither=Image.Dither.NONE)
        palette.save(HERE / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main(sys.argv[1:])
