"""Arrays as compiled code indexes them: from their beginning only.

Numba lets an index count from the end, as Python does. It asks at every single use whether it is negative, and a loop
that does not begin at a number known to the compiler then gathers and scatters what lies side by side. The kernels
never count from the end.
"""

from __future__ import annotations

import operator
from typing import Any

from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.datamodel.registry import register_default
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import signature
from numba.np.arrayobj import getitem_array_tuple, setitem_array


class Plain(types.Array):
    """Numba's type of an array that is indexed from its beginning."""

    @classmethod
    def of(cls, array: Any) -> Plain:  # noqa: ANN401
        """The same as numba's own type."""
        return cls(array.dtype, array.ndim, array.layout, not array.mutable, None, array.aligned)

    def copy(self, *given: Any, **named: Any) -> Any:  # noqa: ANN401
        """The type of a part of it."""
        return self.of(super().copy(*given, **named))


register_default(Plain)(models.ArrayModel)


@lower_builtin(operator.getitem, Plain, types.Integer)
@lower_builtin(operator.getitem, Plain, types.BaseTuple)
def _get(context: Any, builder: Any, asked: Any, values: Any) -> Any:  # noqa: ANN401
    array, index = asked.args
    kind, value = _from_beginning(context, builder, index, values[1])
    return getitem_array_tuple(context, builder, signature(asked.return_type, array, kind), (values[0], value))


@lower_builtin(operator.setitem, Plain, types.Any, types.Any)
def _set(context: Any, builder: Any, asked: Any, values: Any) -> Any:  # noqa: ANN401
    array, index, item = asked.args
    kind, value = _from_beginning(context, builder, index, values[1])
    asked = signature(asked.return_type, array, kind, item)
    return setitem_array(context, builder, asked, (values[0], value, values[2]))


def _from_beginning(context: Any, builder: Any, index: Any, value: Any) -> tuple[Any, Any]:  # noqa: ANN401
    """A tuple of indices, of which the integers have no sign."""
    if not isinstance(index, types.BaseTuple):
        index, value = types.UniTuple(index, 1), context.make_tuple(builder, types.UniTuple(index, 1), (value,))
    kinds, numbers = list(index), cgutils.unpack_tuple(builder, value, len(index))
    for i, kind in enumerate(kinds):
        if isinstance(kind, types.Integer):
            numbers[i] = context.cast(builder, numbers[i], kind, types.uintp)
            kinds[i] = types.uintp
    unsigned = types.Tuple(kinds)
    return unsigned, context.make_tuple(builder, unsigned, numbers)
