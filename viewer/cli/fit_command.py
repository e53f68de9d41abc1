"""``ikviewer fit``: positions of joints, or SMPL's axis-angles, to a skeleton with motion."""

from __future__ import annotations

from pathlib import Path

from viewer.cli import outputs
from viewer.cli.info_command import length_of
from viewer.cli.job import Result
from viewer.cli.motion_options import FitOptions
from viewer.cli.output import Json, warn
from viewer.formats.load import load
from viewer.formats.positions import Fitting, fitted
from viewer.skeleton import Character, Skeleton


def run(options: FitOptions) -> Result:
    """Fit, and write the character."""
    output = outputs.character_output(options.output, options)
    how = Fitting(
        preset=options.preset,
        names=options.names,
        rig=_rig(options.to),
        fps=options.fps,
        units=options.units,
        up=options.up,
        height=options.height,
    )
    character = fitted(Path(options.file), options.file, how)
    warn(f"{options.file}: {warning}" for warning in character.warnings)
    outputs.saved(character, output)
    return Result(notes=[f"wrote {output}: {_summary(character)}"], document=_document(output, character))


def _rig(file: str | None) -> tuple[str, Skeleton] | None:
    if file is None:
        return None
    return file, load(file).skeleton


def _summary(character: Character) -> str:
    clip = character.clip
    assert clip is not None
    return f"{len(character.skeleton)} joints, {length_of(clip)}"


def _document(output: Path, character: Character) -> Json:
    clip = character.clip
    assert clip is not None
    return {
        "output": str(output), "joints": len(character.skeleton), "frames": len(clip), "frame_time": clip.frame_time,
        "warnings": list(character.warnings),
    }  # fmt: skip
