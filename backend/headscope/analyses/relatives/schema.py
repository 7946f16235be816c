"""Parameters of the cheap relatives, and the measures in the order of every page and file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from pydantic import Field

from headscope.analyses.base import Params
from headscope.analyses.parameters import Shots, SplitSeed


class RelativesParams(Params):
    """Which held-out examples, and how finely the path is followed."""

    n_examples: int = Field(
        default=64,
        ge=2,
        le=100_000,
        title="Held-out examples, at most",
        description="Rows that no fit of the same split saw; every measure is a mean over them.",
    )
    points: int = Field(
        default=8,
        ge=1,
        le=64,
        title="Points of the path",
        description="Where slopes are taken between all heads closed and all open; 8 follow most paths well.",
    )
    shots: Shots = None
    split_seed: SplitSeed = 0
    dtype: Literal["float32", "bfloat16", "float64"] = Field(
        default="float32",
        title="Precision",
        description="Of the model. Losses are kept in float32 or better.",
    )


PRESETS: Mapping[str, Mapping[str, Any]] = {"quick": {"n_examples": 16}, "full": {"n_examples": 256}}


@dataclass(frozen=True)
class Measure:
    """A number per head: its name in code, its title, a sentence how to read it, its unit."""

    name: str
    title: str
    reading: str
    unit: str


MEASURES: Final = (
    Measure(
        "left_out",
        "Left out",
        "How much the loss rises when this head alone is closed: blue heads help, red ones harm.",
        "nats",
    ),
    Measure(
        "path",
        "Attribution along the path",
        "Each head's part of what opening all heads together gains, by slopes along the way.",
        "nats",
    ),
    Measure(
        "slope",
        "Attribution patching",
        "What the slope at the model as it is promises for closing this head; where the model is sure of its "
        "answers, slopes are close to nothing whatever a head does.",
        "nats",
    ),
    Measure(
        "importance",
        "Head importance",
        "The size of that slope, whatever its sign, mean over examples.",
        "nats",
    ),
    Measure(
        "direct",
        "Direct logit attribution",
        "What the head itself writes at the answer's logit, not by way of other heads.",
        "logits",
    ),
)
"""Effects of one head each; positive where the head helps (importance has no sign)."""
