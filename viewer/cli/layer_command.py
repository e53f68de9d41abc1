"""``ikviewer layer``: goals over time on a motion."""

from __future__ import annotations

from pathlib import Path

from viewer.cli import inputs, job
from viewer.cli import options as shared
from viewer.cli.job import FILES, Result, UsageError, argument, option, part
from viewer.cli.output import Json, warn
from viewer.errors import shown

EXAMPLES = """examples:
  ikviewer layer walk.bvh button.json -o reaching.bvh
  ikviewer layer fox.glb look.json --clip Run -o looking.glb --json

A layers file:
  {"version": 1, "type": "layers", "layers": [
    {"goal": {"effector": "LeftHand", "position": [0.4, 1.2, 0.3]},
     "start": 0.5, "full": [1.0, 1.2], "end": 1.8}]}
Seconds from the first frame; metres, Y up. Between start and end the effector leaves the motion for its goal and
returns; feet stay where the motion has them, and frames outside keep their values."""


class Options(job.Options):
    """Options of ``ikviewer layer``."""

    file: str = shared.input_file()
    layers: str = argument("LAYERS", "a layers file (JSON), or `-` (standard input)", completes=FILES)
    output: str | None = option(
        "OUT", "the motion with the layers on it; its suffix says the format", short="-o", completes=FILES
    )
    reading: shared.Reading = part(shared.Reading)
    clip: str | None = shared.clip_option()
    backend: str = shared.backend_option("auto")
    no_limits: bool = shared.no_limits_flag()
    json: bool = shared.json_flag()


def run(options: Options) -> Result:
    """Read, solve the layers' frames, write."""
    from dataclasses import replace
    from types import MappingProxyType

    from viewer.formats.save import check_suffix, save
    from viewer.motion.layer_solve import solve_layers, with_windows

    if options.output is None:
        raise UsageError("the following arguments are required: -o OUT")
    output = Path(options.output)
    check_suffix(output)
    inputs.check_kept(output, options)
    character = inputs.chosen_clip(inputs.load_input(options.file, options.reading), options.clip, options.file)
    clip = inputs.motion_of(character, options.file)
    layers = inputs.layers_of(options.layers, character.skeleton)
    windows = solve_layers(character.skeleton, clip, layers, backend=options.backend, limits=not options.no_limits)
    changed = with_windows(clip, windows)
    clips = {name: changed if own is clip else own for name, own in character.clips.items()}
    result = replace(character, clips=MappingProxyType(clips))
    warn(f"{output}: {warning}" for warning in save(result, output))
    rows: list[Json] = []
    lines = []
    misses = {
        index: (miss, window) for window in windows for index, miss in zip(window.layers, window.misses, strict=True)
    }
    for index, layer in enumerate(layers):
        name = shown(layer.goal.effector)
        if index not in misses:
            lines.append(f"{name}: off")
            rows.append({"effector": layer.goal.effector, "enabled": False})
            continue
        miss, window = misses[index]
        first, last = window.first, window.first + len(window.rotations) - 1
        lines.append(
            f"{name}: frames {first} to {last}; with all its weight at most "
            f"{1e3 * miss.metres:.2f} mm and {miss.degrees:.2f} degrees off"
        )
        rows.append(
            {
                "effector": layer.goal.effector,
                "frames": [first, last],
                "error_m": miss.metres,
                "error_deg": miss.degrees,
            }
        )
    return Result(lines, notes=[f"wrote {output}: {len(clip)} frames"], document={"layers": rows})
