"""Draws draw lists onto framebuffers: an instanced draw for each record type, grid and shadows, the passes of a frame.

A window draws on its own context; `offscreen` is that of pictures.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from itertools import pairwise
from operator import is_

import moderngl
import numpy as np
from numpy.typing import NDArray

from viewer.errors import MachineError
from viewer.opengl.gpu_objects import (
    RenderTarget,
    Stream,
    ViewBlock,
    compile_program,
    create_context,
    key_light,
    read_picture,
    write_only,
)
from viewer.opengl.skin_drawing import Skins
from viewer.scene import (
    BONE,
    CAPSULE,
    FLAT,
    GRID_REACH,
    LINE,
    MOST_SHADED,
    OCCLUDERS,
    PALETTE,
    SOLID,
    SPHERE,
    VERTEX,
    DrawList,
    Ground,
    Records,
    SkinDraw,
    axes_of,
    no_occluders,
    occluders_of,
    rgba,
)
from viewer.skeleton.bodies import BELT, CORNERS, FACES
from viewer.spatial.checks import Floats
from viewer.spatial.projection import Projection
from viewer.spatial.quaternion import face_normals

_RING = CORNERS[1:5, ::2]
"""(4, 2) x and z of the belt's corners."""

_ROWS = ("row_x", "row_y", "row_z")
CULL_FACE, BLEND, ALPHA_TO_COVERAGE = 0x0B44, 0x0BE2, 0x809E
"""OpenGL's flags; moderngl has no name for the last one."""

_AROUND, _RINGS = 16, 4
"""Corners around a capsule, and rings of each of its round ends."""

_OVER = 0x0302, 0x0303, 1, 0x0303  # SRC_ALPHA, ONE_MINUS_SRC_ALPHA for colour; ONE, ONE_MINUS_SRC_ALPHA for alpha
"""Blend factors; the target's alpha stays 1, so that it can be blitted or written to a file."""


def octahedron() -> bytes:
    """24 vertices of (place, normal, barycentric), 9 floats each, counter-clockwise from outside.

    The head is at the origin, the tail at (0, 1, 0), the belt has radius 1 at y = `BELT`.
    """
    places = CORNERS[FACES]
    corners = np.broadcast_to(np.eye(3), places.shape)
    rows = np.concatenate([places, np.repeat(face_normals(places)[:, None], 3, axis=1), corners], axis=-1)
    return rows.astype(np.float32).tobytes()


def hull() -> bytes:
    """60 vertices of 4 floats: direction x, position along the bone, direction z, 1 on the belt and 0 at the ends.

    A tube with four sides and closed ends, counter-clockwise from outside; ``outline.vert`` sets its width.
    """
    rings = [[np.array([x, y, z, float(y == BELT)]) for x, z in _RING] for y in (0.0, BELT, 1.0)]
    rows = []
    for lower, upper in pairwise(rings):
        for side in range(4):
            after = (side + 1) % 4
            rows += [lower[after], lower[side], upper[side], lower[after], upper[side], upper[after]]
    bottom, top = rings[0], rings[-1]
    rows += [bottom[0], bottom[1], bottom[2], bottom[0], bottom[2], bottom[3]]
    rows += [top[0], top[2], top[1], top[0], top[3], top[2]]
    return np.array(rows, dtype=np.float32).tobytes()


def _layered(ctx: moderngl.Context, target: moderngl.Framebuffer, render: Callable[[], object]) -> None:
    """Draw translucently without back faces: first depth, then colour, so that each pixel gets only one layer."""
    ctx.enable(ctx.CULL_FACE)
    write_only(target, colour=False, depth=True)
    render()
    write_only(target, colour=True, depth=True)
    ctx.enable(ctx.BLEND)
    render()
    ctx.disable(ctx.BLEND | ctx.CULL_FACE)


