"""Compiles all kernels as one piece of code that is optimised once: 15 seconds instead of 100.

By itself numba optimises each function, and makes machine code of it, together with all functions that it calls: a
function deep in the tree of calls is optimised again for every function above it. Here a function that only other
kernels call (`Inner`) stays as it was written, until the entry (`Entry`) takes in all of them. And half as much is
written as numba would write (`_Lower`): kernels are loops over numbers, which raise nothing.

Numba documents that a function may have a pipeline of its own (``pipeline_class``); the code libraries that this one
uses are internal to numba. If another version of numba has no such parts, or fails in any way, the engine compiles
function by function with numba's ordinary pipeline: the same kernels, later.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import cache
from inspect import signature
from typing import Any

from llvmlite import ir
from numba.core import lowering, typeinfer, types, utils
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, Flags
from numba.core.compiler_machinery import register_pass
from numba.core.errors import WarningsFixer  # type: ignore[attr-defined]  # numba says no types
from numba.core.ir import Assign
from numba.core.postproc import PostProcessor
from numba.core.transforms import canonicalize_cfg
from numba.core.typed_passes import NativeLowering

from viewer.ik.compiled.numba_types import made, part_of

# Passes that find nothing to do in plain loops.
_IDLE = {
    "DeadBranchPrune",
    "DumpParforDiagnostics",
    "FindLiterallyCalls",
    "InlineClosureLikes",
    "InlineInlinables",
    "InlineOverloads",
    "LiteralPropagationSubPipelinePass",
    "LiteralUnroll",
    "MakeFunctionToJitFunction",
    "NoPythonSupportedFeatureValidation",
    "NopythonRewrites",
    "RewriteDynamicRaises",
    "RewriteSemanticConstants",
    "WithLifting",
}


class _InnerLibrary(JITCodeLibrary):
    """The code of one function, not optimised."""

    def add_llvm_module(self, ll_module: Any) -> None:  # noqa: ANN401
        """Take the function's code."""
        self._final_module = ll_module

    def finalize(self) -> None:
        """Make no machine code: the entry's library links this one."""
        self._finalized = True


class _EntryLibrary(JITCodeLibrary):
    """The code of a function with all that it calls, directly or not."""

    def _optimize_functions(self, ll_module: Any) -> None:  # noqa: ANN401
        """Do nothing yet."""

    def finalize(self) -> None:
        """Link all functions that are called, optimise them and make machine code of them."""
        self._own = set(self._defined())
        found: dict[Any, None] = {}
        ahead = list(self._linking_libraries)
        while ahead:
            library = ahead.pop()
            if library not in found:
                found[library] = None
                if isinstance(library, _InnerLibrary):
                    ahead += library._linking_libraries  # noqa: SLF001 - of its own kind
        inner = [library for library in found if isinstance(library, _InnerLibrary)]
        for library in inner:
            self._final_module.link_in(library._final_module)  # noqa: SLF001 - of its own kind
        self._linking_libraries = [library for library in found if library not in inner]
        super().finalize()

    def _optimize_final_module(self) -> None:
        """Optimise once: numba's cheaper round before removes reference counts, of which there are none."""
        for name in self._defined():
            if name not in self._own:
                # Not exported: a function that is inlined everywhere is dropped.
                self._final_module.get_function(name).linkage = "internal"
        # The lowest level: the hot loops are written in vectors and gain nothing from the higher levels.
        passes = self._codegen._module_pass_manager(opt=1)  # noqa: SLF001 - as the method does that this overrides
        if not isinstance(passes, tuple):  # before numba 0.62 it was done otherwise
            super()._optimize_final_module()
            return
        manager, builder = passes
        manager.run(self._final_module, builder)

    def _defined(self) -> list[str]:
        return [function.name for function in self._final_module.functions if not function.is_declaration]


