#version 330 core
// The shadow of the skin on the ground, seen from above.

#include "skin.glsl"

uniform vec4 patch_;   // xz: centre of the map in the world; y: height of the ground; w: half of the map's side
uniform vec4 lean;     // xz: metres that a shadow is off per metre of height; w: metres of the figure's height

in vec3 place;

out float strength;

void main() {
    vec3 point = carried(blended(), vec4(place, 1.0));
    float height = max(point.y - patch_.y, 0.0);
    vec2 at = point.xz - patch_.xz + lean.xz * height;
    strength = 0.8 / (1.0 + 4.5 * height / lean.w);
    gl_Position = vec4(at / patch_.w, 0.0, 1.0);
}
