#version 330 core
// The shadow of each bone on the ground, seen from above: a rectangle round the bone's soft capsule.

uniform vec4 patch_;   // xz: centre of the map in the world; y: height of the ground; w: half of the map's side
uniform vec4 lean;     // xz: metres that a shadow is off per metre of height; w: metres of the figure's height

in vec4 row_x;         // rows of world_from_unit
in vec4 row_y;
in vec4 row_z;

out vec2 place;              // in the world, from the map's centre
flat out vec4 ends;          // of the capsule, likewise
flat out vec4 thickness;     // radius and strength at the head, then at the tail

const float SOFT = 1.7;   // how much farther than its radius the shadow's rim reaches

vec4 on_ground(vec3 point, float radius) {
    float height = max(point.y - patch_.y, 0.0);
    vec2 at = point.xz - patch_.xz + lean.xz * height;
    return vec4(at, SOFT * (1.5 * radius + 0.085 * height), 0.8 / (1.0 + 4.5 * height / lean.w));
}

void main() {
    vec3 head = vec3(row_x.w, row_y.w, row_z.w);
    vec3 axis = vec3(row_x.y, row_y.y, row_z.y);
    float radius = length(vec3(row_x.x, row_y.x, row_z.x));
    vec4 from = on_ground(head, radius);
    vec4 to = on_ground(head + axis, radius);
    float reach = max(from.z, to.z);
    vec2 line = to.xy - from.xy;
    float size = length(line);
    vec2 along = size > 1e-9 ? line / size : vec2(1.0, 0.0);
    vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
    vec2 end = corner.x < 0.0 ? from.xy : to.xy;
    place = end + along * corner.x * reach + vec2(-along.y, along.x) * corner.y * reach;
    ends = vec4(from.xy, to.xy);
    thickness = vec4(from.zw, to.zw);
    gl_Position = vec4(place / patch_.w, 0.0, 1.0);
}
