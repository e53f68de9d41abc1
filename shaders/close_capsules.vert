#version 330 core
// Capsules as in capsules.vert, which are darkened by those near them.

#include "view.glsl"
#include "capsule.glsl"

in vec4 tint;
in float near;   // how many capsules darken this one

flat out vec4 base;
flat out ivec2 darkening;   // row in the texture of occluders, and how many there are

void main() {
    base = tint;
    darkening = ivec2(gl_InstanceID, int(near));
    gl_Position = surface(0.0);
}
