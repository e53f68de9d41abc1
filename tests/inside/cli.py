"""The inside of `viewer.cli` that tests use."""

from viewer.cli import batch, batch_files, output, workers
from viewer.cli import completion_command as completion
from viewer.cli import convert_command as convert
from viewer.cli import render_command as render
from viewer.cli import retarget_command as retarget
from viewer.cli import solve_command as solve
from viewer.cli import view_command as view
from viewer.cli.bench import PARTS
from viewer.cli.bench import bench_report as report
from viewer.cli.bench.bench_problems import CLASSES, UNREACHABLE, drags, problems
from viewer.cli.bench.plan import Plan, measure
from viewer.cli.bench.rigs import RIGS, Rig
from viewer.cli.bench.rigs import find_rig as rig
from viewer.cli.bench.score import NEAR_ENOUGH_M, angle_between, matrices, outside, score, world
from viewer.cli.bench.solves import NUMPY
from viewer.cli.inputs import as_character
from viewer.cli.job import Options, Result, add_fields, argument, fields_of, flag, made_from, option, part
from viewer.cli.main import main
from viewer.cli.manual import page
from viewer.cli.options import BACKENDS, SOLVERS, UNITS, UPS, count
from viewer.cli.parsers import COMMANDS, actions_of, command_parser, module_of

__all__ = [
    "BACKENDS",
    "CLASSES",
    "COMMANDS",
    "NEAR_ENOUGH_M",
    "NUMPY",
    "PARTS",
    "RIGS",
    "SOLVERS",
    "UNITS",
    "UNREACHABLE",
    "UPS",
    "Options",
    "Plan",
    "Result",
    "Rig",
    "actions_of",
    "add_fields",
    "angle_between",
    "argument",
    "as_character",
    "batch",
    "batch_files",
    "command_parser",
    "completion",
    "convert",
    "count",
    "drags",
    "fields_of",
    "flag",
    "made_from",
    "main",
    "matrices",
    "measure",
    "module_of",
    "option",
    "output",
    "outside",
    "page",
    "part",
    "problems",
    "render",
    "report",
    "retarget",
    "rig",
    "score",
    "solve",
    "view",
    "workers",
    "world",
]