class _SharedFlags(Flags):
    """Compiler options, one object for all functions with the same options.

    Numba caches types in dictionaries with the options in their keys; comparing two sets of options by value would take
    a third of the compile time.
    """

    __slots__ = ("_hash",)

    def __init__(self, flags: Flags) -> None:
        """Copy the options, which must not change from now on."""
        super().__init__(flags)
        self._hash: int = super().__hash__()

    def __hash__(self) -> int:
        """The hash of the options, computed once."""
        return self._hash

    def __eq__(self, other: object) -> bool:
        """Two shared objects are equal only if they are the same."""
        return self is other or (not isinstance(other, _SharedFlags) and bool(super().__eq__(other)))

    def copy(self) -> _SharedFlags:
        """The same object: it does not change."""
        return self

    def get_mangle_string(self) -> str:
        """What functions' names have in them besides a number of their own."""
        return ""


_shared: dict[str, _SharedFlags] = {}


@contextmanager
def _sparing() -> Iterator[None]:
    """Let numba work out once, not at each use, what its own operators and functions take and return.

    And let it not look for how long variables live, again and again: only reference counts need that.
    """
    resolve = types.Function.get_call_type
    once = cache(lambda function, context, args: resolve(function, context, args, {}))

    def resolve_once(function: Any, context: Any, args: Any, kws: Any) -> Any:  # noqa: ANN401
        return resolve(function, context, args, kws) if kws else once(function, context, args)

    with ExitStack() as stack:
        for owner, name, quicker in (
            (types.Function, "get_call_type", resolve_once),
            (utils, "pysignature", cache(signature)),
            (PostProcessor, "run", _simplify),
            (typeinfer, "new_error_context", _nothing_around),
            (lowering, "new_error_context", _nothing_around),
            (WarningsFixer, "catch_warnings", _nothing_around),
        ):
            stack.callback(setattr, owner, name, getattr(owner, name))
            setattr(owner, name, quicker)
        yield


_NOTHING = nullcontext()


def _nothing_around(*_: object, **__: object) -> AbstractContextManager[None]:
    """In place of what numba puts around each step, in case it fails."""
    return _NOTHING


def _simplify(processor: PostProcessor, *_: object, **__: object) -> None:
    """What later passes need of `PostProcessor.run`."""
    processor.func_ir.blocks = canonicalize_cfg(processor.func_ir.blocks)


_INT, _WORD = types.intp, ir.IntType(64)
_PARTS_OF_PAIRS = "pair_first", "pair_second"


class _Lower(lowering.Lower):
    """Writes a function's code: a variable that is set once is a value, where numba would put it into memory."""

    def _find_singly_assigned_variable(self) -> None:
        blocks = self.blocks.values()
        names = Counter(one.target.name for block in blocks for one in block.find_insts(Assign))
        self._singly_assigned_vars = {name for name, count in names.items() if count == 1}
        self._blk_local_varmap: dict[str, Any] = {}

    def lower_expr(self, resty: Any, expr: Any) -> Any:  # noqa: ANN401
        """Loops over a range without numba's checks, and what numba would put into memory."""
        builder, op = self.builder, expr.op
        if op == "call" and isinstance(resty, types.RangeType):
            names, cast = [end.name for end in expr.args], self.context.cast
            ends = [cast(builder, self.loadvar(name), self.typeof(name), _INT) for name in names]
            zero, one = ir.Constant(_WORD, 0), ir.Constant(_WORD, 1)
            return made(self.context, builder, resty, *((zero, *ends, one) if len(ends) == 1 else (*ends, one)[:3]))
        if op == "getiter" and isinstance(resty, types.RangeIteratorType):
            start, stop, step = self._parts(expr, 3)
            with builder.goto_entry_block():
                ahead = builder.alloca(_WORD)
            builder.store(start, ahead)
            return made(self.context, builder, resty, ahead, stop, step)
        if op == "iternext" and isinstance(self.typeof(expr.value.name), types.RangeIteratorType):
            ahead, stop, step = self._parts(expr, 3)
            number = builder.load(ahead)
            builder.store(builder.add(number, step), ahead)
            more = builder.icmp_signed("<", number, stop)
            if not (isinstance(step, ir.Constant) and step.constant > 0):
                down = builder.icmp_signed("<", step, ir.Constant(_WORD, 0))
                more = builder.select(down, builder.icmp_signed(">", number, stop), more)
            return made(self.context, builder, types.Pair(_INT, types.boolean), number, more)
        if op in _PARTS_OF_PAIRS:
            return self._parts(expr, 2)[_PARTS_OF_PAIRS.index(op)]
        return super().lower_expr(resty, expr)

    def _parts(self, expr: Any, count: int) -> list[Any]:  # noqa: ANN401
        value = self.loadvar(expr.value.name)
        return [part_of(self.builder, value, i) for i in range(count)]

    def lower_assign(self, ty: Any, inst: Any) -> Any:  # noqa: ANN401
        """A function's name has no value: calls go by its type."""
        return self.context.get_dummy_value() if isinstance(ty, types.Dispatcher) else super().lower_assign(ty, inst)

    def lower_static_raise(self, inst: Any) -> None:  # noqa: ANN401
        """No: calls do not look whether the function has raised."""
        raise NotImplementedError(f"a kernel that raises: {inst}")

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:  # noqa: ANN401, ARG002
        """Without looking at what the variable had before: there are no reference counts."""
        if name in self._singly_assigned_vars:
            self._blk_local_varmap[name] = value
        else:
            self.builder.store(value, self.getvar(name))


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(NativeLowering):
    """Numba's pass, by `_Lower`."""

    _name = "viewer_lowering"

    @property
    def lowering_class(self) -> type[lowering.Lower]:
        """See `NativeLowering`."""
        return _Lower


