"""Parameters of the agreement panel: the runs to compare, when a head is found, how much is explained."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import Field

from headscope.analyses.base import Params
from headscope.analyses.parameters import Precision
from headscope.analyses.references import GatingRef, RunRef


def _run(title: str, description: str) -> Any:
    return Field(default=None, max_length=64, title=title, description=description)


class AgreementParams(Params):
    """Which runs are compared; the model itself is asked why they differ."""

    ADDED: ClassVar[frozenset[str]] = frozenset({"by_mean", "by_resample", "by_counterfactual"})

    gating: Annotated[str | None, GatingRef(same_task=True, needed=True)] = _run(
        "Causal head gating run", "The id of a finished run of the same model and task."
    )
    relatives: Annotated[str | None, RunRef("relatives", same_task=True)] = _run(
        "Effects run",
        "Leave-one-out, integrated gradients, attribution patching, direct logit attribution.",
    )
    mediation: Annotated[str | None, RunRef("mediation-function-vectors", same_task=True)] = _run(
        "Causal mediation run", "Function vectors: which heads carry what the task is."
    )
    rules: Annotated[str | None, RunRef("mediation-abstract-rules")] = _run(
        "Abstract rules run", "For gating of one of the two rules."
    )
    probe: Annotated[str | None, RunRef("probe", same_task=True)] = _run(
        "Probe run", "What heads hold of the label."
    )
    by_mean: Annotated[str | None, GatingRef(same_task=True)] = _run(
        "Gating run by mean ablation", "Which roles survive, where closed heads give their mean."
    )
    by_resample: Annotated[str | None, GatingRef(same_task=True)] = _run(
        "Gating run by resample ablation", "Which roles survive, where they give another row's output."
    )
    by_counterfactual: Annotated[str | None, GatingRef(same_task=True)] = _run(
        "Gating run by counterfactual ablation", "Which roles survive, where they give the paired prompt's."
    )
    threshold: float = Field(
        default=0.5,
        gt=0,
        le=1,
        allow_inf_nan=False,
        title="Threshold",
        description="Gating finds a head whose facilitation reaches this in at least one seed.",
    )
    least: float = Field(
        default=0.1,
        gt=0,
        le=100,
        allow_inf_nan=False,
        title="Smallest effect",
        description="In nats, or logits: from here on a measure finds a head, and a cost counts. At 0.1 nats "
        "an answer is a tenth less likely.",
    )
    most: int = Field(
        default=8,
        ge=1,
        le=64,
        title="Heads to explain, at most",
        description="Of those on which the methods disagree, the ones on which they do most.",
    )
    partners: int = Field(
        default=16,
        ge=1,
        le=256,
        title="Partners to try",
        description="Other heads that are closed together with each, to find a backup for it.",
    )
    refits: int = Field(
        default=1,
        ge=0,
        le=16,
        title="Fits without the head",
        description="For each head that gating finds, G− of so many seeds that need it is fitted again with "
        "it closed: heads that open instead are its backup heads. Each takes about a third of a seed's time "
        "in the gating run. 0 for none.",
    )
    n_examples: int = Field(
        default=16,
        ge=2,
        le=1024,
        title="Examples to explain on",
        description="Held-out rows of the gating run's split.",
    )
    dtype: Precision = "float32"


PRESETS: Mapping[str, Mapping[str, Any]] = {
    "quick": {"most": 4, "partners": 8, "refits": 0, "n_examples": 8},
    "full": {"most": 12, "partners": 32, "refits": 2, "n_examples": 32},
}
