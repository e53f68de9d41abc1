// The surface of a capsule: two balls and the cone around both.

invariant gl_Position;   // two programs draw the same capsule, one after the other

in vec4 place;     // xy: cosine and sine of the turn about the axis; z: elevation in radians; w: 0 at end a, 1 at end b

in vec3 end_a;
in vec3 end_b;
in float radius;   // at end b
in float flare;    // more at end a

out vec3 spot;     // in the world
out vec3 facing;   // normal there

const float QUARTER = 1.57079633;

// Sets both, and returns where it is seen; so many pixels wider.
vec4 surface(float pixels) {
    vec3 along = end_b - end_a;
    float size = length(along);
    vec3 up = size > 1e-9 ? along / size : vec3(0.0, 1.0, 0.0);
    vec3 side = normalize(cross(up, abs(up.x) < 0.7 ? vec3(1.0, 0.0, 0.0) : vec3(0.0, 0.0, 1.0)));
    // The cone touches both balls at this elevation: the normal is the same along it.
    float lean = asin(clamp(flare / max(size, 1e-9), 0.0, 0.99));
    float rise = place.z + lean * (1.0 - abs(place.z) / QUARTER);
    vec3 outwards = cos(rise) * (place.x * side + place.y * cross(side, up)) + sin(rise) * up;
    vec3 middle = mix(end_a, end_b, place.w);
    float wider = pixels <= 0.0 ? 0.0 : pixels * metres_per_pixel(max(-(view * vec4(middle, 1.0)).z, 1e-6));
    spot = middle + (radius + flare * (1.0 - place.w) + wider) * outwards;
    facing = outwards;
    return lens * (view * vec4(spot, 1.0));
}
