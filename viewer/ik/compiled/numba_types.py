"""Numba's types of what the kernels work on: tables of numbers, groups of them, and vectors. By `numba.extending`.

Numba's own arrays carry up to eleven numbers each, and an index into one is checked for being negative, which keeps
loops from using vector instructions. The kernels need neither: the rows of their tables are contiguous, and no index
counts from the end. A `View` is a pointer and its lengths. A `Group` is a named tuple of views that is passed on as one
value: the block of the solve (`viewer.ik.buffers`) and the group's part of its header; a view is made where its
name is read. The header does not change during a call, and LLVM may rely on that: reads of it move out of loops.
`Lanes` are `viewer.ik.kernels.dual_system`'s vectors, and `INSTRUCTIONS` its functions.

What Python passes is `Given`: a pointer to any object. Numba's own way to take an array needs as long as a tenth of an
easy solve for each, and looks neither at its kind of number nor at its shape. `_viewed` makes a view of an array of the
right kind; of all else Python makes such an array first.
"""

from __future__ import annotations

import ctypes
import operator
from binascii import crc32
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    intrinsic,
    lower_builtin,
    lower_getattr,
    lower_getattr_generic,
    models,
    register_model,
    type_callable,
    unbox,
)

from viewer.ik.system import LANES


class View(types.Type):
    """Numba's type of a table of numbers of one kind, of one to three axes."""

    def __init__(self, dtype: Any, ndim: int) -> None:  # noqa: ANN401 - numba's types are untyped
        self.dtype, self.ndim = dtype, ndim
        super().__init__(name=f"View({dtype}, {ndim})")


@register_model(View)
class _ViewModel(models.StructModel):
    def __init__(self, manager: Any, kind: View) -> None:  # noqa: ANN401
        lengths = [(f"length{axis}", types.intp) for axis in range(kind.ndim)]
        super().__init__(manager, kind, [("data", types.CPointer(kind.dtype)), *lengths])


class Group(types.Type):
    """Numba's type of a named tuple of views.

    Args:
        name: of the named tuple.
        members: by field: its view, and the offset of its entry in the group's part of the header.
    """

    def __init__(self, name: str, members: dict[str, tuple[Any, int]]) -> None:
        """Take a name and, by field, the type of a view or of another group, and its entry in the header."""
        self.members = members
        layout = ", ".join(f"{field}: {view.name} at {entry}" for field, (view, entry) in members.items())
        # Each compiled function has the names of its arguments' types in its own.
        super().__init__(name=f"{name}_{crc32(layout.encode()):08x}")


_NUMBERS = types.CPointer(types.int64)


@register_model(Group)
class _GroupModel(models.StructModel):
    def __init__(self, manager: Any, kind: Group) -> None:  # noqa: ANN401
        super().__init__(manager, kind, [("header", _NUMBERS), ("block", _NUMBERS)])


@infer_getattr
class _GroupFields(AttributeTemplate):
    key = Group

    def generic_resolve(self, group: Group, name: str) -> Any:  # type: ignore[override]  # noqa: ANN401
        """The type of a field."""
        return group.members[name][0] if name in group.members else None


@lower_getattr_generic(Group)
def _field(context: Any, builder: Any, group: Group, value: Any, name: str) -> Any:  # noqa: ANN401
    """A view of a field, by its entry in the header: where in the block it begins, and its lengths; or a group."""
    view, entry = group.members[name]
    header, block = part_of(builder, value, 0), part_of(builder, value, 1)
    if isinstance(view, Group):
        inner = builder.gep(header, [ir.Constant(_INTP, entry)], inbounds=True)
        return made(context, builder, view, inner, block)

    def number(place: int) -> Any:  # noqa: ANN401
        read = builder.load(builder.gep(header, [ir.Constant(_INTP, place)], inbounds=True))
        read.set_metadata("invariant.load", builder.module.add_metadata([]))
        return read

    begin = builder.gep(block, [number(entry)], inbounds=True)
    data = builder.bitcast(begin, context.get_value_type(types.CPointer(view.dtype)))
    return made(context, builder, view, data, *(number(entry + 1 + axis) for axis in range(view.ndim)))


def made(context: Any, builder: Any, kind: Any, *parts: Any) -> Any:  # noqa: ANN401
    """A view of its data and lengths, or a group of its header and block; numba's proxies would put it into memory."""
    whole = ir.Constant(context.get_value_type(kind), ir.Undefined)
    for place, part in enumerate(parts):
        whole = builder.insert_value(whole, part, place)
    return whole


def part_of(builder: Any, whole: Any, place: int) -> Any:  # noqa: ANN401
    """A part of such a value: that which was put there, if it is known."""
    known = whole
    while isinstance(known, ir.InsertValue):
        if known.indices == [place]:
            return known.operands[1]
        known = known.operands[0]
    return builder.extract_value(whole, place)


