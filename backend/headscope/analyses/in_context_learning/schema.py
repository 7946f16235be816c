"""Parameters of the in-context-learning score, and the heads that follow from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

import numpy as np
from pydantic import Field

from headscope.analyses.base import Params, Spec
from headscope.analyses.induction.result import InductionResult, strongest
from headscope.analyses.parameters import HeadList, ScoresPrecision
from headscope.analyses.references import PromptsRef, RunRef
from headscope.core.model.head_list import Head, check_heads, read_heads
from headscope.core.model.info import ModelInfo
from headscope.errors import Invalid

TOKENS: Final = 512
"""Of a document: longer ones are cut to their beginning, shorter ones left out."""

EARLY: Final = 50
LATE: Final = 500
"""The positions whose losses are compared, the first token's being 0 [Olsson et al. 2022]."""

FEWEST: Final = 20
"""Documents below which there is no score."""

ENOUGH: Final = 50
"""Documents that the score wants."""


class InContextLearningParams(Params):
    """Which documents are read, and which heads are closed."""

    prompts: Annotated[str | None, PromptsRef()] = Field(
        default=None,
        max_length=64,
        title="Documents",
        description="The id of stored prompts, a document each; those shorter than 512 tokens are left out. "
        "Where unset, passages of Shakespeare's plays.",
    )
    documents: int = Field(
        default=64,
        ge=FEWEST,
        le=2000,
        title="Documents, at most",
        description="The first so many that are long enough; the score wants 50.",
    )
    window: int = Field(
        default=10,
        ge=1,
        le=11,
        title="Tokens on either side",
        description="The smoothed score compares means over so many tokens before and after each of the two.",
    )
    heads: HeadList = Field(
        default=None,
        title="Heads to close",
        description="One at a time, as layer.head: 0.3, 1.5. Where unset, those that the induction run "
        "gives; without one, none.",
    )
    induction: Annotated[str | None, RunRef("induction")] = Field(
        default=None,
        max_length=64,
        title="Induction run",
        description="The id of a finished run of the same model: the heads with its highest "
        "induction scores are closed.",
    )
    strongest: int = Field(
        default=10,
        ge=1,
        le=64,
        title="Induction heads to close",
        description="How many of that run's; of no effect where heads are named.",
    )
    dtype: ScoresPrecision = "float32"


PRESETS: Mapping[str, Mapping[str, Any]] = {
    "quick": {"documents": FEWEST, "strongest": 3},
    "full": {"documents": 64, "strongest": 20},
}


def check_context(model: ModelInfo) -> None:
    """Raise ``Invalid`` (context-too-short) where a document doesn't fit the model's context."""
    if model.n_ctx < TOKENS:
        raise Invalid(
            f"The score needs documents of {TOKENS} tokens; the context of {model.name} holds {model.n_ctx}.",
            f"Choose a model whose context holds {TOKENS} tokens. The induction analysis compares losses on "
            "shorter sequences.",
            code="context-too-short",
        )


def closed_heads(spec: Spec[InContextLearningParams]) -> list[Head]:
    """The heads that are closed one at a time: those named, or the induction run's, the strongest first.

    Raises ``Invalid`` (unknown-head) for one that the model doesn't have.
    """
    if spec.params.heads is not None:
        heads = list(read_heads(spec.params.heads))
        check_heads(heads, spec.model)
        return heads
    if not spec.inputs.get("induction"):
        return []
    run = spec.needed("induction", InductionResult)
    score = run.prefix if run.induction_above is None else run.induction_above
    return strongest(score, min(spec.params.strongest, int(np.prod(score.shape[1:]))))
