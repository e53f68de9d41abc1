#version 330 core
// Outlines of bones: a hull that is a given number of pixels wider, of which only the far side is drawn.

#include "view.glsl"

in vec4 hull;      // xz: direction from the bone's axis; y: place along it; w: 1 on the belt, 0 at the ends

in vec4 row_x;     // rows of world_from_unit
in vec4 row_y;
in vec4 row_z;
in vec4 outline;   // rgb; w: width in pixels, 0 = none

flat out vec3 colour;

// The hull has four corners: they lie farther out, so that its sides are as far off as the width says.
const float CORNER = 1.41421356;

void main() {
    colour = outline.rgb;
    if (outline.w <= 0.0) {
        gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
        return;
    }
    mat3 frame = transpose(mat3(row_x.xyz, row_y.xyz, row_z.xyz));
    float mirrored = sign(dot(cross(frame[0], frame[1]), frame[2]));
    vec3 middle = vec3(row_x.w, row_y.w, row_z.w) + frame[1] * hull.y;
    vec4 seen = view * vec4(middle, 1.0);
    float wider = outline.w * metres_per_pixel(max(-seen.z, 1e-6));
    vec3 out_wards = normalize(frame[0]) * hull.x * mirrored + normalize(frame[2]) * hull.z;
    float radius = length(frame[0]) * hull.w + CORNER * wider;
    float farther = hull.w > 0.5 ? 0.0 : sign(hull.y - 0.12) * wider;
    seen = view * vec4(middle + out_wards * radius + normalize(frame[1]) * farther, 1.0);
    gl_Position = lens * seen;
}