_INTP = ir.IntType(64)


def groups_at(groups: list[tuple[Group, int]]) -> Any:  # noqa: ANN401
    """An intrinsic function that makes such groups of a block (an array of integers).

    ``groups``: each, and where in the header, which begins the block, its part begins.
    """

    def typed(typing: Any, block: Any) -> Any:  # noqa: ANN401
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:  # noqa: ANN401
            begin_of_block = builder.inttoptr(values[0], _INTP.as_pointer())
            values = []
            for group, begin in groups:
                header = builder.gep(begin_of_block, [ir.Constant(_INTP, begin)], inbounds=True)
                values.append(made(context, builder, group, header, begin_of_block))
            return context.make_tuple(builder, signature.return_type, values)

        return types.Tuple([group for group, _ in groups])(block), generate

    return intrinsic(typed)


class Given(types.Opaque):
    """Numba's type of any Python object."""

    def __init__(self) -> None:
        super().__init__(name="Given")


register_model(Given)(models.OpaqueModel)


@unbox(Given)
def _given(kind: Given, given: Any, context: Any) -> NativeValue:  # noqa: ANN401 - as numba calls it
    return NativeValue(given)


# Words of an object, of an array (`PyArrayObject_fields` in numpy's C headers) and of its kind of number
# (`PyArray_Descr`): what every object has comes first and ends with its type.
_AT_TYPE, _AT_DATA = object.__basicsize__ // 8 - 1, object.__basicsize__ // 8
_AT_AXES, _AT_SHAPE, _AT_KIND, _AT_FLAGS, _AT_LETTERS = (
    _AT_DATA + 1,
    _AT_DATA + 2,
    _AT_DATA + 5,
    _AT_DATA + 6,
    _AT_DATA + 1,
)
_INT, _PLAIN = 0xFFFFFFFF, 0x101
"""Of a word: a C int; the flags NPY_ARRAY_C_CONTIGUOUS and NPY_ARRAY_ALIGNED."""
_LETTERS = 0xFFFFFFFF00FFFFFF
"""Of a word: the letters of a kind, of a number and of an order of bytes, and the number of the kind."""


def _word(address: int, place: int) -> int:
    return ctypes.c_uint64.from_address(address + 8 * place).value


def _words_of(array: np.ndarray[Any, Any]) -> tuple[int, ...]:
    """What `_viewed` reads of an array: its type, data, axes, first length, flags, and the letters of its kind."""
    at = id(array)
    return (
        _word(at, _AT_TYPE),
        _word(at, _AT_DATA),
        _word(at, _AT_AXES) & _INT,
        _word(_word(at, _AT_SHAPE), 0),
        _word(at, _AT_FLAGS) & _INT,
        _word(_word(at, _AT_KIND), _AT_LETTERS) & _LETTERS,
    )


_SAMPLE = np.zeros((3, 4))
_FLOAT64 = int.from_bytes(b"fd=\0" + _SAMPLE.dtype.num.to_bytes(4, "little"), "little")
if _words_of(_SAMPLE) != (id(np.ndarray), _SAMPLE.ctypes.data, 2, 3, _SAMPLE.flags.num, _FLOAT64):
    raise ImportError("this numpy keeps its arrays in another way than the compiled kernels read them")


def _row_of(typing: Any, given: Any, known: Any, length: Any) -> Any:  # noqa: ANN401
    return View(types.float64, 1)(given, known, length), _viewed


def _table_of(typing: Any, given: Any, known: Any, rows: Any, columns: Any) -> Any:  # noqa: ANN401
    return View(types.float64, 2)(given, known, rows, columns), _viewed


