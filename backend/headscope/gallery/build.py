"""``headscope atlas build``: compute the shipped runs and write their files.

1. Each run goes through the same store and the same foreground path as ``headscope run``.
2. A run that the store has is not computed again, and an interrupted one goes on at its last finished piece.
3. Its file takes the place of the one before; files of runs that are no longer listed are removed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from headscope.analyses.base import Progress
from headscope.analyses.request import Request, resolve
from headscope.errors import Invalid, Refused
from headscope.gallery import shipped
from headscope.gallery.shipped import FOLDER, Shipped
from headscope.settings import Settings
from headscope.store import migrate, runs
from headscope.store.session import Store, open_store
from headscope.tasks.catalogue import TaskCatalogue

if TYPE_CHECKING:
    from headscope.models.catalogue import Catalogue

MAX_BYTES = 3_000_000
"""What all shipped runs may weigh together."""


@dataclass(frozen=True)
class Spec:
    """A run to ship: an analysis of a model, on a task where it needs one, with a preset and what differs
    from it. ``runs`` are parameters that take another listed run, by its name.
    """

    model: str
    task: str | None = None
    preset: str | None = "quick"
    params: Mapping[str, Any] = field(default_factory=dict)
    analysis: str = "chg"
    runs: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """``model/task`` of a gating run, else ``analysis/model`` (and ``/task``), as ``--only`` takes it."""
        words = (self.model, self.task) if self.analysis == "chg" else (self.analysis, self.model, self.task)
        return "/".join(word for word in words if word)


_PLAIN: Final = {"seeds": 5, "steps": 32, "phase0_lr_end": 0.05, "remember": False, "settle": False}
"""Fits of a set number of updates, without a memory."""

SPECS: Sequence[Spec] = (
    Spec("headscope-2l", "induction", params={"seeds": 10}),
    Spec("smollm2-135m", "singular-plural", params={**_PLAIN, "steps": 60}),
    Spec("smollm2-135m", "present-past", params=_PLAIN),
    Spec("smollm2-135m", "capitalize", params=_PLAIN),
    Spec(
        "smollm2-135m",
        params={
            "retain": ["singular-plural-instruction"],
            "forget": ["singular-plural"],
            "held_out_retain": ["present-past-instruction"],
            "held_out_forget": ["present-past"],
            "push": "both",
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
    Spec("headscope-2l", params={"length": 32}, analysis="induction"),
    Spec("smollm2-135m", analysis="induction"),
    Spec("headscope-2l", preset=None, analysis="eigen"),
    Spec("headscope-2l", preset=None, analysis="composition"),
    Spec("headscope-2l", preset=None, analysis="paths"),
    Spec("headscope-2l", analysis="skip-trigrams"),
    Spec("headscope-2l", preset=None, analysis="residual"),
    Spec(
        "headscope-2l",
        "induction",
        params={"points": 17, "seeds": None, "orders": 20},
        analysis="sequential-ablation",
        runs={"gating": "headscope-2l/induction"},
    ),
    Spec("headscope-2l", "induction", preset=None, analysis="relatives"),
    Spec(
        "headscope-2l",
        "induction",
        preset=None,
        analysis="agreement",
        runs={"gating": "headscope-2l/induction", "relatives": "relatives/headscope-2l/induction"},
    ),
    Spec(
        "headscope-2l",
        preset="full",
        analysis="meaning",
        runs={
            "induction": "induction/headscope-2l",
            "eigen": "eigen/headscope-2l",
            "gating": "headscope-2l/induction",
        },
    ),
    Spec("smollm2-135m", "singular-plural", preset=None, analysis="mediation-function-vectors"),
    Spec("smollm2-135m", params={"pairs": 20}, analysis="mediation-abstract-rules"),
    Spec("smollm2-135m", "singular-plural", analysis="relatives"),
    Spec(
        "smollm2-135m",
        "singular-plural",
        params={"most": 6, "refits": 1},
        analysis="agreement",
        runs={
            "gating": "smollm2-135m/singular-plural",
            "relatives": "relatives/smollm2-135m/singular-plural",
            "mediation": "mediation-function-vectors/smollm2-135m/singular-plural",
        },
    ),
    Spec(
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

Report = Callable[[Spec, Progress], None]


def build(
    settings: Settings,
    specs: Sequence[Spec] = SPECS,
    on_progress: Report = lambda _spec, _progress: None,
    *,
    only: Sequence[str] | None = None,
    folder: Path | None = None,
) -> list[Path]:
    """Compute and write; the files written, in order. ``only`` names some, as ``Spec.name`` does.

    Raises ``Invalid`` (unknown-spec) for a name that isn't listed, ``Unavailable`` for a model that isn't
    fetched, ``Refused`` (gallery-too-large) where the files outgrow ``MAX_BYTES``.
    """
    chosen = _chosen(specs, only)
    folder = folder or FOLDER
    store = _opened(settings)
    try:
        written = [_ship(settings, store, spec, specs, on_progress, folder) for spec in chosen]
    finally:
        store.close()
    if only is None:
        for stale in set(shipped.files(folder)) - set(written):
            stale.unlink()
    _weigh(folder)
    return written


def _chosen(specs: Sequence[Spec], only: Sequence[str] | None) -> list[Spec]:
    names = [spec.name for spec in specs]
    unknown = [name for name in only or () if name not in names]
    if unknown:
        raise Invalid(
            f"{', '.join(unknown)} is not in the gallery.", f"Known: {', '.join(names)}.", code="unknown-spec"
        )
    return [spec for spec in specs if only is None or spec.name in only]


def _opened(settings: Settings) -> Store:
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    migrate.upgrade(settings)
    return open_store(settings)


def _ship(
    settings: Settings, store: Store, spec: Spec, specs: Sequence[Spec], on_progress: Report, folder: Path
) -> Path:
    from headscope.models.catalogue import Catalogue

    models = Catalogue(settings)
    for name in spec.runs.values():
        _compute(settings, store, _listed(specs, name), specs, models, on_progress)
    request = _compute(settings, store, spec, specs, models, on_progress)
    return shipped.write(_taken(store, request), folder)


def _compute(
    settings: Settings,
    store: Store,
    spec: Spec,
    specs: Sequence[Spec],
    models: Catalogue,
    on_progress: Report,
) -> Request:
    from headscope.jobs.engine import run_foreground

    request = requested(spec, models, specs)
    with store.session() as session:
        done = runs.create_or_get(session, request, queue=None).run.status == "done"
    if not done:
        run_foreground(
            store, request.id, models, lambda progress: on_progress(spec, progress), settings=settings
        )
    return request


def requested(spec: Spec, models: Catalogue, specs: Sequence[Spec] = SPECS) -> Request:
    """What anybody would ask for to get this run."""
    task = TaskCatalogue([]).get(spec.task) if spec.task else None
    earlier = {param: requested(_listed(specs, name), models, specs).id for param, name in spec.runs.items()}
    return resolve(spec.analysis, models.info(spec.model), task, spec.preset, {**spec.params, **earlier})


def _listed(specs: Sequence[Spec], name: str) -> Spec:
    return next(spec for spec in specs if spec.name == name)


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
