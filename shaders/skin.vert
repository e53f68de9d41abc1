#version 330 core
// The skin: meshes whose vertices follow the joints by weight.

#include "view.glsl"
#include "skin.glsl"

in vec3 place;
in vec3 facing;   // 0: the triangle is flat
in vec2 spot;     // in the picture
in vec4 shade;

out vec3 point;
out vec3 normal;
out vec2 at;
out vec4 base;
out float accent;

uniform vec4 tint;

void main() {
    Blend blend = blended();
    vec4 seen = view * vec4(carried(blend, vec4(place, 1.0)), 1.0);
    point = seen.xyz;
    vec3 turned = carried(blend, vec4(facing, 0.0));
    float size = length(turned);
    normal = size > 0.0 ? mat3(view) * (turned / size) : vec3(0.0);
    at = spot;
    base = tint * shade;
    accent = blend.accent;
    gl_Position = lens * seen;
}
