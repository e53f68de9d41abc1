#version 330 core
// The part of the ground that has shadow on it.

#include "view.glsl"

uniform vec4 patch_;   // xz: centre of the map in the world; y: height of the ground; w: half of the map's side
uniform vec4 bounds;   // of what is dark, in the map's -1..1: least x and z, greatest x and z

out vec2 at;

void main() {
    vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
    vec2 place = mix(bounds.xy, bounds.zw, corner);
    at = 0.5 + 0.5 * place;
    gl_Position = lens * (view * vec4(patch_.x + place.x * patch_.w, patch_.y, patch_.z + place.y * patch_.w, 1.0));
}
