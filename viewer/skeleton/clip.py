"""A clip: a sequence of poses at a fixed frame time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from viewer.errors import InputError, quote
from viewer.skeleton.skeleton import Pose, Skeleton
from viewer.spatial.checks import (
    Floats,
    Ints,
    Reduced,
    as_floats,
    check_type,
    finite_floats,
    frozen,
    handed_over,
    nearly_unit,
    not_unit,
    put,
    reduced,
    seconds,
    text,
    whole,
    whole_numbers,
)
from viewer.spatial.quaternion import slerp

MOST_FRAMES = 100_000_000
"""Most frames of a resampled clip: eleven days at 100 frames per second."""


@dataclass(frozen=True, slots=True, eq=False)
class Clip:
    """F frames of J joints; frames count from 0.

    Attributes:
        name: given by the file or the user.
        frame_time: seconds between frames, exactly as read.
        rotations: (F, J, 4) local unit quaternions (x, y, z, w), the rest rotation included.
        translated: (T,) indices of the joints that the clip translates, ascending.
        translations: (F, T, 3) local translations of these joints, metres in the parent's frame.
        offsets: (J, 3) local translations of all other joints, metres: the skeleton's offsets.
        keys: frames with keys set by a user, ascending; empty for recorded motion.
    """

    name: str
    frame_time: float
    rotations: Floats
    translated: Ints
    translations: Floats
    offsets: Floats
    keys: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Take read-only arrays, rotations normalised where they are nearly unit, keys in order."""
        name = text(self.name, "clip name")
        what = f"clip {quote(name)}"
        frame_time = seconds(self.frame_time, f"{what}: frame time")
        offsets = finite_floats(self.offsets, (-1, 3), f"{what}: offsets", lambda at: f" of joint {at[0]}")
        joints = len(offsets)
        rotations = as_floats(self.rotations, (-1, joints, 4), f"{what}: rotations")
        frames = len(rotations)
        if not frames or not joints:
            raise InputError(f"{what}: expected at least one frame of one joint, found {frames} of {joints}")
        translated = whole_numbers(self.translated, (-1,), f"{what}: translated")
        if translated.size and not (
            translated.min() >= 0 and translated.max() < joints and (np.diff(translated) > 0).all()
        ):
            raise InputError(f"{what}: translated: expected joints from 0 to {joints - 1}, ascending")
        translations = as_floats(self.translations, (frames, len(translated), 3), f"{what}: translations")
        if not np.isfinite(translations).all():
            finite_floats(
                translations, translations.shape, f"{what}: translations",
                lambda at: f" of joint {translated[at[1]]} in frame {at[0]}",
            )  # fmt: skip
        rotations = nearly_unit(
            rotations,
            lambda row, *bad: not_unit(f"{what}: rotations of joint {row % joints} in frame {row // joints}", *bad),
        )
        put(
            self,
            name=name,
            frame_time=frame_time,
            rotations=frozen(rotations),
            translated=frozen(translated, np.intp),
            translations=frozen(translations),
            offsets=frozen(offsets),
            keys=_keys(self.keys, frames, what),
        )

    @classmethod
    def from_arrays(
        cls,
        skeleton: Skeleton,
        rotations: ArrayLike,
        translations: ArrayLike | None = None,
        *,
        fps: float = 30.0,
        name: str = "clip",
    ) -> Clip:
        """A clip of a skeleton's motion, from local rotations.

        Args:
            skeleton: whose joints move.
            rotations: (F, J, 4) local unit quaternions (x, y, z, w), the rest rotation included.
            translations: (F, J, 3) local translations in metres, or (F, 3) those of the first joint; None: offsets.
            fps: frames per second.
            name: of the clip.

        Raises:
            InputError: as `Clip`; arrays of other joints or frame counts.
        """
        check_type(skeleton, Skeleton, f"clip {quote(name)}: expected a skeleton")
        what = f"clip {quote(text(name, 'clip name'))}"
        rate = seconds(fps, f"{what}: fps", unit="frames per second")
        turns = as_floats(rotations, (-1, len(skeleton), 4), f"{what}: rotations")
        moved = np.empty((len(turns), 0, 3))
        translated: Ints = np.zeros(0, dtype=np.intp)
        if translations is not None:
            shape = (len(turns), 3) if np.ndim(translations) == 2 else (len(turns), len(skeleton), 3)
            given = as_floats(translations, shape, f"{what}: translations")
            joints = given[:, None] if given.ndim == 2 else given
            offsets = skeleton.offsets[: joints.shape[1]]
            translated = np.flatnonzero((joints != offsets).any(axis=(0, 2)))
            moved = joints[:, translated]
        return cls(name, 1.0 / rate, turns, translated, moved, skeleton.offsets)

    def __repr__(self) -> str:
        return f"<Clip {quote(self.name)}: {len(self)} frames of {len(self.offsets)} joints, {self.duration:.2f} s>"

    def __reduce__(self) -> Reduced:
        return reduced(self)

    def __len__(self) -> int:
        return len(self.rotations)

    def __iter__(self) -> Iterator[Pose]:
        return (self.pose(frame) for frame in range(len(self)))

    @overload
    def __getitem__(self, frames: int) -> Pose: ...

    @overload
    def __getitem__(self, frames: slice) -> Clip: ...

    def __getitem__(self, frames: int | slice) -> Pose | Clip:
        """``clip[12]`` is a pose, ``clip[10:20]`` a clip of frames 10 to 19; negative numbers count from the end.

        A step of 2 takes every second frame and keeps the speed, a step of -1 plays backwards.

        Raises:
            InputError: a frame outside the clip, no frames at all.
        """
        if not isinstance(frames, slice):
            frame = whole(frames, "clip frame", least=-len(self))
            return self.pose(frame + len(self) if frame < 0 else frame)
        try:
            taken = range(*frames.indices(len(self)))
        except (TypeError, ValueError) as error:
            raise InputError(f"clip frames: expected whole numbers and a step other than 0: {error}") from None
        if not taken:
            ends = ":".join("" if end is None else str(end) for end in (frames.start, frames.stop))
            raise InputError(f"clip frames [{ends}]: expected at least one of 0 to {len(self) - 1}, found none")
        return replace(
            self,
            frame_time=self.frame_time * abs(taken.step),
            rotations=self.rotations[frames],
            translations=self.translations[frames],
            keys=tuple(sorted(taken.index(key) for key in self.keys if key in taken)),
        )

    @property
    def fps(self) -> float:
        """Frames per second."""
        return 1.0 / self.frame_time

    @property
    def duration(self) -> float:
        """Seconds from the first frame to the end of the last one's display time: F * frame_time."""
        return len(self) * self.frame_time

    def pose(self, frame: int) -> Pose:
        """The pose of one frame.

        Raises:
            InputError: ``frame`` is not in 0 .. F - 1.
        """
        self.check_frame(frame)
        translations = self.offsets.copy()
        translations[self.translated] = self.translations[frame]
        return Pose.trusted(self.rotations[frame], handed_over(translations))

    def check_frame(self, frame: int) -> None:
        """Raise InputError unless ``frame`` is one of this clip's."""
        if not 0 <= frame < len(self):
            raise InputError(f"no frame {frame}: the clip has 0 to {len(self) - 1}")

    def local_translations(self, frames: slice | Ints = slice(None)) -> Floats:
        """(F, J, 3) local translations of all joints in some frames."""
        moved = self.translations[frames]
        whole = np.repeat(self.offsets[None], len(moved), axis=0)
        whole[:, self.translated] = moved
        return whole

    def on(self, offsets: Floats) -> Clip:
        """The clip for a skeleton with other offsets (J, 3): it also translates the joints whose offsets differ."""
        if self.offsets is offsets or np.array_equal(self.offsets, offsets):
            return self
        moved = np.union1d(self.translated, np.flatnonzero((self.offsets != offsets).any(axis=-1)))
        translations = self.local_translations()[:, moved]
        return replace(self, translated=moved, translations=translations, offsets=offsets)

    def with_motion(self, rotations: ArrayLike, translations: ArrayLike | None = None) -> Clip:
        """The clip with other frames of the same joints; its name, rate and offsets stay.

        Args:
            rotations: (N, J, 4) local unit quaternions (x, y, z, w).
            translations: (N, J, 3) local translations of all joints, metres: those that leave their offset in some
                frame are the translated ones. None: this clip's own; N is then its number of frames.

        Returns:
            N frames; the keys stay where N is this clip's number of frames, else there are none.

        Raises:
            InputError: as `Clip`; arrays of other joints or frame counts.
        """
        what, joints = f"clip {quote(self.name)}", len(self.offsets)
        turns = as_floats(rotations, (-1, joints, 4), f"{what}: rotations")
        keys = self.keys if len(turns) == len(self) else ()
        if translations is None:
            return replace(self, rotations=turns, keys=keys)
        given = as_floats(translations, (len(turns), joints, 3), f"{what}: translations")
        moved = np.flatnonzero((given != self.offsets).any(axis=(0, 2)))
        return replace(self, rotations=turns, translated=moved, translations=given[:, moved], keys=keys)

    def sample(self, times: ArrayLike) -> Clip:
        """The clip at other times, rotations by slerp the short way, translations linearly.

        Args:
            times: (N,) seconds from the first frame; clamped to the clip. N >= 1.

        Returns:
            N frames; their frame time is the step of ``times`` (this clip's own where N = 1).
        """
        seconds = np.atleast_1d(np.asarray(times, dtype=np.float64))
        if not np.isfinite(seconds).all():
            raise InputError(f"a clip is sampled at finite times, found {seconds[~np.isfinite(seconds)][0]}")
        place = np.clip(seconds / self.frame_time, 0.0, len(self) - 1)
        # A time equal to a frame's time, up to rounding, gives that frame exactly.
        nearest = np.rint(place)
        place = np.where(np.abs(place - nearest) < 1e-9 * np.maximum(nearest, 1.0), nearest, place)
        before = place.astype(np.intp)
        after = np.minimum(before + 1, len(self) - 1)
        part = place - before
        exact, moved = self.rotations[before], self.translations[before]
        rotations = slerp(exact, self.rotations[after], part[:, None])
        step = float(seconds[1] - seconds[0]) if len(seconds) > 1 else self.frame_time
        return replace(
            self,
            frame_time=step,
            rotations=np.where(part[:, None, None] == 0.0, exact, rotations),
            translations=moved + part[:, None, None] * (self.translations[after] - moved),
            keys=(),
        )

    def resampled(self, fps: float) -> Clip:
        """The clip at another rate, of the same duration (to the nearest frame)."""
        if not (fps > 0 and np.isfinite(fps)):
            raise InputError(f"frames per second: expected more than 0, found {fps}")
        frames = self.duration * fps
        if not frames <= MOST_FRAMES:
            many = f"{frames:.3g}" if frames < np.inf else "more than 1e308"
            raise InputError(f"{fps:g} frames per second make {many} frames: expected at most {MOST_FRAMES:,}")
        count = max(1, round(frames))
        return replace(self.sample(np.arange(count) / fps), frame_time=1.0 / fps)

    def frames(self, first: int, last: int, step: int = 1) -> Clip:
        """The frames first, first + step, ... up to and including last.

        Raises:
            InputError: frames outside the clip, first > last, step < 1.
        """
        self.check_frame(first)
        self.check_frame(last)
        if first > last or step < 1:
            raise InputError(f"frames {first}:{last}:{step}: expected first <= last and a step of 1 or more")
        return self[first : last + 1 : step]


