"""The inside of `viewer.session` that tests use."""

from viewer.session import demos, solving, stored_characters
from viewer.session.action_log import STORED_KINDS, ActionLog, Digester, decoded, digest_of, encoded
from viewer.session.demo_parts import PREFIX, Demo, Push, SolveAfresh, StartOver, Throw, Trial
from viewer.session.demos import DEMOS, demo_of, find_demo
from viewer.session.figures import (
    Arrangement,
    CallRecorder,
    Placement,
    PlaybackClock,
    Stage,
    StageFigure,
    State,
    abreast,
    beside,
)
from viewer.session.history import MOST_STEPS, GestureManager, Step, UndoHistory
from viewer.session.ik_drag import (
    EASE,
    LONGEST_STEP,
    Chase,
    FigureEight,
    MovingTargets,
    Orbit,
    Pointer,
    TargetMotion,
)
from viewer.session.lessons import LESSONS, MISPRINTS, Arm, Misprint, arm_of
from viewer.session.long_work import LabWorker, LongWork, lab_problem
from viewer.session.recorder import TakeRecorder
from viewer.session.replay import DOERS, open_script, replay
from viewer.session.serialiser import LONGEST_PLAIN, Packed, Stored, pack, unpack
from viewer.session.session_files import (
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
from viewer.session.solving import Kernels, SettleDetector, Solvers, settle
from viewer.session.stored_characters import CharacterData, ClipsOfFile, character_data, character_of
from viewer.session.stored_documents import document_data, document_of
from viewer.session.user_files import Preferences, load_preferences, save_preferences