class Bones:
    """Octahedra with lit edges, and the outlines of those that have one."""

    def __init__(self, ctx: moderngl.Context) -> None:
        self._ctx = ctx
        self.stream = Stream(ctx, BONE.itemsize)
        mesh, shell = ctx.buffer(octahedron()), ctx.buffer(hull())
        self._bones = ctx.vertex_array(
            compile_program(ctx, "bones"),
            [
                (mesh, "3f 3f 3f", "place", "facing", "corner"),
                (self.stream.buffer, "4f 4f 4f 4f 16x 1f/i", *_ROWS, "tint", "dashed"),
            ],
        )
        self._hulls = ctx.vertex_array(
            compile_program(ctx, "outline"),
            [(shell, "4f", "hull"), (self.stream.buffer, "4f 4f 4f 16x 4f 4x/i", *_ROWS, "outline")],
        )
        self._outlined = False

    def load(self, bones: Records) -> bool:
        """Load BONE records; whether they differ from the last ones."""
        changed = self.stream.load(bones)
        if changed:
            self._outlined = bool((bones["outline"][:, 3] > 0.0).any())
        return changed

    def draw(self) -> None:
        """Draw the bones without back faces, and outlines without front faces."""
        if not self.stream.count:
            return
        ctx = self._ctx
        ctx.enable(ctx.CULL_FACE)
        ctx.cull_face = "back"
        self._bones.render(ctx.TRIANGLES, instances=self.stream.count)
        if self._outlined:
            ctx.cull_face = "front"
            self._hulls.render(ctx.TRIANGLES, instances=self.stream.count)
            ctx.cull_face = "back"
        ctx.disable(ctx.CULL_FACE)

    def draw_ghosts(self, target: moderngl.Framebuffer) -> None:
        """Draw the bones translucently, without outlines."""
        if self.stream.count:
            render = partial(self._bones.render, self._ctx.TRIANGLES, instances=self.stream.count)
            _layered(self._ctx, target, render)


def capsule_mesh() -> tuple[bytes, bytes]:
    """Vertices of 4 floats, and 32-bit indices of the corners of triangles, counter-clockwise as seen from outside.

    A vertex is the cosine and sine of its turn about the axis, its elevation in radians, and 0 at the end a, 1 at b.
    The elevation is that of a capsule with equal radii; the shader leans it for others.
    """
    rise = np.linspace(-0.5 * np.pi, 0.0, _RINGS + 1)
    levels = [(angle, 0.0) for angle in rise] + [(-angle, 1.0) for angle in rise[::-1]]
    turn = np.linspace(0.0, 2.0 * np.pi, _AROUND + 1)[:-1]
    vertices = [(np.cos(round_), np.sin(round_), up, end) for up, end in levels for round_ in turn]
    corners: list[int] = []
    for lower, upper in pairwise(range(0, len(vertices), _AROUND)):
        for this in range(_AROUND):
            after = (this + 1) % _AROUND
            corners += [lower + this, upper + this, upper + after, lower + this, upper + after, lower + after]
    return np.array(vertices, dtype=np.float32).tobytes(), np.array(corners, dtype=np.uint32).tobytes()