def _viewed(context: Any, builder: Any, signature: Any, values: Any) -> Any:  # noqa: ANN401
    """The view of what is given: see `viewer.ik.compiled.entry.table_of`."""

    def number(value: int) -> Any:  # noqa: ANN401
        return ir.Constant(_INTP, value)

    def word(begin: Any, place: int) -> Any:  # noqa: ANN401
        return builder.load(builder.gep(begin, [number(place)], inbounds=True))

    def pointed(begin: Any, place: int) -> Any:  # noqa: ANN401
        return builder.inttoptr(word(begin, place), _INTP.as_pointer())

    def has(value: Any, bits: int, wanted: int) -> Any:  # noqa: ANN401
        return builder.icmp_unsigned("==", builder.and_(value, number(bits)), number(wanted))

    given, lengths = builder.bitcast(values[0], _INTP.as_pointer()), values[2:]
    known = part_of(builder, values[1], 0)
    is_none = builder.icmp_unsigned("==", builder.ptrtoint(given, _INTP), word(known, 1))
    made = cgutils.create_struct_proxy(signature.return_type)(context, builder)
    made.length0 = builder.select(is_none, number(0), number(-1))
    with builder.if_then(builder.icmp_unsigned("==", word(given, _AT_TYPE), word(known, 0))):
        fits = has(word(pointed(given, _AT_KIND), _AT_LETTERS), _LETTERS, _FLOAT64)
        fits = builder.and_(fits, has(word(given, _AT_AXES), _INT, len(lengths)))
        with builder.if_then(builder.and_(fits, has(word(given, _AT_FLAGS), _PLAIN, _PLAIN))):
            shape, fits = pointed(given, _AT_SHAPE), cgutils.true_bit
            for axis, length in enumerate(lengths):
                fits = builder.and_(fits, builder.icmp_unsigned("==", word(shape, axis), length))
            with builder.if_then(fits):
                made.data = builder.inttoptr(word(given, _AT_DATA), ir.DoubleType().as_pointer())
                for axis, length in enumerate(lengths):
                    setattr(made, f"length{axis}", length)
    return made._getvalue()  # noqa: SLF001


def row_start(builder: Any, view: View, value: Any, indices: list[Any]) -> Any:  # noqa: ANN401
    """Where the number, or the row, of these leading indices is."""
    place = indices[0]
    for axis in range(1, view.ndim):
        place = builder.mul(place, part_of(builder, value, 1 + axis))
        if axis < len(indices):
            place = builder.add(place, indices[axis])
    return builder.gep(part_of(builder, value, 0), [place], inbounds=True)


def _parts(index: Any) -> list[Any]:  # noqa: ANN401
    """The types of an index: several, of a tuple."""
    return list(index) if isinstance(index, types.BaseTuple) else [index]  # type: ignore[call-overload]


def _indices(context: Any, builder: Any, kind: Any, value: Any) -> list[Any]:  # noqa: ANN401
    """The indices that an integer or a tuple of integers stands for."""
    kinds = _parts(kind)
    values = [part_of(builder, value, i) for i in range(len(kinds))] if isinstance(kind, types.BaseTuple) else [value]
    return [context.cast(builder, one, its, types.intp) for one, its in zip(values, kinds, strict=True)]


def _count(index: Any) -> int:  # noqa: ANN401
    """Leading axes that an index picks from; 0: it is no index of integers."""
    kinds = _parts(index)
    return len(kinds) if all(isinstance(one, types.Integer) for one in kinds) else 0


@type_callable(operator.getitem)
def _type_get(context: Any) -> Any:  # noqa: ANN401
    def typer(view: Any, index: Any) -> Any:  # noqa: ANN401
        if not isinstance(view, View):
            return None
        if isinstance(index, types.SliceType) and view.ndim == 1:
            return view
        picked = _count(index)
        if not 0 < picked <= view.ndim:
            return None
        return view.dtype if picked == view.ndim else View(view.dtype, view.ndim - picked)

    return typer


@type_callable(operator.setitem)
def _type_set(context: Any) -> Any:  # noqa: ANN401
    def typer(view: Any, index: Any, value: Any) -> Any:  # noqa: ANN401
        if not isinstance(view, View) or not isinstance(value, types.Number | types.Boolean):
            return None
        full = _count(index) == view.ndim or (isinstance(index, types.SliceType) and view.ndim == 1)
        return types.none if full else None

    return typer


@type_callable(len)
def _type_len(context: Any) -> Any:  # noqa: ANN401
    def typer(view: Any) -> Any:  # noqa: ANN401
        return types.intp if isinstance(view, View) else None

    return typer


@lower_builtin(operator.getitem, View, types.Integer)
@lower_builtin(operator.getitem, View, types.BaseTuple)
def _get(context: Any, builder: Any, signature: Any, values: Any) -> Any:  # noqa: ANN401
    view, index = signature.args
    indices = _indices(context, builder, index, values[1])
    start = row_start(builder, view, values[0], indices)
    if len(indices) == view.ndim:
        return context.unpack_value(builder, view.dtype, start)
    lengths = (part_of(builder, values[0], 1 + axis) for axis in range(len(indices), view.ndim))
    return made(context, builder, signature.return_type, start, *lengths)


@lower_builtin(operator.getitem, View, types.SliceType)
def _get_part(context: Any, builder: Any, signature: Any, values: Any) -> Any:  # noqa: ANN401
    """A slice between two indices, both inside."""
    view, index = signature.args
    ends = context.make_helper(builder, index, value=values[1])
    begin = builder.gep(part_of(builder, values[0], 0), [ends.start], inbounds=True)
    return made(context, builder, view, begin, builder.sub(ends.stop, ends.start))


