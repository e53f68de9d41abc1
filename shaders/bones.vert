#version 330 core
// Bones: one unit octahedron, drawn once for each row of the instance buffer. Flat normals, barycentric edges.

#include "view.glsl"

in vec3 place;    // of the unit octahedron: from the origin to (0, 1, 0)
in vec3 facing;   // normal of its face
in vec3 corner;   // barycentric coordinates

in vec4 row_x;    // rows of world_from_unit
in vec4 row_y;
in vec4 row_z;
in vec4 tint;
in float dashed;

out vec3 point;
flat out vec3 normal;
flat out vec4 base;
flat out float dashes;   // along the whole bone; 0 = its edges are solid
out vec3 edge;
out float along;

const float DASH_PX = 9.0;

void main() {
    mat3 frame = transpose(mat3(row_x.xyz, row_y.xyz, row_z.xyz));
    vec3 origin = vec3(row_x.w, row_y.w, row_z.w);
    // A mirrored frame would turn the faces inside out; the octahedron is its own mirror image.
    vec3 mirror = vec3(sign(dot(cross(frame[0], frame[1]), frame[2])), 1.0, 1.0);
    vec3 unit = place * mirror;
    // Normals go with the inverse transpose; the columns are perpendicular, so that is division by their squares.
    vec3 squares = vec3(dot(frame[0], frame[0]), dot(frame[1], frame[1]), dot(frame[2], frame[2]));
    vec3 turned = frame * (facing * mirror / max(squares, 1e-30));
    vec4 seen = view * vec4(frame * unit + origin, 1.0);
    point = seen.xyz;
    normal = normalize(mat3(view) * turned);
    base = tint;
    edge = corner;
    along = place.y;
    float middle = -(view * vec4(0.5 * frame[1] + origin, 1.0)).z;
    float pixels = sqrt(squares.y) / metres_per_pixel(max(middle, 1e-6));
    dashes = dashed > 0.5 ? max(round(pixels / (DASH_PX * sky_up.w)), 3.0) : 0.0;
    gl_Position = lens * seen;
}
