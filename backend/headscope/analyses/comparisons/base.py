"""Several finished gating runs side by side: which may be, and what must be said of their differences.

1. Runs are of causal head gating; others have no gates to compare.
2. Runs of another weight processing are refused: the numbers don't mean the same.
3. Where heads are matched one by one, runs of different models are refused: their heads don't correspond.
4. All else that differs (seeds, failed seeds, schedule, precision) is said in ``notes``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from headscope.analyses.base import Result
from headscope.analyses.chg.result import ChgResult
from headscope.analyses.columns import Table
from headscope.core.gating.ablation import told
from headscope.core.gating.roles import SCORE_NAMES, Array
from headscope.core.gating.vocabulary import VOCABULARIES
from headscope.core.statistics.enough import few_fits
from headscope.errors import Invalid
from headscope.figures.theme import Drawing
from headscope.figures.view import View

MOST = 24
"""Runs in one comparison; more can't be told apart in a picture."""

_NOT_SCHEDULE = frozenset({"seeds", "first_seed", "dtype", "run"})


@dataclass(frozen=True)
class Compared:
    """A finished run: its result, its id ("" outside a store), and its model and itself in words."""

    result: Result
    run: str = ""
    model: str = ""
    label: str = ""

    @property
    def task(self) -> str:
        """The task in words."""
        task = self.result.task or {}
        return str(task.get("title") or task.get("name") or "no task")

    @property
    def gating(self) -> ChgResult:
        """The result as what it is; ``Invalid`` (not-gates) for a run of another analysis."""
        if isinstance(self.result, ChgResult):
            return self.result
        what = f"Run {self.run}" if self.run else "A result"
        raise Invalid(
            f"{what} is of the analysis {self.result.analysis!r}, which has no gates to compare.",
            "Name finished runs of causal head gating (`chg`).",
            code="not-gates",
        )

    @property
    def ran(self) -> Array:
        """Which seeds have a fit, [seed]."""
        return self.gating.ran

    @property
    def seeds(self) -> int:
        """How many seeds have a fit."""
        return int(self.ran.sum())

    def score(self, name: str) -> Array:
        """One of core.gating.roles' scores, [seed, layer, head]; NaN where a fit failed."""
        return self.gating.scores[name]


@dataclass(frozen=True)
class CompareView:
    """How runs are looked at. ``score`` is one of core.gating.roles' names, for views that show one at a
    time.

    ``published`` puts the paper's values beside the runs; ``common`` shows what each run would give with as
    many seeds as the one that has the fewest.
    """

    view: View
    score: str = "facilitation"
    published: bool = True
    common: bool = False


@dataclass(frozen=True)
class Chosen:
    """Runs that may be compared, in the order asked for, and what a reader must know of their differences."""

    runs: tuple[Compared, ...]
    notes: tuple[str, ...]

    def words(self, *, published: bool = False) -> dict[str, str]:
        """What a head with a high score is, by score: in the words of each kind of map among the runs, and of
        roles where the paper's values stand beside them.
        """
        kinds = {run.gating.vocabulary.kind for run in self.runs} | ({"roles"} if published else set())
        spoken = [words.scores for kind, words in VOCABULARIES.items() if kind in kinds]
        return {score: " / ".join(dict.fromkeys(words[score] for words in spoken)) for score in SCORE_NAMES}

    @property
    def fewest_seeds(self) -> int:
        """The smallest number of finished seeds of a run that has any; 0 where none has."""
        return min((run.seeds for run in self.runs if run.seeds), default=0)


@dataclass(frozen=True)
class Comparison:
    """One view of several runs; ``least`` runs it needs, ``one_model`` where it matches heads one by one.

    ``follows`` names the options (of threshold, mode, score, published, common) that change what it shows.
    """

    name: str
    title: str
    summary: str
    least: int
    one_model: bool
    follows: tuple[str, ...]
    draw: Callable[[Chosen, CompareView], Drawing]
    rows: Callable[[Chosen, CompareView], Table]


def choose(runs: Iterable[Compared | Result], comparison: Comparison) -> Chosen:
    """The runs, each once, with labels that tell them apart.

    ``Invalid``: too few or too many runs, one that isn't of causal head gating, different weight processing,
    or different models where heads are matched.
    """
    wanted = _once(run if isinstance(run, Compared) else Compared(run) for run in runs)
    for run in wanted:
        _ = run.gating  # refuses a run of another analysis before anything is counted
    if not comparison.least <= len(wanted) <= MOST:
        raise Invalid(
            f"{comparison.title}: {_count(len(wanted))} named, {comparison.least} to {MOST} can be compared.",
            "Name finished runs of causal head gating; `headscope runs list --analysis chg` shows them.",
            code="number-of-runs",
        )
    labelled = _labelled(wanted)
    _check_weights(labelled)
    if comparison.one_model:
        _check_model(labelled)
    return Chosen(labelled, tuple(_notes(labelled)))