@lower_builtin(operator.setitem, View, types.Integer, types.Any)
@lower_builtin(operator.setitem, View, types.BaseTuple, types.Any)
def _set(context: Any, builder: Any, signature: Any, values: Any) -> Any:  # noqa: ANN401
    view, index, kind = signature.args
    start = row_start(builder, view, values[0], _indices(context, builder, index, values[1]))
    context.pack_value(builder, view.dtype, context.cast(builder, values[2], kind, view.dtype), start)
    return context.get_dummy_value()


@lower_builtin(len, View)
def _length(context: Any, builder: Any, signature: Any, values: Any) -> Any:  # noqa: ANN401
    return part_of(builder, values[0], 1)


@infer_getattr
class _Shape(AttributeTemplate):
    key = View

    def resolve_shape(self, view: View) -> Any:  # noqa: ANN401
        """A tuple of lengths."""
        return types.UniTuple(types.intp, view.ndim)


@lower_getattr(View, "shape")
def _shape(context: Any, builder: Any, view: View, value: Any) -> Any:  # noqa: ANN401
    lengths = [part_of(builder, value, 1 + axis) for axis in range(view.ndim)]
    return context.make_tuple(builder, types.UniTuple(types.intp, view.ndim), lengths)


_VECTOR = ir.VectorType(ir.DoubleType(), LANES)


class Lanes(types.Type):
    """Numba's type of a vector of numbers."""

    def __init__(self) -> None:
        super().__init__(name="Lanes")


@register_model(Lanes)
class _Model(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Lanes) -> None:  # noqa: ANN401
        super().__init__(manager, kind, _VECTOR)


_LANES = Lanes()


def _lanes_at(typing: Any, table: Any, row: Any, column: Any) -> Any:  # noqa: ANN401
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:  # noqa: ANN401
        place = builder.bitcast(_place(context, builder, signature, values), _VECTOR.as_pointer())
        return builder.load(place, align=_ALIGNED)

    return _LANES(table, row, column), generate


def _entry(typing: Any, table: Any, row: Any, column: Any) -> Any:  # noqa: ANN401
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:  # noqa: ANN401
        return builder.load(_place(context, builder, signature, values))

    return types.float64(table, row, column), generate


def _put_lanes(typing: Any, table: Any, row: Any, column: Any, lanes: Any) -> Any:  # noqa: ANN401
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:  # noqa: ANN401
        place = builder.bitcast(_place(context, builder, signature, values), _VECTOR.as_pointer())
        builder.store(values[3], place, align=_ALIGNED)
        return context.get_dummy_value()

    return types.none(table, row, column, lanes), generate


def _plus(typing: Any, lanes: Any, factor: Any, others: Any) -> Any:  # noqa: ANN401
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:  # noqa: ANN401
        return builder.fadd(values[0], builder.fmul(_repeated(builder, values[1]), values[2]))

    return _LANES(lanes, types.float64, others), generate


def _put(typing: Any, source: Any, target: Any) -> Any:  # noqa: ANN401
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:  # noqa: ANN401
        place, into = (part_of(builder, value, 0) for value in values)
        count = part_of(builder, values[0], 1)
        for axis in range(1, source.ndim):
            count = builder.mul(count, part_of(builder, values[0], 1 + axis))
        size = context.get_abi_sizeof(context.get_data_type(source.dtype))
        cgutils.raw_memmove(builder, into, place, count, size)
        return context.get_dummy_value()

    return types.none(source, target), generate


def _times(typing: Any, lanes: Any, factor: Any) -> Any:  # noqa: ANN401
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:  # noqa: ANN401
        return builder.fmul(values[0], _repeated(builder, values[1]))

    return _LANES(lanes, types.float64), generate


_ALIGNED = 8
"""Bytes: that of a number, for a row may begin anywhere."""


def _place(context: Any, builder: Any, signature: Any, values: Any) -> Any:  # noqa: ANN401
    """Where a number of a table is."""
    indices = [
        context.cast(builder, value, kind, types.intp)
        for value, kind in zip(values[1:3], signature.args[1:3], strict=True)
    ]
    return row_start(builder, signature.args[0], values[0], indices)


def _repeated(builder: Any, number: Any) -> Any:  # noqa: ANN401
    one = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), number, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(ir.IntType(32), LANES), None))


INSTRUCTIONS: dict[str, Any] = {
    name: intrinsic(function)
    for name, function in {
        "entry": _entry,
        "lanes_at": _lanes_at,
        "plus": _plus,
        "put_flat": _put,
        "put_lanes": _put_lanes,
        "put_row": _put,
        "put_table": _put,
        "row_of": _row_of,
        "table_of": _table_of,
        "times": _times,
    }.items()
}
"""By the names that the kernels call them by."""
