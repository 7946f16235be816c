"""CMD and CPR by ranking as a table in markdown.

``python tests/bench/circuit_areas.py [MODEL [TASK [ABLATION]]]``

For each pair of a shipped gating run and a shipped run of effects of the same model and task, here and now:
the heads that at least half of the fits need are the circuit. docs/analyses/circuit-test.md holds what came
out. Other runs: ``headscope export RUN --figure areas --format csv``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace

from headscope.analyses import figures
from headscope.analyses.base import Spec
from headscope.analyses.circuit_test import CIRCUIT_TEST
from headscope.analyses.circuit_test.result import CircuitTestResult
from headscope.analyses.circuit_test.schema import CircuitTestParams
from headscope.analyses.in_place import compute
from headscope.core.model.load import load_model
from headscope.gallery import shipped
from headscope.gallery.shipped import Shipped
from headscope.models.catalogue import Catalogue
from headscope.settings import Settings
from headscope.tasks.catalogue import TaskCatalogue


def pairs(wanted: list[str]) -> Iterator[tuple[Shipped, Shipped]]:
    """Gating and effects of the same model and task, of those wanted or all."""
    every = [shipped.read(path) for path in shipped.files()]
    of = {(run.request.analysis, run.request.model.name, run.request.task): run for run in every}
    for (analysis, model, task), gating in of.items():
        effects = of.get(("relatives", model, task))
        if analysis == "chg" and effects and [model, task][: len(wanted)] == wanted:
            yield gating, effects


def tested(gating: Shipped, effects: Shipped, ablation: str) -> CircuitTestResult:
    """The test with default settings on 64 rows."""
    folder = Catalogue(Settings()).folder(gating.request.model.name)
    model = load_model(folder, name=gating.request.model.name)
    asked = {"gating": gating.request.id, "relatives": effects.request.id, "fits": 0.5, "ablation": ablation}
    params = CircuitTestParams.model_validate(asked)
    task = TaskCatalogue().get(gating.request.task or "")
    inputs = {"gating": gating.result, "relatives": effects.result}
    info = replace(model.info, dtype="float32")
    return compute(CIRCUIT_TEST, Spec(params, info, task, inputs), model)


def main() -> None:
    """Print a table for each pair, and what the tests say."""
    wanted, ablation = sys.argv[1:3], (sys.argv[3:] or ["zero"])[0]
    for gating, effects in pairs(wanted):
        result = tested(gating, effects, ablation)
        told = f"{len(result.heads)} of {result.n_heads} heads, f = {result.faithfulness}"
        print(f"\n{gating.request.model.name}, {gating.request.task}: {told}\n")
        print("| ranking | CPR | CMD | f at the circuit's size |\n|---|---|---|---|")
        for name, *areas in figures.table(result, "areas")["rows"]:
            print(f"| {name} | {' | '.join('' if each is None else f'{each:.3f}' for each in areas)} |")
        for test in result.tests:
            print(f"\n{test['title']} ({test['outcome']}, p {test['p']}): {test['verdict']}")


if __name__ == "__main__":
    main()