class Capsules:
    """Smooth lit capsules, and the outlines of those that have one."""

    def __init__(self, ctx: moderngl.Context) -> None:
        self._ctx = ctx
        self.stream = Stream(ctx, CAPSULE.itemsize)
        self._near = Stream(ctx, 4)
        self._occluders = ctx.texture((2 * OCCLUDERS, MOST_SHADED), 4, dtype="f4")
        self._occluders.filter = ctx.NEAREST, ctx.NEAREST
        vertices, corners = (ctx.buffer(part) for part in capsule_mesh())
        names = ("end_a", "end_b", "radius", "flare", "tint", "outline")
        self._plain, self._close = compile_program(ctx, "capsules"), compile_program(ctx, "close_capsules")
        bodies = (self.stream.buffer, "3f 3f 1f 1f 4f 4f/i", *names)
        self._array = ctx.vertex_array(self._plain, [(vertices, "4f", "place"), bodies], corners)
        self._close_array = ctx.vertex_array(
            self._close,
            [
                (vertices, "4f", "place"),
                (self.stream.buffer, "3f 3f 1f 1f 4f 16x/i", *names[:-1]),
                (self._near.buffer, "1f/i", "near"),
            ],
            corners,
        )
        self._outlined = self._darkened = False
        self._shaded: tuple[Records, bool] | None = None

    def load(self, capsules: Records, *, shading: bool = False) -> None:
        """Load CAPSULE records; ``shading``: they darken each other where they are close."""
        if self.stream.load(capsules):
            self._outlined = bool((capsules["outline"][:, 3] > 0.0).any())
        if self._shaded is not None and self._shaded[0] is capsules and self._shaded[1] == shading:
            return
        self._shaded, self._darkened = (capsules, shading), False
        if not len(capsules):
            return
        near = occluders_of(capsules) if shading else no_occluders(len(capsules))
        counts = (near >= 0).sum(axis=1)
        self._near.load(counts.astype(np.float32))
        self._darkened = bool(counts.any())
        if self._darkened:
            self._occluders.write(axes_of(capsules)[near].tobytes(), viewport=(0, 0, 2 * OCCLUDERS, len(capsules)))

    def draw(self, target: moderngl.Framebuffer) -> None:
        """Draw the capsules without back faces, and outlines without front faces."""
        if not self.stream.count:
            return
        ctx = self._ctx
        ctx.enable(ctx.CULL_FACE)
        if self._darkened:
            # First depth, so that the occlusion is computed once for each pixel and not for what is hidden.
            write_only(target, colour=False, depth=True)
            self._render(hull=False)
            write_only(target, colour=True, depth=True)
        self._render(hull=False, shaded=self._darkened)
        if self._outlined:
            ctx.cull_face = "front"
            self._render(hull=True)
            ctx.cull_face = "back"
        ctx.disable(ctx.CULL_FACE)

    def draw_translucent(self, target: moderngl.Framebuffer) -> None:
        """Draw them translucently, without outlines."""
        if self.stream.count:
            _layered(self._ctx, target, partial(self._render, hull=False))

    def _render(self, *, hull: bool, shaded: bool = False) -> None:
        if shaded:
            self._occluders.use(0)
            self._close_array.render(self._ctx.TRIANGLES, instances=self.stream.count)
        else:
            self._plain["hull"] = float(hull)
            self._array.render(self._ctx.TRIANGLES, instances=self.stream.count)


class Shapes:
    """Records that one program draws: three for each triangle, or (a layout per instance) one for each square."""

    def __init__(self, ctx: moderngl.Context, program: str, record: np.dtype[np.void], layout: str, names: str) -> None:
        """Compile the program, and lay out the records by ``names``, its attributes, for it."""
        self._ctx = ctx
        self.stream = Stream(ctx, record.itemsize)
        content = [(self.stream.buffer, layout, *names.split())]
        self._array = ctx.vertex_array(compile_program(ctx, program), content)
        self._squares = layout.endswith("/i")

    def load(self, records: Records) -> None:
        """Load the records."""
        self.stream.load(records)

    def draw(self, flag: int = 0) -> None:
        """Draw them while OpenGL's ``flag`` is on; the caller has set everything else."""
        if not self.stream.count:
            return
        ctx = self._ctx
        if flag:
            ctx.enable_direct(flag)
        if self._squares:
            self._array.render(ctx.TRIANGLE_STRIP, vertices=4, instances=self.stream.count)
        else:
            self._array.render(ctx.TRIANGLES, vertices=self.stream.count)
        if flag:
            ctx.disable_direct(flag)


# --- background, grid, and the shadows of figure and props on the ground

