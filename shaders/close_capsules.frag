#version 330 core

#include "view.glsl"
#include "light.glsl"
#include "occlusion.glsl"

uniform sampler2D occluders;   // a row for each capsule, two texels for each one near it: its ends; w: the radius there

in vec3 spot;
in vec3 facing;
flat in vec4 base;
flat in ivec2 darkening;   // row in the texture, and how many capsules there are in it

out vec4 painted;

void main() {
    vec3 outwards = normalize(facing);
    float open = 1.0;
    for (int i = 0; i < darkening.y; i++) {
        vec4 from = texelFetch(occluders, ivec2(2 * i, darkening.x), 0);
        vec4 to = texelFetch(occluders, ivec2(2 * i + 1, darkening.x), 0);
        open *= 1.0 - 0.7 * hidden(spot, outwards, from, to);
    }
    painted = vec4(open * lit(base.rgb, mat3(view) * outwards, to_eye((view * vec4(spot, 1.0)).xyz)), base.a);
}
