from __future__ import annotations

from itertools import count

import pytest

from viewer.latest import Latest


def test_a_value_is_made_again_only_when_what_it_depends_on_is_another() -> None:
    latest, numbers = Latest[int](), count()
    one, other = [1], [1]
    asked = [
        ((one,), 3), ((one,), 3), ((one,), 3.0),  # the first makes it, the others find it
        ((other,), 3), ((other,), 4), ((other, one), 4), ((other,), 4), ((), 4),  # each makes it again
    ]  # fmt: skip
    assert [latest.of(numbers.__next__, *same, equal=equal) for same, equal in asked] == [0, 0, 0, 1, 2, 3, 4, 5]


def test_after_an_error_the_value_before_is_kept() -> None:
    latest = Latest[int]()
    assert latest.of(lambda: 7, equal="a") == 7
    with pytest.raises(ZeroDivisionError):
        latest.of(lambda: 1 // 0, equal="b")
    assert latest.of(lambda: 8, equal="a") == 7
