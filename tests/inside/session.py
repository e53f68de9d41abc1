"""The inside of `viewer.session` that tests use."""

from viewer.session import autosave, folders, solving
from viewer.session.action_log import ActionLog
from viewer.session.autosave import Autosave, recoveries, sweep_locks
from viewer.session.calls import CallRecorder
from viewer.session.clock import PlaybackClock
from viewer.session.demos import (
    DEMOS,
    PREFIX,
    Chase,
    Demo,
    FigureEight,
    Motion,
    Orbit,
    Pointer,
    Push,
    SolveAfresh,
    StartOver,
    Throw,
    Trial,
    demo_of,
    find_demo,
)
from viewer.session.digest import Digester, digest_of
from viewer.session.figures import Arrangement, Figure, Placement, State, abreast, beside, free_name
from viewer.session.files import (
    ONE_FIGURE,
    SUFFIX,
    VERSION,
    Kept,
    MotionError,
    backup_of,
    is_session,
    load_session,
    open_session,
    save_session,
    session_bytes,
)
from viewer.session.gestures import GestureManager
from viewer.session.history import MOST_STEPS, Step, UndoHistory
from viewer.session.lab import LabWorker, lab_problem
from viewer.session.misprints import MISPRINTS, Arm, Misprint, arm_of
from viewer.session.moving_targets import EASE, LONGEST_STEP, MovingTargets
from viewer.session.moving_targets import Motion as moving_targets_Motion
from viewer.session.moving_targets import Pointer as moving_targets_Pointer
from viewer.session.preferences import Preferences, load_preferences, save_preferences
from viewer.session.recorder import TakeRecorder
from viewer.session.replay import DOERS, open_script, replay
from viewer.session.solving import Kernels, SettleDetector, Solvers
from viewer.session.stage import Stage
from viewer.session.storage import motion_file
from viewer.session.storage.arrays import LONGEST_PLAIN, Packed, Stored, pack, unpack
from viewer.session.storage.documents import CharacterData, character_data, character_of, document_data, document_of
from viewer.session.storage.motion_file import ClipsOfFile
from viewer.session.storage.tagged import KINDS, decoded, encoded

__all__ = [
    "DEMOS",
    "DOERS",
    "EASE",
    "KINDS",
    "LONGEST_PLAIN",
    "LONGEST_STEP",
    "MISPRINTS",
    "MOST_STEPS",
    "ONE_FIGURE",
    "PREFIX",
    "SUFFIX",
    "VERSION",
    "ActionLog",
    "Arm",
    "Arrangement",
    "Autosave",
    "CallRecorder",
    "CharacterData",
    "Chase",
    "ClipsOfFile",
    "Demo",
    "Digester",
    "Figure",
    "FigureEight",
    "GestureManager",
    "Kept",
    "Kernels",
    "LabWorker",
    "Misprint",
    "Motion",
    "MotionError",
    "MovingTargets",
    "Orbit",
    "Packed",
    "Placement",
    "PlaybackClock",
    "Pointer",
    "Preferences",
    "Push",
    "SettleDetector",
    "SolveAfresh",
    "Solvers",
    "Stage",
    "StartOver",
    "State",
    "Step",
    "Stored",
    "TakeRecorder",
    "Throw",
    "Trial",
    "UndoHistory",
    "abreast",
    "arm_of",
    "autosave",
    "backup_of",
    "beside",
    "character_data",
    "character_of",
    "decoded",
    "demo_of",
    "digest_of",
    "document_data",
    "document_of",
    "encoded",
    "find_demo",
    "folders",
    "free_name",
    "is_session",
    "lab_problem",
    "load_preferences",
    "load_session",
    "motion_file",
    "moving_targets_Motion",
    "moving_targets_Pointer",
    "open_script",
    "open_session",
    "pack",
    "recoveries",
    "replay",
    "save_preferences",
    "save_session",
    "session_bytes",
    "solving",
    "sweep_locks",
    "unpack",
]
