#version 330 core
// Capsules: one mesh, drawn once for each row of the instance buffer; smooth normals.

#include "view.glsl"

in vec4 place;     // xyz: unit direction from the axis, which is y; w: 0 at end a, 1 at end b

in vec3 end_a;
in vec3 end_b;
in float radius;
in vec4 tint;
in vec4 outline;   // rgb; w: width in pixels, 0 = none

uniform float hull;   // 1 = the outline, of which only the far side is drawn

out vec3 point;
out vec3 normal;
flat out vec4 base;

void main() {
    if (hull > 0.5 && outline.w <= 0.0) {
        gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
        return;
    }
    vec3 along = end_b - end_a;
    float size = length(along);
    vec3 up = size > 1e-9 ? along / size : vec3(0.0, 1.0, 0.0);
    vec3 side = normalize(cross(up, abs(up.x) < 0.7 ? vec3(1.0, 0.0, 0.0) : vec3(0.0, 0.0, 1.0)));
    vec3 outwards = place.x * side + place.y * up + place.z * cross(side, up);
    vec3 middle = mix(end_a, end_b, place.w);
    float wider = hull > 0.5 ? outline.w * metres_per_pixel(max(-(view * vec4(middle, 1.0)).z, 1e-6)) : 0.0;
    vec4 seen = view * vec4(middle + (radius + wider) * outwards, 1.0);
    point = seen.xyz;
    normal = mat3(view) * outwards;
    base = hull > 0.5 ? vec4(outline.rgb, -1.0) : tint;
    gl_Position = lens * seen;
}
