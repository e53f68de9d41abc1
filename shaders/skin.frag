#version 330 core

#include "view.glsl"
#include "light.glsl"

uniform sampler2D picture;
uniform vec3 accent_tint;
uniform float cutoff;      // less opaque pixels are left out; 0: none are
uniform float opacity;     // of the skin
uniform float blending;    // 1 = the material's own opacity counts
uniform float both_sides;  // 1 = the inside is lit as the outside is

in vec3 point;
in vec3 normal;
in vec2 at;
in vec4 base;
in float accent;

out vec4 painted;

void main() {
    vec4 colour = base * texture(picture, at);
    if (colour.a < cutoff) discard;
    vec3 eye = to_eye(point);
    vec3 flat_normal = cross(dFdx(point), dFdy(point));
    bool is_flat = dot(normal, normal) < 1e-6;
    vec3 facing = normalize(is_flat ? flat_normal : normal);
    if ((is_flat || both_sides > 0.5) && dot(facing, eye) < 0.0) facing = -facing;
    vec3 shaded = lit(colour.rgb, facing, eye);
    painted = vec4(mix(shaded, accent_tint, accent), opacity * mix(1.0, colour.a, blending));
}
