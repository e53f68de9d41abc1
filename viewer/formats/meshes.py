"""The visible shapes of a robot's links, rigid on their joints: meshes of files, boxes, cylinders, balls."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from viewer.errors import FormatError, MachineError, ViewerError, and_more, is_installed, more_such, quote
from viewer.formats.files import read_bytes
from viewer.formats.robots import Element, origin_of
from viewer.skeleton import Skeleton, Skin, rest_world
from viewer.skeleton.attached import Material, Mesh
from viewer.skeleton.bodies import bone_mesh
from viewer.spatial.checks import FARTHEST, Floats
from viewer.spatial.quaternion import conjugate, rotate, to_matrix

_FORMS = (".stl", ".dae", ".obj", ".ply", ".glb", ".off")
_SIZES = {
    "box": [("size", 3)],
    "sphere": [("radius", 1)],
    "cylinder": [("radius", 1), ("length", 1)],
    "capsule": [("radius", 1), ("length", 1)],
}
"""Attributes of shapes, and how many numbers they have."""
_LARGEST_MESH = 256 << 20
_GREY = (0.72, 0.74, 0.77, 1.0)
_ABOVE = 6
"""Folders above the file in which a package is looked for."""
_LARGEST_PACKAGE_XML = 100_000
"""Bytes of a package.xml that are read for its name."""

_STL_HEAD = 84
_STL_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("more", "<u2")])
"""Bytes before the triangles of a binary STL file, and the layout of a triangle."""

_MOST_TRIANGLES = 400_000
"""Above it, vertices are merged on a grid until at most this many are left."""

Colour = tuple[float, float, float, float]
_WHITE = (1.0, 1.0, 1.0, 1.0)
_DEEPEST = 200
"""Most nodes inside each other; deeper ones are not shown."""


class Part(NamedTuple):
    """Triangles (T, 3) of one colour, if it is stated, from 0 to 1, and positions (V, 3) in the file's units."""

    positions: Floats
    triangles: NDArray[np.int64]
    colour: Colour | None


def skin_of(
    root: Element, links: Sequence[Element], skeleton: Skeleton, path: Path, *, meshes: bool = True
) -> tuple[Skin | None, list[str]]:
    """The visual shapes of all links as a skin, or None; and warnings about what is not shown.

    ``root`` has named materials; without ``meshes`` it is only checked that the files of meshes exist.
    """
    if not is_installed("trimesh"):
        return None, ["meshes are not shown: they need trimesh"] if any(link.all("visual") for link in links) else []
    odd: list[str] = []
    colours = {
        material.attributes.get("name", ""): colour
        for material in root.all("material") if (colour := _colour(material, odd)) is not None
    }  # fmt: skip
    shapes: list[Shape] = []
    missing: dict[str, str] = {}
    files, bare = Files(path, {}, missing, odd, meshes), list[str]()
    for link in links:
        before = len(shapes)
        for visual in link.all("visual"):
            shapes += _shapes(link.text("name"), visual, colours, files)
        if link.all("visual") and len(shapes) == before:
            bare.append(link.text("name"))
    warnings = [f"{odd[0]}: drawn grey{more_such(len(odd))}"] if odd else []
    if missing:
        warnings.append(not_shown([*missing.items()]))
    if not meshes:
        return None, warnings
    return rigid_skin(shapes, bare, skeleton, warnings), warnings


def not_shown(files: Sequence[tuple[str, str]]) -> str:
    """The warning about files of meshes and why each is not read."""
    file, why = files[0]
    return f"not shown: {quote(file)} ({why}){and_more(len(files))}: bones are drawn instead"


def _bones_of(links: Sequence[str], skeleton: Skeleton) -> Iterator[Shape]:
    """The bones of links, in their frames."""
    world = rest_world(skeleton)
    bones = bone_mesh(skeleton, world)
    for link in links:
        joint = skeleton.index(link)
        corners = rotate(
            conjugate(world.rotations[joint]), bones.corners[bones.joints == joint] - world.positions[joint]
        )
        if len(corners):
            yield Shape(link, corners, np.arange(len(corners)).reshape(-1, 3), _GREY)


