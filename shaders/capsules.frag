#version 330 core

#include "view.glsl"
#include "light.glsl"
#include "occlusion.glsl"

uniform sampler2D axes;   // a row for each capsule: both ends of its axis; w: the radius there

in vec3 point;
in vec3 normal;
in vec3 spot;
in vec3 facing;
flat in vec4 base;   // a < 0: an outline, which is not lit
flat in vec4 darkening;
flat in vec4 more_darkening;

out vec4 painted;

float open_to(float row, vec3 outwards) {
    int at = int(row);
    return 1.0 - 0.7 * hidden(spot, outwards, texelFetch(axes, ivec2(0, at), 0), texelFetch(axes, ivec2(1, at), 0));
}

void main() {
    if (base.a < 0.0) {
        painted = vec4(base.rgb, 1.0);
        return;
    }
    vec3 outwards = normalize(facing);
    float open = 1.0;
    for (int i = 0; i < 4 && darkening[i] >= 0.0; i++) open *= open_to(darkening[i], outwards);
    for (int i = 0; i < 4 && more_darkening[i] >= 0.0; i++) open *= open_to(more_darkening[i], outwards);
    painted = vec4(open * lit(base.rgb, normalize(normal), to_eye(point)), base.a);
}
