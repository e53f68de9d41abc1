"""The inside of `viewer.ui` that tests use."""

from viewer.ui import file_menu as files, film, number_format as numbers, opening, planting, retargeting
from viewer.ui.camera_moves import motion_points
from viewer.ui.commands import GROUPS
from viewer.ui.contact import radius_handles
from viewer.ui.controller import REFUSED_SECONDS
from viewer.ui.drag_targets import can_follow, mirrored_turn
from viewer.ui.events import (
    MODS,
    NOTE_SECONDS,
    OFFER_SECONDS,
    Button,
    Chord,
    FileQuestion,
    MessageBar,
    Mods,
    Question,
    chord,
)
from viewer.ui.file_menu import EXPORTS, ExportOptions
from viewer.ui.film import (
    FilmFormat,
    FilmOrder,
    FilmPlan,
    FilmProgress,
    FilmScenes,
    ShownMotion,
    files_of,
    film_name,
    leaves_view,
    renamed,
    replace_question,
    shown_name,
    widened_camera,
)
from viewer.ui.keying import keys_beside
from viewer.ui.laboratory import Cell
from viewer.ui.number_format import DASH, MINUS, error_decimals, unit_for
from viewer.ui.onion_skin import ALPHAS, OnionSettings, ghost_frames
from viewer.ui.planting import FeetView, dragged, room_of, split
from viewer.ui.posing import LibraryPoses
from viewer.ui.range_handles import end_handles
from viewer.ui.scene_builder import goal_marks
from viewer.ui.status import _state, limit_words, short_name, too_near
from viewer.ui.timeline import FEWEST, TimeView, frame_count, key_frames, keys_in, played_range, rows_of
from viewer.ui.view import Panels, item_of
