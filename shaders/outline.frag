#version 330 core

flat in vec3 colour;

out vec4 painted;

void main() {
    painted = vec4(colour, 1.0);
}
