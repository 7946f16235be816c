"""``headscope atlas build``: compute the shipped runs and write their files.

1. Each run goes through the same store and the same foreground path as ``headscope run``.
2. A run that the store has is not computed again, and an interrupted one goes on at its last finished piece.
3. Its file takes the place of the one before; files of runs that are no longer listed are removed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from headscope.analyses.base import Progress
from headscope.analyses.request import DEFAULT, Request, resolve
from headscope.errors import Invalid, NotFound, Refused, Unavailable
from headscope.gallery import shipped
from headscope.gallery.shipped import FOLDER, Shipped
from headscope.settings import Settings
from headscope.store import migrate, runs
from headscope.store.session import Store, open_store
from headscope.tasks.catalogue import TaskCatalogue

if TYPE_CHECKING:
    from headscope.models.catalogue import Catalogue, ModelEntry

MAX_BYTES = 3_000_000
"""What all shipped runs may weigh together."""


@dataclass(frozen=True)
class ListedRun:
    """A run to ship: an analysis of a model, on a task where it needs one, with a preset and what differs
    from it. ``runs`` are parameters that take another listed run, by its name.
    """

    model: str
    task: str | None = None
    preset: str | None = "quick"
    params: Mapping[str, Any] = field(default_factory=dict)
    analysis: str = DEFAULT
    runs: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """``model/task`` of a gating run, else ``analysis/model`` (and ``/task``), as ``--only`` takes it;
        and what closed heads give, where that isn't zero.
        """
        analysis = None if self.analysis == DEFAULT else self.analysis
        words = (analysis, self.model, self.task, shipped.replaced_by(self.params))
        return "/".join(word for word in words if word)


_PLAIN: Final = {
    "seeds": 5, "steps": 32, "phase0_lr_end": 0.05, "remember": False, "settle": False, "check_closed": False,
}  # fmt: skip
"""Fits of a set number of updates, without a memory; heads aren't closed one by one."""

POOLED: Final[Mapping[str, Any]] = {
    "seeds": 10,
    "steps": 32,
    "batch_size": 13,
    "phase0_lr_end": 0.05,
    "remember": False,
    "settle": False,
    "check_closed": False,
    "demonstrations": "pool",
    "pool_sets": 16,
}
"""Fits of a set number of updates; batches share their beginning (docs/design/pooled-demonstrations.md)."""

LISTED: Sequence[ListedRun] = (
    ListedRun("headscope-2l", "induction", params={"seeds": 10}),
    ListedRun("smollm2-135m", "singular-plural", params={**_PLAIN, "steps": 60}),
    ListedRun("smollm2-135m", "present-past", params={**POOLED, "shots": 5}),
    ListedRun("smollm2-135m", "capitalize", params=_PLAIN),
    ListedRun(
        "smollm2-135m",
        params={
            "retain": ["singular-plural-instruction"],
            "forget": ["singular-plural"],
            "held_out_retain": ["present-past-instruction"],
            "held_out_forget": ["present-past"],
            "push": "both",
            "forms": 1,
            "shots": 1,
            "seeds": 3,
            "steps": 80,
            "lr_start": 0.3,
            "lr_end": 0.03,
            "n_test": 128,
        },
        analysis="cchg",
        runs={"gating": "smollm2-135m/singular-plural"},
    ),
    ListedRun("headscope-2l", params={"length": 32}, analysis="induction"),
    ListedRun("smollm2-135m", analysis="induction"),
    ListedRun("headscope-2l", preset=None, analysis="eigen"),
    ListedRun("headscope-2l", preset=None, analysis="composition"),
    ListedRun("headscope-2l", preset=None, analysis="paths"),
    ListedRun("headscope-2l", analysis="skip-trigrams"),
    ListedRun("headscope-2l", preset=None, analysis="residual"),
    ListedRun(
        "headscope-2l",
        "induction",
        params={"points": 17, "seeds": None, "orders": 20},
        analysis="sequential-ablation",
        runs={"gating": "headscope-2l/induction"},
    ),
    ListedRun("headscope-2l", "induction", preset=None, params={"refine": True}, analysis="relatives"),
    ListedRun(
        "headscope-2l",
        "induction",
        preset=None,
        analysis="agreement",
        runs={"gating": "headscope-2l/induction", "relatives": "relatives/headscope-2l/induction"},
    ),
    ListedRun(
        "headscope-2l",
        preset="full",
        analysis="meaning",
        runs={
            "induction": "induction/headscope-2l",
            "eigen": "eigen/headscope-2l",
            "gating": "headscope-2l/induction",
        },
    ),
    ListedRun("smollm2-135m", "singular-plural", preset=None, analysis="mediation-function-vectors"),
    ListedRun("smollm2-135m", params={"pairs": 20}, analysis="mediation-abstract-rules"),
    # Its integral isn't refined: hours on two cores, for a path that is rugged all along.
    ListedRun("smollm2-135m", "singular-plural", params={"refine": False}, analysis="relatives"),
    ListedRun(
        "smollm2-135m",
        preset="full",
        analysis="meaning",
        runs={
            "induction": "induction/smollm2-135m",
            "rules": "mediation-abstract-rules/smollm2-135m",
            "functions": "mediation-function-vectors/smollm2-135m/singular-plural",
            "gating": "smollm2-135m/singular-plural",
        },
    ),
)

Report = Callable[[ListedRun, Progress], None]


