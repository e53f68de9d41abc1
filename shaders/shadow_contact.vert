#version 330 core
// What each capsule takes of the light of the floor close to it, seen from above: a rectangle round it.

uniform vec4 patch_;   // xz: centre of the map in the world; y: height of the ground; w: half of the map's side

in vec3 end_a;
in vec3 end_b;
in float radius;
in float flare;

out vec2 place;      // in the world, from the map's centre
flat out vec4 from;  // ends of the axis, likewise, y above the ground; w: the radius there
flat out vec4 to;

const float REACH = 4.0;   // so many radii away a capsule darkens nothing

void main() {
    vec3 centre = vec3(patch_.x, patch_.y, patch_.z);
    from = vec4(end_a - centre, radius + flare);
    to = vec4(end_b - centre, radius);
    float reach = REACH * from.w;
    if (min(from.y, to.y) > reach) {
        gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
        return;
    }
    vec2 line = to.xz - from.xz;
    float size = length(line);
    vec2 along = size > 1e-9 ? line / size : vec2(1.0, 0.0);
    vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
    vec2 end = corner.x < 0.0 ? from.xz : to.xz;
    place = end + along * corner.x * reach + vec2(-along.y, along.x) * corner.y * reach;
    gl_Position = vec4(place / patch_.w, 0.0, 1.0);
}
