#version 330 core
// The ground, or another plane of the world: a disc beyond which the grid has faded away.

#include "view.glsl"

uniform vec4 disc;     // xyz: its centre in the world; w: its radius
uniform mat2x3 along;  // the world's directions that the lines run along
uniform vec3 lattice;  // xy: the disc's centre in cells from the nearest crossing of coarse lines; z: metres of a cell
uniform float turns;   // corners of the disc

out vec2 cells;        // place in cells from that crossing
out vec2 off;          // place from the centre, 1 = the radius

const float SEEN = 0.84;   // farther out less than half a level is left of the brightest line

void main() {
    float turn = 6.28318531 * float(gl_VertexID) / turns;
    off = SEEN * vec2(cos(turn), sin(turn));
    cells = lattice.xy + off * (disc.w / lattice.z);
    gl_Position = lens * (view * vec4(disc.xyz + disc.w * (along * off), 1.0));
}
