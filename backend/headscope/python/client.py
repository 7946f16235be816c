"""``hs.Client``: a Headscope server from Python, synchronously.

```python
client = hs.Client("http://lab:8000", token="...")
run = client.start("chg", model="smollm2-135m", task="singular-plural", preset="quick").wait()
run.figure("roles")
```
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, TypeAdapter

from headscope.core.arrays import decode, encode, is_typed
from headscope.errors import NotFound, Refused
from headscope.messages import GatePreset, GateVectorOut, PromptOut
from headscope.python import inputs as asking
from headscope.python.event_stream import follow
from headscope.python.model import Model
from headscope.python.run import Run
from headscope.python.transport import Transport
from headscope.web.schemas import (
    AnalysisOut,
    EstimateOut,
    HealthOut,
    ModelOut,
    RunOut,
    RunsOut,
    ShareOut,
    TaskOut,
)

if TYPE_CHECKING:
    from headscope.analyses.base import Result
    from headscope.analyses.columns import Table
    from headscope.core.gating.gate_vector import GateVector
    from headscope.figures.theme import Drawing

T = TypeVar("T")
Answer = TypeVar("Answer", bound=BaseModel)

PAGE = 100
"""Runs asked for at a time."""


class Client:
    """One server. Holds connections: close it, or use it as a context.

    ``token`` is the server's ``HEADSCOPE_TOKEN``. ``patience`` is for how many seconds a server that is away
    or busy is asked again, ``timeout`` for how many it may be silent. Every method raises ``Unavailable``
    (unreachable), ``SignInNeeded``, and what the API says of its route in docs/api.md.
    """

    def __init__(
        self, base_url: str = "http://127.0.0.1:8000", token: str | None = None, *,
        patience: float = 60.0, timeout: float = 200.0,
    ) -> None:  # fmt: skip
        self._http = Transport(base_url, token, timeout=timeout, patience=patience)
        self._patience = patience

    @property
    def address(self) -> str:
        """The server's address, without a slash at the end."""
        return self._http.base_url

    def close(self) -> None:
        """Give the connections back."""
        self._http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Client of {self.address}>"

    # -- what there is

    def health(self) -> HealthOut:
        """Whether the server is up, its version, and who works for it."""
        return self._get(HealthOut, "/health")

    def models(self) -> list[ModelOut]:
        """The models that the server knows."""
        return self._all(ModelOut, "/models")

    def model(self, name: str) -> ModelOut:
        """One model with its card. Raises ``NotFound`` (unknown-model)."""
        return self._get(ModelOut, f"/models/{name}")

    def analyses(self) -> list[AnalysisOut]:
        """What can be computed, with the JSON schema of its parameters and its presets."""
        return self._all(AnalysisOut, "/analyses")

    def tasks(self) -> list[TaskOut]:
        """The tasks, built in and uploaded."""
        return self._all(TaskOut, "/tasks")

    def task(self, name: str) -> TaskOut:
        """One task. Raises ``NotFound`` (unknown-task)."""
        return self._get(TaskOut, f"/tasks/{name}")

    def add_task(self, rows: asking.Rows | str | Path | Any, name: str | None = None, **words: Any) -> str:
        """Upload a task from rows, a .csv or .jsonl file or a DataFrame; returns its name.

        Without a name it is named by its content, and the same rows are uploaded once. ``words``: title,
        description, source, licence, template, separator, shots, instruction. Raises ``Invalid`` naming the
        line at fault, ``Refused`` (task-exists) for a name in use; warns of rows that aren't used.
        """
        file = asking.row_file(rows, name)
        form = {"name": file.name, **{key: str(value) for key, value in words.items()}}
        files = {"file": (file.filename, file.content)}
        try:
            answer = self._http.send("POST", "/tasks", repeatable=False, data=form, files=files)
        except Refused as error:
            if name is not None or error.code != "task-exists":
                raise
        else:
            asking.warn_unused(answer.json().get("unused", ""))
        return file.name

    def delete_task(self, name: str) -> None:
        """Delete an uploaded task; runs that used it stay."""
        self._http.send("DELETE", f"/tasks/{name}")

    # -- runs

    def start(
        self, analysis: str, /, *, model: str | Model, task: Any = None, preset: str | None = None,
        **params: Any,
    ) -> Run:  # fmt: skip
        """Ask for a run: it waits for one of the server's workers, or is there already.

        ``task`` is a name, or rows as ``add_task`` takes them; parameters may be runs, gates, prompts. Raises
        ``NotFound`` for an unknown name, ``Invalid`` for parameters, ``Refused`` (too-big) where no worker's
        memory suffices.
        """
        body = self._request(analysis, model, task, preset, params)
        return Run(self, self._post(RunOut, "/runs", body))

    def estimate(
        self, analysis: str, /, *, model: str | Model, task: Any = None, preset: str | None = None,
        **params: Any,
    ) -> EstimateOut:  # fmt: skip
        """Seconds and bytes that a run will take, the id it will have, and why it would be refused."""
        return self._post(EstimateOut, "/runs/estimate", self._request(analysis, model, task, preset, params))

    def run(self, run_id: str) -> Run:
        """One run by its id. Raises ``NotFound`` (unknown-run)."""
        return Run(self, self.describe(run_id))

    def runs(
        self, *, model: str | None = None, task: str | None = None, analysis: str | None = None,
        status: str | None = None,
    ) -> Iterator[Run]:  # fmt: skip
        """Runs, the newest first, all of them: a page is asked for when its turn comes."""
        wanted = {"model": model, "task": task, "analysis": analysis, "status": status}
        given = {name: value for name, value in wanted.items() if value is not None}
        seen: set[str] = set()  # a run that was started meanwhile moves the others down a place
        offset = 0
        while True:
            page = self._get(RunsOut, "/runs", limit=PAGE, offset=offset, **given)
            for known in page.runs:
                if known.id not in seen:
                    seen.add(known.id)
                    yield Run(self, known)
            offset += len(page.runs)
            if not page.runs or offset >= page.total:
                return

    def describe(self, run_id: str) -> RunOut:
        """A run as the API tells it."""
        return self._get(RunOut, f"/runs/{run_id}")

    def changes(self, run_id: str, timeout: float | None = None) -> Iterator[RunOut]:
        """The run at each change, until it has ended; a stream that breaks is taken up again.

        Raises ``TimeoutError`` after about ``timeout`` seconds, and ``NotFound`` where the run was deleted.
        """
        return follow(self._http, run_id, patience=self._patience, timeout=timeout)

    def cancel(self, run_id: str) -> RunOut:
        """Ask a run to stop; within two seconds it has."""
        return self._post(RunOut, f"/runs/{run_id}/cancel")

    def reproduce(self, run_id: str) -> RunOut:
        """Compute a finished run again; its attempts then tell the largest difference."""
        return self._post(RunOut, f"/runs/{run_id}/reproduce")

    def delete(self, run_id: str) -> None:
        """Delete a run and its results. Raises ``Refused`` (run-active) while it waits or computes."""
        self._http.send("DELETE", f"/runs/{run_id}")

    def result(self, run_id: str) -> Result:
        """All that a run computed, arrays as numpy arrays."""
        from headscope.analyses.stored import read

        return read(self._json("GET", f"/runs/{run_id}/result"))

    def figure(
        self, run_id: str, name: str, *, threshold: float = 0.5, mode: str = "every", theme: str = "light",
        head: str | None = None,
    ) -> Drawing:  # fmt: skip
        """A figure as plotly JSON without template; ``Run.figure`` makes a plotly figure of it."""
        view = _given(threshold=threshold, mode=mode, theme=theme, head=head)
        figure: Drawing = self._json("GET", f"/runs/{run_id}/figures/{name}", params=view)
        return figure

    def table(
        self, run_id: str, name: str, *, threshold: float = 0.5, mode: str = "every", head: str | None = None
    ) -> Table:
        """A figure's numbers."""
        view = _given(threshold=threshold, mode=mode, head=head)
        table: Table = self._json("GET", f"/runs/{run_id}/tables/{name}", params=view)
        return table

    def gates(
        self, run_id: str, preset: str, *, seed: int | None = None, threshold: float = 0.5
    ) -> GateVector:
        """Gates that a run gives, by the preset's name; ``seed`` None is the mean over seeds."""
        from headscope.analyses.ablation import of_run
        from headscope.core.gating.gate_vector import gate_vector

        which = {"seed": "mean" if seed is None else str(seed), "threshold": threshold}
        found = {each.name: each for each in self._all(GatePreset, f"/runs/{run_id}/gates", **which)}
        if preset not in found:
            raise NotFound(
                f"Run {run_id} gives no gates called {preset!r}.",
                f"It gives {', '.join(found)}.",
                code="unknown-preset",
            )
        chosen = found[preset]
        result = self._model_of(run_id)
        ablation = of_run(self.describe(run_id).params)
        origin = f"run {run_id}, {preset}"
        return gate_vector(chosen.title, result, decode(dict(chosen.gates)), origin, ablation)

    def export(self, run_id: str, format: str = "json", **view: Any) -> bytes:  # noqa: A002
        """A run as a file's content; formats and options as in ``Run.export``."""
        params = _given(format=format, **view)
        return self._http.send("GET", f"/runs/{run_id}/export", params=params).content

    # -- prompts, gates, the lab

    def prompts(self) -> list[PromptOut]:
        """The kept prompts and batches, the newest first."""
        return self._all(PromptOut, "/prompts")

    def add_prompts(self, prompts: Sequence[str] | str | Path, name: str = "") -> str:
        """Keep a prompt, several, or a file of them; returns the id, which is the hash of the texts."""
        file = asking.prompt_file(prompts)
        answer = self._http.send("POST", "/prompts/upload", data={"name": name}, files={"file": file})
        return PromptOut.model_validate(answer.json(), extra="ignore").id

    def delete_prompts(self, prompt_id: str) -> None:
        """Delete kept prompts for good."""
        self._http.send("DELETE", f"/prompts/{prompt_id}")

    def kept_gates(self, model: str | None = None) -> list[GateVectorOut]:
        """The kept gate vectors, the newest first."""
        return self._all(GateVectorOut, "/gates", **_given(model=model))

    def add_gates(self, gates: GateVector) -> str:
        """Keep gates of a model that the server has; returns their id."""
        body = {
            "name": gates.name,
            "model": gates.model,
            "gates": encode(gates.gates),
            "origin": gates.origin or "by hand",
            "ablation": gates.ablation,
        }
        return self._post(GateVectorOut, "/gates", body).id

    def lab(self, question: str, *, model: str, **asked: Any) -> dict[str, Any]:
        """A question to a model about a prompt, live: look, patterns, gates, continue, ablation, attribution,
        lens. docs/api.md says what each takes; arrays go in and come out as numpy arrays.

        A model that is being loaded is waited for. ``client.lab("look", model=..., text="...")``
        """
        return self._ask(f"/lab/{question}", {"model": model, **asked})

    def circuits(self, question: str, *, model: str, **asked: Any) -> dict[str, Any]:
        """A question about a head's weights: tables, crossed, virtual, tokens. Otherwise as ``lab``."""
        return self._ask(f"/circuits/{question}", {"model": model, **asked})

    def tokenize(self, model: str, text: str, *, bos: bool | None = None) -> dict[str, Any]:
        """A text's tokens with their byte spans; needs no worker."""
        return self._ask("/prompts/tokenize", {"model": model, "text": text, "bos": bos})

    # -- shares

    def shares(self) -> list[ShareOut]:
        """The links that were made."""
        return self._all(ShareOut, "/shares")

    def share(
        self, runs: Sequence[Run | str], *, visibility: str = "unlisted", expires_in_days: int | None = None,
        path: str = "", view: dict[str, str] | None = None,
    ) -> ShareOut:  # fmt: skip
        """Make a short link to runs, ``share(...).url``; it gives the right to read them, and no other."""
        ids = [run.id if isinstance(run, Run) else run for run in runs]
        body = {
            "run_ids": ids,
            "visibility": visibility,
            "expires_in_days": expires_in_days,
            "path": path or (f"/runs/{ids[0]}" if len(ids) == 1 else ""),
            "view": view or {},
        }
        answer = self._http.send("POST", "/shares", repeatable=False, json=body)
        return ShareOut.model_validate(answer.json(), extra="ignore")

    def revoke(self, token: str) -> None:
        """Revoke a link: it stops opening at once."""
        self._http.send("DELETE", f"/shares/{token}")

    # -- how

    def _request(
        self, analysis: str, model: str | Model, task: Any, preset: str | None, params: dict[str, Any]
    ) -> dict[str, Any]:
        references = self._references.get(analysis, {})
        return {
            "analysis": analysis,
            "model": model.name if isinstance(model, Model) else model,
            "task": self.add_task(task) if task is not None and asking.is_rows(task) else task,
            "preset": preset,
            "params": asking.named(params, references, self),
        }

    @cached_property
    def _references(self) -> dict[str, dict[str, str]]:
        return {analysis.name: dict(analysis.references) for analysis in self.analyses()}

    def _model_of(self, run_id: str) -> Any:
        from headscope.core.model.info import ModelInfo

        return ModelInfo(**(self.describe(run_id).model_info or {}))

    def _ask(self, path: str, asked: dict[str, Any]) -> dict[str, Any]:
        given = {name: _sent(value) for name, value in asked.items() if value is not None}
        answer: dict[str, Any] = _received(self._json("POST", path, json=given))
        return answer

    def _get(self, kind: type[Answer], path: str, **params: Any) -> Answer:
        # A newer server may say more than this version knows.
        return kind.model_validate(self._json("GET", path, params=params), extra="ignore")

    def _all(self, kind: type[Answer], path: str, **params: Any) -> list[Answer]:
        return TypeAdapter(list[kind]).validate_python(  # type: ignore[valid-type]
            self._json("GET", path, params=params), extra="ignore"
        )

    def _post(self, kind: type[Answer], path: str, body: dict[str, Any] | None = None) -> Answer:
        return kind.model_validate(self._json("POST", path, json=body), extra="ignore")

    def _json(self, method: str, path: str, **content: Any) -> Any:
        return self._http.send(method, path, **content).json()


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _sent(value: Any) -> Any:
    return encode(value) if isinstance(value, np.ndarray) else value


def _received(value: Any) -> Any:
    """JSON with its typed arrays as numpy arrays."""
    if is_typed(value):
        array: NDArray[Any] = decode(value)
        return array
    if isinstance(value, dict):
        return {name: _received(each) for name, each in value.items()}
    return [_received(each) for each in value] if isinstance(value, list) else value
