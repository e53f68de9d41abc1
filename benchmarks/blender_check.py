"""Does Blender see the BVH files that we write where we see them?

Writes a figure with every order of rotations, the bundled walk and any files named, lets Blender import them and
compares all joints and tips of every frame: to 1e-4 of the figure's size, because Blender computes in single
precision. Needs ``blender`` on the PATH.

    python benchmarks/blender_check.py [FILE...]
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from viewer.formats.load import load
from viewer.formats.save import save
from viewer.skeleton.character import BvhLayout, Character
from viewer.skeleton.clip import Clip
from viewer.skeleton.extent import tip_positions
from viewer.skeleton.kinds import JointKind
from viewer.skeleton.kinematics import fk_clip
from viewer.skeleton.skeleton import Skeleton
from viewer.spatial.quaternion import from_axis_angle

if TYPE_CHECKING:
    from viewer.spatial.checks import Floats

TOLERANCE = 1e-4
MOST_FRAMES = 200
BLENDER_SCRIPT = """
import builtins, json, sys
import bpy

real_open = builtins.open
# Some versions open BVH files with a mode that newer Pythons no longer know.
builtins.open = lambda file, mode="r", *rest, **more: real_open(file, mode.replace("U", ""), *rest, **more)
source, target = sys.argv[sys.argv.index("--") + 1:]
# Blender's own axes: nothing is turned.
bpy.ops.import_anim.bvh(filepath=source, rotate_mode="NATIVE", axis_forward="Y", axis_up="Z")
armature = bpy.context.object
scene = bpy.context.scene
frames = []
first, last = (int(frame) for frame in armature.animation_data.action.frame_range)
for frame in range(first, last + 1):
    scene.frame_set(frame)
    bones = armature.pose.bones
    frames.append({bone.name: [list(bone.head), list(bone.tail)] for bone in bones})
json.dump(frames, real_open(target, "w"))
"""


def figure() -> Character:
    """A root and six balls, one for each order of rotations, that turn smoothly."""
    orders = [tuple(f"{axis}rotation" for axis in order) for order in permutations("XYZ")]
    random = np.random.default_rng(4)
    count, frames = 7, 60
    skeleton = Skeleton(
        name="orders",
        names=("root", *("".join(name[0] for name in order) for order in orders)),
        parents=np.array([-1, 0, 1, 2, 0, 4, 5]),
        offsets=random.normal(size=(count, 3)),
        rest_rotations=np.tile([0.0, 0, 0, 1], (count, 1)),
        kinds=(JointKind.FREE, *[JointKind.BALL] * (count - 1)),
        axes=np.zeros((count, 2, 3)),
        limits=(None,) * count,
        stiffness=np.zeros(count),
        tip_parents=np.array([3, 6]),
        tip_offsets=random.normal(size=(2, 3)),
    )
    axes = random.normal(size=(count, 3))
    axes /= np.linalg.norm(axes, axis=-1, keepdims=True)
    turns = from_axis_angle(
        np.broadcast_to(axes, (frames, count, 3)), np.linspace(0, 5, frames)[:, None] + np.zeros(count)
    )
    clip = Clip(
        "turns", 1 / 24, turns, np.array([0]), np.linspace(0, 3, frames * 3).reshape(frames, 1, 3), skeleton.offsets
    )
    positions = ("Xposition", "Yposition", "Zposition")
    layout = BvhLayout(skeleton.names, (positions + orders[0], *orders))
    plain = Character(skeleton, MappingProxyType({"turns": clip}))
    return replace(plain, source=replace(plain.source, layout=layout))


def seen_by_blender(path: Path) -> list[dict[str, Any]]:
    """Per frame the heads and tails of the bones, in the file's units and axes."""
    script, result = path.with_suffix(".py"), path.with_suffix(".out.json")
    script.write_text(BLENDER_SCRIPT)
    command = [
        "blender",
        "-b",
        "--factory-startup",
        "--python-exit-code",
        "1",
        "--python",
        str(script),
        "--",
        str(path),
        str(result),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0 or not result.exists():
        sys.exit(f"blender failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    frames: list[dict[str, Any]] = json.loads(result.read_text())
    return frames


def seen_by_us(path: Path) -> tuple[Character, Floats, Floats]:
    """The written file and its joints (F, J, 3) and tips (F, T, 3), in its own units and axes."""
    character = load(path, units="raw")
    if character.clip is None:
        sys.exit(f"{path}: has no motion to compare")
    world = fk_clip(character.skeleton, character.clip)
    return character, world.positions, tip_positions(character.skeleton, world)


def difference(character: Character, folder: Path) -> tuple[float, int]:
    """The largest distance between Blender's places and ours as a part of the figure's size, and how many."""
    path = folder / "written.bvh"
    save(character, path)
    written, joints, tips = seen_by_us(path)
    frames = seen_by_blender(path)
    if len(frames) != len(joints):
        sys.exit(f"blender found {len(frames)} frames of {len(joints)}")
    size = float(np.ptp(joints[0], axis=0).max())
    skeleton = written.skeleton
    apart: list[float] = []
    for frame, bones in enumerate(frames):
        for joint, name in enumerate(skeleton.names):
            head, _ = bones[name]
            apart.append(float(np.linalg.norm(joints[frame, joint] - head)))
        for tip, joint in enumerate(skeleton.tip_parents.tolist()):
            # Blender lengthens bones of no length, and those with children end at a child.
            if joint not in skeleton.parents and skeleton.tip_offsets[tip].any():
                _, tail = bones[skeleton.names[joint]]
                apart.append(float(np.linalg.norm(tips[frame, tip] - tail)))
    return max(apart) / size, len(apart)


def shortened(character: Character) -> Character:
    """The first frames: Blender needs milliseconds for each."""
    clip = character.clip
    if clip is None or len(clip) <= MOST_FRAMES:
        return character
    return replace(character, clips=MappingProxyType({clip.name: clip.frames(0, MOST_FRAMES - 1)}))


def main(files: list[str]) -> int:
    if shutil.which("blender") is None:
        print("blender is not on the PATH: install it and run again")
        return 3
    characters = {"every order of rotations": figure(), "sample:walk": load("sample:walk")}
    characters |= {file: load(file) for file in files}
    worst = 0.0
    for name, character in characters.items():
        with tempfile.TemporaryDirectory() as folder:
            part, places = difference(shortened(character), Path(folder))
        worst = max(worst, part)
        print(f"{name:40} {places:8} places, at most {part:.1e} of the size apart")
    print(f"{'worst':40} {worst:.1e} (target: at most {TOLERANCE:.0e})")
    return 0 if worst <= TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
