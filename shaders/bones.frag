#version 330 core

#include "view.glsl"
#include "light.glsl"

in vec3 point;
flat in vec3 normal;
flat in vec4 base;
flat in float dashes;
in vec3 edge;
in float along;

out vec4 painted;

const float LIGHTER = 0.22;
const float LIGHTER_DASHES = 0.6;

void main() {
    vec3 shaded = lit(base.rgb, normal, to_eye(point));
    // Pixels to the nearest edge of the face; each of the two faces paints its half of the line.
    vec3 near = edge / max(fwidth(edge), 1e-9);
    float pixels = min(near.x, min(near.y, near.z));
    float line = LIGHTER * clamp(0.5 * sky_up.w + 0.5 - pixels, 0.0, 1.0);
    if (dashes > 0.0) {
        float on = step(fract(along * dashes), 0.55);
        line = on * LIGHTER_DASHES * clamp(1.1 * sky_up.w + 0.5 - pixels, 0.0, 1.0);
    }
    painted = vec4(mix(shaded, vec3(1.0), line), base.a);
}
