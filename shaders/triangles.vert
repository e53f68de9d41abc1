#version 330 core
// Translucent triangles in space: what joints may reach.

#include "view.glsl"

in vec3 place;
in vec4 tint;

out vec4 base;

void main() {
    base = tint;
    gl_Position = lens * (view * vec4(place, 1.0));
}
