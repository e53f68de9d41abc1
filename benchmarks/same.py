"""Do two checkouts behave the same? For changes that should change nothing: moves, renames, a new kernel entry.

    python benchmarks/same.py OLD NEW [--count 200] [--backends numpy,numba] [--file FILE...]

Both are run on this machine by this interpreter, each in processes of its own, through nothing but the public library
and the command:

- solves of seeded problems on five samples by each backend: the same status, the same number of iterations, poses and
  errors to 1e-9;
- drags, frame by frame, to 1e-9; every other method on a few problems;
- every file format written from every sample (and every FILE): the same bytes, or the same refusal;
- what the command prints, but for times: the same text.

The problems come from OLD, so that both meet the same numbers. Prints a line for each part; exits with 1 where they
differ.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

RIGS = ("biped", "biped-hands", "quadruped", "raptor", "claw-arm")
SAMPLES = (*RIGS, "serpent", "two-link", "piston", "walk", "chain-20")
SUFFIXES = (".bvh", ".json", ".glb", ".gltf", ".npz", ".csv", ".usda", ".obj", ".stl", ".ply")
METHODS = ("dls", "sdls", "pseudo-inverse", "transpose", "ccd", "ccd-from-base", "two-link", "single-bone")
METHOD_PROBLEMS = 5
DRAGS, DRAG_FRAMES, DRAG_M = 5, 60, 0.3
TOLERANCE = 1e-9
SEED = 20261122
# Times, and the time of a solve in what commands print.
TIMES = re.compile(r"\d+(\.\d+)? (ms|s)\b")


def main() -> int:
    """Compare, or as a worker produce what is compared."""
    arguments = parser().parse_args()
    if arguments.worker:
        work(arguments)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        problems = Path(folder, "problems.npz")
        for role, checkout in (("old", arguments.old), ("new", arguments.new)):
            out = Path(folder, role)
            out.mkdir()
            run(arguments, checkout.resolve(), problems, out)
        return report(Path(folder, "old"), Path(folder, "new"))


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("old", type=Path, metavar="OLD")
    made.add_argument("new", type=Path, metavar="NEW")
    made.add_argument("--count", type=int, default=200, metavar="N", help="problems of each rig")
    made.add_argument("--backends", default="numpy,numba", metavar="LIST")
    made.add_argument("--file", type=Path, action="append", default=[], help="a file to export besides the samples")
    made.add_argument("--worker", type=Path, metavar="FOLDER", help=argparse.SUPPRESS)
    made.add_argument("--problems", type=Path, help=argparse.SUPPRESS)
    return made


def run(arguments: argparse.Namespace, checkout: Path, problems: Path, out: Path) -> None:
    """Let one checkout work, with nothing of the other on its path."""
    if not (checkout / "viewer" / "__init__.py").is_file():
        sys.exit(f"same: {checkout}: expected a checkout with a folder viewer")
    files = [word for file in arguments.file for word in ("--file", str(file.resolve()))]
    command = [sys.executable, "-P", str(Path(__file__).resolve()), "-", "-", "--count", str(arguments.count), *files]
    command += ["--backends", arguments.backends, "--worker", str(out), "--problems", str(problems)]
    environment = os.environ | {"PYTHONPATH": str(checkout), "OMP_NUM_THREADS": "1", "IKVIEWER_HOME": str(out / "home")}
    done = subprocess.run(command, cwd=out, env=environment, check=False)
    if done.returncode != 0:
        sys.exit(f"same: {checkout}: its run failed")


def work(arguments: argparse.Namespace) -> None:
    """Everything that is compared, written into the worker's folder."""
    import viewer  # the checkout's: the driver itself must not load one

    out: Path = arguments.worker
    if not arguments.problems.exists():
        np.savez(arguments.problems, **{rig: targets(viewer, rig, arguments.count) for rig in RIGS}, allow_pickle=False)
    problems = np.load(arguments.problems)
    for backend in arguments.backends.split(","):
        for rig in RIGS:
            np.savez(out / f"solve {rig} {backend}.npz", **solves(viewer, rig, problems[rig], backend))
            np.savez(out / f"drag {rig} {backend}.npz", **drags(viewer, rig, problems[rig], backend))
    for method in METHODS:
        few = problems["claw-arm"][:METHOD_PROBLEMS]
        np.savez(out / f"method {method}.npz", **solves(viewer, "claw-arm", few, "numpy", method=method))
    texts = exports(viewer, out, arguments.file) | commands(out)
    (out / "texts.json").write_text(json.dumps(texts))


def goals_of(viewer: Any, skeleton: Any) -> list[Any]:  # noqa: ANN401 - two versions of one library
    """A position goal for every effector that is on."""
    return [
        viewer.Goal.position(one.name, (0.0, 0.0, 0.0)) for one in skeleton.effectors if str(one.goal.value) != "off"
    ]


def targets(viewer: Any, rig: str, count: int) -> np.ndarray[Any, Any]:  # noqa: ANN401
    """(count, G, 3): where the effectors are in the relaxed pose, each moved by up to a fifth of the figure's size."""
    skeleton = viewer.load(f"sample:{rig}").skeleton
    world = viewer.fk(skeleton, skeleton.relaxed_pose())
    places = [
        world.positions[one.joint] + rotated(world.rotations[one.joint], one.offset)
        for one in skeleton.effectors
        if str(one.goal.value) != "off"
    ]
    size = float(np.ptp(world.positions, axis=0).max())
    random = np.random.default_rng([SEED, len(rig)])
    return np.array(places) + random.uniform(-0.2, 0.2, (count, len(places), 3)) * size


