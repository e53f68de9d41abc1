"""Writing USD: joints as a UsdSkel skeleton, bones as a mesh skinned to it, the first clip as its animation.

The USD library is large, so it is the optional extra ``usd``; importing this module needs it.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from pxr import Gf, Tf, Usd, UsdGeom, UsdSkel, Vt

from viewer.formats.file_formats import WriteOptions
from viewer.formats.files import write_whole
from viewer.formats.save import check_range, left_out, nodes_only
from viewer.skeleton import Character, Clip, FreeNames, Skeleton, World, rest_world
from viewer.skeleton.bodies import bone_mesh
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import hemisphere_continuous, to_matrix


def write_usd(character: Character, path: Path, options: WriteOptions) -> list[str]:
    """Write a .usda (text) or .usdc (binary) file: metres, Y up, 32-bit floats."""
    skeleton = character.skeleton
    clip = character.clip
    check_range("USD", skeleton.offsets, skeleton.tip_offsets, *((clip.rotations, clip.translations) if clip else ()))
    stage = Usd.Stage.CreateInMemory()
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.y)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    root = UsdSkel.Root.Define(stage, "/Character")
    stage.SetDefaultPrim(root.GetPrim())
    prim = _add_skeleton(stage, skeleton)
    _add_mesh(stage, skeleton, prim)
    if clip is not None and len(clip):
        _add_animation(stage, skeleton, clip, prim)
    _write(stage, path)
    return [] if options.pose else left_out(character, "USD", nodes_only(skeleton))


def joint_paths(skeleton: Skeleton) -> list[str]:
    """UsdSkel's joint tokens: unique paths from the root whose parts are valid identifiers."""
    paths: list[str] = []
    free = FreeNames()
    for name, parent in zip(skeleton.names, skeleton.parents.tolist(), strict=True):
        word = Tf.MakeValidIdentifier(name)
        stem = f"{paths[parent]}/{word}" if parent >= 0 else word
        paths.append(free.take(stem))
    return paths


def _add_skeleton(stage: Any, skeleton: Skeleton) -> Any:  # noqa: ANN401
    prim = UsdSkel.Skeleton.Define(stage, "/Character/Skeleton")
    rest = rest_world(skeleton)
    prim.CreateJointsAttr(joint_paths(skeleton))
    prim.CreateJointNamesAttr(list(skeleton.names))
    prim.CreateBindTransformsAttr(_matrices(rest.rotations, rest.positions))
    prim.CreateRestTransformsAttr(_matrices(skeleton.rest_rotations, skeleton.offsets))
    UsdSkel.BindingAPI.Apply(prim.GetPrim())
    return prim


def _matrices(rotations: Floats, positions: Floats) -> Any:  # noqa: ANN401
    """USD multiplies row vectors from the left, so its matrices are transposed."""
    matrices = np.zeros((len(rotations), 4, 4))
    matrices[:, :3, :3] = to_matrix(rotations).swapaxes(1, 2)
    matrices[:, 3, :3] = positions
    matrices[:, 3, 3] = 1.0
    return Vt.Matrix4dArray([Gf.Matrix4d(matrix.tolist()) for matrix in matrices])


def _add_mesh(stage: Any, skeleton: Skeleton, prim: Any) -> None:  # noqa: ANN401
    rest: World = rest_world(skeleton)
    bones = bone_mesh(skeleton, rest)
    count = len(bones.corners)
    mesh = UsdGeom.Mesh.Define(stage, "/Character/Bones")
    mesh.CreatePointsAttr(Vt.Vec3fArray.FromNumpy(bones.corners.astype(np.float32)))
    mesh.CreateFaceVertexCountsAttr(Vt.IntArray.FromNumpy(np.full(count // 3, 3, dtype=np.int32)))
    mesh.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(np.arange(count, dtype=np.int32)))
    mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
    low, high = bones.corners.min(axis=0), bones.corners.max(axis=0)
    mesh.CreateExtentAttr(Vt.Vec3fArray.FromNumpy(np.array([low, high], dtype=np.float32)))
    mesh.CreateDisplayColorAttr([Gf.Vec3f(0.55, 0.6, 0.66)])
    binding = UsdSkel.BindingAPI.Apply(mesh.GetPrim())
    binding.CreateSkeletonRel().SetTargets([prim.GetPath()])
    indices = binding.CreateJointIndicesPrimvar(constant=False, elementSize=1)
    indices.Set(Vt.IntArray.FromNumpy(bones.joints.astype(np.int32)))
    weights = binding.CreateJointWeightsPrimvar(constant=False, elementSize=1)
    weights.Set(Vt.FloatArray.FromNumpy(np.ones(count, dtype=np.float32)))


def _add_animation(stage: Any, skeleton: Skeleton, clip: Clip, prim: Any) -> None:  # noqa: ANN401
    """One sample per frame; time codes are frame numbers."""
    animation = UsdSkel.Animation.Define(stage, "/Character/Motion")
    animation.CreateJointsAttr(prim.GetJointsAttr().Get())
    rotation_samples, translation_samples, scales = (
        animation.CreateRotationsAttr(),
        animation.CreateTranslationsAttr(),
        animation.CreateScalesAttr(),
    )
    scales.Set(Vt.Vec3hArray(len(skeleton), Gf.Vec3h(1.0, 1.0, 1.0)))
    rotations = hemisphere_continuous(clip.rotations)
    for frame in range(len(clip)):
        quaternions = [Gf.Quatf(w, x, y, z) for x, y, z, w in rotations[frame].tolist()]
        rotation_samples.Set(Vt.QuatfArray(quaternions), float(frame))
        moved = clip.local_translations(slice(frame, frame + 1))[0]
        translation_samples.Set(Vt.Vec3fArray.FromNumpy(moved.astype(np.float32)), float(frame))
    rate = 1.0 / clip.frame_time
    stage.SetTimeCodesPerSecond(rate)
    stage.SetFramesPerSecond(rate)
    stage.SetStartTimeCode(0.0)
    stage.SetEndTimeCode(float(len(clip) - 1))
    UsdSkel.BindingAPI(prim.GetPrim()).CreateAnimationSourceRel().SetTargets([animation.GetPath()])


def _write(stage: Any, path: Path) -> None:  # noqa: ANN401
    """USD opens its output file itself: it writes a temporary one, which is then written completely or not at all."""
    with tempfile.TemporaryDirectory(prefix="ikviewer-") as folder:
        temporary = Path(folder) / f"stage{path.suffix.casefold()}"
        stage.Export(str(temporary))
        write_whole(path, temporary.read_bytes())
