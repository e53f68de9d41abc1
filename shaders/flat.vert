#version 330 core
// Handles, pins and marks: triangles in pixels from the top left, over everything.

#include "view.glsl"

in vec2 place;
in vec4 tint;

out vec4 base;

void main() {
    base = tint;
    vec2 across = 2.0 * place / screen.xy - 1.0;
    gl_Position = vec4(across.x, -across.y, 0.0, 1.0);
}
