"""Runs as they are asked for, estimated and listed."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final, Literal

from pydantic import Field

from headscope.analyses.base import Unit
from headscope.messages.base import Schema, example
from headscope.web.schemas.models import ModelInfoOut
from headscope.web.schemas.problem import Problem

RunStatus = Literal["queued", "running", "done", "failed", "cancelled"]

RUN_ID: Final = "3f9c2a7be104d6588c1e"
"""Names a run in examples."""


class RunIn(Schema):
    model_config = example(
        analysis="chg", model="headscope-2l", task="induction", preset="quick", params={"seeds": 10}
    )

    analysis: str = "chg"
    model: str
    task: str | None = None
    preset: str | None = None
    params: dict[str, Any] = Field(default_factory=dict, description="Override the preset's.")


class EstimateOut(Schema):
    model_config = example(
        run_id=RUN_ID,
        existing=None,
        seconds=40.0,
        peak_bytes=310000000,
        basis="180 updates of 32 prompts at 0.2 s.",
        queue="cpu",
        refused=None,
    )

    run_id: str
    existing: RunStatus | None = Field(description="Status of the run that this request would return.")
    seconds: float
    peak_bytes: int
    basis: str
    queue: str | None
    refused: Problem | None


class ProgressOut(Schema):
    model_config = example(
        phase="G+", seeds="0-4", step=31, steps=60, loss=1.42, fraction=0.51, seconds_left=22.0
    )

    phase: str
    seeds: str
    step: int
    steps: int
    loss: float | None
    fraction: float
    seconds_left: float | None


class AttemptOut(Schema):
    model_config = example(
        number=1,
        status="done",
        worker="lab-7f3a",
        started_at="2026-01-05T10:00:01Z",
        finished_at="2026-01-05T10:00:43Z",
        wall_seconds=42.0,
        code_version="0.1.0",
        drift=0.0,
    )

    number: int
    status: RunStatus
    worker: str | None
    started_at: datetime | None
    finished_at: datetime | None
    wall_seconds: float | None
    code_version: str
    drift: float | None = Field(
        description="Largest absolute difference to the run's first finished attempt; 0 is identical."
    )


class HeadlineValueOut(Schema):
    model_config = example(
        name="always_needed", label="Always needed", value=0.25, unit="share", low=0.19, high=0.31
    )

    name: str
    label: str
    value: Any = Field(description="A number, a head, words, or a list of them; null where it isn't known.")
    unit: Unit = Field(description="A share is of 1; a head, pair or path is named; empty for scores, words.")
    low: float | None = Field(
        default=None, description="Lower end of its 95 % interval; null where it has none."
    )
    high: float | None = None


class RunOut(Schema):
    model_config = example(
        id=RUN_ID,
        analysis="chg",
        title="Causal head gating",
        has_roles=True,
        model="headscope-2l",
        model_title="Headscope two-layer",
        model_note="Its induction heads were taught by an auxiliary loss.",
        model_info=ModelInfoOut.example(),
        task="induction",
        task_title="Induction on repeated random tokens",
        preset="quick",
        params={"seeds": 10, "steps": 60},
        seeds=[0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
        status="done",
        origin="gallery",
        progress=None,
        error=None,
        notice=None,
        created_at="2026-01-05T10:00:00Z",
        started_at="2026-01-05T10:00:01Z",
        finished_at="2026-01-05T10:00:43Z",
        wall_seconds=42.0,
        code_version="0.1.0",
        machine="2 CPU cores",
        headline={"always_needed": 0.25, "any_needed": 0.44, "accuracy_ungated": 0.91, "accuracy_plus": 0.97},
        headline_values=[
            HeadlineValueOut.example(),
            {"name": "accuracy_ungated", "label": "Accuracy as it is", "value": 0.91, "unit": "share"},
        ],
        result="4be1f0a9c2d7",
        partial=False,
        attempts=[AttemptOut.example()],
        reproduce="headscope run chg --model headscope-2l --task induction --preset quick",
    )

    id: str
    analysis: str
    title: str
    has_roles: bool = Field(
        description="It gives each head a role in every seed: the page shows the grid of roles."
    )
    model: str
    model_title: str = Field(description="The model's name in words; its name where it is no longer known.")
    model_note: str = Field(
        default="", description="What must be known of the model wherever its heads are shown; mostly empty."
    )
    model_info: dict[str, Any] | None
    task: str | None
    task_title: str | None
    preset: str | None
    params: dict[str, Any]
    seeds: list[int]
    status: RunStatus
    origin: Literal["local", "gallery"]
    progress: ProgressOut | None
    error: Problem | None
    notice: str | None = Field(description="E.g. that no live worker serves this run's queue.")
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    wall_seconds: float | None
    code_version: str
    machine: str | None
    headline: dict[str, Any] | None = Field(
        description="Few numbers for lists and the atlas: shares, accuracies."
    )
    headline_values: list[HeadlineValueOut] = Field(
        description="The headline in words, in its order: what each value is, and its unit."
    )
    result: str | None = Field(
        description="Names the result there is to read; another name, another result. Null without one."
    )
    partial: bool = Field(
        description="It was stopped before its end, and its result holds the seeds that were whole by then."
    )
    attempts: list[AttemptOut]
    reproduce: str = Field(description="The command that gives this run again.")


class RunsOut(Schema):
    model_config = example(runs=[RunOut.example()], total=1)

    runs: list[RunOut]
    total: int
