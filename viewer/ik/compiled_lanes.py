"""`viewer.ik.lanes` as vector instructions, by the same names."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, models, register_model

from viewer.ik.lanes import LANES
from viewer.ik.views import row_start

_VECTOR = ir.VectorType(ir.DoubleType(), LANES)


class Lanes(types.Type):
    """Numba's type of a vector of numbers."""

    def __init__(self) -> None:
        """There is one."""
        super().__init__(name="Lanes")


@register_model(Lanes)
class _Model(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Lanes) -> None:  # noqa: ANN401
        super().__init__(manager, kind, _VECTOR)


_LANES = Lanes()


def _lanes_at(typing: Any, table: Any, row: Any, column: Any) -> Any:  # noqa: ANN401, ARG001
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:  # noqa: ANN401
        place = builder.bitcast(_place(context, builder, signature, values), _VECTOR.as_pointer())
        return builder.load(place, align=_ALIGNED)

    return _LANES(table, row, column), generate


def _entry(typing: Any, table: Any, row: Any, column: Any) -> Any:  # noqa: ANN401, ARG001
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:  # noqa: ANN401
        return builder.load(_place(context, builder, signature, values))

    return types.float64(table, row, column), generate


def _put_lanes(typing: Any, table: Any, row: Any, column: Any, lanes: Any) -> Any:  # noqa: ANN401, ARG001
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:  # noqa: ANN401
        place = builder.bitcast(_place(context, builder, signature, values), _VECTOR.as_pointer())
        builder.store(values[3], place, align=_ALIGNED)
        return context.get_dummy_value()

    return types.none(table, row, column, lanes), generate


def _plus(typing: Any, lanes: Any, factor: Any, others: Any) -> Any:  # noqa: ANN401, ARG001
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:  # noqa: ANN401, ARG001
        return builder.fadd(values[0], builder.fmul(_repeated(builder, values[1]), values[2]))

    return _LANES(lanes, types.float64, others), generate


def _times(typing: Any, lanes: Any, factor: Any) -> Any:  # noqa: ANN401, ARG001
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:  # noqa: ANN401, ARG001
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
    return row_start(context, builder, signature.args[0], values[0], indices)


def _repeated(builder: Any, number: Any) -> Any:  # noqa: ANN401
    one = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), number, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(ir.IntType(32), LANES), None))


INSTRUCTIONS: dict[str, Any] = {
    name: intrinsic(function)
    for name, function in {
        "entry": _entry,
        "lanes_at": _lanes_at,
        "plus": _plus,
        "put_lanes": _put_lanes,
        "times": _times,
    }.items()
}
"""By the names that the kernels call them by."""