_CORNERS = 48
"""Corners of the disc on which the grid is drawn."""

_UPRIGHT = 0.55
"""Opacity of an upright grid relative to one on the ground."""

_MAP_PIXELS, _SKIN_MAP_PIXELS = 512, 256
"""Sides of the map of soft shadows of bones, and of that of skins, which is blurred."""
_MAP_HALF = 1.3
"""Half of the shadow map's side as a multiple of the figure's height."""

_SOFT = 1.7
"""Radius of a fading shadow relative to that of the bone; the same number is in the shader."""

_CLOSE = 4.0
"""Radii within which a capsule darkens the floor; the same number is in the shader."""

_BLUR = 1.4
"""Level of the map's mipmaps at which the sharp shadow of a skin is soft."""

_LEAN = 0.55
"""Horizontal offset of a shadow from its caster, away from the key light, metres per metre of height."""

_CASTER = np.dtype([("frame", "f4", (3, 4))])
"""A caster of a shadow like a bone's: axis and radius as in the frame of a BONE record."""
_BONE_WIDER = 1.5
"""Radius, relative to the bone's, of a capsule with the same shadow; the same number is in the shader."""


class Background:
    """The gradient behind everything."""

    def __init__(self, ctx: moderngl.Context) -> None:
        self._ctx = ctx
        program = compile_program(ctx, "background")
        program["top"] = PALETTE["bg_top"]
        program["bottom"] = PALETTE["bg_bot"]
        self._array = ctx.vertex_array(program, [])

    def draw(self) -> None:
        """Paint the target; the caller has disabled the depth test."""
        self._array.render(self._ctx.TRIANGLES, vertices=3)


class Grid:
    """Lines on the ground or in another plane; levels that become too fine fade out."""

    def __init__(self, ctx: moderngl.Context) -> None:
        self._ctx = ctx
        program = compile_program(ctx, "ground")
        program["turns"] = float(_CORNERS)
        self._program = program
        self._array = ctx.vertex_array(program, [])

    def draw(self, ground: Ground) -> None:
        """Draw it; the caller has set blending and depth test."""
        first, second = ("xyz".index(letter) for letter in ground.along)
        centre, radius = np.array(ground.middle), GRID_REACH * ground.height
        if ground.disc is not None:
            for axis, value in zip("xz", ground.disc, strict=False):
                if axis in ground.along:  # an upright grid keeps its distance behind the figure
                    centre["xyz".index(axis)] = value
            radius = ground.disc[2]
        wide = 10.0 * ground.cell
        # Relative to a nearby crossing: far from the origin the numbers stay small and exact.
        place = centre[[first, second]]
        crossing = np.round(place / wide) * wide
        self._program["disc"] = (*centre.tolist(), radius)
        self._program["along"] = tuple(np.eye(3)[[first, second]].reshape(-1).tolist())
        self._program["lattice"] = (*((place - crossing) / ground.cell), ground.cell)
        self._program["axes"] = tuple(-crossing / ground.cell)
        # An upright grid faces the camera, behind the figure and its ghosts, so it is drawn fainter.
        strength = 1.0 if ground.along == "xz" else _UPRIGHT
        self._program["fine"] = rgba("grid", strength * 0.22)
        self._program["coarse"] = rgba("grid_major", strength * 0.50)
        for name, letter in zip(("first_axis", "second_axis"), ground.along, strict=True):
            self._program[name] = rgba(letter, strength * 0.75)
        self._array.render(self._ctx.TRIANGLE_FAN, vertices=_CORNERS)


