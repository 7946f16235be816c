"""Parameters that name something kept: an earlier run, prompts, gates, tasks beside the run's own.

A reference is metadata of a parameter's type::

    gating: Annotated[str | None, RunRef("chg", same_task=True, needed=True)] = Field(default=None, ...)

From it come what the form offers (its keys stand in the parameter's JSON schema), what is looked up when a
run is asked for and again when it is computed, and what is refused. Those ids are hashes of content, so that
a run's own id covers what they lead to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, GetJsonSchemaHandler
from pydantic_core import CoreSchema

from headscope.analyses.result import Result
from headscope.core.gating.gate_vector import GateVector
from headscope.errors import Invalid, Where
from headscope.tasks.prompts import PromptSet
from headscope.tasks.task import Task

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

Kind = Literal["run", "prompts", "gates", "task", "tasks"]

Input = Result | PromptSet | GateVector | Task | tuple[Task, ...]
"""What a reference leads to; ``tasks`` to a tuple, in the order named."""

TaskNames = Annotated[tuple[str, ...], BeforeValidator(lambda given: _names(given))]
"""Names of tasks, given as a list or as one text with commas between."""


@dataclass(frozen=True, kw_only=True)
class Reference:
    """What a parameter names. ``needed``: it can't be left out, though its default is None or empty."""

    kind: ClassVar[Kind]
    words: ClassVar[str]
    """What is needed; like ``remedy`` with the parameter's name and the reference's fields filled in."""
    code: ClassVar[str]
    """Of the problem where it is needed and missing."""
    remedy: ClassVar[str]
    remedies: ClassVar[Mapping[Where, str]] = {}
    """What a page and the API offer for it; filled in likewise."""
    needed: bool = False

    def missing(self, title: str, param: str) -> Invalid:
        """The problem that the analysis of that ``title`` has without it."""
        known = {"param": param, **vars(self)}
        needs = f"{title} needs {self.words.format(**known)}."
        elsewhere = {where: text.format(**known) for where, text in self.remedies.items()}
        return Invalid(needs, self.remedy.format(**known), code=self.code, remedies=elsewhere)

    def __get_pydantic_json_schema__(
        self, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {**handler(core_schema), **self.schema()}

    def schema(self) -> dict[str, Any]:
        """What the form must know beside the kind."""
        return {"needed": True} if self.needed else {}


@dataclass(frozen=True)
class RunRef(Reference):
    """A finished run of ``analysis`` and of the run's own model; ``same_task``: of its own task, too."""

    kind: ClassVar[Kind] = "run"
    words: ClassVar[str] = "a finished run of {analysis}"
    code: ClassVar[str] = "run-missing"
    remedy: ClassVar[str] = "Name one of the same model and task: `headscope runs list` shows them."
    remedies: ClassVar[Mapping[Where, str]] = {
        "page": "Choose one of the same model and task, or start one first.",
        "api": "Name one of the same model and task: GET /api/v1/runs lists them.",
    }
    analysis: str
    same_task: bool = False
    other: str = "other-analysis"
    """The code of the problem with a run of another analysis."""

    def schema(self) -> dict[str, Any]:
        """Which runs the form offers."""
        return {**super().schema(), "analysis": self.analysis, "same_task": self.same_task}

    def check(self, run: Result, task: Task | None) -> None:
        """``Invalid``: ``other`` for a run of another analysis; other-task for one of another task."""
        if run.analysis != self.analysis:
            raise Invalid(
                f"The run named is of the analysis {run.analysis!r}, not of {self.analysis!r}.",
                f"Name a run of {self.analysis}.",
                code=self.other,
            )
        theirs = dict(run.task or {})
        if self.same_task and task is not None and theirs.get("content_hash") != task.content_hash:
            raise Invalid(
                f"The run named is of the task {theirs.get('name')!r}, not of {task.name!r} as it is here.",
                "Name a run of the same task.",
                code="other-task",
            )


def GatingRef(*, same_task: bool = False, needed: bool = False) -> RunRef:
    """A finished run of causal head gating, whose problem with other runs has a code of its own."""
    return RunRef("chg", same_task=same_task, needed=needed, other="not-gating")


@dataclass(frozen=True)
class PromptsRef(Reference):
    """Saved prompts."""

    kind: ClassVar[Kind] = "prompts"
    words: ClassVar[str] = "prompts"
    code: ClassVar[str] = "prompts-missing"
    remedy: ClassVar[str] = "Save some: `headscope prompts add FILE`."
    remedies: ClassVar[Mapping[Where, str]] = {
        "page": "Save some in the prompt lab: “File or batch”, or write one there.",
        "api": "Save some: POST /api/v1/prompts, or /api/v1/prompts/upload with a file.",
    }


@dataclass(frozen=True)
class GatesRef(Reference):
    """Saved gates of the run's own model."""

    kind: ClassVar[Kind] = "gates"
    words: ClassVar[str] = "gates"
    code: ClassVar[str] = "gates-missing"
    remedy: ClassVar[str] = "Name some: `headscope gates list` shows the saved ones."
    remedies: ClassVar[Mapping[Where, str]] = {
        "page": "Choose some, or save gates on the prompt lab's board first.",
        "api": "Name some: GET /api/v1/gates lists the saved ones.",
    }


@dataclass(frozen=True)
class TasksRef(Reference):
    """Tasks by their names; their content is part of the run's id, as its own task's is."""

    kind: ClassVar[Kind] = "tasks"
    words: ClassVar[str] = "a task for {param}"
    code: ClassVar[str] = "task-missing"
    remedy: ClassVar[str] = "Name one: --param {param}=singular-plural; `headscope tasks list` shows them."
    remedies: ClassVar[Mapping[Where, str]] = {
        "page": "Choose one.",
        "api": 'Name one: "{param}": "singular-plural"; GET /api/v1/tasks lists them.',
    }


@dataclass(frozen=True)
class TaskRef(TasksRef):
    """One task by its name."""

    kind: ClassVar[Kind] = "task"


def references(params: type[BaseModel]) -> dict[str, Reference]:
    """The references among parameters, in their order."""
    found = {name: _reference(each) for name, each in params.model_fields.items()}
    return {name: reference for name, reference in found.items() if reference is not None}


def check_needed(title: str, known: Mapping[str, Reference], inputs: Mapping[str, Input]) -> None:
    """``Invalid`` (run-missing, prompts-missing, gates-missing, task-missing) for the first missing one."""
    for param, reference in known.items():
        if reference.needed and not inputs.get(param):
            raise reference.missing(title, param)


def _reference(info: FieldInfo) -> Reference | None:
    return next((each for each in info.metadata if isinstance(each, Reference)), None)


def _names(given: object) -> object:
    if isinstance(given, str):
        return tuple(name.strip() for name in given.split(",") if name.strip())
    return given