def _colour(material: Element, odd: list[str]) -> Colour | None:
    """The colour that a shape states; None, with a note, for one that cannot be read."""
    found = material.first("color")
    if found is None:
        return None
    try:
        r, g, b, a = (min(max(value, 0.0), 1.0) for value in found.numbers("rgba", 4))
    except FormatError as error:
        odd.append(f"line {error.line}: {error.args[0]}")
        return None
    return r, g, b, a


class Files(NamedTuple):
    """The files of meshes beside a robot's: their parts by name, or why they are not shown.

    ``odd`` are colours that cannot be read, in words; unless ``read``, files are only looked for.
    """

    path: Path
    known: dict[str, list[Part]]
    missing: dict[str, str]
    odd: list[str]
    read: bool


def _shapes(link: str, visual: Element, colours: dict[str, Colour], files: Files) -> list[Shape]:
    geometry, material = visual.first("geometry"), visual.first("material")
    if geometry is None or not geometry.children:
        raise FormatError(f"link {quote(link)}: expected <geometry> with a shape, found none", line=visual.line)
    offset, turn = origin_of(visual)
    given = None
    if material is not None:
        given = _colour(material, files.odd) or colours.get(material.attributes.get("name", ""))
    rotation = to_matrix(turn)
    return [
        Shape(link, points @ rotation.T + offset, faces, given or own or _GREY)
        for points, faces, own in _triangles(geometry.children[0], files)
    ]


def _triangles(shape: Element, files: Files) -> list[Part]:
    if shape.tag == "mesh":
        scale = np.array(shape.numbers("scale", 3, (1.0, 1.0, 1.0)))
        return [
            Part(points * scale, faces if scale.prod() >= 0.0 else faces[:, ::-1], own)
            for points, faces, own in _file(shape.text("filename"), files)
            if len(faces)
        ]
    if shape.tag not in _SIZES:
        raise FormatError(f"expected a mesh, box, cylinder, capsule or sphere, found <{shape.tag}>", line=shape.line)
    sizes = [size for name, count in _SIZES[shape.tag] for size in shape.sizes(name, count)]
    return [Part(*primitive(shape.tag, sizes), None)] if files.read else []


def _file(name: str, files: Files) -> list[Part]:
    """The parts of a mesh file; none, with a note, if it cannot be shown."""
    path, known, missing, _, read = files
    if name not in known:
        known[name] = []
        found = resolved(name, path)
        if isinstance(found, str):
            missing[name] = found
        elif read:
            try:
                known[name] = _loaded(found)
            except MachineError as error:
                missing[name] = str(error)
            except ViewerError as error:
                missing[name] = str(error).rpartition(": ")[2]
            except Exception as error:  # noqa: BLE001 - the readers of mesh formats raise anything
                missing[name] = " ".join(str(error).split())[:100] or type(error).__name__
    return known[name]


def _loaded(path: Path) -> list[Part]:
    suffix = path.suffix.casefold()
    if suffix == ".dae" and not is_installed("collada"):
        raise MachineError(".dae needs pycollada: pip install 'ikviewer[robots]'")
    # From memory: a mesh file cannot name others to read.
    data = read_bytes(path, path.name, _LARGEST_MESH)
    if suffix == ".dae":
        found = read_collada(data)
    else:
        found = (_binary_stl(data) if suffix == ".stl" else []) or _by_trimesh(data, suffix[1:])
    if not found:
        raise FormatError("no triangles")
    return found


def _binary_stl(data: bytes) -> list[Part]:
    """The triangles of a binary STL file; nothing for any other file, or one without triangles."""
    count = int.from_bytes(data[_STL_HEAD - 4 : _STL_HEAD], "little")
    if not count or len(data) != _STL_HEAD + count * _STL_TRIANGLE.itemsize:
        return []
    corners = np.frombuffer(data, _STL_TRIANGLE, count, _STL_HEAD)["corners"].reshape(-1, 3)
    return [Part(corners.astype(np.float64), np.arange(3 * count).reshape(-1, 3), None)]


