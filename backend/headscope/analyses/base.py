"""What an analysis is: one value that says what it asks for, how it is cut into pieces, what comes out.

1. ``plan`` cuts the work into pieces, each worth keeping and cheap to lose (seconds to a minute). A piece
   carries its own function.
2. The engine computes the pieces in order, keeps what each answers by its key, and after a crash goes on at
   the first piece that isn't there.
3. ``assemble`` joins what was kept into the result that is stored, shown and exported.

``Spec`` is all that the three are told: parameters, model, task, and what parameters refer to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Generic, Literal, Protocol, TypeVar, runtime_checkable

from pydantic import BaseModel, ConfigDict
from pydantic_core import to_jsonable_python

from headscope.analyses.columns import Table
from headscope.analyses.offered_gates import AskedGates, GatePreset
from headscope.analyses.references import Input, Reference, RunRef, TaskNames, references
from headscope.analyses.result import Arrays, Result
from headscope.core.model.capabilities import Capability
from headscope.core.model.head_list import Head
from headscope.core.model.head_model import HeadModel
from headscope.core.model.info import ModelInfo
from headscope.core.model.tokens import Tokenizer
from headscope.errors import NotFound
from headscope.figures.theme import Drawing
from headscope.figures.view import View
from headscope.tasks.task import Task

__all__ = [
    "Analysis", "Arrays", "Context", "Estimate", "Figure", "Input", "Kept", "Params", "Piece", "Pieces",
    "Progress", "Quantity", "Reference", "Result", "Spec", "TaskNames",
]  # fmt: skip

Kept = Mapping[str, Any]
"""What a piece answers, by name: arrays, and plain JSON values."""

Pieces = Mapping[str, Kept]
"""What pieces have answered, by their keys."""

Unit = Literal["", "nats", "logits", "share", "head", "pair", "path", "count"]
"""Of a headline's value: a share is of 1; a head, pair or path is named; "" for a score or words."""


class Params(BaseModel):
    """Base of every analysis' parameters; frozen, unknown names refused. Its JSON schema draws the form."""

    # Built when first used: who shows pages waits for no parameters of analyses.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    ADDED: ClassVar[frozenset[str]] = frozenset()
    """Parameters that earlier runs lack. At its default such a one leaves a run's id as it was."""

    @classmethod
    def identifying(cls, params: Mapping[str, Any]) -> dict[str, Any]:
        """What of parameters, given as plain JSON, is part of a run's identity."""
        before = cls._before()
        return {name: value for name, value in params.items() if name not in before or value != before[name]}

    @classmethod
    def completed(cls, params: Mapping[str, Any]) -> dict[str, Any]:
        """Stored parameters, with what an earlier run lacks at its default: that is what was done then."""
        return {**cls._before(), **params}

    @classmethod
    def _before(cls) -> dict[str, Any]:
        """What was done before there was a choice, as plain JSON."""
        fields = cls.model_fields
        return {
            name: to_jsonable_python(fields[name].get_default(call_default_factory=True))
            for name in sorted(cls.ADDED)
        }


P = TypeVar("P", bound=Params)
P_co = TypeVar("P_co", bound=Params, covariant=True)
P_contra = TypeVar("P_contra", bound=Params, contravariant=True)
R = TypeVar("R", bound=Result)
R_contra = TypeVar("R_contra", bound=Result, contravariant=True)
In = TypeVar("In")


