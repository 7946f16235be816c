"""The smallest planted model (headscope.validation.planted) in plain torch, its heads' roles by name.

0.0  previous-token head: writes the token before into its part       needed
0.1  nothing                                                          doesn't matter
0.2  writes against token 0; so does 1.1, and either is enough        redundant
0.3  copies the present token to the logits, always wrong             harmful
1.0  induction head: looks for its own token among the tokens before  needed
1.1  as 0.2                                                           redundant
1.2, 1.3  nothing                                                     don't matter
"""

from __future__ import annotations

from headscope.validation.planted import COPY, Plan, build
from headscope.validation.task import PlantedTask, planted_examples
from micro.model import MicroModel

PLAN = Plan(
    n_layers=2,
    n_heads=4,
    groups=4,
    vocab=16,
    d_model=64,
    match=8.0,
    favoured=1.0,
    spared=2.0,
    kinds={
        (0, 0): "previous",
        (0, 2): "spare",
        (0, 3): "copier",
        (1, 0): "induction",
        (1, 1): "spare",
    },
)
NEEDED, HARMFUL = PLAN.heads("needed"), PLAN.heads("harmful")
REDUNDANT, USELESS = PLAN.heads("redundant"), PLAN.heads("useless")
VOCAB, START = PLAN.vocab, PLAN.start

__all__ = [
    "COPY", "HARMFUL", "NEEDED", "PLAN", "REDUNDANT", "START", "USELESS", "VOCAB", "PlantedTask",
    "planted_examples", "planted_model",
]  # fmt: skip


def planted_model() -> MicroModel:
    """The model of the module's table, in float64."""
    made = build(PLAN)
    return MicroModel(made.W_E, made.W_pos, made.W_Q, made.W_K, made.W_V, made.W_O, made.W_U)
