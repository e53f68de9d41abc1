"""``ikviewer build``: a new skeleton, a chain of equal bones, ready to pose."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from viewer.cli import outputs
from viewer.cli.file_options import AXES, BuildOptions
from viewer.cli.job import Result
from viewer.errors import InputError
from viewer.formats.save import check_suffix
from viewer.skeleton import Builder, Character

_MOST = 5000


def run(options: BuildOptions) -> Result:
    """Build and write."""
    if not 1 <= options.chain <= _MOST:
        raise InputError(f"--chain: expected 1 to {_MOST} bones, found {options.chain}")
    if options.limit is not None and options.kind != "hinge":
        raise InputError(f"--limit: expected --kind hinge, found {options.kind}")
    output = Path(options.output)
    check_suffix(output)
    if output.exists() and not options.force:
        raise InputError(f"{output}: is there already: --force replaces it")
    builder = Builder(name=options.name)
    for number in range(options.chain):
        kind = options.base if number == 0 and options.base else options.kind
        axis = AXES[options.axis]
        axes = np.array([axis, AXES["z" if options.axis != "z" else "x"]][: 2 if kind == "universal" else 1])
        most = None if options.limit is None or kind != "hinge" else math.radians(options.limit)
        builder.add(
            f"joint{number + 1}",
            f"joint{number}" if number else None,
            (0.0, options.length if number else 0.0, 0.0),
            kind=kind,  # type: ignore[arg-type] # one of the choices
            axis=axes if kind in ("hinge", "slide", "universal") else None,
            limits=None if most is None else (-most, most),
        )
    last = f"joint{options.chain}"
    end = (0.0, options.length, 0.0)
    builder.tip(last, end).effector("end", last, end)
    built = Character(builder.skeleton)
    warnings = outputs.saved(built, output)
    bones = f"{options.chain} bone{'' if options.chain == 1 else 's'}"
    document = outputs.character_document(built, output, warnings)
    return Result(notes=[f"wrote {output}: {bones} of {options.length:g} m"], document=document)
