"""The agreement panel as pieces of durable work: see ``analyses.agreement.plan``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from headscope.analyses import ablation
from headscope.analyses.agreement import ablations
from headscope.analyses.agreement.cost import explained, refit_passes, ways
from headscope.analyses.agreement.methods import compared, of_arrays
from headscope.analyses.agreement.plan import cuts
from headscope.analyses.agreement.report import disagreements, measurements, notes
from headscope.analyses.agreement.result import AgreementResult
from headscope.analyses.agreement.schema import AgreementParams
from headscope.analyses.base import Estimate, Piece, Pieces, Spec
from headscope.analyses.gating_run import gating_run
from headscope.analyses.held_out import drawing, scoring, sizes
from headscope.analyses.relatives.result import RelativesResult
from headscope.core.model.tokens import Tokenizer


def seeds(params: AgreementParams) -> Sequence[int]:
    """One: nothing is drawn."""
    return (0,)


def estimate(
    spec: Spec[AgreementParams], *, tokenizer: Tokenizer | None = None, throughput: float | None = None
) -> Estimate:
    """Wall seconds and peak bytes; raises what ``methods.compared`` does."""
    compared(spec)
    params, model, gating = spec.params, spec.model, gating_run(spec, "gating")
    rows = sizes(spec.task, tokenizer, drawing(gating), params.n_examples, model)
    heads = explained(spec)
    each = ways(spec) + params.refits * (3 + refit_passes(gating) / rows.examples)
    return scoring(
        model,
        params.dtype,
        rows,
        layers=model.n_layers * heads * each,
        readings=heads * each,
        throughput=throughput,
        basis=f"{heads} heads explained by {each:.0f} passes each, at most",
    )


def plan(spec: Spec[AgreementParams]) -> Sequence[Piece]:
    """The pieces in order. Raises what ``methods.compared`` does."""
    compared(spec)
    ablations.check(spec)
    return cuts(spec).pieces


def assemble(spec: Spec[AgreementParams], pieces: Pieces) -> AgreementResult:
    """What every method says, how far they agree, and the explanations of heads in dispute."""
    cut, params, base = cuts(spec), spec.params, gating_run(spec, "gating")
    arrays = dict(pieces[cut.compare.key])
    arrays["heads"] = arrays["heads"].astype(np.uint16).reshape(-1, 2)
    seen, disputed = of_arrays(arrays), len(arrays["heads"])
    evidence = [measurements(head, pieces) for head in cut.heads[:disputed]]
    values = {
        "methods": list(seen),
        "disagreements": disagreements(seen, evidence, arrays, params),
        "n_disputed": disputed,
        "n_seeds": int(arrays["n_seeds"][0]),
        "notes": [
            *notes(seen, arrays, base, len(evidence), params),
            *ablation.unlike("zero", base.params),
            *_left_out(spec),
        ],
    }
    survived = ablations.survival(arrays, base.ablation)
    if survived:
        values |= {"ablation": base.ablation, "survival": survived}
    header = AgreementResult.header(spec, seeds=seeds(params), task=spec.task)
    return AgreementResult.of_parts(header, arrays, values)


def _left_out(spec: Spec[AgreementParams]) -> Iterator[str]:
    """What can't be evidence."""
    effects = spec.inputs.get("relatives")
    if isinstance(effects, RelativesResult) and not effects.path_converged:
        yield f"{effects.why_unconverged} They are left out of the comparison."
