"""Drawing the figure and what stands round it: one instanced draw for each kind of primitive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from viewer.opengl.meshes import hull, octahedron
from viewer.opengl.programs import compile_program
from viewer.opengl.stream import Stream
from viewer.opengl.targets import write_only
from viewer.scene.primitives import BONE, FLAT, LINE, SPHERE, VERTEX

if TYPE_CHECKING:
    import moderngl

    from viewer.scene.primitives import Records

_ROWS = ("row_x", "row_y", "row_z")
_ALPHA_TO_COVERAGE = 0x809E  # GL_SAMPLE_ALPHA_TO_COVERAGE, for which moderngl has no name


class Bones:
    """Octahedra with lit edges, and the outlines of those that have one."""

    def __init__(self, ctx: moderngl.Context) -> None:
        """Compile, and lay out the records for the bones' shaders."""
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
        """Hold these BONE records; whether they are others than before."""
        changed = self.stream.load(bones)
        if changed:
            self._outlined = bool((bones["outline"][:, 3] > 0.0).any())
        return changed

    def draw(self) -> None:
        """Draw them: faces that look away are left out, and of the outlines those that look here."""
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
        """Draw them translucent: depth first and colour then, so that each pixel takes one layer and no more."""
        if not self.stream.count:
            return
        ctx = self._ctx
        ctx.enable(ctx.CULL_FACE)
        write_only(target, colour=False, depth=True)
        self._bones.render(ctx.TRIANGLES, instances=self.stream.count)
        write_only(target, colour=True, depth=True)
        ctx.enable(ctx.BLEND)
        self._bones.render(ctx.TRIANGLES, instances=self.stream.count)
        ctx.disable(ctx.BLEND | ctx.CULL_FACE)


class Spheres:
    """Joints: squares on which the fragment shader finds the sphere, its depth too."""

    def __init__(self, ctx: moderngl.Context) -> None:
        """Compile, and lay out the records for the shader."""
        self._ctx = ctx
        self._stream = Stream(ctx, SPHERE.itemsize)
        names = ("centre", "radius", "least", "tint", "outline")
        self._array = ctx.vertex_array(
            compile_program(ctx, "spheres"), [(self._stream.buffer, "3f 1f 1f 4f 4f/i", *names)]
        )

    def load(self, spheres: Records) -> None:
        """Hold these SPHERE records."""
        self._stream.load(spheres)

    def draw(self, samples: int) -> None:
        """Draw them with soft rims: by blending, or by covering as many of a pixel's samples."""
        if not self._stream.count:
            return
        ctx = self._ctx
        flag = _ALPHA_TO_COVERAGE if samples else 0x0BE2  # GL_BLEND
        ctx.enable_direct(flag)
        self._array.render(ctx.TRIANGLE_STRIP, vertices=4, instances=self._stream.count)
        ctx.disable_direct(flag)


class Lines:
    """Lines of a width in pixels, solid or dashed."""

    def __init__(self, ctx: moderngl.Context) -> None:
        """Compile, and lay out the records for the shader."""
        self._ctx = ctx
        self._stream = Stream(ctx, LINE.itemsize)
        names = ("start", "end", "tint", "width", "dash")
        self._array = ctx.vertex_array(
            compile_program(ctx, "lines"), [(self._stream.buffer, "3f 3f 4f 1f 2f/i", *names)]
        )

    def load(self, lines: Records) -> None:
        """Hold these LINE records."""
        self._stream.load(lines)

    def draw(self) -> None:
        """Draw them; the caller has set blending."""
        if self._stream.count:
            self._array.render(self._ctx.TRIANGLE_STRIP, vertices=4, instances=self._stream.count)


class Triangles:
    """Plain triangles with a colour at each corner: translucent ones in the world, or flat ones over everything."""

    def __init__(self, ctx: moderngl.Context, program: str) -> None:
        """Compile ``program``, "triangles" for VERTEX records or "flat" for FLAT ones."""
        self._ctx = ctx
        record, layout = (FLAT, "2f 4f") if program == "flat" else (VERTEX, "3f 4f")
        self._stream = Stream(ctx, record.itemsize)
        self._array = ctx.vertex_array(compile_program(ctx, program), [(self._stream.buffer, layout, "place", "tint")])

    def load(self, vertices: Records) -> None:
        """Hold these records, three a triangle."""
        self._stream.load(vertices)

    def draw(self) -> None:
        """Draw them; the caller has set blending."""
        if self._stream.count:
            self._array.render(self._ctx.TRIANGLES, vertices=self._stream.count)
