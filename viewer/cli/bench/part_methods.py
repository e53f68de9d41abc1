"""Success and iterations of every solver by its name, on the same rigs, goals and limits."""

from __future__ import annotations

from viewer.cli.bench.contender import Contender
from viewer.cli.bench.ours import Ours
from viewer.cli.bench.plan import Plan
from viewer.cli.bench.problems import PARTS
from viewer.cli.bench.timing import judged, round_robin
from viewer.cli.output import Json
from viewer.ik.solver_options import METHOD_NAMES, MethodName

SETS = ("humanoid", "claw", "fingers")
NATIVE = ("biped", "biped-hands")
"""With swing-twist limits: sets of ours alone."""
_OTHERS = 50
"""Problems for the solvers that are there for comparison: they are slow where they fail."""


def measure(plan: Plan) -> Json:
    """By set, class and solver."""
    sets: dict[str, Json] = {}
    for name in plan.some((*SETS, *NATIVE)):
        kinds: dict[str, Json] = {}
        for kind in PARTS:
            found = _runs(plan, name, kind, ("default",), plan.count)
            if name not in NATIVE:
                found |= _runs(plan, name, kind, METHOD_NAMES[1:], min(plan.count, _OTHERS))
            kinds[kind] = found
        sets[name] = kinds
    return sets


def _runs(plan: Plan, name: str, kind: str, methods: tuple[MethodName, ...], count: int) -> dict[str, Json]:
    source = plan.source if name not in NATIVE else type(plan)().source
    rig = source.rig(name)
    set_of = source.problems(rig, kind, plan.at_most(count), plan.seed)
    ours = {
        method: Ours(rig, method=method, backend=plan.backend if method == "default" else "numpy") for method in methods
    }
    served: dict[str, Contender] = {m: c for m, c in ours.items() if not c.unserved(set_of.targets[0], set_of.turns[0])}
    records = round_robin(served, set_of, plan.budget_s / 4.0, f"{name} {kind} by method")
    return {method: judged(rig, set_of, served[method], record) for method, record in records.items()}
