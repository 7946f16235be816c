"""What an analysis is: parameters, a plan of pieces, a computation, a result.

1. ``plan`` cuts the work into pieces, each worth keeping and cheap to lose (seconds to a minute).
2. The engine computes the pieces in order, keeps each one's arrays, and after a crash goes on at
   the first piece that isn't there.
3. ``assemble`` joins the pieces' arrays into the result that is stored, shown and exported.

A parameter may name something: an earlier run, prompts, gates, tasks beside the run's own. ``references``
says which and what; the engine looks it up and hands it over in ``Context.inputs``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, ClassVar, Generic, Literal, Protocol, TypeVar, runtime_checkable

from numpy.typing import NDArray
from pydantic import BaseModel, BeforeValidator, ConfigDict

from headscope.core.arrays import decode, encode
from headscope.core.gating.gate_vector import GateVector
from headscope.core.model.head_model import HeadModel
from headscope.core.model.info import ModelInfo
from headscope.core.model.tokens import Tokenizer
from headscope.errors import Invalid
from headscope.tasks.prompts import PromptSet
from headscope.tasks.task import Task

runtime_checkable(Task)  # Shapes and types are checked while tests run, this protocol's too.

Arrays = Mapping[str, NDArray[Any]]

Reference = Literal["run", "prompts", "gates", "task", "tasks"]
"""What a parameter names: by its id a finished run of the same model, kept prompts or kept gates of that
model; by its name a task, or several. What tasks contain is part of a run's identity, as its own task is.
"""

TaskNames = Annotated[tuple[str, ...], BeforeValidator(lambda given: _names(given))]
"""Names of tasks, given as a list or as one text with commas between."""


class Params(BaseModel):
    """Base of every analysis' parameters; frozen, unknown names refused. Its JSON schema draws the form."""

    model_config = ConfigDict(frozen=True, extra="forbid")


P = TypeVar("P", bound=Params)


@dataclass(frozen=True)
class Piece:
    """One unit of durable work. ``needs`` are keys of earlier pieces whose arrays it reads; ``weight`` is its
    share of the run's work, in any unit, for progress and the time left.
    """

    key: str
    label: str
    needs: tuple[str, ...] = ()
    weight: float = 1.0


@dataclass(frozen=True)
class Progress:
    """How far a run is. Seconds are wall time; ``loss`` in nats; ``fraction`` in [0, 1] of the whole run."""

    phase: str
    seeds: str
    step: int
    steps: int
    loss: float | None = None
    fraction: float = 0.0
    seconds_left: float | None = None


@dataclass(frozen=True)
class Estimate:
    """What a run will take on this machine: wall seconds and peak bytes, each with how it was reached."""

    seconds: float
    peak_bytes: int
    basis: str


@dataclass(frozen=True)
class Context:
    """What a piece is computed with.

    ``checkpoint`` is called between micro-batches of at most 0.5 s: it raises ``Cancelled`` when the
    owner asked for it, and lets waiting interactive requests go first. ``report`` takes progress
    within this piece (``fraction`` is of the piece; the engine scales it to the run). ``inputs`` holds, by
    parameter, what the analysis' ``references`` name.
    """

    model: HeadModel
    task: Task | None
    pieces: Mapping[str, Arrays] = field(default_factory=dict)
    checkpoint: Callable[[], None] = lambda: None
    report: Callable[[Progress], None] = lambda _: None
    inputs: Mapping[str, Input] = field(default_factory=dict)


