"""``python -m viewer`` = ``ikviewer``."""

from __future__ import annotations

import sys

from viewer import __version__


def main() -> int:
    """Run the command; its version alone without the parser, which takes longer to import than that is to print."""
    if sys.argv[1:] == ["--version"]:
        sys.stdout.write(f"ikviewer {__version__}\n")
        return 0
    from viewer.cli.main import main as run  # noqa: PLC0415 - see above

    return run()


if __name__ == "__main__":
    sys.exit(main())
