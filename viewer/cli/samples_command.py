"""``ikviewer samples``: the bundled skeletons."""

from __future__ import annotations

from viewer.cli.file_options import SamplesOptions
from viewer.cli.job import Result
from viewer.cli.output import Json
from viewer.formats.file_formats import SAMPLE
from viewer.formats.load import load, sample_names
from viewer.session.demo import PREFIX
from viewer.session.demos import DEMOS
from viewer.skeleton.kinematics import extent


def run(_: SamplesOptions) -> Result:
    """List what is bundled."""
    rows: list[Json] = []
    lines: list[str] = []
    for name in sample_names():
        character = load(SAMPLE + name)
        joints, frames = len(character.skeleton), len(character.clip) if character.clip else 0
        size = float(extent(character).max())
        rows.append({"name": SAMPLE + name, "joints": joints, "frames": frames, "size": size})
        motion = f", {frames} frames" if frames else ""
        lines.append(f"{SAMPLE + name:<20} {joints:>3} joints, {size:.2f} m{motion}")
    lines.append(f"{SAMPLE + 'chain-N':<20}   N joints, 1.00 m")
    return Result([*lines, *(f"{PREFIX + demo.id:<20} {demo.title}" for demo in DEMOS)], document=rows)
