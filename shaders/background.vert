#version 330 core
// One triangle that covers the target, behind everything.

uniform vec3 top;
uniform vec3 bottom;

out vec3 shade;

void main() {
    vec2 corner = vec2(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0);
    shade = mix(bottom, top, 0.5 + 0.5 * corner.y);
    gl_Position = vec4(corner, 1.0, 1.0);
}
