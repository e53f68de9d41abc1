#version 330 core
// Lines in space: a line's rectangle on the screen, so many pixels wide at any distance.

#include "view.glsl"

in vec3 start;
in vec3 end;
in vec4 tint;
in float width;    // pixels
in vec2 dash;      // pixels on, pixels off; 0 = solid

out vec2 place;                 // pixels along the line and across it
flat out vec4 base;
flat out float half_width;
flat out vec2 pattern;
flat out float whole;           // pixels that the line is long

const float FEATHER = 1.0;

void main() {
    vec4 a = lens * (view * vec4(start, 1.0));
    vec4 b = lens * (view * vec4(end, 1.0));
    // What lies behind the eye has no place on the screen: the line is cut where it leaves the view's near side.
    float near_a = a.z + a.w;
    float near_b = b.z + b.w;
    if (near_a <= 0.0 && near_b <= 0.0) {
        gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
        return;
    }
    if (near_a < 0.0) a = mix(a, b, near_a / (near_a - near_b) + 1e-6);
    if (near_b < 0.0) b = mix(b, a, near_b / (near_b - near_a) + 1e-6);
    vec2 scale = 0.5 * screen.xy;
    vec2 from = a.xy / a.w * scale;
    vec2 to = b.xy / b.w * scale;
    whole = distance(from, to);
    vec2 along = whole > 1e-4 ? (to - from) / whole : vec2(1.0, 0.0);
    vec2 corner = vec2(gl_VertexID & 1, (gl_VertexID >> 1) * 2 - 1);
    base = tint;
    // Thinner than a pixel: as thin as one, and fainter.
    half_width = 0.5 * max(width, 1.0);
    base.a *= min(width, 1.0);
    pattern = dash;
    float beyond = (corner.x * 2.0 - 1.0) * FEATHER;
    place = vec2(corner.x * whole + beyond, corner.y * (half_width + FEATHER));
    vec4 end_clip = corner.x > 0.5 ? b : a;
    vec2 at = from + along * place.x + vec2(-along.y, along.x) * place.y;
    // Already divided: what is counted in pixels then runs evenly along the line.
    gl_Position = vec4(at / scale, end_clip.z / end_clip.w, 1.0);
}
