// What all passes know of the camera; filled by viewer/opengl/gpu_objects.py.

layout(std140) uniform View {
    mat4 view;     // view_from_world
    mat4 lens;     // clip_from_view
    vec4 key;      // xyz: unit direction to the key light, in view axes
    vec4 sky_up;   // xyz: the world's up, in view axes; w: pixels for one of the design, 2 on a dense screen
    vec4 screen;   // xy: size in pixels; z: metres a pixel is wide at depth 1 (orthographic: anywhere); w: 1 = orthographic
};

float metres_per_pixel(float depth) {
    return screen.z * mix(depth, 1.0, screen.w);
}

// Unit vector from a point in view axes to the eye.
vec3 to_eye(vec3 point) {
    return screen.w > 0.5 ? vec3(0.0, 0.0, 1.0) : -normalize(point);
}
