"""``python -m viewer`` = ``ikviewer``."""

from __future__ import annotations

import contextlib
import os
import sys

from viewer import __version__


def main() -> int:
    """Run the command; its version alone without the parser, which takes longer to import than that is to print."""
    try:
        if sys.argv[1:] == ["--version"] and sys.stdout is not None:
            with contextlib.suppress(OSError):  # the disk is full, or the reader has gone: left to the command
                os.write(sys.stdout.fileno(), f"ikviewer {__version__}\n".encode())
                return 0
        from viewer.cli.main import main as run  # noqa: PLC0415 - see above

        return run()
    except KeyboardInterrupt:  # while modules are loaded
        sys.stderr.write("interrupted\n")
        return 130


if __name__ == "__main__":
    sys.exit(main())
