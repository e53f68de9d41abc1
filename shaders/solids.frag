#version 330 core

#include "view.glsl"
#include "light.glsl"

in vec3 point;
in vec3 normal;
flat in vec4 base;

out vec4 painted;

void main() {
    painted = vec4(lit(base.rgb, normalize(normal), to_eye(point)), base.a);
}