class Shadow:
    """Soft shadows: the map is drawn when a caster changes, and drawn onto the ground in every frame."""

    def __init__(self, ctx: moderngl.Context, bones: Stream, solids: Stream, capsules: Stream, skins: Skins) -> None:
        """Compile for a context that is current on this thread, and the records of what casts a shadow."""
        self._ctx = ctx
        self._bones, self._skins = bones, skins
        self._maps = [ctx.texture((side, side), 1) for side in (_MAP_PIXELS, _SKIN_MAP_PIXELS)]
        for map_ in self._maps:
            map_.repeat_x = map_.repeat_y = False
        self._maps[1].filter = ctx.LINEAR_MIPMAP_LINEAR, ctx.LINEAR
        self._targets = [ctx.framebuffer(color_attachments=[map_]) for map_ in self._maps]
        self._caster = compile_program(ctx, "shadow_map")
        self._casts = ctx.vertex_array(self._caster, [(bones.buffer, "4f 4f 4f 36x/i", "row_x", "row_y", "row_z")])
        self._capsules = Stream(ctx, _CASTER.itemsize)
        self._casts_round = ctx.vertex_array(
            self._caster, [(self._capsules.buffer, "4f 4f 4f/i", "row_x", "row_y", "row_z")]
        )
        self._flat_caster = compile_program(ctx, "shadow_solid")
        self._casts_flat = ctx.vertex_array(self._flat_caster, [(solids.buffer, "3f 28x", "place")])
        self._close_caster = compile_program(ctx, "shadow_contact")
        self._casts_close = ctx.vertex_array(
            self._close_caster, [(capsules.buffer, "3f 3f 1f 1f 32x/i", "end_a", "end_b", "radius", "flare")]
        )
        self._program = compile_program(ctx, "shadow")
        self._array = ctx.vertex_array(self._program, [])
        self._drawn: tuple[object, ...] = ()
        self._cast: tuple[Records, Records, Records] | None = None
        self._dressed: tuple[SkinDraw, ...] = ()
        self._bounds: Floats | None = None

    def update(self, draw_list: DrawList, projection: Projection) -> None:
        """Draw the map again if anything has changed; this binds another target."""
        ground, casts = draw_list.ground, (draw_list.bones, draw_list.capsules, draw_list.solids)
        key = key_light(projection)
        state = (ground, draw_list.shading, *key.tolist())
        skins = draw_list.skins
        same = state == self._drawn and skins == self._dressed
        if same and self._cast is not None and all(map(is_, casts, self._cast)):
            return
        self._cast, self._drawn, self._dressed = casts, state, skins
        lean = -_LEAN * key
        bones, round_, solids = casts[0], casters_of(casts[1]), casts[2]
        spheres = np.concatenate([draw.spheres for draw in skins]) if skins else None
        self._bounds = shadow_bounds(bones, ground, lean, round_, solids["position"], spheres)
        if self._bounds is None:
            return
        self._capsules.load(round_)
        x, z, half = _patch(ground)
        ctx = self._ctx
        patch, leaning = (x, ground.y, z, half), (lean[0], 0.0, lean[2], ground.height)
        for program in (self._caster, self._flat_caster):
            program["patch_"], program["lean"] = patch, leaning
        self._close_caster["patch_"] = patch
        target = self._targets[bool(skins)]
        target.use()
        target.clear()
        ctx.enable_only(ctx.BLEND)
        ctx.blend_func = ctx.ONE, ctx.ONE
        ctx.blend_equation = ctx.MAX, ctx.MAX
        if len(bones):
            self._casts.render(ctx.TRIANGLE_STRIP, vertices=4, instances=len(bones))
        if len(round_):
            self._casts_round.render(ctx.TRIANGLE_STRIP, vertices=4, instances=len(round_))
            if draw_list.shading:
                self._casts_close.render(ctx.TRIANGLE_STRIP, vertices=4, instances=len(round_))
        if len(solids):
            self._casts_flat.render(ctx.TRIANGLES, vertices=len(solids))
        if skins:
            self._skins.cast(patch, leaning)
            self._maps[1].build_mipmaps()
        ctx.blend_equation = ctx.FUNC_ADD, ctx.FUNC_ADD

    def draw(self, ground: Ground, projection: Projection) -> None:
        """Darken the ground, unless it is seen from below; the caller has set blending and depth test."""
        if self._bounds is None or projection.eye[1] < ground.y:
            return
        x, z, half = _patch(ground)
        self._program["patch_"] = (x, ground.y, z, half)
        self._program["bounds"] = tuple(self._bounds)
        of_skins = bool(self._dressed)
        self._program["softness"] = _BLUR if of_skins else 0.0
        self._maps[of_skins].use(0)
        self._array.render(self._ctx.TRIANGLE_STRIP, vertices=4)


