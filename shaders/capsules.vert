#version 330 core
// Capsules: one mesh, drawn once for each row of the instance buffer; smooth normals.

#include "view.glsl"
#include "capsule.glsl"

in vec4 tint;
in vec4 outline;   // rgb; w: width in pixels, 0 = none

uniform float hull;   // 1 = the outline, of which only the far side is drawn

flat out vec4 base;

void main() {
    base = hull > 0.5 ? vec4(outline.rgb, -1.0) : tint;
    bool none = hull > 0.5 && outline.w <= 0.0;
    gl_Position = none ? vec4(2.0, 2.0, 2.0, 1.0) : surface(hull * outline.w);
}
