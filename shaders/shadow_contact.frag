#version 330 core

#include "occlusion.glsl"

in vec2 place;
flat in vec4 from;
flat in vec4 to;

out float painted;

void main() {
    painted = 0.75 * hidden(vec3(place.x, 0.0, place.y), vec3(0.0, 1.0, 0.0), from, to);
}
