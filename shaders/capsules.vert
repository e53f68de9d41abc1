#version 330 core
// Capsules: one mesh, drawn once for each row of the instance buffer; smooth normals.

#include "view.glsl"

in vec4 place;     // xy: cosine and sine of the turn about the axis; z: elevation in radians; w: 0 at end a, 1 at end b

in vec3 end_a;
in vec3 end_b;
in float radius;   // at end b
in float flare;    // more at end a
in vec4 tint;
in vec4 outline;   // rgb; w: width in pixels, 0 = none
in vec4 near;      // rows of the capsules that darken this one, -1 = none
in vec4 more_near;

uniform float hull;   // 1 = the outline, of which only the far side is drawn

out vec3 point;
out vec3 normal;
out vec3 spot;       // in the world
out vec3 facing;     // normal in the world
flat out vec4 base;
flat out vec4 darkening;
flat out vec4 more_darkening;

const float QUARTER = 1.57079633;

void main() {
    if (hull > 0.5 && outline.w <= 0.0) {
        gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
        return;
    }
    vec3 along = end_b - end_a;
    float size = length(along);
    vec3 up = size > 1e-9 ? along / size : vec3(0.0, 1.0, 0.0);
    vec3 side = normalize(cross(up, abs(up.x) < 0.7 ? vec3(1.0, 0.0, 0.0) : vec3(0.0, 0.0, 1.0)));
    // The cone touches both balls at this elevation: the normal is the same along it.
    float lean = asin(clamp(flare / max(size, 1e-9), 0.0, 0.99));
    float rise = place.z + lean * (1.0 - abs(place.z) / QUARTER);
    vec3 outwards = cos(rise) * (place.x * side + place.y * cross(side, up)) + sin(rise) * up;
    vec3 middle = mix(end_a, end_b, place.w);
    float wider = hull > 0.5 ? outline.w * metres_per_pixel(max(-(view * vec4(middle, 1.0)).z, 1e-6)) : 0.0;
    spot = middle + (radius + flare * (1.0 - place.w) + wider) * outwards;
    facing = outwards;
    vec4 seen = view * vec4(spot, 1.0);
    point = seen.xyz;
    normal = mat3(view) * outwards;
    base = hull > 0.5 ? vec4(outline.rgb, -1.0) : tint;
    darkening = near;
    more_darkening = more_near;
    gl_Position = lens * seen;
}
