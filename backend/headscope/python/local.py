"""This machine's own store and models, as ``hs.run`` uses them: no server needed.

The same store as the command line's and the pages', so a run is there for all of them, under the same id.
Each operation opens the store for as long as it takes.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headscope.analyses import figures
from headscope.analyses.base import Result
from headscope.analyses.columns import Table
from headscope.analyses.request import Request, find
from headscope.core.gating.gate_vector import GateVector
from headscope.core.model.info import ModelInfo
from headscope.figures.theme import Drawing
from headscope.models.catalogue import Catalogue, ModelEntry
from headscope.python import inputs as asking
from headscope.python.event_stream import ended
from headscope.python.model import Model, load
from headscope.python.progress import progress_bar
from headscope.python.run import Run
from headscope.settings import Settings
from headscope.store import gates as kept_gates
from headscope.store import prompts as kept_prompts
from headscope.store import requests, run_gates, runs
from headscope.store import tasks as kept_tasks
from headscope.store.opening import opened
from headscope.store.session import Store
from headscope.tasks.catalogue import TaskCatalogue
from headscope.tasks.promptfile import read_prompts
from headscope.tasks.stored import to_json
from headscope.tasks.task import Task
from headscope.tasks.upload import parse_upload
from headscope.web.present import run_out
from headscope.web.schemas import RunOut

if TYPE_CHECKING:
    from sqlalchemy.orm import Session
    from torch import nn

POLL_SECONDS = 0.4


class Local:
    """The store and the models that the settings name; those of the environment where unset."""

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or Settings()
        self.catalogue = Catalogue(self.settings)
        self._has_gallery = False

    def __repr__(self) -> str:
        return f"<Local store in {self.settings.data_dir}>"

    @property
    def address(self) -> str:
        """Where ``headscope serve`` with these settings has its pages."""
        return f"http://{self.settings.host}:{self.settings.port}"

    # -- what there is

    def models(self) -> list[ModelEntry]:
        """The models that are known here, and whether their weights are."""
        return self.catalogue.all()

    def tasks(self) -> list[Task]:
        """The tasks, built in and yours."""
        with self._session() as session:
            return TaskCatalogue(kept_tasks.load_user_tasks(session)).all()

    def add_task(self, rows: asking.Rows | str | Path | Any, name: str | None = None, **words: Any) -> str:
        """Keep a task of rows, a .csv or .jsonl file or a DataFrame; returns its name.

        Without a name it is named by its content, and the same rows are kept once. ``words``: title,
        description, source, licence, template, separator, shots, instruction. Raises ``Invalid`` naming the
        line at fault, ``Refused`` (task-exists) for a name in use; warns of rows that aren't used.
        """
        file = asking.row_file(rows, name)
        with self._session() as session:
            taken = [task.name for task in TaskCatalogue(kept_tasks.load_user_tasks(session)).all()]
            if name is None and file.name in taken:
                return file.name
            task = parse_upload(file.name, file.filename, file.content, taken=taken, **words)
            kept_tasks.add(session, task.name, to_json(task))
        asking.warn_unused(task.unused)
        return file.name

    def add_prompts(self, prompts: Sequence[str] | str | Path, name: str = "") -> str:
        """Keep a prompt, several, or a file of them; returns the id, which is the hash of the texts."""
        filename, content = asking.prompt_file(prompts)
        with self._session() as session:
            return kept_prompts.add(session, read_prompts(filename, content, name)).row.id

    def add_gates(self, gates: GateVector) -> str:
        """Keep gates; returns their id."""
        with self._session() as session:
            return kept_gates.add(session, gates).row.id

    # -- runs

    def compute(
        self, analysis: str, /, *, model: str | Path | Model | tuple[nn.Module, Any], task: Any = None,
        preset: str | None = None, **params: Any,
    ) -> Run:  # fmt: skip
        """See ``headscope.run``."""
        loaded = load(model, settings=self.settings)
        request = self._request(analysis, loaded, task, preset, params)
        with self._session() as session:
            there = runs.create_or_get(session, request, queue=None).run.status == "done"
        if not there:
            self._compute(request, loaded)
        return self.run(request.id)

    def run(self, run_id: str) -> Run:
        """One run by its id. Raises ``NotFound`` (unknown-run)."""
        return Run(self, self.describe(run_id))

    def runs(
        self, *, model: str | None = None, task: str | None = None, analysis: str | None = None,
        status: str | None = None,
    ) -> Iterator[Run]:  # fmt: skip
        """The runs that fit, the newest first, those that ship with Headscope among them."""
        offset, total = 0, 1
        while offset < total:
            with self._session() as session:
                found, total = runs.find(
                    session, model=model, task=task, analysis=analysis, status=status, offset=offset
                )
                known = [run_out(session, run, self.catalogue.entries()) for run in found]
            yield from (Run(self, one) for one in known)
            offset += max(1, len(known))

    def describe(self, run_id: str) -> RunOut:
        """A run as the API tells it."""
        with self._session() as session:
            return run_out(session, runs.get(session, run_id), self.catalogue.entries())

    def changes(self, run_id: str, timeout: float | None = None) -> Iterator[RunOut]:
        """The run at each change, until it has ended; ``TimeoutError`` after ``timeout`` seconds."""
        deadline = None if timeout is None else time.monotonic() + timeout
        last = None
        while True:
            known = self.describe(run_id)
            if known != last:
                yield known
                last = known
            if ended(known):
                return
            if deadline is not None and time.monotonic() > deadline:
                raise TimeoutError(f"Run {run_id} goes on: it hasn't ended within {timeout:g} s.")
            time.sleep(POLL_SECONDS)

    def result(self, run_id: str) -> Result:
        """All that a run computed."""
        with self._session() as session:
            return runs.result(session, run_id)

    def figure(
        self, run_id: str, name: str, *, threshold: float = 0.5, mode: str = "every", theme: str = "light",
        head: str | None = None,
    ) -> Drawing:  # fmt: skip
        """A figure as plotly JSON without template."""
        return figures.build(self.result(run_id), name, threshold, mode, theme, head)

    def table(
        self, run_id: str, name: str, *, threshold: float = 0.5, mode: str = "every", head: str | None = None
    ) -> Table:
        """A figure's numbers."""
        return figures.table(self.result(run_id), name, threshold, mode, head)

    def gates(
        self, run_id: str, preset: str, *, seed: int | None = None, threshold: float = 0.5
    ) -> GateVector:
        """Gates that a run gives, by the preset's name; ``seed`` None is the mean over seeds."""
        with self._session() as session:
            run = runs.get(session, run_id)
            info = ModelInfo(**run.model_info)
            return run_gates.take(session, run, info, preset, seed, threshold)

    def export(self, run_id: str, format: str = "json", **view: Any) -> bytes:  # noqa: A002
        """A run as a file's content; formats and options as in ``Run.export``."""
        from headscope.analyses.export import export

        facts = self.describe(run_id).model_dump()
        return export(self.result(run_id), format, facts, **view).content

    def cancel(self, run_id: str) -> RunOut:
        """Ask a run to stop; within two seconds it has."""
        from headscope.jobs.client import JobClient

        with self._opened() as store:
            JobClient(self.settings, store).cancel(run_id)
        return self.describe(run_id)

    def delete(self, run_id: str) -> None:
        """Delete a run and its results. Raises ``Refused`` (run-active) while it waits or computes."""
        with self._session() as session:
            runs.delete(session, run_id)

    # -- how

    def _request(
        self, analysis: str, model: Model, task: Any, preset: str | None, params: Mapping[str, Any]
    ) -> Request:
        """What was asked for, checked, before there is a run."""
        references = {name: each.kind for name, each in find(analysis).references.items()}
        given = asking.named(params, references, self)
        name = self.add_task(task) if task is not None and asking.is_rows(task) else task
        with self._session() as session:
            request, _ = requests.ask(
                session, analysis, model.info, model.tokenizer, task=name, preset=preset, params=given,
                proved=self.catalogue.proofs.get,
            )  # fmt: skip
        return request

    def _compute(self, request: Request, model: Model) -> None:
        """Compute it in this process, with a bar; Ctrl-C leaves what is finished."""
        from headscope.jobs.engine import run_foreground

        try:
            with self._opened() as store, progress_bar() as report:
                run_foreground(
                    store, request.id, self.catalogue, report, settings=self.settings, models=model.loaded
                )
        except KeyboardInterrupt as stop:
            stop.add_note(f"What run {request.id} has finished is kept: the same hs.run goes on from there.")
            raise

    @contextmanager
    def _opened(self) -> Iterator[Store]:
        """The store, with its tables up to date and the shipped runs in it."""
        with opened(self.settings) as store:
            if not self._has_gallery:
                from headscope.gallery import import_gallery

                import_gallery(store)
                self._has_gallery = True
            yield store

    @contextmanager
    def _session(self) -> Iterator[Session]:
        with self._opened() as store, store.session() as session:
            yield session
