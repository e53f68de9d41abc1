#version 330 core

#include "view.glsl"

uniform vec2 axes;     // where the axes of the plane are, in cells
uniform vec4 fine;     // colour and alpha of the lines
uniform vec4 coarse;   // of every tenth
uniform vec4 first_axis;    // which runs along the first direction
uniform vec4 second_axis;

in vec2 cells;
in vec2 off;

out vec4 painted;

const float AXIS = 1.25;   // how much wider the axes are

void main() {
    float left = 1.0 - dot(off, off);
    float squared = left * left;
    float fade = squared * squared * left;   // near enough exp(-1.6 (r / 2.6 H)^2)
    // Pixels per cell, along both directions on the screen.
    vec2 right = dFdx(cells);
    vec2 up = dFdy(cells);
    vec2 pixels = inversesqrt(right * right + up * up + 1e-18);
    float reach = 0.5 * sky_up.w + 0.5;   // half of a line, and half of a pixel
    // A level is gone when its cells are 3 pixels wide, and whole from 9 on.
    vec2 shown = pixels * (1.0 / (6.0 * sky_up.w));
    vec2 near = clamp(shown - 0.5, 0.0, 1.0);
    vec2 far = clamp(10.0 * shown - 0.5, 0.0, 1.0);
    vec2 from_fine = abs(cells - floor(cells + 0.5)) * pixels;
    vec2 tens = 0.1 * cells;
    vec2 from_coarse = abs(tens - floor(tens + 0.5)) * (10.0 * pixels);
    vec2 thin = near * clamp(reach - from_fine, 0.0, 1.0);
    vec2 thick = far * clamp(reach - from_coarse, 0.0, 1.0);
    float a = fine.a * max(thin.x, thin.y);
    float b = coarse.a * max(thick.x, thick.y);
    vec2 from_axes = clamp(AXIS * reach - abs(cells - axes) * pixels, 0.0, 1.0);
    painted = a > b ? vec4(fine.rgb, a) : vec4(coarse.rgb, b);
    painted = mix(painted, first_axis, from_axes.y);
    painted = mix(painted, second_axis, from_axes.x);
    painted.a *= fade;
}