def _patch(ground: Ground) -> tuple[float, float, float]:
    """x, z and half side of the square in which shadows fall, metres."""
    return ground.patch or (ground.centre[0], ground.centre[2], _MAP_HALF * ground.height)


def casters_of(capsules: Records) -> Records:
    """The casters of the shadows of CAPSULE records."""
    casters = np.zeros(len(capsules), _CASTER)
    casters["frame"][:, 0, 0] = capsules["radius"] / _BONE_WIDER
    casters["frame"][:, :, 1] = capsules["b"] - capsules["a"]
    casters["frame"][:, :, 3] = capsules["a"]
    return casters


def shadow_bounds(
    bones: Records,
    ground: Ground,
    lean: Floats,
    capsules: Records | None = None,
    corners: Records | None = None,
    spheres: Floats | None = None,
) -> Floats | None:
    """Bounds of the map's dark part: smallest x and z, largest x and z (4,) in -1 .. 1; None without one.

    ``lean`` (3,) is the offset of a shadow, metres per metre of height. Shadows are cast by BONE records, ``capsules``
    as of `casters_of`, ``corners`` (N, 3) of triangles, and skins within ``spheres`` (N, 4), centres and radii; metres.
    """
    parts = [bones["frame"]] if capsules is None else [bones["frame"], capsules["frame"]]
    frames = np.concatenate(parts).astype(np.float64)
    ends = np.concatenate([frames[:, :, 3], frames[:, :, 3] + frames[:, :, 1]])
    radius = np.tile(np.linalg.norm(frames[:, :, 0], axis=-1), 2)
    reach = _SOFT * (_BONE_WIDER * radius + 0.085 * np.maximum(ends[:, 1] - ground.y, 0.0))
    if capsules is not None:
        # Close to the floor a capsule darkens what is below it, too, where its shadow leans away.
        round_ = np.tile(np.arange(len(frames)) >= len(bones), 2)
        thick = _BONE_WIDER * radius
        low = round_ & (ends[:, 1] - ground.y < _CLOSE * thick)
        reach = np.where(low, np.maximum(reach, _CLOSE * (1.0 + _LEAN) * thick), reach)
    if corners is not None:
        ends, reach = np.concatenate([ends, corners]), np.concatenate([reach, np.zeros(len(corners))])
    if spheres is not None:
        soft = 0.1 * ground.height  # the map of skins is blurred
        ends, reach = np.concatenate([ends, spheres[:, :3]]), np.concatenate([reach, spheres[:, 3] + soft])
    if not len(ends):
        return None
    height = np.maximum(ends[:, 1] - ground.y, 0.0)
    x, z, half = _patch(ground)
    centre = np.array([x, z])
    at = ends[:, [0, 2]] - centre + lean[[0, 2]] * height[:, None]
    least, most = (at - reach[:, None]).min(axis=0) / half, (at + reach[:, None]).max(axis=0) / half
    bounds = np.clip(np.concatenate([least, most]), -1.0, 1.0)
    return bounds if (bounds[:2] < bounds[2:]).all() else None


# --- the passes of a frame


