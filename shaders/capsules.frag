#version 330 core

#include "view.glsl"
#include "light.glsl"

in vec3 spot;
in vec3 facing;
flat in vec4 base;   // a < 0: an outline, which is not lit

out vec4 painted;

void main() {
    vec3 shaded = lit(base.rgb, mat3(view) * normalize(facing), to_eye((view * vec4(spot, 1.0)).xyz));
    painted = base.a < 0.0 ? vec4(base.rgb, 1.0) : vec4(shaded, base.a);
}
