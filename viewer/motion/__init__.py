"""Changes of clips, as pure functions: retargeting, planted feet, goals over time, fitting, learned limits."""

from __future__ import annotations

from viewer.first_use import on_first_use

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
    "viewer.motion.retarget_motion": ("Retargeted", "find_map", "retarget"),
    "viewer.motion.retarget_report": ("FEET", "HANDS", "Choices", "RetargetReport"),
    "viewer.motion.skate_meter": ("FootSkate", "Skate", "skate"),
}
"""The names that other rooms use, by the module that each comes from: reading a file of contacts needs no solver."""

__all__ = [*sorted(name for names in _NAMES.values() for name in names)]  # noqa: PLE0604 - all of them are words
__getattr__, __dir__ = on_first_use(__name__, _NAMES)
