"""How the kernels are compiled: all of them as one piece of code, optimised once.

By itself numba optimises each function, and makes machine code of it, together with all that it calls: what stands
deep in the tree of calls is optimised again in every function above it. Here what is only called by other kernels
stays as numba wrote it, until the one function that Python calls takes all of it in. Numba's pipelines may be replaced
for that, function by function (``pipeline_class``): nothing else that a process compiles is touched.
"""

from __future__ import annotations

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, Flags
from numba.core.compiler_machinery import LoweringPass, register_pass
from numba.core.typed_passes import NativeLowering

# Passes that find nothing to do in plain loops over arrays.
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


class _PartLibrary(JITCodeLibrary):
    """The code of one function, as numba wrote it."""

    def _optimize_functions(self, ll_module: Any) -> None:  # noqa: ANN401
        """Leave it as it is."""

    def finalize(self) -> None:
        """Nothing becomes machine code, and what it calls is taken in where it is taken in itself."""
        self._finalized = True


class _WholeLibrary(JITCodeLibrary):
    """The code of a function with all that it calls, directly or not."""

    def _optimize_functions(self, ll_module: Any) -> None:  # noqa: ANN401
        """Wait for the rest."""

    def finalize(self) -> None:
        """Take in all that is called, optimise it and make machine code of it."""
        self._own = set(self._defined())
        found: dict[Any, None] = {}
        ahead = list(self._linking_libraries)
        while ahead:
            library = ahead.pop()
            if library not in found:
                found[library] = None
                if isinstance(library, _PartLibrary):
                    ahead += library._linking_libraries  # noqa: SLF001 - of its own kind
        self._linking_libraries = list(found)
        super().finalize()

    def _optimize_final_module(self) -> None:
        """Once: numba's cheaper round before goes after counts of references, of which there are none."""
        for name in self._defined():
            if name not in self._own:
                # Nobody else's: what becomes part of its callers is not kept besides.
                self._final_module.get_function(name).linkage = "internal"
        # Its lowest level: the kernels' hot loops are written in vectors, and gain nothing from the higher ones.
        passes = self._codegen._module_pass_manager(opt=1)  # noqa: SLF001 - as the method does that this overrides
        if not isinstance(passes, tuple):  # before numba 0.62 it was done otherwise
            super()._optimize_final_module()
            return
        manager, builder = passes
        manager.run(self._final_module, builder)

    def _defined(self) -> list[str]:
        return [function.name for function in self._final_module.functions if not function.is_declaration]


class _SharedFlags(Flags):
    """Options of a compilation that are one object for all functions that have the same.

    Numba keeps what it finds out about types in dictionaries that have the options in their keys. To compare two sets
    of them by value takes so long that a third of compiling goes into that.
    """

    __slots__ = ("_hash",)

    def __init__(self, flags: Flags) -> None:
        """Take over the options; nobody may change them from now on."""
        super().__init__(flags)
        self._hash: int = super().__hash__()

    def __hash__(self) -> int:
        """As of the options."""
        return self._hash

    def __eq__(self, other: object) -> bool:
        """Of its own kind there are no two alike."""
        return self is other or (not isinstance(other, _SharedFlags) and bool(super().__eq__(other)))

    def copy(self) -> _SharedFlags:
        """Itself."""
        return self


_shared: dict[str, _SharedFlags] = {}


@register_pass(mutates_CFG=True, analysis_only=False)
class _Declare(LoweringPass):
    """Make a function known to those that call it though it has no machine code."""

    _name = "viewer_declare"

    def __init__(self) -> None:
        """Numba asks for one."""
        super().__init__()

    def run_pass(self, state: Any) -> bool:  # noqa: ANN401
        """See `LoweringPass`."""
        lowered = state["cr"]
        # Numba tells compiled functions apart by such an object; nobody calls it.
        name = [lowered.fndesc].count
        state.targetctx.insert_user_function(name, lowered.fndesc, [state.library])
        state["cr"] = lowered._replace(cfunc=name)
        return True


class Whole(CompilerBase):
    """Compiles the function that Python calls."""

    _library: Any = _WholeLibrary

    def _compile_core(self) -> Any:  # noqa: ANN401
        flags = self.state.flags
        self.state.flags = _shared.setdefault(flags.summary(), _SharedFlags(flags))
        return super()._compile_core()

    def define_pipelines(self) -> list[Any]:
        """Numba's own passes, less those that are `_IDLE`."""
        state = self.state
        state.library = self._library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        manager = DefaultPassBuilder.define_nopython_pipeline(state)
        manager.passes = [(one, about) for one, about in manager.passes if one.__name__ not in _IDLE]
        self._adapt(manager)
        manager.finalize()
        return [manager]

    def _adapt(self, manager: Any) -> None:  # noqa: ANN401
        """Change the passes."""


class Part(Whole):
    """Compiles a function that only compiled functions call."""

    _library = _PartLibrary

    def _compile_core(self) -> Any:  # noqa: ANN401
        self.state.flags.no_compile = True
        return super()._compile_core()

    def _adapt(self, manager: Any) -> None:  # noqa: ANN401
        manager.add_pass_after(_Declare, NativeLowering)
