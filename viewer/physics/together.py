"""Several figures in one simulation: their joints become those of one skeleton with several roots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from viewer.skeleton import Clip, FreeNames, Pose, Skeleton
from viewer.skeleton.clip import clip_like
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import conjugate, multiply, rotate


class Standing(NamedTuple):
    """A figure and where it stands.

    Attributes:
        skeleton: the figure's.
        offset: (3,) metres from the simulation's origin to the figure's.
        rotation: (4,) simulation_from_figure.
    """

    skeleton: Skeleton
    offset: Floats
    rotation: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Together:
    """Figures as one.

    Attributes:
        skeleton: the joints of all, those of the first figure first, under their own names.
        figures: each with its place.
        first: (N,) index of the first joint of each.
    """

    skeleton: Skeleton
    figures: tuple[Standing, ...]
    first: tuple[int, ...]

    @classmethod
    def of(cls, figures: Sequence[Standing]) -> Together:
        """Put figures together."""
        free = FreeNames()
        names: list[str] = []
        stated = any(figure.skeleton.inertias for figure in figures)
        firsts, kinds, limits = [], [], []
        parents, places, rests = [], [], []
        stiffness = []
        for figure in figures:
            skeleton, first = figure.skeleton, len(names)
            firsts.append(first)
            names += [free.take(name) for name in skeleton.names]
            roots = skeleton.parents < 0
            offsets, turns = skeleton.offsets.copy(), skeleton.rest_rotations.copy()
            offsets[roots] = rotate(figure.rotation, offsets[roots]) + figure.offset
            turns[roots] = multiply(figure.rotation, turns[roots])
            parents.append(np.where(roots, -1, skeleton.parents + first))
            places.append(offsets)
            rests.append(turns)
            kinds += list(skeleton.kinds)
            limits += list(skeleton.limits)
            stiffness.append(skeleton.stiffness)
        made = Skeleton(
            name=figures[0].skeleton.name,
            names=tuple(names),
            parents=np.concatenate(parents),
            offsets=np.concatenate(places),
            rest_rotations=np.concatenate(rests),
            axes=np.concatenate([figure.skeleton.axes for figure in figures]),
            kinds=tuple(kinds),
            limits=tuple(limits),
            stiffness=np.concatenate(stiffness),
            inertias=tuple(
                one
                for figure in (figures if stated else ())
                for one in figure.skeleton.inertias or (None,) * len(figure.skeleton)
            ),
            motors=tuple(one for figure in figures for one in figure.skeleton.motors or (None,) * len(figure.skeleton)),
            tip_parents=np.concatenate([f.skeleton.tip_parents + at for f, at in zip(figures, firsts, strict=True)]),
            tip_offsets=np.concatenate([f.skeleton.tip_offsets for f in figures]),
            mimics=tuple(
                replace(
                    one,
                    joint=names[at + f.skeleton.index(one.joint)],
                    leader=names[at + f.skeleton.index(one.leader)],
                )
                for f, at in zip(figures, firsts, strict=True)
                for one in f.skeleton.mimics
            ),
        )
        return cls(made, tuple(figures), tuple(firsts))

    def pose(self, poses: Sequence[Pose]) -> Pose:
        """The pose of all, of one pose for each figure."""
        rotations, translations = [], []
        for figure, pose in zip(self.figures, poses, strict=True):
            roots = figure.skeleton.parents < 0
            turns, places = pose.rotations.copy(), pose.translations.copy()
            turns[roots] = multiply(figure.rotation, turns[roots])
            places[roots] = rotate(figure.rotation, places[roots]) + figure.offset
            rotations.append(turns)
            translations.append(places)
        return Pose(np.concatenate(rotations), np.concatenate(translations))

    def split(self, pose: Pose) -> list[Pose]:
        """The pose of each figure, in its own coordinates."""
        return [Pose(*self._own(number, pose.rotations, pose.translations)) for number in range(len(self.figures))]

    def clip(self, clip: Clip, number: int) -> Clip:
        """The motion of one figure, in its own coordinates."""
        rotations, translations = self._own(number, clip.rotations, clip.local_translations())
        return clip_like(clip, self.figures[number].skeleton, rotations, translations)

    def _own(self, number: int, rotations: Floats, translations: Floats) -> tuple[Floats, Floats]:
        figure, first = self.figures[number], self.first[number]
        some = slice(first, first + len(figure.skeleton))
        turns, places = rotations[..., some, :].copy(), translations[..., some, :].copy()
        roots, back = figure.skeleton.parents < 0, conjugate(figure.rotation)
        turns[..., roots, :] = multiply(back, turns[..., roots, :])
        places[..., roots, :] = rotate(back, places[..., roots, :] - figure.offset)
        return turns, places
