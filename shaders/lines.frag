#version 330 core

in vec2 place;
flat in vec4 base;
flat in float half_width;
flat in vec2 pattern;
flat in float whole;

out vec4 painted;

void main() {
    float cover = clamp(half_width - abs(place.y) + 0.5, 0.0, 1.0);
    cover *= clamp(min(place.x, whole - place.x) + 0.5, 0.0, 1.0);
    if (pattern.x > 0.0) {
        float phase = mod(place.x, pattern.x + pattern.y);
        cover *= clamp(min(phase, pattern.x - phase) + 0.5, 0.0, 1.0);
    }
    if (cover <= 0.0) {
        discard;
    }
    painted = vec4(base.rgb, base.a * cover);
}