def _by_trimesh(data: bytes, form: str) -> list[Part]:
    import trimesh  # noqa: PLC0415 - it is large

    found: Any = trimesh.load(BytesIO(data), file_type=form, process=False)
    parts = found.dump() if isinstance(found, trimesh.Scene) else [found]
    return [
        Part(np.asarray(part.vertices, np.float64), np.asarray(part.faces, np.int64), _own_colour(part))
        for part in parts
        if isinstance(part, trimesh.Trimesh) and len(part.faces)
    ]


def _own_colour(part: Any) -> Colour | None:  # noqa: ANN401
    """The colour that a mesh file states."""
    visual: Any = getattr(part, "visual", None)
    material = getattr(visual, "material", None)
    colour = getattr(material, "main_color", None)
    if colour is None and getattr(visual, "defined", False) and getattr(visual, "kind", "") in ("face", "vertex"):
        colour = visual.main_color
    if colour is None or len(colour) != 4:
        return None
    r, g, b, a = (float(value) / 255.0 for value in colour)
    return r, g, b, a or 1.0


def resolved(name: str, file: Path) -> Path | str:
    """The file of a mesh by its name, or why it is not read.

    ``package://NAME/...`` is looked for in the packages of that name above and beside the robot's file, the nearest
    first, then in those of ROS_PACKAGE_PATH, then in the robot's own package, which may be a copy under another name.
    Nothing outside the package is read: see `package_of`.
    """
    scheme, found, rest = name.partition("://")
    if found and scheme not in ("package", "model", "file"):
        return "not a file"
    folder = Path(os.path.realpath(file)).parent
    outside, places = False, list[tuple[Path, Path]]()
    if found and scheme != "file":
        package, _, inside = rest.partition("/")
        outside = package in ("", ".", "..")
        for base, own in [] if outside else package_places(folder):
            places += [(base, base / inside)] if own == package else []
            places.append((base / package, base / package / inside))
        # In a package that was copied under another name, the end of the path still exists.
        parts, root = Path(inside).parts, package_of(folder)
        ends = [Path(*parts[k:]) for k in range(len(parts) - 1) if ".." not in parts]
        within = [base for base in (folder, *folder.parents) if base.is_relative_to(root)]
        places += [(base, base / end) for base in within for end in ends]
    else:
        places.append((package_of(folder), folder / (rest if found else name)))
    for bound, place in places:
        if place.suffix.casefold() in _FORMS and ".." not in place.parts and not place.is_file():
            continue  # to follow links takes ten times as long
        real = Path(os.path.realpath(place))
        if not real.is_relative_to(os.path.realpath(bound)):
            outside = True
            continue
        if real.suffix.casefold() not in _FORMS:
            return f"meshes are {', '.join(_FORMS)}"
        if real.is_file():
            return real
    return "outside of the package" if outside else "no such file"


def package_of(folder: Path) -> Path:
    """The folder within which a robot's files may be, by the real path of its own folder.

    It is the ROS package or the outermost Python package around it (robots are also installed with pip); else the
    folder above, because meshes may be in a folder beside it.
    """
    above = [folder, *folder.parents[:_ABOVE]]
    for mark, pick in (("package.xml", 0), ("__init__.py", -1)):
        marked = [base for base in above if (base / mark).is_file()]
        if marked:
            return marked[pick]
    return folder.parent if folder.parent != Path(folder.anchor) else folder


def package_places(folder: Path) -> list[tuple[Path, str]]:
    """Where packages are looked for, nearest first: a robot's folder, those above it, and ROS_PACKAGE_PATH.

    Each comes with the name that it has as a package: what its package.xml says, else its own.
    """
    given = [Path(part) for part in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep) if part]
    return [(base, _package_name(base)) for base in (folder, *folder.parents[:_ABOVE], *given)]


def _package_name(folder: Path) -> str:
    stated, text = folder / "package.xml", b""
    if stated.is_file():
        with suppress(OSError), stated.open("rb") as file:
            text = file.read(_LARGEST_PACKAGE_XML)
    found = re.search(r"<name>\s*(.*?)\s*</name>", text.decode("utf-8", "replace"))
    return found[1] if found else folder.name


# --- shapes as a skin


