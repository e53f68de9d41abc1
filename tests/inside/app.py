"""The inside of `viewer.app` that tests use."""

from viewer import app
from viewer.app import autosave_service
from viewer.app.application import FRAME, PANEL_INTERVAL, STILL_AFTER, Application, Pace, open_window
from viewer.app.autosave_service import Autosave, AutosaveService, recoveries, sweep_locks
from viewer.app.compositing import Blitter, ImguiRenderer, Level, Painted, Quality, SceneBuffer, copy_list
from viewer.app.films import BUDGET, WINDOW_SHARE, Films, film_of
from viewer.app.input import GLFW_NAMES, IMGUI_KEYS, Capture, Inputs, by_layout
from viewer.app.layout import (
    LEAST_TIMELINE,
    LEAST_VIEWPORT,
    MENU,
    SHORT_TIMELINE,
    SMALLEST_VIEWPORT,
    TABBED,
    TABS,
    TOOLBAR,
    Layout,
    Place,
)
from viewer.app.painter import IMGUI_SHAPES, PanelHost, ui_scale
from viewer.app.panel_context import Borders, Panel, PanelContext
from viewer.app.panels import PANELS, file_dialog, menus
from viewer.app.panels.curve_editor import KeysOnPlot, curves_of
from viewer.app.panels.document_dialogs import outline
from viewer.app.panels.dope_sheet import NO_KEYS
from viewer.app.panels.export_options import LISTED
from viewer.app.panels.file_dialog import NO_NAME, State, size_words
from viewer.app.panels.goals_panel import error_words
from viewer.app.panels.lanes import moved
from viewer.app.panels.menus import arranged, found_commands, found_files, found_keys
from viewer.app.panels.panel_parts import Angles, coordinates, explained
from viewer.app.panels.poses_panel import shelf_of
from viewer.app.panels.skeleton_tree import Folds, below, found_rows, tree_rows
from viewer.app.theme import Fonts, apply_theme, cjk_font, paint
from viewer.app.widgets import controls
from viewer.app.widgets.controls import rows_within
from viewer.app.widgets.dialogs import wrapped
from viewer.app.widgets.fields import DEGREES, METRES, evaluate
from viewer.app.widgets.pen import Pen, number_step
from viewer.app.window import SAMPLE_LIMIT, SHAPES, Callbacks, Screen
from viewer.ui.camera_moves import CARD_MARGIN, CARD_WIDTH