@dataclass(frozen=True)
class Result:
    """A finished computation: plain JSON values in ``values``, arrays in ``arrays``."""

    analysis: str
    schema_version: int
    params: Mapping[str, Any]
    model: ModelInfo
    task: Mapping[str, Any] | None
    seeds: Sequence[int]
    arrays: Arrays
    values: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON: the fields by name, the arrays beside them as typed arrays (NaN survives)."""
        taken = sorted(_FIELDS & set(self.arrays))
        if taken:
            raise Invalid(
                f"Arrays can't be called {', '.join(taken)}.",
                "Rename them: a result has fields of that name.",
            )
        return {
            "analysis": self.analysis,
            "schema_version": self.schema_version,
            "params": dict(self.params),
            "model": asdict(self.model),
            "task": None if self.task is None else dict(self.task),
            "seeds": list(self.seeds),
            "values": dict(self.values),
            **{name: encode(array) for name, array in self.arrays.items()},
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Result:
        """The inverse of ``to_json``. ``Invalid`` where a field is missing or an array is malformed."""
        missing = sorted(_FIELDS - set(content))
        if missing:
            raise Invalid(
                f"The result lacks {', '.join(missing)}.",
                "Export it again from the run it came from.",
                code="malformed-result",
            )
        try:
            model = ModelInfo(**content["model"])
        except TypeError as error:
            raise Invalid(
                f"The result's model can't be read: {error}.",
                "Export it again from the run it came from.",
                code="malformed-result",
            ) from error
        return cls(
            analysis=content["analysis"],
            schema_version=content["schema_version"],
            params=content["params"],
            model=model,
            task=content["task"],
            seeds=tuple(content["seeds"]),
            values=content["values"],
            arrays={name: decode(value) for name, value in content.items() if name not in _FIELDS},
        )


Input = Result | PromptSet | GateVector | Task | tuple[Task, ...]
"""What a reference leads to; ``tasks`` to a tuple, in the order named."""

_FIELDS = frozenset({"analysis", "schema_version", "params", "model", "task", "seeds", "values"})


@runtime_checkable
class Analysis(Protocol, Generic[P]):
    """One folder under ``analyses``, one line in ``ANALYSES``."""

    name: ClassVar[str]
    title: ClassVar[str]
    summary: ClassVar[str]
    version: ClassVar[int]
    needs_task: ClassVar[bool]
    attention: ClassVar[str]
    """The attention implementation it loads models with; ``eager`` where it reads patterns."""
    references: ClassVar[Mapping[str, Reference]]
    """Parameters that name something, and of what kind; empty where there are none.

    One that can't be left out though its default is None says ``"needed": true`` in its JSON schema. An
    analysis that has any is handed what they lead to: ``estimate`` and ``plan`` get a keyword ``inputs``
    more (a mapping by parameter, as in ``Context``).
    """
    params: type[P]
    presets: Mapping[str, Mapping[str, Any]]

    def seeds(self, params: P) -> Sequence[int]:
        """The seeds of a run, in the order of its arrays' first axis."""
        ...

    def estimate(
        self,
        params: P,
        model: ModelInfo,
        task: Task | None,
        *,
        tokenizer: Tokenizer | None = None,
        throughput: float | None = None,
    ) -> Estimate:
        """Wall seconds and peak bytes, without loading torch.

        A tokenizer lets it measure the task's examples (and raise ``Invalid`` where there are none of use);
        ``throughput`` is the machine's FLOP/s in float32, where a worker knows it.
        """
        ...

    def plan(self, params: P, model: ModelInfo) -> Sequence[Piece]:
        """The pieces in the order they are computed; the same for the same request, on any machine."""
        ...

    def compute(self, piece: Piece, params: P, context: Context) -> Arrays:
        """One piece's arrays. ``context.pieces`` holds those that it ``needs``."""
        ...

    def assemble(
        self, params: P, model: ModelInfo, task: Task | None, pieces: Mapping[str, Arrays]
    ) -> Result:
        """All pieces' arrays joined into the result."""
        ...


@runtime_checkable
class Divisible(Protocol):
    """An analysis that can also say what the finished pieces of a stopped run amount to."""

    def partial(
        self, params: Any, model: ModelInfo, task: Task | None, pieces: Mapping[str, Arrays]
    ) -> Result | None:
        """A result of what is whole, which lists its own ``seeds`` and says in a note what is missing; None
        where nothing is whole yet. Called with some of the plan's pieces, without a model.
        """
        ...


def handed(analysis: Analysis[Any], inputs: Mapping[str, Input]) -> dict[str, Any]:
    """The keyword arguments by which ``estimate`` and ``plan`` get what the parameters refer to."""
    return {"inputs": inputs} if analysis.references else {}


def _names(given: object) -> object:
    if isinstance(given, str):
        return tuple(name.strip() for name in given.split(",") if name.strip())
    return given
