"""Parameters of the skip-trigram analysis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from headscope.analyses.from_weights import WeightParams
from headscope.core.model.info import ModelInfo
from headscope.errors import Invalid

ALL_UP_TO = 64
"""Models of so few heads have them all looked at where none are named; larger ones their first layer."""


class SkipTrigramsParams(WeightParams):
    """Which heads, over which part of the vocabulary, and how many of the strongest."""

    heads: str | None = Field(
        default=None,
        max_length=2000,
        title="Heads",
        description="Separated by commas, e.g. 1.5, 1.2. Where unset: all heads of a small model, the first "
        "layer of a large one, whose heads read tokens and nothing else.",
    )
    vocabulary: int = Field(
        default=4096,
        ge=16,
        le=262_144,
        title="Tokens, at most",
        description="The first so many token ids, in most vocabularies the frequent ones.",
    )
    count: int = Field(
        default=50, ge=1, le=500, title="Sources a head", description="The strongest are kept."
    )
    near: int = Field(
        default=8,
        ge=2,
        le=32,
        title="Tokens a source",
        description="The best present tokens and the best next tokens of each source.",
    )


PRESETS: Mapping[str, Mapping[str, Any]] = {"quick": {"vocabulary": 1024, "count": 20}}


def chosen_heads(params: SkipTrigramsParams, model: ModelInfo) -> Sequence[tuple[int, int]]:
    """The heads that are looked at. Raises ``Invalid`` (no-head) for one there isn't."""
    if params.heads is None:
        layers = model.n_layers if model.n_layers * model.n_heads <= ALL_UP_TO else 1
        return [(layer, head) for layer in range(layers) for head in range(model.n_heads)]
    found = []
    for word in params.heads.split(","):
        layer, _, head = word.strip().partition(".")
        known = layer.isascii() and layer.isdigit() and head.isascii() and head.isdigit()
        if not known or int(layer) >= model.n_layers or int(head) >= model.n_heads:
            raise Invalid(
                f"{model.name} has no head {word.strip()[:20]!r}.",
                f"Layers run 0-{model.n_layers - 1}, heads 0-{model.n_heads - 1}: write e.g. 0.3.",
                code="no-head",
            )
        found.append((int(layer), int(head)))
    return list(dict.fromkeys(found))
