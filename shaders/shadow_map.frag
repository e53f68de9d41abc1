#version 330 core

in vec2 place;
flat in vec4 ends;
flat in vec4 thickness;

out float painted;

void main() {
    vec2 line = ends.zw - ends.xy;
    float part = clamp(dot(place - ends.xy, line) / max(dot(line, line), 1e-18), 0.0, 1.0);
    float radius = mix(thickness.x, thickness.z, part);
    float strength = mix(thickness.y, thickness.w, part);
    float off = distance(place, ends.xy + part * line) / radius;
    float soft = max(1.0 - off * off, 0.0);
    painted = strength * soft * soft;
}
