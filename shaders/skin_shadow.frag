#version 330 core

in float strength;

out float painted;

void main() {
    painted = strength;
}
