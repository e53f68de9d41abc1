#version 330 core

in vec4 base;

out vec4 painted;

void main() {
    painted = base;
}
