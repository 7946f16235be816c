"""How a model does on a task without gates."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from headscope.messages.base import AboutModel, Schema, example


class AccuracyIn(AboutModel):
    task: str


class TaskAccuracyOut(Schema):
    """How the model does on the task without gates, computed by a worker and kept."""

    model_config = example(
        task="singular-plural",
        model="smollm2-135m",
        status="done",
        accuracy=0.78,
        log_probability=-0.61,
        chance=0.02,
        n=41,
        verdict="can",
        detail="smollm2-135m answers 78 % of 41 held-out examples.",
    )

    task: str
    model: str
    status: Literal["done", "computing", "unavailable"]
    accuracy: float | None = Field(
        description="Share of held-out examples whose target tokens are all the most likely ones."
    )
    log_probability: float | None = Field(description="Mean held-out log-probability per target token, nats.")
    chance: float | None = Field(description="What guessing the most frequent target would get.")
    n: int | None
    verdict: Literal["can", "weak", "cannot", "too-few"] | None
    detail: str