def _once(runs: Iterable[Compared]) -> list[Compared]:
    kept: dict[Any, Compared] = {}
    for run in runs:
        kept.setdefault(run.run or id(run.result), run)
    return list(kept.values())


def _labelled(runs: Sequence[Compared]) -> tuple[Compared, ...]:
    """ "SmolLM2-135M · Singular to plural", with a word where it is a steering map; runs of one model and
    task are told apart by id, or by number.
    """
    named = [replace(run, model=run.model or run.result.model.name) for run in runs]
    words = [f"{run.model} · {run.task}{_by(run)}{_kind(run)}" for run in named]
    return tuple(
        replace(
            run,
            label=word if words.count(word) == 1 else f"{word} · run {run.run[:8] or place + 1}",
        )
        for place, (run, word) in enumerate(zip(named, words, strict=True))
    )


def _by(run: Compared) -> str:
    """What was done to closed heads, where it wasn't the paper's."""
    return "" if run.gating.ablation == "zero" else f", {told(run.gating.ablation)}"


def _kind(run: Compared) -> str:
    return " (steering)" if run.gating.vocabulary.kind == "steering" else ""


def _check_weights(runs: Sequence[Compared]) -> None:
    kinds = {run.result.model.weight_processing: run.label for run in runs}
    if len(kinds) > 1:
        told = ", ".join(f"{kind} ({label})" for kind, label in kinds.items())
        raise Invalid(
            f"The runs read differently processed weights: {told}. Their numbers don't mean the same.",
            "Compare runs of one weight processing.",
            code="different-weights",
        )


def _check_model(runs: Sequence[Compared]) -> None:
    models = {run.result.model.revision: run.model for run in runs}
    if len(models) > 1:
        told = ", ".join(f"{model} ({revision[:8]})" for revision, model in models.items())
        raise Invalid(
            f"These are {len(models)} models: {told}. Their heads don't match one by one.",
            "Choose runs of one model with the same weights; the comparison `correlation` takes any models.",
            code="different-models",
        )


def _notes(runs: Sequence[Compared]) -> Iterable[str]:
    yield from _steering(runs)
    yield from _of_seeds(runs)
    for run in runs:
        few = few_fits(run.seeds)
        if few and run.seeds > 1:  # one is told of above
            yield f"{run.label}: {few[0].lower()}{few[1:]}"
    differing = {
        name: values
        for name in sorted({name for run in runs for name in run.result.params} - _NOT_SCHEDULE)
        if len(values := _spoken({run.result.params.get(name) for run in runs})) > 1
    }
    if differing:
        told = "; ".join(f"{name} {', '.join(values)}" for name, values in differing.items())
        yield f"The fits differ in their settings: {told}. That alone may make runs differ."
    precisions = _spoken({run.result.model.dtype for run in runs})
    if len(precisions) > 1:
        yield f"The models ran in {' and '.join(precisions)}: precision alone moves heads at the margin."


def _steering(runs: Sequence[Compared]) -> Iterable[str]:
    for run in runs:
        if run.gating.vocabulary.kind == "steering":
            yield (
                f"{run.label} is a steering map: the model {run.gating.ability.words} as it is. Its shares "
                "are of heads that lift when open, or when shut, not of roles."
            )


def _of_seeds(runs: Sequence[Compared]) -> Iterable[str]:
    for run in runs:
        asked = len(run.result.seeds)
        if run.seeds == 0:
            yield f"No seed of {run.label} has a fit: it has no numbers here."
        elif run.seeds < asked:
            yield f"{asked - run.seeds} of {asked} seeds of {run.label} failed; they count nowhere."
        if run.seeds == 1:
            yield f"{run.label} has one seed: Always and Any are the same, and there is no band."
    counts = {run.seeds for run in runs if run.seeds}
    if len(counts) > 1:
        yield (
            f"The runs have {min(counts)} to {max(counts)} seeds. Always shrinks and Any grows with their "
            f"number: compare shares at {min(counts)} seeds."
        )


def _spoken(values: Iterable[Any]) -> list[str]:
    """Values in words: numbers in their order, then the rest by the alphabet."""

    def place(value: Any) -> tuple[bool, float, str]:
        number = isinstance(value, int | float)
        return not number, value if number else 0, str(value)

    return list(
        dict.fromkeys("unset" if value is None else str(value) for value in sorted(values, key=place))
    )


def _count(number: int) -> str:
    return f"{number} run is" if number == 1 else f"{number} runs are"
