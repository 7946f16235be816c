"""The three phases of a fit: G0 without a push, then G+ pushed open and G- pushed shut from its end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from headscope.analyses.chg.schema import ChgParams

if TYPE_CHECKING:
    from headscope.core.gating.fit import Phase

PhaseName = Literal["zero", "plus", "minus"]

PHASES: tuple[PhaseName, ...] = ("zero", "plus", "minus")
PHASE_TITLES = {"zero": "phase 0", "plus": "G+", "minus": "G−"}


def phase(name: PhaseName, params: ChgParams) -> Phase:
    """The settings of one phase: phase 0 without a push, G+ and G- with it, on the same batches."""
    from headscope.core.gating.fit import Phase
    from headscope.core.gating.settling import Settling

    pushed = name != "zero"
    return Phase(
        steps=params.steps,
        regularisation={"zero": 0.0, "plus": params.regularisation, "minus": -params.regularisation}[name],
        lr_start=params.lr_start if pushed else params.phase0_lr_start,
        lr_end=params.lr_end if pushed else params.phase0_lr_end,
        batch_size=params.batch_size,
        clamp=params.clamp,
        clip=params.clip,
        stream="push" if pushed else "zero",
        settling=Settling() if params.settle else None,
        # A memory has every row under gates of its own, and nothing that a batch begins with would be shared.
        remembers=params.remember and not params.batches_of_sets,
        clip_over=params.clip_over,
        shared=params.first_seed if params.batches == "shared" else None,
        autocast=params.autocast,
    )


def seeds_label(params: ChgParams, seeds: range) -> str:
    """Seeds in words for progress: "seed 4", "seeds 0–2"."""
    first, last = params.first_seed + seeds.start, params.first_seed + seeds.stop - 1
    return f"seed {first}" if first == last else f"seeds {first}–{last}"
