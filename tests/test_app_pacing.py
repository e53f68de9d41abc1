"""When frames are drawn, and what is left out on slow machines. No window: only times."""

from __future__ import annotations

from itertools import pairwise

from inside.app import FRAME, PANEL_INTERVAL as PANELS, STILL_AFTER, Level, Pace, Quality


def run(pace: Pace, start: float, end: float, *, moving: bool = False) -> list[tuple[float, bool, bool]]:
    """Frames that a loop draws between two times: (when, with all panels, in high quality)."""
    now, drawn = start, []
    while now < end:
        if moving:
            pace.changed(now)
        now = max(pace.next_wakeup(now), now + 1e-4)
        if now >= end:
            break
        if pace.due(now):
            still = pace.still_due(now)
            full = still or not moving or pace.full_due(now)
            pace.drawn(now, full=full, still=still)
            drawn.append((now, full, still))
    return drawn


def rested() -> Pace:
    pace = Pace()
    run(pace, 0.0, 5.0)
    return pace


def test_a_still_window_draws_nothing() -> None:
    assert run(rested(), 5.0, 60.0) == []


def test_after_a_change_one_frame_of_high_quality_follows_then_nothing() -> None:
    pace = rested()
    pace.changed(5.0)
    frames = run(pace, 5.0, 10.0)
    assert [still for _, _, still in frames] == [False, True]
    assert frames[1][0] >= 5.0 + STILL_AFTER


def test_in_motion_there_are_60_frames_a_second_and_15_of_them_have_panels() -> None:
    pace = rested()
    pace.changed(5.0)
    frames = run(pace, 5.0, 6.0, moving=True)
    assert 57 <= len(frames) <= 61
    assert 13 <= sum(full for _, full, _ in frames) <= 16
    assert not any(still for _, _, still in frames)
    assert all(b[0] - a[0] >= FRAME - 1e-9 for a, b in pairwise(frames))
    assert 55 < pace.fps < 62


def test_panels_left_out_in_a_motion_follow_when_it_ends() -> None:
    pace = rested()
    pace.changed(5.0)
    pace.drawn(5.0, full=False, still=False)
    frames = run(pace, 5.0, 6.0)
    assert frames[0][1]
    assert frames[-1][2]


def test_a_wish_to_be_woken_is_one_frame_then() -> None:
    pace = rested()
    pace.wake(7.0)
    pace.wake(9.0)
    frames = run(pace, 5.0, 8.0)
    assert frames[0][0] >= 7.0
    assert frames[0][0] < 7.0 + PANELS


def test_a_busy_session_is_asked_at_every_frame_and_no_still_picture_is_drawn() -> None:
    pace = rested()
    pace.busy(busy=True)
    assert pace.next_wakeup(6.0) <= 6.0
    assert not pace.still_due(60.0)


def after(quality: Quality, seconds: float, count: int) -> Level:
    """What is drawn after so many frames."""
    for _ in range(count):
        quality.took(seconds)
    return quality.level


def test_one_slow_frame_leaves_nothing_out() -> None:
    quality = Quality()
    assert after(quality, 0.012, 20) is Level.FULL
    assert after(quality, 0.090, 1) is Level.FULL
    assert quality.note == ""


def test_slow_frames_leave_out_ghosts_then_shadow_then_half_the_pixels() -> None:
    quality = Quality()
    seen: list[Level] = []
    for _ in range(60):
        quality.took(0.060)
        if not seen or seen[-1] is not quality.level:
            seen.append(quality.level)
    assert seen == [Level.FULL, Level.NO_GHOSTS, Level.NO_SHADOW, Level.HALF]
    assert quality.note == "half resolution"


def test_without_ghosts_there_are_none_to_leave_out() -> None:
    quality = Quality()
    for _ in range(6):
        quality.took(0.060, ghosts=False)
    assert quality.level is Level.NO_SHADOW


def test_contact_shading_goes_first_and_sooner_than_the_rest() -> None:
    quality = Quality()
    for _ in range(200):
        quality.took(0.025, shading=True)
    assert quality.level is Level.NO_SHADING
    assert quality.note == "no contact shading"
    slower = Quality(Level.NO_SHADING)
    for _ in range(6):
        slower.took(0.060, shading=True)
    assert slower.level is Level.NO_GHOSTS
    plain = Quality()
    for _ in range(200):
        plain.took(0.025)
    assert plain.level is Level.FULL


def test_what_was_left_out_comes_back_after_a_while_of_fast_frames() -> None:
    quality = Quality(Level.HALF)
    assert after(quality, 0.005, 60) is Level.HALF
    assert after(quality, 0.005, 600) is Level.FULL


def test_frames_between_fast_and_slow_change_nothing() -> None:
    quality = Quality(Level.NO_SHADOW)
    assert after(quality, 0.025, 1000) is Level.NO_SHADOW