@register_pass(mutates_CFG=True, analysis_only=False)
class _Declaring(_Lowering):
    """The same; then the function, which has no machine code, is registered, so that other kernels can call it."""

    _name = "viewer_declaring"

    def run_pass(self, state: Any) -> bool:  # noqa: ANN401
        """See `NativeLowering`."""
        super().run_pass(state)
        lowered = state["cr"]
        # Numba identifies compiled functions by such an object, which is never called.
        name = [lowered.fndesc].count
        state.targetctx.insert_func_defn([(_call_of(lowered.fndesc, state.library), name, lowered.fndesc.argtypes)])
        state["cr"] = lowered._replace(cfunc=name)
        return True


def _call_of(callee: Any, library: Any) -> Any:  # noqa: ANN401
    """What writes a call of a function: without numba's look at whether it has raised, which no kernel does."""

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ANN401
        function = context.declare_function(builder.module, callee)
        with builder.goto_entry_block():
            result = builder.alloca(function.args[0].type.pointee)
        passed = context.get_arg_packer(callee.argtypes).as_arguments(builder, arguments)
        builder.call(function, [result, builder.function.args[1], *passed])
        return context.get_returned_value(builder, callee.restype, builder.load(result))

    write.libs = (library,)  # type: ignore[attr-defined]  # where numba looks for it
    return write


class Entry(CompilerBase):
    """Compiles the function that Python calls."""

    _library: Any = _EntryLibrary
    _lowering: Any = _Lowering

    def _compile_core(self) -> Any:  # noqa: ANN401
        flags = self.state.flags
        self.state.flags = _shared.setdefault(flags.summary(), _SharedFlags(flags))
        with nullcontext() if flags.no_compile else _sparing():
            return super()._compile_core()

    def define_pipelines(self) -> list[Any]:
        """Numba's passes without those in `_IDLE`, and our lowering."""
        state = self.state
        state.library = self._library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        manager = DefaultPassBuilder.define_nopython_pipeline(state)
        passes = [(one, about) for one, about in manager.passes if one.__name__ not in _IDLE]
        manager.passes = [(self._lowering if one is NativeLowering else one, about) for one, about in passes]
        manager.finalize()
        return [manager]


class Inner(Entry):
    """Compiles a function that only compiled functions call."""

    _library = _InnerLibrary
    _lowering = _Declaring

    def _compile_core(self) -> Any:  # noqa: ANN401
        self.state.flags.no_compile = True
        return super()._compile_core()
