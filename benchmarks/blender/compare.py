"""What Blender has found in a written file, held against what we say is in it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from viewer.formats.load import load
from viewer.skeleton import World, fk, fk_clip, tip_positions
from viewer.skeleton.bodies import bone_mesh
from viewer.spatial.quaternion import conjugate, rotate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from viewer.skeleton import Character, Skeleton
    from viewer.spatial.checks import Floats

MOST_FRAMES = 200
"""Blender needs milliseconds for each."""
SKINNED = (0, 7, 23)
"""Frames whose mesh is compared."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """How far Blender and we are apart.

    Attributes:
        places: joints and tips of all frames that were compared, and vertices.
        apart: the largest distance, as a part of the figure's size.
        faults: anything else that is not as it should be, in words.
    """

    places: int
    apart: float
    faults: tuple[str, ...]


def shortened(character: Character) -> Character:
    """The first frames of every clip."""
    clips = {name: clip.frames(0, min(len(clip), MOST_FRAMES) - 1) for name, clip in character.clips.items()}
    return replace(character, clips=MappingProxyType(clips))


def job(character: Character, file: Path) -> dict[str, Any]:
    """What Blender is to look at in the file that the character was written to."""
    times: Any = {}
    if file.suffix == ".bvh":
        times = {"": None}
    elif any(len(clip) > 1 for clip in character.clips.values()):
        times = {clip.name: (np.arange(len(clip)) * clip.frame_time).tolist() for clip in character.clips.values()}
    return {"file": str(file), "out": str(file) + ".npz", "clips": times, "skinned": SKINNED}


def verdict(character: Character, file: Path) -> Verdict:
    """Compare, once Blender has looked."""
    with np.load(str(file) + ".npz") as archive:
        seen = dict(archive)
    compared = bvh_errors(file, seen) if file.suffix == ".bvh" else gltf_errors(character, seen)
    errors = list(compared)
    faults = stray(seen, {"ARMATURE"} if file.suffix == ".bvh" else {"ARMATURE", "MESH"})
    faults += [error for error in errors if isinstance(error, str)]
    numbers = [error for error in errors if not isinstance(error, str)]
    apart = max((float(n.max(initial=0.0)) for n in numbers), default=0.0)
    return Verdict(sum(n.size for n in numbers), apart, tuple(faults))


def stray(seen: Mapping[str, Any], expected: set[str]) -> list[str]:
    """Objects that nobody needs, or that are missing."""
    kinds = [name.split(" ")[0] for name in seen["objects"].tolist()]
    faults = [f"{kinds.count(kind)} objects of kind {kind}" for kind in expected if kinds.count(kind) != 1]
    extra = [kind for kind in kinds if kind not in expected]
    return faults + ([f"{len(extra)} stray {extra[0]}"] if extra else [])


def hierarchy_faults(skeleton: Skeleton, seen: Mapping[str, Any]) -> list[str]:
    """Bones that hang on other ones than ours do."""
    above = dict(zip(seen["bones"].tolist(), seen["parents"].tolist(), strict=True))
    ours = [*skeleton.names, None]
    wrong = [
        name
        for name, parent in zip(skeleton.names, skeleton.parents.tolist(), strict=True)
        if above.get(bone_name(name), "?") != bone_name(ours[parent] or "")
    ]
    return [f"{len(wrong)} bones missing or elsewhere, such as {wrong[0]!r}"] if wrong else []


def bone_name(name: str) -> str:
    """How Blender calls a bone: at most 63 bytes."""
    return name.encode()[:63].decode(errors="ignore")


def bvh_errors(file: Path, seen: Mapping[str, Any]) -> Iterator[Floats | str]:
    """Distances of joints and tips from ours, in the file's own units and axes."""
    character = load(file, units="raw")
    skeleton, clip = character.skeleton, character.clip
    assert clip is not None
    # Blender joins the words of a name by underscores.
    names = tuple("_".join(name.split()) for name in skeleton.names)
    skeleton = replace(skeleton, names=names)
    yield from hierarchy_faults(skeleton, seen)
    if abs(float(seen["fps"]) * clip.frame_time - 1.0) > 1e-3:
        yield f"{seen['fps']:g} frames a second, not {1 / clip.frame_time:g}"
    world, bones = fk_clip(skeleton, clip), seen["bones0"]
    if len(bones) != len(clip):
        yield f"{len(bones)} frames of {len(clip)}"
        return
    index = {name: place for place, name in enumerate(seen["bones"].tolist())}
    size = extent(world.positions)
    heads = [index[bone_name(name)] for name in names]
    yield np.linalg.norm(bones[:, heads, 0] - world.positions, axis=-1) / size
    # Blender lengthens bones of no length, and those with children end at a child.
    ends = [t for t, j in enumerate(skeleton.tip_parents.tolist()) if j not in skeleton.parents and long(skeleton, t)]
    tails = [heads[skeleton.tip_parents[tip]] for tip in ends]
    yield np.linalg.norm(bones[:, tails, 1] - tip_positions(skeleton, world)[:, ends], axis=-1) / size


