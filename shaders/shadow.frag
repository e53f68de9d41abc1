#version 330 core

uniform sampler2D map;

in vec2 at;

out vec4 painted;

void main() {
    painted = vec4(0.0, 0.0, 0.0, texture(map, at).r);
}
