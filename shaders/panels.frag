#version 330 core

uniform sampler2D glyphs;

in vec2 at;
in vec4 tint;

out vec4 painted;

void main() {
    painted = tint * texture(glyphs, at);
}
