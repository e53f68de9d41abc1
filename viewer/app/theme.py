"""The window's colours and sizes as Dear ImGui's style: dark grey, in which colours show states."""

from __future__ import annotations

from imgui_bundle import imgui

from viewer.scene import PALETTE

_COLOURS: tuple[tuple[str, str, float], ...] = (
    ("text", "text", 1.0),
    ("text_disabled", "text3", 1.0),
    ("window_bg", "panel", 1.0),
    ("child_bg", "panel", 0.0),
    ("popup_bg", "raised", 1.0),
    ("border", "line_hi", 1.0),
    ("border_shadow", "app", 0.0),
    ("frame_bg", "field", 1.0),
    ("frame_bg_hovered", "field_hi", 1.0),
    ("frame_bg_active", "field_on", 1.0),
    ("title_bg", "app", 1.0),
    ("title_bg_active", "app", 1.0),
    ("title_bg_collapsed", "app", 1.0),
    ("menu_bar_bg", "app", 1.0),
    ("scrollbar_bg", "panel", 0.0),
    ("scrollbar_grab", "field_hi", 1.0),
    ("scrollbar_grab_hovered", "field_on", 1.0),
    ("scrollbar_grab_active", "field_on", 1.0),
    ("check_mark", "accent", 1.0),
    ("checkbox_selected_bg", "field", 1.0),
    ("slider_grab", "text", 1.0),
    ("slider_grab_active", "accent", 1.0),
    ("button", "field", 1.0),
    ("button_hovered", "field_hi", 1.0),
    ("button_active", "field_on", 1.0),
    ("header", "accent_dk", 1.0),
    ("header_hovered", "field", 1.0),
    ("header_active", "field_hi", 1.0),
    ("separator", "line", 1.0),
    ("separator_hovered", "line_hi", 1.0),
    ("separator_active", "accent", 1.0),
    ("resize_grip", "line", 0.0),
    ("resize_grip_hovered", "line_hi", 1.0),
    ("resize_grip_active", "accent", 1.0),
    ("input_text_cursor", "text", 1.0),
    ("tab", "app", 1.0),
    ("tab_hovered", "raised", 1.0),
    ("tab_selected", "panel", 1.0),
    ("tab_selected_overline", "accent", 1.0),
    ("tab_dimmed", "app", 1.0),
    ("tab_dimmed_selected", "panel", 1.0),
    ("tab_dimmed_selected_overline", "field_hi", 1.0),
    ("plot_lines", "text3", 1.0),
    ("plot_lines_hovered", "accent", 1.0),
    ("plot_histogram", "accent", 1.0),
    ("plot_histogram_hovered", "hovered", 1.0),
    ("table_header_bg", "raised", 1.0),
    ("table_border_strong", "line", 1.0),
    ("table_border_light", "line", 1.0),
    ("table_row_bg", "panel", 0.0),
    ("table_row_bg_alt", "raised", 0.0),
    ("text_link", "accent", 1.0),
    ("text_selected_bg", "accent_dk", 1.0),
    ("tree_lines", "line_hi", 1.0),
    ("drag_drop_target", "accent", 1.0),
    ("drag_drop_target_bg", "accent_dk", 0.4),
    ("unsaved_marker", "text2", 1.0),
    ("nav_cursor", "accent", 1.0),
    ("nav_windowing_highlight", "accent", 0.7),
    ("nav_windowing_dim_bg", "app", 0.6),
    ("modal_window_dim_bg", "app", 0.72),
)
"""(imgui's name, the palette's name, alpha)."""

_PAIRS: tuple[tuple[str, float, float], ...] = (
    ("window_padding", 8, 8),
    ("frame_padding", 6, 3),
    ("item_spacing", 8, 5),
    ("item_inner_spacing", 6, 4),
    ("cell_padding", 6, 2),
    ("window_min_size", 16, 16),
)

_NUMBERS: tuple[tuple[str, float], ...] = (
    ("indent_spacing", 14),
    ("scrollbar_size", 10),
    ("grab_min_size", 8),
    ("window_rounding", 0),
    ("child_rounding", 4),
    ("frame_rounding", 4),
    ("grab_rounding", 3),
    ("tab_rounding", 4),
    ("popup_rounding", 6),
    ("scrollbar_rounding", 5),
    ("menu_item_rounding", 4),
    ("tab_bar_overline_size", 2),
    ("docking_separator_size", 2),
    ("separator_size", 1),
    ("input_text_cursor_size", 1),
)

_BORDERS: tuple[tuple[str, float], ...] = (
    ("popup_border_size", 1),
    ("window_border_size", 0),
    ("child_border_size", 0),
    ("frame_border_size", 0),
    ("tab_border_size", 0),
)

_TOOLTIP_DELAY = 0.5
_DISABLED_ALPHA = 0.45


def apply_theme(scale: float) -> None:
    """Apply the theme to imgui's current context at a scale in framebuffer pixels per logical pixel.

    All sizes are set from unscaled ones, so that the function can be called again with another scale.
    """
    style = imgui.get_style()
    size = style.font_size_base
    fresh = imgui.Style()
    for name, across, down in _PAIRS:
        setattr(style, name, imgui.ImVec2(round(across * scale), round(down * scale)))
    for name, value in _NUMBERS:
        setattr(style, name, round(value * scale))
    for name, value in _BORDERS:
        setattr(style, name, max(1.0, round(scale)) if value else 0.0)
    style.separator_text_padding = imgui.ImVec2(round(fresh.separator_text_padding.x * scale), round(3 * scale))
    style.mouse_cursor_scale = scale
    style.disabled_alpha = _DISABLED_ALPHA
    style.window_menu_button_position = imgui.Dir.none
    style.hover_delay_normal = style.hover_delay_short = _TOOLTIP_DELAY
    style.hover_stationary_delay = 0.0
    style.hover_flags_for_tooltip_mouse = imgui.HoveredFlags_.delay_normal | imgui.HoveredFlags_.allow_when_disabled
    style.font_size_base = size
    style.font_scale_dpi = scale
    for ours, theirs, alpha in _COLOURS:
        style.set_color_(getattr(imgui.Col_, ours), colour(theirs, alpha))


def colour(name: str, alpha: float = 1.0) -> imgui.ImVec4:
    """A colour of the palette in the form of imgui's widgets."""
    return imgui.ImVec4(*PALETTE[name], alpha)


def paint(name: str, alpha: float = 1.0) -> int:
    """A colour of the palette in the form of imgui's draw lists."""
    return int(imgui.color_convert_float4_to_u32(colour(name, alpha)))
