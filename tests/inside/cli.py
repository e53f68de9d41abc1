"""The inside of `viewer.cli` that tests use."""

from viewer.cli import bench_command as report, completion_command as completion, job, many_files, workers
from viewer.cli.bench_command import measure
from viewer.cli.bench_measures import NEAR_ENOUGH_M, NUMPY, Plan, Rig, Samples, drags, problems, score
from viewer.cli.file_options import SHELLS, ConvertMotion, ConvertOptions
from viewer.cli.job import Options, Result, add_fields, argument, fields_of, flag, made_from, option, part, written
from viewer.cli.main import COMMANDS, actions_of, command_parser, main, options_of
from viewer.cli.options import RenderOptions, ViewOptions, count
from viewer.cli.session_inputs import as_character
from viewer.cli.solving_options import BENCH_PARTS as PARTS, SolveOptions
