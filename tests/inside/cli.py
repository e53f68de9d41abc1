"""The inside of `viewer.cli` that tests use."""

from viewer.cli import bench_report as report, completion_command as completion, job, many_files, workers
from viewer.cli.bench_parts import NUMPY
from viewer.cli.bench_poses import Given, Solve, Trial, prepare, score as pose_score
from viewer.cli.bench_problems import (
    NEAR_ENOUGH_M,
    RIGS,
    UNREACHABLE,
    Plan,
    Rig,
    angle_between,
    drags,
    find_rig as rig,
    matrices,
    outside,
    problems,
    score,
    world,
)
from viewer.cli.bench_report import measure
from viewer.cli.file_options import SHELLS, ConvertMotion, ConvertOptions
from viewer.cli.job import Options, Result, add_fields, argument, fields_of, flag, made_from, option, part, written
from viewer.cli.main import COMMANDS, actions_of, command_parser, main, options_of
from viewer.cli.options import RenderOptions, ViewOptions, count
from viewer.cli.session_inputs import as_character
from viewer.cli.solving_options import BENCH_PARTS as PARTS, SolveOptions
