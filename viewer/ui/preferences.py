"""Preferences that change while working: kept from one start to the next."""

from __future__ import annotations

from viewer.session.preferences import Preferences, Preset


class Liked:
    """Preferences by the names that panels and gestures use."""

    preferences: Preferences

    @property
    def step_scale(self) -> float:
        """What snap steps are multiplied by: 1 for figures of a person's size."""
        raise NotImplementedError

    def changed(self) -> None:
        """Something visible has changed."""
        raise NotImplementedError

    @property
    def preset(self) -> Preset:
        """Which mouse buttons move the camera: "simple", "blender" or "maya"."""
        return self.preferences.preset

    @preset.setter
    def preset(self, preset: Preset) -> None:
        self.preferences.preset = preset
        self.changed()

    @property
    def snap_m(self) -> float:
        """Snap step of moving, metres; preferred for figures of a person's size, and in proportion for others."""
        return self.preferences.snap_m * self.step_scale

    @snap_m.setter
    def snap_m(self, metres: float) -> None:
        self.preferences.snap_m = metres / self.step_scale
        self.changed()

    @property
    def snap_deg(self) -> float:
        """Snap step of turning, degrees."""
        return self.preferences.snap_deg

    @snap_deg.setter
    def snap_deg(self, degrees: float) -> None:
        self.preferences.snap_deg = degrees
        self.changed()

    @property
    def magnet(self) -> bool:
        """Whether drags snap without Ctrl, and with it do not."""
        return self.preferences.magnet

    @magnet.setter
    def magnet(self, on: bool) -> None:
        self.preferences.magnet = on
        self.changed()
