"""Parameters of contrastive gating; the defaults are the paper's (arXiv 2505.13737)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from headscope.analyses.base import Params, TaskNames
from headscope.analyses.parameters import Clamp, Clip, FirstSeed, FitPrecision, ShotsOfEach
from headscope.analyses.references import GatingRef, TasksRef
from headscope.tasks.wordings import MOST

Way = Literal["named", "exchanged"]
Push = Literal["open", "shut"]

WAYS: tuple[Way, ...] = ("named", "exchanged")
PUSHES: tuple[Push, ...] = ("open", "shut")


class CchgParams(Params):
    """What to retain and to forget, and the settings of the fit. Rates fall linearly; losses are in nats."""

    retain: Annotated[TaskNames, TasksRef(needed=True)] = Field(
        default=(),
        max_length=16,
        title="Retain",
        description="Tasks, or forms of a task, that the gates keep. Each gives an equal share of a batch.",
    )
    forget: Annotated[TaskNames, TasksRef(needed=True)] = Field(
        default=(),
        max_length=16,
        title="Forget",
        description="Tasks that the gates take away. The exchanged sets are fitted too.",
    )
    held_out_retain: Annotated[TaskNames, TasksRef()] = Field(
        default=(),
        max_length=16,
        title="Held-out tasks like those retained",
        description="Scored under the gates, never fitted.",
    )
    held_out_forget: Annotated[TaskNames, TasksRef()] = Field(
        default=(),
        max_length=16,
        title="Held-out tasks like those forgotten",
        description="Scored under the gates, never fitted.",
    )
    gating: Annotated[str | None, GatingRef()] = Field(
        default=None,
        max_length=64,
        title="Causal head gating run",
        description="The id of a finished run of the same model: its map stands beside the contrastive ones.",
    )
    push: Literal["open", "shut", "both"] = Field(
        default="open",
        title="Push",
        description="Heads that neither set asks for are pushed open (+λ) or shut (−λ); both fits both.",
    )
    seeds: int = Field(
        default=10,
        ge=1,
        le=64,
        title="Seeds",
        description="Independent fits of either way; a single one is noisy.",
    )
    first_seed: FirstSeed = 0
    steps: int = Field(
        default=500, ge=1, le=20_000, title="Updates", description="Optimiser updates of each fit."
    )
    batch_size: int = Field(
        default=64,
        ge=1,
        le=1024,
        title="Batch size",
        description="Examples of either set per update and seed.",
    )
    lr_start: float = Field(
        default=0.1,
        gt=0,
        le=10,
        allow_inf_nan=False,
        title="Learning rate, first",
        description="At the first update.",
    )
    lr_end: float = Field(
        default=0.01,
        gt=0,
        le=10,
        allow_inf_nan=False,
        title="Learning rate, last",
        description="At the last update.",
    )
    regularisation: float = Field(
        default=0.1,
        ge=0,
        le=100,
        allow_inf_nan=False,
        title="Push λ",
        description="How strongly gates are pushed: λ times the mean clamped logit, in nats.",
    )
    clamp: Clamp = 4.0
    clip: Clip = 1.0
    shots: ShotsOfEach = None
    split_seed: int = Field(
        default=0,
        ge=0,
        le=2**31 - 1,
        title="Split seed",
        description="Decides which rows are held out, the same in both forms of a task.",
    )
    n_train: int | None = Field(
        default=None,
        ge=1,
        le=1_000_000,
        title="Training examples, at most",
        description="Of each task; all of the training split where unset.",
    )
    n_test: int = Field(
        default=256,
        ge=1,
        le=1_000_000,
        title="Held-out examples, at most",
        description="Of each task, for accuracy and log-probability.",
    )
    forms: int = Field(
        default=1,
        ge=1,
        le=MOST,
        title="Surface forms",
        description="How many layouts or wordings each task is fitted in; it is scored in others too, "
        "that no fit saw. With one, what is set apart may be the format.",
    )
    dtype: FitPrecision = "float32"

    ADDED: ClassVar[frozenset[str]] = frozenset({"forms"})


PAPER: Mapping[str, Any] = {"seeds": 10, "steps": 500, "batch_size": 64, "forms": MOST}

# An eighth of the updates can't travel as far at the paper's rate, so that one is raised.
QUICK: Mapping[str, Any] = {
    "seeds": 2,
    "steps": 60,
    "batch_size": 8,
    "lr_start": 0.5,
    "lr_end": 0.1,
    "n_test": 64,
    "forms": MOST,
}

PRESETS: Mapping[str, Mapping[str, Any]] = {"quick": QUICK, "paper": PAPER}


@dataclass(frozen=True)
class Fit:
    """One of the fits of a run: ``exchanged`` retains what the parameters say to forget, and the reverse."""

    way: Way
    push: Push

    @property
    def key(self) -> str:
        """How arrays and pieces call it: ``named_open``."""
        return f"{self.way}_{self.push}"

    def sign(self, regularisation: float) -> float:
        """Lambda with its sign."""
        return regularisation if self.push == "open" else -regularisation

    def sets(self, params: CchgParams) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Names of the tasks that it retains and that it forgets."""
        both = (params.retain, params.forget)
        return both if self.way == "named" else (both[1], both[0])

    def title(self, params: CchgParams) -> str:
        """In words: what it retains, and what it takes away."""
        retain, forget = (", ".join(names) for names in self.sets(params))
        return f"{retain} without {forget}"


def fits(params: CchgParams) -> list[Fit]:
    """All fits of a run, those with the first push before the others."""
    pushes = PUSHES if params.push == "both" else (params.push,)
    return [Fit(way, push) for push in pushes for way in WAYS]


def seeds(params: CchgParams) -> Sequence[int]:
    """The seeds of each fit, in the order of its arrays' first axis."""
    return range(params.first_seed, params.first_seed + params.seeds)


def seeds_label(params: CchgParams, seeds: range) -> str:
    """Seeds in words for progress: "seed 4", "seeds 0–2"."""
    first, last = params.first_seed + seeds.start, params.first_seed + seeds.stop - 1
    return f"seed {first}" if first == last else f"seeds {first}–{last}"
