"""The phases of a fit: G0 without a push, then G+ pushed open and G- pushed shut from its end; and where
asked for, from the end of each of the two, a last one that leads its gates to open or shut.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, Literal

from headscope.analyses.chg.schema import ChgParams

if TYPE_CHECKING:
    from headscope.core.gating.fit import Phase

PhaseName = Literal["zero", "plus", "minus", "plus-binary", "minus-binary"]

PHASES: tuple[PhaseName, ...] = ("zero", "plus", "minus")
PHASE_TITLES = {
    "zero": "phase 0",
    "plus": "G+",
    "minus": "G−",
    "plus-binary": "G+ binarised",
    "minus-binary": "G− binarised",
}
BEFORE: Mapping[PhaseName, PhaseName] = {
    "plus": "zero",
    "minus": "zero",
    "plus-binary": "plus",
    "minus-binary": "minus",
}
"""From whose end a phase starts."""

BINARY: tuple[PhaseName, ...] = ("plus-binary", "minus-binary")

BINARY_RATES: Final = (0.1, 0.01)
"""Learning rates of the last phase, first and last."""

_PUSH: Mapping[PhaseName, int] = {"zero": 0, "plus": 1, "minus": -1, "plus-binary": 1, "minus-binary": -1}

COLDEST: Final = 0.01
"""The last temperature: gates are then within 0.01 of 0 or 1 where logits are 0.05 or more off 0."""


def phases(params: ChgParams) -> tuple[PhaseName, ...]:
    """Those of a run, in order."""
    return (*PHASES, *BINARY) if params.binarise else PHASES


def phase(name: PhaseName, params: ChgParams) -> Phase:
    """The settings of one phase: phase 0 without a push, G+ and G- with it, on the same batches."""
    from headscope.core.gating.fit import Phase
    from headscope.core.gating.settling import Settling

    pushed, binary = name != "zero", name in BINARY
    return Phase(
        steps=params.steps,
        regularisation=_PUSH[name] * params.regularisation,
        lr_start=BINARY_RATES[0] if binary else params.lr_start if pushed else params.phase0_lr_start,
        lr_end=BINARY_RATES[1] if binary else params.lr_end if pushed else params.phase0_lr_end,
        batch_size=params.batch_size,
        clamp=params.clamp,
        clip=params.clip,
        stream="binary" if binary else "push" if pushed else "zero",
        settling=Settling() if params.settle and not binary else None,
        # A memory has every row under gates of its own, and nothing that a batch begins with would be shared.
        remembers=params.remember and not params.batches_of_sets and not binary,
        clip_over=params.clip_over,
        shared=params.first_seed if params.batches == "shared" else None,
        autocast=params.autocast,
        coldest=COLDEST if binary else None,
    )


def null_label(params: ChgParams, index: int) -> str:
    """A fit on permuted targets in words for progress."""
    return f"permuted targets, seed {params.first_seed + index}"


def seeds_label(params: ChgParams, seeds: range) -> str:
    """Seeds in words for progress: "seed 4", "seeds 0–2"."""
    first, last = params.first_seed + seeds.start, params.first_seed + seeds.stop - 1
    return f"seed {first}" if first == last else f"seeds {first}–{last}"
