#version 330 core

#include "view.glsl"
#include "light.glsl"

in vec3 offset;
flat in vec3 middle;
flat in float extent;
flat in float pixel;
flat in vec4 base;
flat in vec4 ring;

out vec4 painted;

void main() {
    vec3 eye = to_eye(middle + offset);
    // All relative to the centre: squares of distances from the eye would lose small spheres far away.
    vec3 nearest = offset - dot(offset, eye) * eye;
    float off = length(nearest);
    float inside = clamp((extent - off) / pixel + 0.5, 0.0, 1.0);
    float covered = ring.w > 0.0 ? clamp((extent - off) / pixel + ring.w + 0.5, 0.0, 1.0) : inside;
    if (covered <= 0.0) {
        discard;
    }
    vec3 hit = nearest + eye * sqrt(max(extent * extent - off * off, 0.0));
    vec3 shaded = lit(base.rgb, hit / max(length(hit), 1e-20), eye);
    vec4 clip = lens * vec4(middle + hit, 1.0);
    gl_FragDepth = 0.5 + 0.5 * clip.z / clip.w;
    painted = vec4(ring.w > 0.0 ? mix(ring.rgb, shaded, inside) : shaded, base.a * covered);
}