class Renderer:
    """Draws draw lists with one OpenGL context.

    Arrays are uploaded when they are not the same objects as in the last frame: a drawn array must not be changed.

    Attributes:
        samples: per pixel; 0 for none. May be changed between frames.
    """

    def __init__(self, ctx: moderngl.Context, samples: int = 0) -> None:
        """Compile all shaders for a context that is current on this thread; the driver limits the samples per pixel.

        Raises:
            MachineError: the driver refuses a shader.
        """
        self.samples = samples
        self._ctx = ctx
        self._view = ViewBlock(ctx)
        self._background = Background(ctx)
        self._bones = Bones(ctx)
        self._ghosts = Bones(ctx)
        # Joints: squares on which the shader computes a sphere with its depth and a soft rim.
        self._spheres = Shapes(ctx, "spheres", SPHERE, "3f 1f 1f 4f 4f/i", "centre radius least tint outline")
        self._capsules = Capsules(ctx)
        self._veils = Capsules(ctx)
        self._solids = Shapes(ctx, "solids", SOLID, "3f 3f 4f", "place facing tint")
        self._skins = Skins(ctx)
        self._grid = Grid(ctx)
        self._shadow = Shadow(ctx, self._bones.stream, self._solids.stream, self._capsules.stream, self._skins)
        self._triangles = Shapes(ctx, "triangles", VERTEX, "3f 4f", "place tint")
        self._lines = Shapes(ctx, "lines", LINE, "3f 3f 4f 1f 2f/i", "start end tint width dash")
        self._flat = Shapes(ctx, "flat", FLAT, "2f 4f", "place tint")  # in pixels, over everything
        self._sampled = RenderTarget(ctx)

    def draw(
        self,
        draw_list: DrawList,
        projection: Projection,
        target: moderngl.Framebuffer,
        *,
        background: bool = True,
        samples: int | None = None,
        scale: float = 1.0,
    ) -> None:
        """Draw a frame without its texts into a framebuffer with depth and without multisampling.

        The projection has the size of its part, from the lower left corner, that is drawn on. Without a ``background``
        existing colours stay, and there is no multisampling. ``samples`` are of this frame, instead of the attribute;
        ``scale`` is that of the draw list, also for grid lines and edges of bones. Afterwards ``target`` is bound,
        blending is on with the default factors, depth test and culling are off.
        """
        most = min(self.samples if samples is None else samples, self._ctx.max_samples)
        wanted = 1 << most.bit_length() - 1 if most > 1 else 0  # drivers have powers of two; 1 means no multisampling
        wanted = wanted if background and wanted > 1 else 0
        self._load(draw_list)
        if draw_list.ground.shadow:
            self._shadow.update(draw_list, projection)
        self._view.bind(projection, scale)
        canvas = self._sampled.sized(projection.size, wanted) if wanted else target
        self._begin(canvas, projection, background=background)
        self._opaque(canvas, wanted, sticks=draw_list.sticks)
        self._translucent(draw_list, projection, canvas)
        if wanted:
            _open(target, projection)
            self._ctx.copy_framebuffer(target, canvas)
        self._overlay(target)

    def release_samples(self) -> None:
        """Release the memory of the multisampled target; it is reserved again when it is needed."""
        self._sampled.release()

    def _load(self, draw_list: DrawList) -> None:
        self._bones.load(draw_list.bones)
        self._ghosts.load(draw_list.ghosts)
        self._spheres.load(draw_list.spheres)
        self._capsules.load(draw_list.capsules, shading=draw_list.shading)
        self._veils.load(draw_list.veils)
        self._solids.load(draw_list.solids)
        self._skins.load(draw_list.skins)
        self._lines.load(draw_list.lines)
        self._triangles.load(draw_list.triangles)
        self._flat.load(draw_list.flat)

    def _begin(self, canvas: moderngl.Framebuffer, projection: Projection, *, background: bool) -> None:
        ctx = self._ctx
        _open(canvas, projection)
        write_only(canvas, colour=False, depth=True)
        canvas.clear(depth=1.0)
        write_only(canvas, colour=True, depth=True)
        ctx.enable_only(ctx.NOTHING)
        ctx.blend_equation = ctx.FUNC_ADD, ctx.FUNC_ADD
        ctx.blend_func = _OVER  # type: ignore[assignment]  # four factors: two for colour, two for alpha
        ctx.cull_face = "back"
        ctx.front_face = "ccw"
        ctx.depth_func = "<="
        if background:
            self._background.draw()

    def _opaque(self, canvas: moderngl.Framebuffer, samples: int, *, sticks: bool) -> None:
        self._ctx.enable(self._ctx.DEPTH_TEST)
        if sticks:
            self._bones.draw()
        self._capsules.draw(canvas)
        self._solids.draw(CULL_FACE)
        self._skins.draw_opaque()
        if sticks:
            # Their rims are soft: drawn by coverage where there are samples, else blended with what is behind them.
            self._spheres.draw(ALPHA_TO_COVERAGE if samples else BLEND)

    def _translucent(self, draw_list: DrawList, projection: Projection, canvas: moderngl.Framebuffer) -> None:
        """Draw translucent things: tested against the figure's depth, without writing depth themselves."""
        ctx = self._ctx
        write_only(canvas, colour=True, depth=False)
        ctx.enable(ctx.BLEND)
        # After the figure, because a camera below the ground sees the figure through the grid.
        if draw_list.ground.grid:
            self._grid.draw(draw_list.ground)
        if draw_list.ground.shadow:
            self._shadow.draw(draw_list.ground, projection)
        self._triangles.draw()
        self._lines.draw()
        ctx.disable(ctx.BLEND)
        write_only(canvas, colour=True, depth=True)
        # Ghosts and bodies that are seen through write depth: they come last, or they would hide the rest.
        self._veils.draw_translucent(canvas)
        self._skins.draw_translucent(canvas)
        self._ghosts.draw_ghosts(canvas)

    def _overlay(self, target: moderngl.Framebuffer) -> None:
        ctx = self._ctx
        write_only(target, colour=True, depth=True)
        ctx.enable_only(ctx.BLEND)
        self._flat.draw()


