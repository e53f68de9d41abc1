#version 330 core

uniform sampler2D map;
uniform float softness;   // level of the map's mipmaps

in vec2 at;

out vec4 painted;

void main() {
    painted = vec4(0.0, 0.0, 0.0, textureLod(map, at, softness).r);
}
