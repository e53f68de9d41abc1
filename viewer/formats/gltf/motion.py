"""Clips as glTF animations: a sampler for each joint that moves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from pygltflib import ANIM_LINEAR, Animation, AnimationChannel, AnimationChannelTarget, AnimationSampler

from viewer.spatial.quaternion import hemisphere_continuous

if TYPE_CHECKING:
    from viewer.formats.gltf.buffer import BufferWriter
    from viewer.skeleton.clip import Clip
    from viewer.skeleton.skeleton import Skeleton
    from viewer.spatial.checks import Floats


def animation(skeleton: Skeleton, clip: Clip, buffer: BufferWriter) -> Animation | None:
    """The animation of a clip, joint j being node j; None if nothing in it differs from the rest pose."""
    result = Animation(name=clip.name)
    times: int | None = None
    tracks = [("rotation", joint, hemisphere_continuous(clip.rotations[:, joint])) for joint in range(len(skeleton))]
    tracks += [("translation", joint, clip.translations[:, i]) for i, joint in enumerate(clip.translated.tolist())]
    rest = {"rotation": skeleton.rest_rotations, "translation": skeleton.offsets}
    for path, joint, values in tracks:
        if _stands(values, rest[path][joint]):
            continue
        if times is None:
            times = buffer.add((np.arange(len(clip)) * clip.frame_time).astype("<f4"), bounds=True)
        output = buffer.add(values.astype("<f4"))
        result.channels.append(
            AnimationChannel(sampler=len(result.samplers), target=AnimationChannelTarget(node=int(joint), path=path))
        )
        result.samplers.append(AnimationSampler(input=times, output=output, interpolation=ANIM_LINEAR))
    return result if result.channels else None


def _stands(values: Floats, rest: Floats) -> bool:
    """Whether all frames are the rest value, as exactly as the file could tell them apart."""
    stored, still = values.astype(np.float32), rest.astype(np.float32)
    return bool((stored == still).all() or (len(rest) == 4 and (stored == -still).all()))