def _open(framebuffer: moderngl.Framebuffer, projection: Projection) -> None:
    """Reset viewport and scissor, which earlier drawing may have changed."""
    framebuffer.viewport = (0, 0, *projection.size)
    framebuffer.scissor = None  # type: ignore[assignment]  # None is what switches it off


# --- without a window

_KEPT_PIXELS = 1 << 22
"""Memory for pictures with at most this many pixels is kept for the next one."""


class Offscreen:
    """An OpenGL context with its renderer, for one thread."""

    def __init__(self) -> None:
        """Make the context; a MachineError, which names the cure, where the machine cannot draw."""
        ctx = create_context()
        self._renderer = Renderer(ctx)
        self._target = RenderTarget(ctx)

    def picture(self, draw_list: DrawList, projection: Projection, samples: int, scale: float) -> NDArray[np.uint8]:
        """Red, green, blue (H, W, 3), the top row first; texts are left out.

        Raises:
            MachineError: the graphics card does not have enough memory for the size.
        """
        try:
            target = self._target.sized(projection.size)
            # A figure beyond the range of 32-bit floats becomes infinite and is not visible.
            with np.errstate(over="ignore", invalid="ignore"):
                self._renderer.draw(draw_list, projection, target, samples=samples, scale=scale)
            return read_picture(target)
        except Exception as error:
            width, height = projection.size
            line = f"the graphics driver cannot draw {width} x {height} pixels ({error}): choose a smaller size"
            raise MachineError(line) from error
        finally:
            if projection.size[0] * projection.size[1] > _KEPT_PIXELS:
                self._target.release()
                self._renderer.release_samples()


@lru_cache(maxsize=1)
def offscreen() -> Offscreen:
    """The context of all pictures, made for the first one; it belongs to the thread that calls this first."""
    return Offscreen()
