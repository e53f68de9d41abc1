"""``ikviewer layer``: goals over time on a motion."""

from __future__ import annotations

from viewer.cli import inputs, outputs
from viewer.cli.goal_inputs import layers_of
from viewer.cli.job import Result
from viewer.cli.output import Json
from viewer.cli.solving_options import LayerOptions
from viewer.errors import InputError, shown
from viewer.motion import solve_layers, with_windows


def run(options: LayerOptions) -> Result:
    """Read, solve the layers' frames, write."""
    output = outputs.character_output(options.output, options)
    character = inputs.chosen_clip(inputs.load_input(options.file, options.reading), options.clip, options.file)
    clip = inputs.motion_of(character, options.file)
    layers = layers_of(options.layers, character.skeleton)
    try:
        windows = solve_layers(character.skeleton, clip, layers, backend=options.backend, limits=not options.no_limits)
    except InputError as error:
        raise InputError(f"{options.layers}: {error}") from error
    changed = with_windows(clip, windows)
    outputs.saved(inputs.with_motion(character, changed), output)
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
