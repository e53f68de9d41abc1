// How much of the light of a point a capsule hides: that of the ball on its axis that is nearest.

float hidden(vec3 point, vec3 outwards, vec4 from, vec4 to) {
    vec3 way = to.xyz - from.xyz;
    float part = clamp(dot(point - from.xyz, way) / max(dot(way, way), 1e-18), 0.0, 1.0);
    vec3 apart = from.xyz + part * way - point;
    float radius = mix(from.w, to.w, part);
    // Inside the capsule, where two overlap, it hides no more than at its surface.
    float distance2 = max(dot(apart, apart), 1e-18);
    float cosine = max(dot(outwards, apart) * inversesqrt(distance2), 0.0);
    return cosine * min(radius * radius / distance2, 1.0);
}
