"""Write every sample into the folder above, or into another one: ``make_samples.py [FOLDER]``.

The same bytes come out every time; a test compares them with the files that are kept.
"""

from __future__ import annotations

import sys
from pathlib import Path

from biped import biped
from hands import biped_hands
from machines import claw_arm, piston, two_link
from quadruped import quadruped
from raptor import raptor
from serpent import serpent
from walk import walk_text
from writing import skeleton_text

SAMPLES = (biped, biped_hands, claw_arm, quadruped, raptor, serpent, two_link, piston)


def main(folder: Path) -> None:
    """Write all files and say so."""
    for make in SAMPLES:
        sample = make()
        _write(folder / f"{sample.name}.json", skeleton_text(sample))
    _write(folder / "walk.bvh", walk_text())


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")
    print(path)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent)
