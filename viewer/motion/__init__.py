"""Changes of clips, as pure functions: retargeting, planted feet, goals over time, fitting, learned limits."""

from __future__ import annotations

from importlib import import_module

_NAMES = {
    "viewer.motion.contacts": ("Contact", "Contacts", "FootContacts", "foot_contacts", "foot_places"),
    "viewer.motion.fit_positions": ("fit", "fit_points", "retargeted"),
    "viewer.motion.layer": ("Layer", "Miss", "TargetKey", "frames_of", "layer_miss", "overlapping"),
    "viewer.motion.layer_solve": ("BLOCK", "WHOLE", "LayerGroup", "apply_layers", "solve_layers", "with_windows"),
    "viewer.motion.plant": ("PlantReport", "Planted", "plant_feet"),
    "viewer.motion.point_sets": (
        "BODY_JOINTS",
        "HEIGHT",
        "PointSet",
        "PresetName",
        "counts_of_sets",
        "point_set",
        "set_of_count",
        "set_of_names",
        "smpl_motion",
        "tree_set",
    ),
    "viewer.motion.range_of_motion": ("Learned", "learn_limits", "learned", "named_still", "on_rig"),
    "viewer.motion.retarget_motion": (
        "FEET",
        "HANDS",
        "Choices",
        "RetargetReport",
        "Retargeted",
        "find_map",
        "retarget",
    ),
    "viewer.motion.skate_meter": ("FootSkate", "Skate", "skate"),
}
"""The names that other rooms use, by the module that each comes from.

They are imported on first use: reading a file of contacts needs no solver. ``__init__.pyi`` says the same to type
checkers; a test compares the two. No module of the room may have such a name, which it would replace.
"""
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names}

__all__ = [*sorted(_MODULE_OF)]  # noqa: PLE0604 - all of them are words


def __getattr__(name: str) -> object:
    """The names of the room, on first use."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(_MODULE_OF[name]), name)
    globals()[name] = found  # the next time it is as quick as any other
    return found