class Shape(NamedTuple):
    """Triangles (T, 3) of one colour, from 0 to 1, and positions (V, 3) in the frame of a link, metres."""

    link: str
    positions: Floats
    triangles: np.ndarray[tuple[int, int], np.dtype[np.int64]]
    colour: Colour


def primitive(word: str, sizes: Sequence[float]) -> tuple[Floats, NDArray[np.int64]]:
    """Vertices (V, 3) and triangles (T, 3) of a shape about the origin, along z; trimesh has to be installed.

    A shape so small that its corners are one point, or larger than figures may be, has no triangles. The sizes are of a
    box three sides; of a sphere its radius; of an ellipsoid three radii; of a cylinder and a capsule, without its ends,
    radius and length.
    """
    import trimesh  # noqa: PLC0415 - it is large

    if max(sizes) > FARTHEST:
        return np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64)
    if word == "box":
        made = trimesh.creation.box(sizes)
    elif word in ("sphere", "ellipsoid"):
        made = trimesh.creation.icosphere(3)
        made.apply_scale(sizes if word == "ellipsoid" else sizes[0])
    elif word == "cylinder":
        made = trimesh.creation.cylinder(radius=sizes[0], height=sizes[1])
    else:
        made = trimesh.creation.capsule(radius=sizes[0], height=sizes[1], count=[16, 16])
        if len(made.faces):
            made.apply_translation(-made.bounds.mean(axis=0))  # some versions put it above the origin
    return np.asarray(made.vertices), np.asarray(made.faces, dtype=np.int64)


def rigid_skin(shapes: Sequence[Shape], bare: Sequence[str], skeleton: Skeleton, warnings: list[str]) -> Skin | None:
    """The shapes as a skin, None without any; too many triangles are reduced, with a warning.

    A figure with a skin is drawn without its own bones: those of the links ``bare`` are added.
    """
    shapes = [*shapes, *_bones_of(bare, skeleton)] if shapes else []
    drawn = [shape for shape in shapes if len(shape.triangles) and np.abs(shape.positions).max() <= FARTHEST]
    if len(drawn) < len(shapes):
        warnings.append(f"left out, too small or too large to be drawn: {len(shapes) - len(drawn)} shapes")
    shapes = _lighter(drawn, warnings)
    if not shapes:
        return None
    joints = np.array([skeleton.index(shape.link) for shape in shapes], dtype=np.intp)
    meshes = tuple(
        Mesh(
            name=shape.link,
            positions=shape.positions.astype(np.float32),
            triangles=shape.triangles.astype(np.uint32),
            bindings=np.full((len(shape.positions), 1), number, dtype=np.uint16),
            weights=np.ones((len(shape.positions), 1), dtype=np.float32),
            material=Material(shape.colour, double_sided=True),
        )
        for number, shape in enumerate(shapes)
    )
    transforms = np.tile(np.eye(3, 4), (len(shapes), 1, 1))
    count = len(meshes)
    contents = (f"{count} mesh{'' if count == 1 else 'es'}",)
    return Skin(meshes, joints, transforms, len(skeleton), contents=contents)


def _lighter(shapes: list[Shape], warnings: list[str]) -> list[Shape]:
    """The shapes with vertices merged on ever coarser grids until there are few enough triangles."""
    total = sum(len(shape.triangles) for shape in shapes)
    if total <= _MOST_TRIANGLES:
        return shapes
    size = max(float(np.ptp(shape.positions, axis=0).max()) for shape in shapes)
    cells, fewer = 400.0, shapes
    while cells > 4.0 and sum(len(shape.triangles) for shape in fewer) > _MOST_TRIANGLES:
        fewer = [merged(shape, size / cells) for shape in shapes]
        cells *= 0.7
    fewer = [shape for shape in fewer if len(shape.triangles)]  # on a coarse grid small ones become a point
    warnings.append(f"{total:,} triangles are drawn as {sum(len(shape.triangles) for shape in fewer):,}")
    return fewer


