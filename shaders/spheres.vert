#version 330 core
// Spheres: a square that just covers the silhouette; the fragment shader finds where the ray meets the sphere.

#include "view.glsl"

in vec3 centre;
in float radius;
in float least;    // pixels that the radius has at least
in vec4 tint;
in vec4 outline;   // rgb; w: width in pixels, 0 = none

out vec3 offset;            // of this point of the square from the centre, in view axes
flat out vec3 middle;       // the centre in view axes
flat out float extent;      // radius in metres
flat out float pixel;       // metres a pixel is wide at the centre
flat out vec4 base;
flat out vec4 ring;

void main() {
    vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
    middle = (view * vec4(centre, 1.0)).xyz;
    pixel = metres_per_pixel(max(-middle.z, 1e-9));
    extent = max(radius, least * pixel);
    base = tint;
    ring = outline;
    float reach = extent + (outline.w + 1.0) * pixel;
    vec3 eye = to_eye(middle);
    float size = reach;
    bool seen = true;
    if (screen.w < 0.5) {
        float away = length(middle);
        seen = -middle.z > 0.0 && away > 1.01 * reach;
        // The cone from the eye that touches the sphere, cut at the centre.
        size = reach * away / sqrt(max(away * away - reach * reach, 1e-20));
    }
    vec3 across = normalize(cross(vec3(0.0, 1.0, 0.0), eye));
    offset = (across * corner.x + cross(eye, across) * corner.y) * size;
    gl_Position = seen ? lens * vec4(middle + offset, 1.0) : vec4(2.0, 2.0, 2.0, 1.0);
}