@dataclass(frozen=True, eq=False)
class Spec(Generic[P_co]):
    """All that decides a run's plan and its result. ``inputs`` holds, by parameter, what references name."""

    params: P_co
    model: ModelInfo
    task: Task | None = None
    inputs: Mapping[str, Input] = field(default_factory=dict)

    def input(self, param: str, kind: type[In]) -> In | None:
        """What a parameter refers to; None where it has no value."""
        found = self.inputs.get(param)
        return found if isinstance(found, kind) else None

    def needed(self, param: str, kind: type[In]) -> In:
        """What a parameter that can't be left out refers to.

        Raises its reference's ``missing``, and what ``RunRef.check`` does.
        """
        reference, found = references(type(self.params))[param], self.inputs.get(param)
        if isinstance(reference, RunRef) and isinstance(found, Result):
            reference.check(found, self.task)
        if not isinstance(found, kind):
            raise reference.missing("This analysis", param)
        return found


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

    ``pieces`` has those that it ``needs``. ``checkpoint`` is called between micro-batches of at most 0.5 s:
    it raises ``Cancelled`` when the owner asked for it, and lets waiting interactive requests go first.
    ``report`` takes progress within this piece (``fraction`` is of the piece; the engine scales it to the
    run).
    """

    model: HeadModel
    pieces: Pieces = field(default_factory=dict)
    checkpoint: Callable[[], None] = lambda: None
    report: Callable[[Progress], None] = lambda _: None


@dataclass(frozen=True, eq=False)
class Piece:
    """One unit of durable work; the engine knows it by its ``key``.

    ``needs`` are keys of earlier pieces whose answers ``compute`` reads; ``weight`` is its share of the run's
    work, in any unit, for progress and the time left.
    """

    key: str
    label: str
    compute: Callable[[Context], Kept]
    needs: tuple[str, ...] = ()
    weight: float = 1.0


@dataclass(frozen=True)
class Figure(Generic[R]):
    """A picture of a result and its table twin, by the name that page, export, notebook and tests call.

    ``about_one_head``: it shows one head, says which in ``layout.meta.head``, and ``View.head`` picks it.
    ``of_whole_run``: its table is the CSV of a whole run, which else is the first figure's.
    """

    name: str
    draw: Callable[[R, View], Drawing]
    rows: Callable[[R, View], Table]
    about_one_head: bool = False
    of_whole_run: bool = False


@dataclass(frozen=True)
class Quantity:
    """What a number of the headline is, in words, and its unit."""

    label: str
    unit: Unit = ""


@runtime_checkable
class Estimator(Protocol[P_contra]):
    """Wall seconds and peak bytes, without loading torch.

    A tokenizer lets it measure the task's examples (and raise ``Invalid`` where there are none of use);
    ``throughput`` is the machine's FLOP/s in float32, where a worker knows it.
    """

    def __call__(
        self, spec: Spec[P_contra], *, tokenizer: Tokenizer | None = None, throughput: float | None = None
    ) -> Estimate:
        """Estimate what a run of this spec takes."""
        ...


@runtime_checkable
class Headline(Protocol[R_contra]):
    """The few numbers for lists; shares of roles are at the ``threshold``."""

    def __call__(self, result: R_contra, threshold: float = 0.5) -> Mapping[str, Any]:
        """By names of ``Analysis.quantities``, in the order in which they are told."""
        ...


def _no_seeds(_: Any) -> Sequence[int]:
    return ()


@dataclass(frozen=True, kw_only=True, eq=False)
class Analysis(Generic[P, R]):
    """One folder under ``analyses``, one line in ``ANALYSES``."""

    title: str
    summary: str
    params: type[P]
    result: type[R]
    """Its class, which also has the analysis' name and version."""
    estimate: Estimator[P]
    plan: Callable[[Spec[P]], Sequence[Piece]]
    """The pieces in the order they are computed; the same for the same request, on any machine."""
    assemble: Callable[[Spec[P], Pieces], R]
    """All pieces' answers joined into the result."""
    figures: tuple[Figure[R], ...]
    """In the order of its page."""
    headline: Headline[R]
    quantities: Mapping[str, Quantity]
    """What the headline's numbers are, by name: each that any run of it may have."""
    retell: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda stored: stored
    """A headline that an earlier version stored, as it is told today."""
    seeds: Callable[[P], Sequence[int]] = _no_seeds
    """The seeds of a run, in the order of its arrays' first axis; none where nothing is drawn by chance."""
    needs: tuple[Capability, ...] = ()
    """What a model has to be proved to give, beside its logits; without it a run is refused."""
    needs_task: bool = False
    has_roles: bool = False
    """Its result gives each head a role in every seed: a run's page is the grid of roles, whose threshold
    follows the hand, and runs can be compared.
    """
    attention: Literal["sdpa", "eager"] = "sdpa"
    """The attention implementation it loads models with; ``eager`` where it reads patterns."""
    presets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    partial: Callable[[Spec[P], Pieces], R | None] | None = None
    """A result of what is whole of a stopped run, which lists its own ``seeds`` and says in a note what is
    missing; None where nothing is whole yet. Called with some of the plan's pieces, without a model.
    """
    gates: Callable[[R, AskedGates], Sequence[GatePreset]] | None = None
    """What a run offers to the mixing board; raises ``Refused`` (no-gates), ``NotFound`` (unknown-seed)."""
    heads: Callable[[R, View], Sequence[Head]] | None = None
    """The heads that a run is about, as a list to take along: those needed, at the view's threshold."""
    gates_belong_to: str | None = None
    """The parameter that names a run among whose gates its own belong, as heads that suffice do. A run that
    is only set beside isn't one.
    """

    @property
    def name(self) -> str:
        """Its name in ``ANALYSES``."""
        return self.result.NAME

    @property
    def version(self) -> int:
        """Goes up when the answer changes; part of every run's id."""
        return self.result.VERSION

    @property
    def offers_gates(self) -> bool:
        """Whether its runs offer gates to the mixing board."""
        return self.gates is not None

    @cached_property
    def references(self) -> Mapping[str, Reference]:
        """Parameters that name something kept."""
        return references(self.params)

    @property
    def whole(self) -> Figure[R]:
        """The figure whose table is the CSV of a whole run."""
        return next((figure for figure in self.figures if figure.of_whole_run), self.figures[0])

    def figure(self, name: str) -> Figure[R]:
        """One of its figures; ``NotFound`` (unknown-figure) lists those there are."""
        for figure in self.figures:
            if figure.name == name:
                return figure
        known = ", ".join(figure.name for figure in self.figures)
        raise NotFound(f"There is no figure {name!r}.", f"Known: {known}.", code="unknown-figure")
