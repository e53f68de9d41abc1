// One soft key light, a hemisphere and a rim, all in display space: no gamma on the way.

const vec3 GROUND_TINT = vec3(0.40, 0.39, 0.40);
const vec3 SKY_TINT = vec3(0.82, 0.87, 0.94);
const vec3 KEY_TINT = vec3(1.0, 0.97, 0.92);
const vec3 RIM_TINT = vec3(0.75, 0.85, 1.0);

vec3 lit(vec3 base, vec3 normal, vec3 eye) {
    vec3 hemisphere = mix(GROUND_TINT, SKY_TINT, 0.5 + 0.5 * dot(normal, sky_up.xyz));
    vec3 light = 0.66 * hemisphere + 0.56 * KEY_TINT * max(dot(normal, key.xyz), 0.0);
    float grazing = 1.0 - clamp(dot(normal, eye), 0.0, 1.0);
    return base * light + 0.10 * grazing * grazing * grazing * RIM_TINT;
}
