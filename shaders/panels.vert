#version 330 core
// Panels: vertices in framebuffer pixels from the top left, as Dear ImGui emits them.

uniform vec4 frame;  // xy: pixel of the target's top left corner, zw: size of the target in pixels

in vec2 place;
in vec2 texel;
in vec4 colour;

out vec2 at;
out vec4 tint;

void main() {
    vec2 across = (place - frame.xy) / frame.zw;
    gl_Position = vec4(2.0 * across.x - 1.0, 1.0 - 2.0 * across.y, 0.0, 1.0);
    at = texel;
    tint = colour;
}
