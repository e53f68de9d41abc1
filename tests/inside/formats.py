"""The inside of `viewer.formats` that tests use."""

from viewer.formats import arrays_and_tables, bounds, bvh, file_formats, files, json_structs, video
from viewer.formats.arrays_and_tables import euler_orders, read_npz, write_csv, write_fk_npz, write_npz
from viewer.formats.bounds import check_character, check_skeleton
from viewer.formats.bvh import build, bvh_lines, plain_decimal
from viewer.formats.bvh_text import parse_bvh
from viewer.formats.companion_json import layers_from_text, map_from_text, map_to_json
from viewer.formats.file_formats import (
    FORMATS,
    LIMIT_SOURCES,
    POINT_FILES,
    READ,
    READ_IN_FOLDERS,
    UNIT_LENGTHS,
    UNIT_NAMES,
    UP_NAMES,
    WRITTEN,
    FormatWord,
    WriteOptions,
    check_units,
)
from viewer.formats.files import (
    FOREIGN_AGE,
    ResourceError,
    data_dir,
    decode_utf8,
    line_and_column,
    read_bytes,
    read_file_or_pipe,
    read_text,
    sweep,
    temporary_name,
    write_whole,
)
from viewer.formats.gltf.container import Accessors, open_gltf
from viewer.formats.gltf.nodes import bake, find_tree, local_motion, tracks_of
from viewer.formats.goals_json import (
    GOAL_FORMS,
    GoalEntry,
    GoalsFile,
    goals_file_from_text,
    goals_to_json,
    read_goals_file,
)
from viewer.formats.json_reading import decode, kind_of, parse
from viewer.formats.json_structs import PoseFile, SkeletonFile, schema_text, skeleton_schema
from viewer.formats.lab_report import CURVES, ErrorScale, amount
from viewer.formats.limit_sources import derived_limits, human_limits, joint_sources, sources_of, with_limits
from viewer.formats.load import sample_names
from viewer.formats.meshes import Shape, merged, primitive, read_collada, rigid_skin
from viewer.formats.positions import read_trc_points
from viewer.formats.save import figure_mesh, left_out, nodes_only
from viewer.formats.skeleton_json import (
    pose_from_text,
    pose_to_json,
    read_pose,
    read_skeleton_json,
    skeleton_from_text,
    skeleton_to_json,
)
from viewer.formats.units import (
    lengths_to_internal,
    lengths_to_source,
    metres_per_unit,
    root_rotations_to_internal,
    root_rotations_to_source,
    root_translations_to_internal,
    root_translations_to_source,
)
from viewer.formats.video import COUNT, Colours, chosen_colours, find_ffmpeg, write_video
from viewer.progress import report, watched, watched_by