def rotated(quaternion: Any, vector: Any) -> Any:  # noqa: ANN401
    """A vector turned by (x, y, z, w): v + 2 r x (r x v + w v)."""
    axis = np.asarray(quaternion[:3])
    return vector + 2.0 * np.cross(axis, np.cross(axis, vector) + quaternion[3] * np.asarray(vector))


def solves(viewer: Any, rig: str, problems: Any, backend: str, **options: Any) -> dict[str, Any]:  # noqa: ANN401
    """One-shot solves."""
    skeleton = viewer.load(f"sample:{rig}").skeleton
    solver = viewer.Solver(skeleton, goals_of(viewer, skeleton), backend=backend, **options)
    start = skeleton.relaxed_pose()
    found = [solver.solve(start, targets=one) for one in problems]
    return stacked(found) | {"diagnosis": np.array([str(one.diagnosis) for one in found])}


def drags(viewer: Any, rig: str, problems: Any, backend: str) -> dict[str, Any]:  # noqa: ANN401
    """The first effector goes round in an ellipse, the others are held; two iterations a frame."""
    skeleton = viewer.load(f"sample:{rig}").skeleton
    solver = viewer.Solver(skeleton, goals_of(viewer, skeleton), backend=backend)
    start = skeleton.relaxed_pose()
    found = []
    for number in range(DRAGS):
        drag = solver.drag(start)
        home = problems[:, :, :].mean(axis=0)
        for angle in np.linspace(0.0, 2.0 * np.pi, DRAG_FRAMES):
            wanted = home.copy()
            wanted[number % len(home)] += DRAG_M * np.array(
                [np.sin(angle), 0.5 * (1.0 - np.cos(angle)), 0.2 * np.sin(angle)]
            )
            found.append(drag.move(wanted, iterations=2))
    return stacked(found)


def stacked(found: list[Any]) -> dict[str, Any]:
    """Solutions as arrays."""
    return {
        "status": np.array([one.status.value for one in found]),
        "iterations": np.array([one.iterations for one in found]),
        "rotations": np.array([one.pose.rotations for one in found]),
        "translations": np.array([one.pose.translations for one in found]),
        "errors_m": np.array([one.errors_m for one in found]),
    }


def exports(viewer: Any, out: Path, files: list[Path]) -> dict[str, str]:  # noqa: ANN401
    """The digest of every file written, or the message of the refusal."""
    texts = {}
    for name in (*(f"sample:{sample}" for sample in SAMPLES), *map(str, files)):
        for suffix in SUFFIXES:
            target = out / f"export{suffix}"
            try:
                viewer.save(viewer.load(name), target)
                texts[f"export {name} {suffix}"] = hashlib.sha256(target.read_bytes()).hexdigest()
            except viewer.ViewerError as problem:
                texts[f"export {name} {suffix}"] = str(problem)
    return texts


def commands(out: Path) -> dict[str, str]:
    """What the command prints."""
    from viewer.cli.main import main as command

    goals = out / "goals.json"
    goals.write_text(
        '{"goals": [{"effector": "LeftHand", "position": [0.4, 1.3, 0.4]}, {"effector": "RightFoot", "pin": true}]}'
    )
    lines = [["info", f"sample:{name}", *form] for name in SAMPLES for form in ([], ["--json"])]
    lines += [
        ["fk", "sample:walk", "--frame", "7"],
        ["fk", "sample:biped", "--json"],
        ["check", "sample:walk", str(goals)],
    ]
    lines += [["solve", "sample:biped", "goals.json"], ["solve", "sample:biped", "goals.json", "--solver", "dls"]]
    texts = {}
    for line in lines:
        screen = io.StringIO()
        with contextlib.redirect_stdout(screen), contextlib.redirect_stderr(screen):
            code = command(line)
        texts["ikviewer " + " ".join(line).replace(str(out), "OUT")] = f"{code}\n" + TIMES.sub(
            "TIME", screen.getvalue()
        ).replace(str(out), "OUT")
    return texts


def report(old: Path, new: Path) -> int:
    """Print what is the same and what is not."""
    differing = 0
    for file in sorted(old.glob("*.npz")):
        if file.stem == "problems" or file.stem.startswith("export"):
            continue
        words = compared(np.load(file), np.load(new / file.name))
        differing += bool(words)
        print(f"{'differs' if words else 'same   '}  {file.stem}{': ' + words if words else ''}")
    before, after = (json.loads((folder / "texts.json").read_text()) for folder in (old, new))
    unlike = [name for name in before.keys() | after.keys() if before.get(name) != after.get(name)]
    for name in sorted(unlike):
        print(f"differs  {name}: {shortened(before.get(name))} | {shortened(after.get(name))}")
    print(f"{'differs' if unlike else 'same   '}  {len(before) - len(unlike)} of {len(before)} exports and texts")
    return 1 if differing or unlike else 0


def compared(old: Any, new: Any) -> str:  # noqa: ANN401
    """How the results of a part differ; "" where they do not."""
    words = []
    for key in old.files:
        first, second = old[key], new[key]
        if first.shape != second.shape:
            words.append(f"{key} {first.shape} | {second.shape}")
        elif first.dtype.kind in "fc":
            apart = float(np.nanmax(np.abs(first - second), initial=0.0))
            if not apart <= TOLERANCE or (np.isnan(first) != np.isnan(second)).any():
                words.append(f"{key} {apart:.2g} apart")
        elif (first != second).any():
            words.append(f"{key} in {int((first != second).sum())} of {first.size}")
    return ", ".join(words)


def shortened(text: str | None) -> str:
    """The beginning of a text, on one line."""
    return "nothing" if text is None else repr(text)[:80]


if __name__ == "__main__":
    sys.exit(main())
