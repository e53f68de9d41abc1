"""What the renderer promises its callers: uploads, targets, samples, the state it leaves."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from gl_drawing import BARE, NOTHING, RED, SIZE, WHITE, bones, camera, changed, context, drawn, listed, quad, spheres
from inside.opengl import Renderer, RenderTarget, Stream, key_light, packed, read_picture

from viewer.scene import BONE, FLAT, Camera

if TYPE_CHECKING:
    from inside.spatial import Projection


def test_a_stream_writes_only_what_is_another_array_and_grows() -> None:
    with context() as ctx:
        stream = Stream(ctx, BONE.itemsize)
        few, many = np.zeros(3, BONE), np.ones(500, BONE)
        assert stream.load(few)
        assert not stream.load(few)
        few["dashed"] = 7.0
        assert not stream.load(few)
        assert np.frombuffer(stream.buffer.read(few.nbytes), BONE)["dashed"].tolist() == [0, 0, 0]
        assert stream.load(few.copy())
        assert np.frombuffer(stream.buffer.read(few.nbytes), BONE)["dashed"].tolist() == [7, 7, 7]
        assert stream.load(many)
        assert stream.count == 500
        assert stream.buffer.read(many.nbytes) == many.tobytes()
        assert stream.load(many[:0])
        assert stream.count == 0


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 1000])
def test_any_number_of_bones_is_drawn(count: int) -> None:
    projection = camera(orthographic=True).projection(SIZE)
    places = [(-0.9 + 1.8 * (i % 40) / 40, -0.7 + 1.4 * (i // 40) / 25, 0.0) for i in range(count)]
    rows = bones(*((place, np.add(place, (0.03, 0.03, 0)), 0.01, WHITE) for place in places))
    covered = changed(drawn(projection, bones=rows), projection)
    seen = [
        covered[y, x] for x, y in np.floor(projection.project(np.add(places or np.empty((0, 3)), 0.009))).astype(int)
    ]
    assert all(seen)
    assert covered.any() == (count > 0)


@pytest.mark.parametrize("samples", [0, 4])
def test_the_state_afterwards_is_as_documented_and_that_before_does_not_matter(samples: int) -> None:
    projection = camera().projection(SIZE)
    parts = {
        "bones": bones(((-0.5, 0, 0), (0.5, 0, 0), 0.1, RED)),
        "spheres": spheres(((0, 0.3, 0), 0.2, WHITE)),
        "ghosts": bones(((-0.5, -0.3, 0), (0.5, -0.3, 0), 0.1, (1, 1, 1, 0.2))),
        "flat": quad([(1, 1), (9, 1), (9, 9), (1, 9)], RED, FLAT),
        "ground": replace(BARE, grid=True, shadow=True),
    }
    expected = drawn(projection, samples, **parts)
    with context() as ctx:
        renderer, target = Renderer(ctx, samples), RenderTarget(ctx).sized(projection.size)
        ctx.enable(ctx.DEPTH_TEST | ctx.CULL_FACE | ctx.BLEND)
        ctx.blend_func = ctx.ONE, ctx.ONE
        ctx.cull_face = "front"
        ctx.front_face = "cw"
        ctx.depth_func = ">"
        target.depth_mask = False
        target.color_mask = True, False, True, False
        target.viewport = (5, 5, 9, 9)
        target.scissor = (0, 0, 3, 3)
        target.use()
        renderer.draw(listed(**parts), projection, target)
        picture = read_picture(target).astype(int)
        assert (picture == expected).all()
        # Depth test off, blending on: a faint quad over everything adds its share everywhere.
        assert ctx.fbo is target
        assert target.viewport == (0, 0, *SIZE)
        assert target.color_mask == (True, True, True, True)
        program = ctx.program(
            vertex_shader="""#version 330
            void main() { gl_Position = vec4(gl_VertexID == 1 ? 3 : -1, gl_VertexID == 2 ? 3 : -1, 0.99, 1); }""",
            fragment_shader="""#version 330
            out vec4 painted; void main() { painted = vec4(1, 1, 1, 0.5); }""",
        )
        ctx.vertex_array(program, []).render(vertices=3)
        assert np.abs(read_picture(target) - (0.5 * picture + 127.5)).max() <= 1


def test_the_targets_alpha_stays_whole() -> None:
    projection = camera().projection(SIZE)
    with context() as ctx:
        target = RenderTarget(ctx).sized(SIZE)
        sheet = quad([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], (1, 1, 1, 0.3))
        drawing = listed(
            triangles=sheet,
            ground=replace(BARE, grid=True),
            flat=quad([(0, 0), (50, 0), (50, 50), (0, 50)], (1, 0, 0, 0.5), FLAT),
        )
        Renderer(ctx).draw(drawing, projection, target)
        assert np.frombuffer(target.read(components=4), np.uint8)[3::4].min() >= 254


def test_without_background_what_is_there_stays() -> None:
    projection = camera().projection(SIZE)
    with context() as ctx:
        renderer, target = Renderer(ctx, samples=4), RenderTarget(ctx).sized(SIZE)
        target.clear(0.2, 0.4, 0.6, 1.0, depth=0.0)
        renderer.draw(listed(spheres=spheres(((0, 0, 0), 0.2, WHITE))), projection, target, background=False)
        picture = read_picture(target)
    assert picture[0, 0].tolist() == [51, 102, 153]
    assert picture[SIZE[1] // 2, SIZE[0] // 2].min() > 120  # its depth is cleared


def test_a_target_larger_than_the_view_is_drawn_on_in_its_lower_left_corner() -> None:
    projection = camera().projection((100, 60))
    with context() as ctx:
        renderer, target = Renderer(ctx), RenderTarget(ctx).sized(SIZE)
        target.clear()
        renderer.draw(listed(flat=quad([(0, 0), (100, 0), (100, 60), (0, 60)], WHITE, FLAT)), projection, target)
        white = read_picture(target).min(axis=-1) == 255
    assert white[-60:, :100].all()
    assert white.sum() == 6000


def test_more_samples_than_there_are_and_one_sample_are_taken_as_what_can_be_done() -> None:
    projection = camera().projection(SIZE)
    ball = spheres(((0, 0, 0), 0.2, WHITE))
    assert (drawn(projection, 1, spheres=ball) == drawn(projection, 0, spheres=ball)).all()
    with context() as ctx:
        most = ctx.max_samples
    assert (drawn(projection, 999, spheres=ball) == drawn(projection, most, spheres=ball)).all()


def test_samples_smooth_the_edges_of_bones_and_leave_the_inside() -> None:
    projection = camera(orthographic=True).projection(SIZE)
    rod = bones(((-0.5, -0.3, 0), (0.5, 0.4, 0), 0.15, WHITE))
    rough, smooth = drawn(projection, 0, bones=rod), drawn(projection, 4, bones=rod)
    different = np.abs(rough - smooth).max(axis=-1) > 12
    assert 50 < different.sum() < 0.2 * changed(rough, projection).sum()


def test_the_scale_widens_the_lines_of_the_grid() -> None:
    projection = Camera(np.zeros(3), pitch=0.5 * math.pi, distance=1.2, orthographic=True).projection(SIZE)

    def width(scale: float) -> float:
        with context() as ctx:
            target = RenderTarget(ctx).sized(SIZE)
            pictures = []
            for ground in (BARE, replace(BARE, grid=True)):
                Renderer(ctx).draw(replace(NOTHING, ground=ground), projection, target, scale=scale)
                pictures.append(read_picture(target).astype(int))
        return float((pictures[1] - pictures[0])[130:, 170:, 1].sum())

    assert width(2.0) == pytest.approx(2 * width(1.0), rel=0.25)


def views() -> list[Projection]:
    return [
        Camera(np.zeros(3), yaw=yaw, pitch=pitch, orthographic=flat).projection(SIZE)
        for yaw in (0.0, 2.5)
        for pitch in (-1.5, 0.0, 0.7)
        for flat in (False, True)
    ]


@pytest.mark.parametrize("projection", views())
def test_the_key_light_comes_over_the_left_shoulder(projection: Projection) -> None:
    key = key_light(projection)
    assert np.linalg.norm(key) == pytest.approx(1.0)
    assert key @ projection.right < -0.2
    assert key @ projection.back > 0.1
    block = packed(projection, 1.5)
    np.testing.assert_allclose(block[:16].reshape(4, 4).T, projection.view, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(block[16:32].reshape(4, 4).T, projection.lens, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(block[32:35], projection.view[:3, :3] @ key, atol=1e-6)
    np.testing.assert_allclose(block[36:39], projection.view[:3, 1], atol=1e-6)
    assert block[39] == 1.5
    assert block[40:42].tolist() == list(SIZE)
    depth = 1.0 if projection.orthographic else 2.0
    at_depth = projection.eye - projection.back * depth
    assert block[42] * (1.0 if projection.orthographic else depth) == pytest.approx(
        1 / float(projection.pixels_per_metre(at_depth)), rel=1e-5
    )


def test_a_shadow_is_that_of_the_bones_shown_now_even_after_frames_without_it() -> None:
    projection = Camera(np.zeros(3), pitch=0.9, distance=4.0).projection(SIZE)
    ground = replace(BARE, shadow=True)
    posts = [((x, 0, 0), (x, 0.5, 0), 0.05, RED) for x in (-0.5, 0.0, 0.5)]
    expected = [drawn(projection, bones=bones(post), ground=ground) for post in posts]
    for _ in range(3):
        for post, picture in zip(posts, expected, strict=True):
            assert (drawn(projection, bones=bones(post), ground=ground) == picture).all()
            drawn(projection, bones=bones(posts[0]), ground=BARE)
