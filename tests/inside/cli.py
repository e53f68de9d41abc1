"""The inside of `viewer.cli` that tests use."""

from viewer.cli import completion, convert, journal, many, output, render, solve, view
from viewer.cli.bench import PARTS, history, report
from viewer.cli.bench.plan import Plan, measure
from viewer.cli.bench.problems import CLASSES, UNREACHABLE, drags, problems
from viewer.cli.bench.rigs import RIGS, Rig, rig
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
    "command_parser",
    "completion",
    "convert",
    "count",
    "drags",
    "fields_of",
    "flag",
    "history",
    "journal",
    "made_from",
    "main",
    "many",
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
    "rig",
    "score",
    "solve",
    "view",
    "world",
]
