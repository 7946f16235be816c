"""Parameters of causal head gating; the defaults are the paper's (arXiv 2505.13737)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from headscope.analyses.base import Params
from headscope.analyses.parameters import AblationSetting, Clamp, Clip, FitPrecision, Shots, SplitSeed
from headscope.analyses.references import GatingRef
from headscope.tasks.pool import MOST_SETS


class ChgParams(Params):
    """Settings of the fit G0 -> G+, G-. Learning rates fall linearly within a phase; losses are in nats."""

    ADDED: ClassVar[frozenset[str]] = frozenset(
        {
            "ablation",
            "autocast",
            "batches",
            "binarise",
            "bos",
            "check_closed",
            "clip_over",
            "demonstrations",
            "examples",
            "null_fits",
            "pool_sets",
            "start_open",
            "within_clamp",
        }
    )

    seeds: int = Field(
        default=10,
        ge=1,
        le=64,
        title="Seeds",
        description="Independent fits. A head's share of seeds is the finding, so use several.",
    )
    first_seed: int = Field(
        default=0,
        ge=0,
        le=2**31 - 1,
        title="First seed",
        description="Seeds count up from here; another start gives disjoint seeds.",
    )
    steps: int = Field(
        default=500,
        ge=1,
        le=20_000,
        title="Updates per phase",
        description="Optimiser updates in each of the three phases.",
    )
    batch_size: int = Field(
        default=64, ge=1, le=1024, title="Batch size", description="Examples per update and seed."
    )
    phase0_lr_start: float = Field(
        default=0.1,
        gt=0,
        le=10,
        allow_inf_nan=False,
        title="Phase 0 learning rate, first",
        description="At phase 0's first update.",
    )
    phase0_lr_end: float = Field(
        default=0.01,
        gt=0,
        le=10,
        allow_inf_nan=False,
        title="Phase 0 learning rate, last",
        description="At phase 0's last update.",
    )
    lr_start: float = Field(
        default=0.5,
        gt=0,
        le=10,
        allow_inf_nan=False,
        title="G+ and G− learning rate, first",
        description="At their first update.",
    )
    lr_end: float = Field(
        default=0.1,
        gt=0,
        le=10,
        allow_inf_nan=False,
        title="G+ and G− learning rate, last",
        description="At their last update.",
    )
    regularisation: float = Field(
        default=0.1,
        gt=0,
        le=100,
        allow_inf_nan=False,
        title="Push λ",
        description="How strongly G+ is pushed open and G− shut: λ times the mean clamped logit, in nats.",
    )
    clamp: Clamp = 4.0
    clip: Clip = 1.0
    clip_over: Literal["seed", "all"] = Field(
        default="seed",
        title="Gradients clipped",
        description="seed: each seed's gradient by itself. all: the gradients of all seeds as one, as the "
        "authors' code does; then a seed's fit depends on how many there are.",
    )
    batches: Literal["own", "shared"] = Field(
        default="own",
        title="Batches",
        description="own: each seed draws its own. shared: all seeds see the same batches, in epochs that "
        "use every row once, as in the authors' code.",
    )
    autocast: bool = Field(
        default=False,
        title="Autocast",
        description="Compute forward passes of the fit in bfloat16 where a GPU is good at it, with float32 "
        "weights and gates; elsewhere this does nothing and a note says so.",
    )
    remember: bool = Field(
        default=False,
        title="Remember gradients (SAGA)",
        description="Blend a batch's gradients with those last seen for all other examples (SAGA): less "
        "noise from small batches, where each example is used at least twice.",
    )
    settle: bool = Field(
        default=False,
        title="Stop when settled",
        description="End a seed's phase once its heads hardly change sides any more; the updates set are "
        "then the most.",
    )
    ablation: AblationSetting = "zero"
    shots: Shots = None
    bos: Literal["own", "none", "none-in-mathematics"] = Field(
        default="own",
        title="First token",
        description="own: a beginning-of-sequence token where the task and the tokenizer put one. none: no "
        "row begins with one, or only none of the mathematics task's.",
    )
    demonstrations: Literal["own", "pool", "fixed"] = Field(
        default="own",
        title="In-context examples from",
        description="own: each training row has in-context examples of its own. pool: training rows share a "
        "few sets, and a batch is of rows of one set, whose beginning is computed once: faster with many "
        "examples. No gradients are remembered then. fixed: training rows share a few sets and batches mix "
        "them. Held-out rows always have their own.",
    )
    pool_sets: int = Field(
        default=16,
        ge=1,
        le=MOST_SETS,
        title="Sets in the pool",
        description="How many sets of in-context examples the training rows share, where they come from a "
        "pool.",
    )
    split_seed: SplitSeed = 0
    n_train: int | None = Field(
        default=None,
        ge=1,
        le=1_000_000,
        title="Training examples, at most",
        description="All of the training split where unset.",
    )
    n_test: int | None = Field(
        default=256,
        ge=1,
        le=1_000_000,
        title="Held-out examples, at most",
        description="For log-probability and accuracy after the fit.",
    )
    binarise: bool = Field(
        default=False,
        title="End with open or shut",
        description="A last phase each after G+ and G− anneals their gates to 0 or 1: sets of heads that do "
        "what soft gates did. Roles are read off the soft ones all the same. Two thirds more updates.",
    )
    null_fits: int = Field(
        default=0,
        ge=0,
        le=64,
        title="Fits on permuted targets",
        description="As many more fits with targets exchanged among the rows: which heads have a role "
        "whatever is asked. Heads beyond that are found at a false-discovery rate of 5 %. Each costs as much "
        "as a seed.",
    )
    examples: Literal["all", "solved"] = Field(
        default="all",
        title="Examples",
        description="All rows, or only those that the ungated model gets right: then the gates show what it "
        "does where it can do the task.",
    )
    check_closed: bool = Field(
        default=False,
        title="Close each head alone",
        description="Measure what closing each head by itself costs, on 16 held-out rows: a head that costs "
        "more than 0.1 nats isn't said not to matter, whatever its gates did.",
    )
    adds_to: Annotated[str | None, GatingRef(same_task=True)] = Field(
        default=None,
        max_length=64,
        title="Add seeds to",
        description="The id of a finished run of the same model, task and settings: its seeds are reused "
        "and only those beyond them are fitted. Seeds counts all of them.",
    )
    start_open: bool = Field(
        default=False,
        title="Start with open gates",
        description="Gates start from U(0.88, 0.98) and not, as in the paper, from U(0, 1). Where heads act "
        "by thresholds a model of half-open gates is broken, and its slopes say nothing.",
    )
    within_clamp: bool = Field(
        default=False,
        title="Push from within the clamp",
        description="G+ and G− start from phase 0's logits clamped. Otherwise a head that phase 0 carried "
        "beyond the clamp is never pushed, however little it matters.",
    )
    dtype: FitPrecision = "float32"

    @property
    def pool(self) -> int | None:
        """How many sets of in-context examples training rows share; None where each has its own."""
        return None if self.demonstrations == "own" else self.pool_sets

    @property
    def batches_of_sets(self) -> bool:
        """Whether a batch is of rows that share their in-context examples."""
        return self.demonstrations == "pool" and self.batches == "own"


PAPER: Mapping[str, Any] = {"seeds": 10, "steps": 500, "batch_size": 64, "check_closed": True}

# The code that the authors published does otherwise than their text says: docs/analyses/chg.md lists where.
AUTHORS: Mapping[str, Any] = {
    **PAPER,
    "phase0_lr_start": 1.0,
    "phase0_lr_end": 1.0,
    "lr_start": 1.0,
    "lr_end": 1.0,
    "clip_over": "all",
    "batches": "shared",
    "autocast": True,
    "bos": "none-in-mathematics",
    "demonstrations": "fixed",
    "pool_sets": 10,
    "shots": 1,
}

# Fewer and noisier updates can't travel as far at the paper's rate of phase 0, so that one is raised.
# docs/design/settling.md: what these settings find, beside fits of full length.
QUICK: Mapping[str, Any] = {
    "seeds": 3,
    "steps": 80,
    "batch_size": 8,
    "phase0_lr_start": 0.3,
    "phase0_lr_end": 0.03,
    "remember": True,
    "settle": True,
    "n_test": 64,
    "check_closed": True,
}

PRESETS: Mapping[str, Mapping[str, Any]] = {"quick": QUICK, "paper": PAPER, "authors": AUTHORS}
