#version 330 core

#include "view.glsl"
#include "light.glsl"

in vec3 point;
in vec3 normal;
flat in vec4 base;   // a < 0: an outline, which is not lit

out vec4 painted;

void main() {
    painted = base.a < 0.0 ? vec4(base.rgb, 1.0) : vec4(lit(base.rgb, normalize(normal), to_eye(point)), base.a);
}
