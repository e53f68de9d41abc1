"""A camera as numbers that a person types."""

from __future__ import annotations

import math

from viewer.errors import InputError, quote

_STEEPEST = 90.0


def check_camera(numbers: tuple[float, ...]) -> tuple[float, ...]:
    """Degrees of yaw and pitch, and metres if there is a third number, as they are.

    Raises:
        InputError: not two or three finite numbers, a pitch beyond straight up or down, a distance that is not above 0.
    """
    good = len(numbers) in {2, 3} and all(math.isfinite(number) for number in numbers)
    if good and abs(numbers[1]) <= _STEEPEST and (len(numbers) == 2 or numbers[2] > 0.0):
        return numbers
    found = quote(",".join(f"{number:g}" for number in numbers))
    raise InputError(f"camera: expected yaw, a pitch of -90 to 90 and a distance above 0, found {found}")
