"""The panels of the window: for each a function ``draw_...(ui)`` and its place."""

from __future__ import annotations

from viewer.app.layout import Place
from viewer.app.panel_context import Panel
from viewer.app.panels import (
    build_panel,
    curve_editor,
    document_dialogs,
    file_dialog,
    goals_panel,
    history_panel,
    inspector,
    joint_inspector,
    lab_panel,
    menus,
    messages_panel,
    panel_parts,
    physics_panel,
    poses_panel,
    retarget_panel,
    skeleton_tree,
    solver_panel,
    timeline_panel,
    toolbar,
)
from viewer.session.lessons import arm_of
from viewer.ui.view import Workspace

# The workspaces in which there is no pose to change, nothing to solve, no clip to play, no goals.
_NO_POSING = (Workspace.BUILD,)
_NO_SOLVING = (Workspace.RETARGET, Workspace.BUILD)
_NO_TIME = (Workspace.BUILD, Workspace.LAB)
_NO_GOALS = (Workspace.RETARGET, *_NO_TIME)

PANELS: tuple[Panel, ...] = (
    Panel("menu", "Menu", Place.MENU, menus.draw_menu_bar, padded=False),
    Panel("toolbar", "Toolbar", Place.TOOLBAR, toolbar.draw_toolbar, padded=False),
    Panel("pairs", "Pairs", Place.LEFT_TOP, retarget_panel.draw_pairs, workspace=Workspace.RETARGET),
    Panel("methods", "Methods", Place.LEFT_TOP, lab_panel.draw_methods, scrolls=True, workspace=Workspace.LAB),
    Panel("skeleton", "Skeleton", Place.LEFT_TOP, skeleton_tree.draw_skeleton_tree),
    Panel("poses", "Poses", Place.LEFT_TOP, poses_panel.draw_poses, hidden_in=_NO_TIME),
    Panel("goals", "Goals", Place.LEFT_BOTTOM, goals_panel.draw_goals, hidden_in=_NO_GOALS),
    Panel(
        "joints",
        "Joints",
        Place.LEFT_BOTTOM,
        joint_inspector.draw_joints,
        scrolls=True,
        hidden_in=_NO_GOALS,
        fits=panel_parts.is_robot,
    ),
    Panel(
        "retarget",
        "Retarget",
        Place.RIGHT_TOP,
        retarget_panel.draw_retarget,
        scrolls=True,
        workspace=Workspace.RETARGET,
    ),
    Panel("physics", "Physics", Place.RIGHT_TOP, physics_panel.draw_physics, scrolls=True, workspace=Workspace.PHYSICS),
    Panel(
        "convergence", "Convergence", Place.RIGHT_TOP, lab_panel.draw_convergence, scrolls=True, workspace=Workspace.LAB
    ),
    Panel("jacobian", "Jacobian", Place.RIGHT_TOP, lab_panel.draw_jacobian, scrolls=True, workspace=Workspace.LAB),
    Panel(
        "misprints",
        "Misprints",
        Place.RIGHT_TOP,
        lab_panel.draw_misprints,
        scrolls=True,
        workspace=Workspace.LAB,
        fits=lambda document: arm_of(document, document.pose) is not None,
    ),
    Panel("inspector", "Inspector", Place.RIGHT_TOP, inspector.draw_inspector, scrolls=True),
    Panel("solver", "Solver", Place.RIGHT_BOTTOM, solver_panel.draw_solver, scrolls=True, hidden_in=_NO_SOLVING),
    Panel(
        "history", "History", Place.RIGHT_BOTTOM, history_panel.draw_history, scrolls=True, hidden_in=(Workspace.LAB,)
    ),
    Panel("timeline", "Timeline", Place.BOTTOM, timeline_panel.draw_timeline, hidden_in=_NO_TIME),
    Panel("curves", "Curves", Place.BOTTOM, curve_editor.draw_curves, hidden_in=_NO_TIME),
    Panel("iterations", "Iterations", Place.BOTTOM, lab_panel.draw_iterations, workspace=Workspace.LAB),
    Panel("chips", "View", Place.VIEWPORT, messages_panel.draw_chips, hidden_in=_NO_POSING),
    Panel("build", "Build", Place.FLOATING, build_panel.draw_build_card, workspace=Workspace.BUILD),
    Panel("demo", "Demo", Place.FLOATING, messages_panel.draw_demo_card, hidden_in=_NO_POSING),
    Panel("messages", "Messages", Place.FLOATING, messages_panel.draw_messages),
    Panel("context", "Context menu", Place.FLOATING, menus.draw_context_menu),
    Panel("files", "Files", Place.FLOATING, file_dialog.draw_file_dialog),
    Panel("filming", "Film", Place.FLOATING, messages_panel.draw_film_card),
    Panel("new", "New", Place.FLOATING, document_dialogs.draw_new_dialog),
    Panel("units", "Units", Place.FLOATING, document_dialogs.draw_units_dialog),
    Panel("preferences", "Preferences", Place.FLOATING, document_dialogs.draw_preferences),
    Panel("help", "Help", Place.FLOATING, menus.draw_help),
    Panel("questions", "Questions", Place.FLOATING, document_dialogs.draw_questions),
    Panel("rename", "Rename", Place.FLOATING, skeleton_tree.ask_new_name),
    Panel("keep-pose", "Keep pose", Place.FLOATING, poses_panel.draw_pose_dialog),
    Panel("find", "Find", Place.FLOATING, menus.draw_find_dialog),
    Panel("status", "Status line", Place.STATUS, messages_panel.draw_status_line, live=True, padded=False),
)
"""All panels; those that share a tabbed place are its tabs, in this order."""