def build(
    settings: Settings,
    listed: Sequence[ListedRun] = LISTED,
    on_progress: Report = lambda _spec, _progress: None,
    *,
    only: Sequence[str] | None = None,
    folder: Path | None = None,
) -> list[Path]:
    """Compute and write; the files written, in order. ``only`` names some, as ``ListedRun.name`` does.

    Each file is written as soon as its run is done. Files of other runs are removed where all are asked for,
    but those of the longer fits (``gallery.long``) stay.

    Raises ``Invalid`` (unknown-spec) for a name that isn't listed, ``Unavailable`` for a model that isn't
    fetched, ``Refused`` (gallery-too-large) where the files outgrow ``MAX_BYTES``.
    """
    chosen = _chosen(listed, only)
    folder = folder or FOLDER
    store = _opened(settings)
    try:
        written = [_ship(settings, store, entry, listed, on_progress, folder) for entry in chosen]
    finally:
        store.close()
    if only is None:
        for stale in set(shipped.files(folder)) - set(written):
            if not _is_longer(stale):
                stale.unlink()
    _weigh(folder)
    return written


def states(settings: Settings, listed: Sequence[ListedRun]) -> Iterator[tuple[ListedRun, str]]:
    """Each run with what this machine has of it: a run's status, "not begun", or "no model"."""
    from headscope.models.catalogue import Catalogue

    store, models = _opened(settings), Catalogue(settings)
    try:
        for entry in listed:
            yield entry, _state(store, entry, models, listed)
    finally:
        store.close()


def of_models_here(
    settings: Settings, listed: Sequence[ListedRun]
) -> tuple[list[ListedRun], list[ModelEntry]]:
    """The runs whose models are fetched, and the models that aren't."""
    from headscope.models.catalogue import Catalogue

    entries = Catalogue(settings).entries()
    here = [entry for entry in listed if entries[entry.model].ready]
    missing = dict.fromkeys(entry.model for entry in listed if not entries[entry.model].ready)
    return here, [entries[name] for name in missing]


def _state(store: Store, entry: ListedRun, models: Catalogue, listed: Sequence[ListedRun]) -> str:
    try:
        request = requested(entry, models, listed)
    except Unavailable:
        return "no model"
    with store.session() as session:
        try:
            return str(runs.get(session, request.id).status)
        except NotFound:
            return "not begun"


def _is_longer(path: Path) -> bool:
    from headscope.gallery.long import LONG

    try:
        request = shipped.read(path).request
    except Invalid:
        return False
    longer = {(entry.model, entry.task, shipped.replaced_by(entry.params)) for entry in LONG}
    kind = (request.model.name, request.task, shipped.replaced_by(request.params))
    return request.analysis == DEFAULT and kind in longer


def _chosen(listed: Sequence[ListedRun], only: Sequence[str] | None) -> list[ListedRun]:
    names = [entry.name for entry in listed]
    unknown = [name for name in only or () if name not in names]
    if unknown:
        raise Invalid(
            f"{', '.join(unknown)} is not in the gallery.", f"Known: {', '.join(names)}.", code="unknown-spec"
        )
    return [entry for entry in listed if only is None or entry.name in only]


def _opened(settings: Settings) -> Store:
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    migrate.upgrade(settings)
    return open_store(settings)


def _ship(
    settings: Settings,
    store: Store,
    entry: ListedRun,
    listed: Sequence[ListedRun],
    on_progress: Report,
    folder: Path,
) -> Path:
    from headscope.models.catalogue import Catalogue

    models = Catalogue(settings)
    for name in entry.runs.values():
        _compute(settings, store, _entry(listed, name), listed, models, on_progress)
    request = _compute(settings, store, entry, listed, models, on_progress)
    return shipped.write(_taken(store, request), folder)


def _compute(
    settings: Settings,
    store: Store,
    entry: ListedRun,
    listed: Sequence[ListedRun],
    models: Catalogue,
    on_progress: Report,
) -> Request:
    from headscope.jobs.engine import run_foreground

    request = requested(entry, models, listed)
    with store.session() as session:
        done = runs.create_or_get(session, request, queue=None).run.status == "done"
    if not done:
        run_foreground(
            store, request.id, models, lambda progress: on_progress(entry, progress), settings=settings
        )
    return request


def requested(entry: ListedRun, models: Catalogue, listed: Sequence[ListedRun] = LISTED) -> Request:
    """What anybody would ask for to get this run."""
    task = TaskCatalogue([]).get(entry.task) if entry.task else None
    earlier = {
        param: requested(_entry(listed, name), models, listed).id for param, name in entry.runs.items()
    }
    return resolve(entry.analysis, models.info(entry.model), task, entry.preset, {**entry.params, **earlier})


def _entry(listed: Sequence[ListedRun], name: str) -> ListedRun:
    return next(entry for entry in listed if entry.name == name)


def _taken(store: Store, request: Request) -> Shipped:
    with store.session() as session:
        run = runs.get(session, request.id)
        result = runs.result(session, request.id)
        finished = run.finished_at or run.created_at
        headline = dict(run.headline or {})
        return Shipped(request, result, headline, run.code_version, run.machine, run.wall_seconds, finished)


def _weigh(folder: Path) -> None:
    weight = sum(path.stat().st_size for path in shipped.files(folder))
    if weight > MAX_BYTES:
        raise Refused(
            f"The shipped runs weigh {weight:,} bytes; {MAX_BYTES:,} are allowed.",
            "Ship fewer runs, or runs of fewer seeds.",
            code="gallery-too-large",
        )
