"""Groups of arrays as compiled code passes them on: by one pointer to where they are noted.

By itself numba passes a named tuple of arrays as all of their numbers, some five hundred for a system with its scratch
and states, at every call from kernel to kernel: most of the time that compiling takes goes into that. What a
group's attribute gives is read where it is used. It never changes during a call, and LLVM is told so: reads move
out of loops as if the arrays had been passed.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.datamodel.registry import register_default
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr

from viewer.ik.compiled_arrays import Plain


class Group(types.Type):
    """Numba's type of a pointer to a noted named tuple of arrays."""

    def __init__(self, members: Any) -> None:  # noqa: ANN401 - numba's type of the named tuple
        """Of a named tuple's type."""
        self.members = members
        super().__init__(name=f"Group({members.instance_class.__name__})")


register_default(Group)(models.OpaqueModel)


@infer_getattr
class _Attributes(AttributeTemplate):
    key = Group

    def generic_resolve(self, group: Group, name: str) -> Any:  # type: ignore[override]  # noqa: ANN401
        """The type of a member."""
        fields = group.members.fields
        return Plain.of(group.members[fields.index(name)]) if name in fields else None


@lower_getattr_generic(Group)
def _member(context: Any, builder: Any, group: Group, value: Any, name: str) -> Any:  # noqa: ANN401
    """Read the description of a member: where its data is, how much, and its shape and strides."""
    index = group.members.fields.index(name)
    kind = group.members[index]
    place = builder.bitcast(value, context.get_value_type(group.members).as_pointer())
    noted = cgutils.gep_inbounds(builder, place, 0, index)
    # Null pointers for the owners, which stand first: whoever calls keeps the arrays.
    array = ir.Constant(context.get_value_type(kind), None)
    for field in range(_OWNERS, len(array.type.elements)):
        array = builder.insert_value(array, _read(builder, cgutils.gep_inbounds(builder, noted, 0, field)), field)
    return array


_OWNERS = 2


def _read(builder: Any, place: Any) -> Any:  # noqa: ANN401
    """A number, or an array of numbers, that does not change while the kernels run."""
    kind = place.type.pointee
    if isinstance(kind, ir.ArrayType):
        read = ir.Constant(kind, ir.Undefined)
        for i in range(kind.count):
            read = builder.insert_value(read, _read(builder, cgutils.gep_inbounds(builder, place, 0, i)), i)
        return read
    read = builder.load(place)
    read.set_metadata("invariant.load", builder.module.add_metadata([]))
    return read


def groups_of(held: Any) -> Any:  # noqa: ANN401
    """The type of a tuple of groups, for that of a tuple of named tuples."""
    return types.Tuple([Group(members) for members in held])


__all__ = ["Group", "groups_of"]
