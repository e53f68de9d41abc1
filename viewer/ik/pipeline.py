"""prototype"""
from __future__ import annotations

from typing import Any
from numba.core import compiler, typing
from numba.core.compiler import CompilerBase, DefaultPassBuilder, Flags
from numba.core.compiler_machinery import LoweringPass, register_pass
from numba.core.cpu import CPUContext
from numba.core.codegen import JITCodeLibrary
import os
MODE=os.environ.get("MODE","")


class SharedFlags(Flags):
    __slots__ = ("known",)
    _all: dict = {}

    def __hash__(self):
        return self.known

    def __eq__(self, other):
        return self is other or (type(other) is not SharedFlags and super().__eq__(other))

    def copy(self):
        return self


SLIM = {"WithLifting","InlineClosureLikes","RewriteSemanticConstants","DeadBranchPrune","RewriteDynamicRaises","MakeFunctionToJitFunction","InlineInlinables","FindLiterallyCalls","LiteralUnroll","LiteralPropagationSubPipelinePass","InlineOverloads","NopythonRewrites","NoPythonSupportedFeatureValidation","DumpParforDiagnostics"}
_shared = {}


def shared(flags):
    key = flags.summary()
    if key not in _shared:
        new = SharedFlags(flags)
        new.known = Flags.__hash__(flags)
        _shared[key] = new
    return _shared[key]


class PartLibrary(JITCodeLibrary):
    def _optimize_functions(self, ll_module):
        ll_module.data_layout = self._codegen._data_layout

    def finalize(self):
        self._finalized = True


class WholeLibrary(JITCodeLibrary):
    def _optimize_functions(self, ll_module):
        ll_module.data_layout = self._codegen._data_layout

    def finalize(self):
        seen, todo = {}, list(self._linking_libraries)
        while todo:
            library = todo.pop()
            if library not in seen:
                seen[library] = True
                if isinstance(library, PartLibrary):
                    todo.extend(library._linking_libraries)
        self._linking_libraries = list(seen)
        super().finalize()

    def _optimize_final_module(self):
        if "internal" in MODE:
            for f in self._final_module.functions:
                if not f.is_declaration and "solve_held" not in f.name:
                    f.linkage = "internal"
        import time
        if "dump" in MODE:
            open("/tmp/s1/t/whole.bc","wb").write(self._final_module.as_bitcode())
        t=time.process_time()
        if "onepass" in MODE:
            mpm_full, mpb_full = self._codegen._module_pass_manager()
            mpm_full.run(self._final_module, mpb_full)
        else:
            super()._optimize_final_module()
        print("opt", time.process_time()-t)

    def _finalize_specific(self):
        import time
        t=time.process_time()
        super()._finalize_specific()
        print("codegen", time.process_time()-t)


class Uncompiled:
    def __init__(self, fndesc):
        self.fndesc = fndesc
    def __call__(self):
        raise TypeError


@register_pass(mutates_CFG=True, analysis_only=False)
class Declare(LoweringPass):
    _name = "declare"

    def __init__(self):
        LoweringPass.__init__(self)

    def run_pass(self, state):
        lowered = state["cr"]
        fn = [lowered.fndesc].count
        state.targetctx.insert_user_function(fn, lowered.fndesc, [state.library])
        state["cr"] = lowered._replace(cfunc=fn)
        return True


class Whole(CompilerBase):
    library_class = WholeLibrary

    def define_pipelines(self):
        pm, = self.base_pipelines()
        if "slim" in MODE:
            pm.passes = [(p, d) for p, d in pm.passes if (p if isinstance(p, type) else type(p)).__name__ not in SLIM]
            pm.finalize()
        return [pm]

    def base_pipelines(self):
        state = self.state
        state.library = self.library_class(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return [DefaultPassBuilder.define_nopython_pipeline(state)]

    def _compile_core(self):
        self.state.flags = shared(self.state.flags)
        return super()._compile_core()


class Part(Whole):
    library_class = PartLibrary

    def _compile_core(self):
        flags = self.state.flags.copy()
        flags.no_compile = True
        self.state.flags = flags
        return super()._compile_core()

    def define_pipelines(self):
        pm, = super().define_pipelines()
        pm.add_pass_after(Declare, compiler.NativeLowering)
        pm.finalize()
        return [pm]