def clip_like(clip: Clip, skeleton: Skeleton, rotations: Floats, translations: Floats) -> Clip:
    """A motion of a skeleton with the name and, to the bit, the rate of a clip of another one, without its keys.

    Rotations (F, J, 4) are local unit quaternions, translations (F, J, 3) local, metres.
    """
    made = Clip.from_arrays(skeleton, rotations, translations, fps=clip.fps, name=clip.name)
    return made if made.frame_time == clip.frame_time else replace(made, frame_time=clip.frame_time)


def trusted_like(clip: Clip, skeleton: Skeleton, rotations: Floats, translations: Floats) -> Clip:
    """As `clip_like`, without checks and mostly without copies: for what is computed on the way to a clip.

    Arrays become read-only.
    """
    moved = np.flatnonzero((translations != skeleton.offsets).any(axis=(0, 2)))
    made = object.__new__(Clip)
    put(
        made, name=clip.name, frame_time=clip.frame_time, offsets=skeleton.offsets, keys=(),
        rotations=handed_over(rotations), translated=handed_over(moved),
        translations=handed_over(translations[:, moved]),
    )  # fmt: skip
    return made


def _keys(given: Iterable[int], frames: int, what: str) -> tuple[int, ...]:
    if not hasattr(given, "__iter__"):
        raise InputError(f"{what}: keys: expected a list of frames, found {quote(given)}")
    keys = tuple(sorted({whole(key, f"{what}: keys") for key in given}))
    if keys and keys[-1] >= frames:
        raise InputError(f"{what}: keys: expected frames from 0 to {frames - 1}, found {keys[-1]}")
    return keys
