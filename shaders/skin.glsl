// Linear blend skinning: a vertex is the weighted mean of where its bindings would take it.

uniform sampler2D bindings;   // four texels each: the rows of world_from_mesh; in the fourth, x: strength of the accent
uniform int influences;       // bindings of a vertex: 1, 4 or 8

in uvec4 joints;
in uvec4 more_joints;
in vec4 weights;
in vec4 more_weights;

const int WIDE = 256;   // bindings in a row of the texture

struct Blend {
    vec4 x;
    vec4 y;
    vec4 z;
    float accent;
};

void blend_in(inout Blend sum, uint binding, float weight) {
    ivec2 at = ivec2(4 * (int(binding) % WIDE), int(binding) / WIDE);
    sum.x += weight * texelFetch(bindings, at, 0);
    sum.y += weight * texelFetch(bindings, at + ivec2(1, 0), 0);
    sum.z += weight * texelFetch(bindings, at + ivec2(2, 0), 0);
    sum.accent += weight * texelFetch(bindings, at + ivec2(3, 0), 0).x;
}

Blend blended() {
    Blend sum = Blend(vec4(0.0), vec4(0.0), vec4(0.0), 0.0);
    if (influences == 1) {
        blend_in(sum, joints.x, 1.0);
        return sum;
    }
    for (int i = 0; i < 4; i++) {
        if (weights[i] > 0.0) blend_in(sum, joints[i], weights[i]);
    }
    if (influences > 4) {
        for (int i = 0; i < 4; i++) {
            if (more_weights[i] > 0.0) blend_in(sum, more_joints[i], more_weights[i]);
        }
    }
    return sum;
}

vec3 carried(Blend blend, vec4 point) {
    return vec3(dot(blend.x, point), dot(blend.y, point), dot(blend.z, point));
}
