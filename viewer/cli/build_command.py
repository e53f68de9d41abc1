"""``ikviewer build``: a new skeleton, a chain of equal bones, ready to pose."""

from __future__ import annotations

from pathlib import Path

from viewer.cli import job
from viewer.cli import options as shared
from viewer.cli.job import FILES, Result, UsageError, flag, option
from viewer.cli.output import warn
from viewer.errors import InputError

EXAMPLES = """examples:
  ikviewer build --chain 5 --length 0.2 -o arm.json
  ikviewer build --chain 30 --kind hinge --axis z --base fixed -o tail.json
  ikviewer edit arm.json --add "finger parent=joint5 offset=0.05,0.05,0" -o hand.json

The chain stands upright from the origin; its end is an effector. `ikviewer edit` adds branches."""

_KINDS = ("ball", "hinge", "universal", "slide", "fixed")
_AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
_MOST = 5000


class Options(job.Options):
    """Options of ``ikviewer build``."""

    chain: int | None = option("N", "number of bones", parse=shared.count)
    length: float = option("M", "length of each, metres (default 0.2)", parse=shared.positive, default=0.2)
    kind: str = option("", "how its joints move (default ball)", choices=_KINDS, default="ball")
    axis: str = option("", "axis of hinges and slides (default x)", choices=tuple(_AXES), default="x")
    limit: float | None = option("DEG", "limit hinges to so many degrees either way", parse=shared.positive)
    base: str = option("", "how the first joint moves (default as the others)", choices=("free", *_KINDS), default=None)
    name: str = option("NAME", "of the skeleton (default chain)", default="chain")
    output: str | None = option("OUT", "the file to write; its suffix says the format", short="-o", completes=FILES)
    force: bool = flag("replace OUT")


def run(options: Options) -> Result:
    """Build and write."""
    import math

    import numpy as np

    from viewer.formats.save import check_suffix, save
    from viewer.skeleton import Builder, Character

    if options.output is None or options.chain is None:
        missing = [name for name, value in (("--chain N", options.chain), ("-o OUT", options.output)) if value is None]
        raise UsageError(f"the following arguments are required: {', '.join(missing)}")
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
        axis = _AXES[options.axis]
        axes = np.array([axis, _AXES["z" if options.axis != "z" else "x"]][: 2 if kind == "universal" else 1])
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
    warn(f"{output}: {warning}" for warning in save(Character(builder.skeleton), output))
    bones = f"{options.chain} bone{'' if options.chain == 1 else 's'}"
    return Result(notes=[f"wrote {output}: {bones} of {options.length:g} m"])
