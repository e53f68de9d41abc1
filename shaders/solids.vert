#version 330 core
// Triangles of boxes and meshes, each with its own normal.

#include "view.glsl"

in vec3 place;
in vec3 facing;
in vec4 tint;

out vec3 point;
out vec3 normal;
flat out vec4 base;

void main() {
    vec4 seen = view * vec4(place, 1.0);
    point = seen.xyz;
    normal = mat3(view) * facing;
    base = tint;
    gl_Position = lens * seen;
}