def long(skeleton: Skeleton, tip: int) -> bool:
    return bool(np.linalg.norm(skeleton.tip_offsets[tip]) > 1e-3)


def gltf_errors(character: Character, seen: Mapping[str, Any]) -> Iterator[Floats | str]:
    """Distances of joints, tips and vertices from ours, in metres; Blender turns Y up to Z up."""
    skeleton = character.skeleton
    yield from hierarchy_faults(skeleton, seen)
    moving = [clip for clip in character.clips.values() if len(clip) > 1]
    if set(seen["clips"].tolist()) != {clip.name for clip in moving}:
        yield f"clips {seen['clips'].tolist()}"
        return
    index = {name: place for place, name in enumerate(seen["bones"].tolist())}
    names = [bone_name(name) for name in (*skeleton.names, *skeleton.tip_names)]
    if missing := set(names) ^ set(index):
        yield f"{len(missing)} bones too many or too few, such as {min(missing)!r}"
        return
    bones = [index[name] for name in names]
    for number in range(max(len(moving), 1)):
        world = standing(character) if not moving else fk_clip(skeleton, moving[number])
        size = extent(world.positions)
        ours = np.concatenate([world.positions, tip_positions(skeleton, world)], axis=1)
        yield np.linalg.norm(seen[f"bones{number}"][:, bones, 0] - z_up(ours), axis=-1) / size
        yield from mesh_errors(skeleton, world, seen[f"vertices{number}"], size)
        if moving:
            seconds = float(np.ptp(seen[f"keys{number}"])) / float(seen["fps"])
            expected = (len(moving[number]) - 1) * moving[number].frame_time
            if abs(seconds - expected) > 1e-4 * expected:
                yield f"{moving[number].name} lasts {seconds:g} s, not {expected:g}"


def standing(character: Character) -> World:
    """A character without motion: one frame."""
    clip = character.clip
    world = fk(character.skeleton, clip.pose(0) if clip else character.skeleton.rest_pose())
    return World(world.positions[None], world.rotations[None])


def mesh_errors(skeleton: Skeleton, world: World, vertices: Floats, size: float) -> Iterator[Floats | str]:
    """Distances of the bone mesh's vertices."""
    rest = fk(skeleton, skeleton.rest_pose())
    mesh = bone_mesh(skeleton, rest)
    frames = [frame for frame in SKINNED if frame < len(world.positions)]
    if vertices.shape != (len(frames), len(mesh.corners), 3):
        yield f"a mesh of {vertices.shape[1:2]} vertices, not {len(mesh.corners)}"
        return
    local = rotate(conjugate(rest.rotations)[mesh.joints], mesh.corners - rest.positions[mesh.joints])
    moved = rotate(world.rotations[frames][:, mesh.joints], local) + world.positions[frames][:, mesh.joints]
    yield np.linalg.norm(vertices - z_up(moved), axis=-1) / size


def z_up(points: Floats) -> Floats:
    """Points (..., 3) in Blender's axes."""
    return np.stack([points[..., 0], -points[..., 2], points[..., 1]], axis=-1)


def extent(positions: Floats) -> float:
    """The figure's size; 1 of a single joint that stands still."""
    return float(np.ptp(positions.reshape(-1, 3), axis=0).max()) or 1.0