def merged(shape: Shape, cell: float) -> Shape:
    """The vertices in each cell of a grid, ``cell`` metres wide, become one at their mean; at most 2^20 a side."""
    cells = np.round(shape.positions / cell).astype(np.int64)
    cells -= cells.min(axis=0)
    x, y, z = cells.T  # one number sorts ten times as fast as three
    keys, index = np.unique((x << 42) + (y << 21) + z, return_inverse=True)
    count = np.bincount(index, minlength=len(keys))[:, None]
    middle = np.stack([np.bincount(index, shape.positions[:, k], len(keys)) for k in range(3)], axis=1) / count
    faces = index[shape.triangles]
    a, b, c = faces.T
    return shape._replace(positions=middle, triangles=faces[(a != b) & (b != c) & (c != a)])


def read_collada(data: bytes) -> list[Part]:
    """The parts of the scene of a COLLADA file; what is broken in it is left out.

    Units and the upward axis are left as they are: robots state the scale of their meshes themselves.

    Raises:
        Exception: any that pycollada raises where there is no scene to read.
    """
    import collada  # noqa: PLC0415 - an extra

    found = collada.Collada(BytesIO(data), ignore=[collada.common.DaeError])
    scene = found.scene
    return [] if scene is None else [part for node in scene.nodes for part in _of_node(collada, node, np.eye(4), 0)]


def _of_node(collada: Any, node: Any, place: Floats, depth: int) -> Iterator[Part]:  # noqa: ANN401
    """The parts of a node and those below it; ``place`` (4, 4) is file_from_node."""
    if isinstance(node, collada.scene.GeometryNode):
        colours = {bound.symbol: _colour_of(collada, bound.target.effect) for bound in node.materials if bound.target}
        for primitive in node.geometry.primitives:
            part = _of_primitive(collada, primitive, place, colours)
            if part is not None:
                yield part
    elif isinstance(node, collada.scene.Node) and depth < _DEEPEST:
        for child in node.children or ():
            yield from _of_node(collada, child, place @ node.matrix, depth + 1)


def _of_primitive(
    collada: Any,  # noqa: ANN401
    primitive: Any,  # noqa: ANN401
    place: Floats,
    colours: dict[str, Colour],
) -> Part | None:
    """The triangles of a primitive; None for lines, and where there are no triangles."""
    if isinstance(primitive, collada.polylist.Polylist):
        primitive = primitive.triangleset()
    if not isinstance(primitive, collada.triangleset.TriangleSet) or primitive.vertex is None:
        return None
    corners = np.asarray(primitive.vertex_index, dtype=np.int64)
    if not corners.size:
        return None
    used = np.zeros(len(primitive.vertex), dtype=np.bool_)
    used[corners] = True
    positions = np.asarray(primitive.vertex, dtype=np.float64)[used] @ place[:3, :3].T + place[:3, 3]
    if np.linalg.det(place[:3, :3]) < 0.0:  # mirrored: the other side of triangles is outside
        corners = corners[:, ::-1]
    colour = colours[primitive.material] if primitive.material in colours else _of_corners(primitive)
    return Part(positions, (np.cumsum(used) - 1)[corners], colour)


def _colour_of(collada: Any, effect: Any) -> Colour:  # noqa: ANN401
    """The diffuse colour of a material, white where it is a picture or not stated; alpha is its own."""
    stated = effect.diffuse
    if stated is None or isinstance(stated, collada.material.Map):
        stated = _WHITE
    r, g, b, a = (*map(float, stated), 1.0)[:4]
    clear = effect.transparent
    if clear is not None and not isinstance(clear, collada.material.Map):
        a = float(clear[3])
    r, g, b, a = (min(max(value, 0.0), 1.0) for value in (r, g, b, a))
    return r, g, b, a or 1.0


def _of_corners(primitive: Any) -> Colour | None:  # noqa: ANN401
    """The most frequent colour of corners, for triangles without a material; None if corners have no colours."""
    sources = primitive.sources.get("COLOR")
    if not sources:
        return None
    stated = np.asarray(sources[0][4].data, dtype=np.float64)
    if stated.ndim != 2 or stated.shape[1] < 3:
        return None
    rows, counts = np.unique(
        stated[np.asarray(primitive.index)[:, :, sources[0][0]].ravel()], axis=0, return_counts=True
    )
    r, g, b, a = (*rows[counts.argmax()].tolist(), 1.0)[:4]
    return r, g, b, a or 1.0
