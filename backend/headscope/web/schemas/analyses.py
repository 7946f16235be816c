"""What can be computed and compared, in the API's words."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from headscope.messages.base import Schema, example
from headscope.messages.proof import CapabilityName


class AnalysisOut(Schema):
    model_config = example(
        name="chg",
        title="Causal head gating",
        summary="Which heads the task needs, which harm it, which don't matter.",
        version=1,
        needs=["gating"],
        needs_task=True,
        has_roles=True,
        offers_gates=True,
        params_schema={"type": "object", "properties": {"seeds": {"type": "integer", "default": 3}}},
        presets={"quick": {"seeds": 3}},
        references={},
        figures=["roles", "ecdf", "loss"],
        head_figures=[],
    )

    name: str
    title: str
    summary: str
    version: int
    needs: list[CapabilityName] = Field(
        description="What a model has to be proved to give, beside its logits; see `proof` of a model."
    )
    needs_task: bool
    has_roles: bool = Field(description="Its runs give each head a role in every seed; they can be compared.")
    offers_gates: bool = Field(description="Its runs offer gates: `GET /runs/{run_id}/gates`.")
    params_schema: dict[str, Any] = Field(description="JSON schema of the parameters; draws the form.")
    presets: dict[str, dict[str, Any]]
    references: dict[str, Literal["run", "prompts", "gates", "task", "tasks"]] = Field(
        description="Parameters that name something stored (by id) or tasks (by name), and of what kind."
    )
    figures: list[str] = Field(description="Names of its figures, in the order of a run's page.")
    head_figures: list[str] = Field(description="Those of them that show one head: `head` picks it.")


class ComparisonOut(Schema):
    model_config = example(
        name="shares",
        title="Shares of heads by role",
        summary="How many heads each task needs.",
        least_runs=1,
        most_runs=24,
        one_model=False,
        follows=["threshold"],
    )

    name: str
    title: str
    summary: str
    least_runs: int
    most_runs: int
    one_model: bool = Field(description="Heads are matched one by one, so runs must be of one model.")
    follows: list[Literal["threshold", "mode", "score", "published", "common"]] = Field(
        description="Which options change what it shows."
    )
