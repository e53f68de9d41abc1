#version 330 core

in vec3 shade;

out vec4 painted;

void main() {
    // Ordered 2x2 dither of 0.4 of a level either way: the gradient is so slow that its steps would show as bands.
    vec2 cell = mod(floor(gl_FragCoord.xy), 2.0);
    float rank = 2.0 * abs(cell.x - cell.y) + cell.y;
    painted = vec4(shade + (rank - 1.5) * (0.8 / 3.0 / 255.0), 1.0);
}
