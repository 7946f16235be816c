"""``Run``: one computation and all that can be had of it, the same from this machine and from a server."""

from __future__ import annotations

import html
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from headscope.errors import Cancelled, HeadscopeError, Invalid, Refused, Unavailable, from_problem

if TYPE_CHECKING:
    import pandas as pd
    from plotly.graph_objects import Figure

    from headscope.analyses.chg.result import ChgResult
    from headscope.analyses.columns import Table
    from headscope.core.gating.gate_vector import GateVector
    from headscope.python.source import Source
    from headscope.web.schemas import RunOut

Mode = Literal["every", "always", "any"]
Theme = Literal["light", "dark"]

GATES = {"G+": "plus", "G-": "minus", "G−": "minus"}
"""The paper's names of two presets."""


class Run:
    """One run, as ``hs.run``, ``hs.find``, ``hs.runs`` and a ``Client`` give it; once done it stays so."""

    def __init__(self, source: Source, known: RunOut) -> None:
        self._source, self._known = source, known

    # -- what it is

    @property
    def id(self) -> str:
        """The hash of all that decides the answer: the same request has the same id on every machine."""
        return self._known.id

    @property
    def analysis(self) -> str:
        """The analysis' name, e.g. ``chg``."""
        return self._known.analysis

    @property
    def model(self) -> str:
        """The model's name."""
        return self._known.model

    @property
    def task(self) -> str | None:
        """The task's name, where it has one."""
        return self._known.task

    @property
    def params(self) -> dict[str, Any]:
        """All parameters, those of the preset and the defaults too."""
        return dict(self._known.params)

    @property
    def status(self) -> str:
        """``queued``, ``running``, ``done``, ``failed`` or ``cancelled``, asked again until it is done."""
        return self._now().status

    @property
    def headline(self) -> dict[str, Any]:
        """The few numbers that lists show; empty before the end."""
        return dict(self._now().headline or {})

    @property
    def error(self) -> HeadscopeError | None:
        """Why it failed, where it did."""
        problem = self._now().error
        return None if problem is None else from_problem(problem.model_dump())

    @property
    def url(self) -> str:
        """The address of its page."""
        return f"{self._source.address}/runs/{self.id}"

    def describe(self) -> RunOut:
        """All that the API says of it: progress, attempts, machine, the command that gives it again."""
        self._known = self._source.describe(self.id)
        return self._known

    # -- what came out

    @cached_property
    def result(self) -> Any:
        """What was computed, in its analysis' class: ``run.result.g_plus`` [seed, layer, head] of chg.

        Its fields say their shapes; ``run.result.arrays`` has every array by its name, ``values`` the rest.
        Raises ``Refused`` (run-not-done) or ``NotFound`` (no-result) where there is none yet.
        """
        return self._source.result(self.id)  # Any: which class it is, the analysis decides when it is there

    def roles(self, threshold: float = 0.5) -> NDArray[np.str_]:
        """Each head's role [seed, layer, head]: needed, harmful, both, irrelevant or undecided; of a steering
        map lifts_open, lifts_shut, both, either_way or undecided.

        A head has a role where its score reaches the threshold, in (0, 1]; nothing is fitted again. Raises
        ``Refused`` (no-gates) for a run of another analysis than ``chg``.
        """
        result = self._gating()
        words = result.vocabulary
        named: NDArray[np.str_] = np.array(words.by_code(words.names))[result.codes(threshold)]
        return named

    def verdicts(self, threshold: float = 0.5) -> dict[str, NDArray[np.str_]]:
        """By role (needed, harmful, irrelevant): whether a new fit would give it each head, [layer, head].

        ``replicates``, ``leans`` or ``undecided``; ``run.result.replication(threshold)`` has shares, rates
        and intervals. Raises what ``roles`` does.
        """
        from headscope.core.statistics.replication import VERDICTS

        found = self._gating().replication(threshold)
        return {role: np.array(VERDICTS)[one.verdict] for role, one in found.items()}

    def _gating(self) -> ChgResult:
        from headscope.analyses.chg.result import ChgResult

        result = self.result
        if not isinstance(result, ChgResult):
            raise Refused(
                f"Roles are read off the gates of chg, and {self.id} is a run of {self.analysis}.",
                "Choose a run of chg.",
                code="no-gates",
            )
        return result

    def table(
        self,
        name: str | None = None,
        *,
        threshold: float = 0.5,
        mode: Mode = "every",
        head: str | None = None,
    ) -> Table:
        """A figure's numbers: ``{"columns": [{"name", "title", "unit"}], "rows": [[...]]}``.

        Without a name, the table of the whole run. Raises ``NotFound`` (unknown-figure) with the names.
        """
        return self._source.table(self.id, name or self._whole(), threshold=threshold, mode=mode, head=head)

    def frame(
        self,
        name: str | None = None,
        *,
        threshold: float = 0.5,
        mode: Mode = "every",
        head: str | None = None,
    ) -> pd.DataFrame:
        """The same as a pandas DataFrame, titles and units in ``frame.attrs``.

        Raises ``Unavailable`` (no-pandas) where pandas isn't installed; ``table`` needs none.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise Unavailable(
                "pandas isn't installed.", "Run `pip install pandas`, or use run.table().", code="no-pandas"
            ) from error
        table = self.table(name, threshold=threshold, mode=mode, head=head)
        names = [column["name"] for column in table["columns"]]
        frame = pd.DataFrame(table["rows"], columns=names)
        frame.attrs = {column["name"]: _with_unit(column) for column in table["columns"]}
        return frame

    def figure(
        self,
        name: str | None = None,
        *,
        threshold: float = 0.5,
        mode: Mode = "every",
        theme: Theme = "light",
        head: str | None = None,
    ) -> Figure:
        """A figure of the run's page, as a plotly figure: Jupyter shows it by itself.

        Without a name, the first. ``head``, e.g. ``"1.5"``, is the head that figures about one show. How to
        read it stands in ``figure.layout.meta["reading"]``. Raises ``NotFound`` (unknown-figure).
        """
        import plotly.graph_objects as go

        from headscope.analyses.export.drawing import standing_alone

        name = name or self.figures[0]
        figure = self._source.figure(self.id, name, threshold=threshold, mode=mode, theme=theme, head=head)
        title = " · ".join(word for word in (self._known.model_title, self._known.task_title) if word)
        return go.Figure(standing_alone(figure, title, theme, with_roles=name == "roles"))

    @property
    def figures(self) -> list[str]:
        """The names of its figures, in the order of its page."""
        from headscope.analyses import figures

        return figures.names(self.analysis)

    def gates(self, name: str, *, seed: int | None = None, threshold: float = 0.5) -> GateVector:
        """Gates [layer, head] that the run gives, for ``hs.gated``.

        ``name`` is ``G+``, ``G-``, or one of the presets that the prompt lab offers: ``facilitating``,
        ``without-harmful``, ``always``, ``random``. ``seed`` None takes the mean over seeds. Raises
        ``NotFound`` (unknown-preset, unknown-seed), ``Refused`` (no-gates) for a run without any.
        """
        return self._source.gates(self.id, GATES.get(name, name), seed=seed, threshold=threshold)

    def export(self, format: str = "json", to: str | Path | None = None, **view: Any) -> bytes:  # noqa: A002
        """The run as a file's content, also written to ``to`` where that is given.

        ``format``: csv, json, npz, html, ipynb, png, svg, heads, heads.csv or heads.json; ``view``: figure,
        threshold, mode, theme, head.
        Raises ``Invalid`` (unknown-format, unknown-option), ``Unavailable`` (no-browser) for pictures.
        """
        unknown = sorted(set(view) - {"figure", "threshold", "mode", "theme", "head"})
        if unknown:
            raise Invalid(
                f"An export has no option {', '.join(unknown)}.",
                "Use figure, threshold, mode, theme, head.",
                code="unknown-option",
            )
        content = self._source.export(self.id, format, **view)
        if to is not None:
            Path(to).write_bytes(content)
        return content

    # -- what can be done with it

    def wait(self, timeout: float | None = None) -> Run:
        """Show its progress until it ends; returns the run itself.

        Raises the run's own error where it failed, ``Cancelled`` where it was stopped, ``TimeoutError`` after
        ``timeout`` seconds (the run goes on).
        """
        from headscope.analyses.base import Progress
        from headscope.python.progress import progress_bar

        with progress_bar() as report:
            for known in self._source.changes(self.id, timeout):
                self._known = known
                if known.progress is not None:
                    report(Progress(**known.progress.model_dump()))
                elif known.notice:
                    report(Progress(known.notice, "", 0, 0))
        self._raise_unless_done()
        return self

    def cancel(self) -> Run:
        """Ask it to stop: within two seconds it has. What is finished is kept, and asking again goes on."""
        self._known = self._source.cancel(self.id)
        return self

    def delete(self) -> None:
        """Delete it with its results. Raises ``Refused`` (run-active) while it waits or computes."""
        self._source.delete(self.id)

    def __repr__(self) -> str:
        return f"<Run {self.id}: {' · '.join(self._words())}>"

    def _repr_html_(self) -> str:
        words = " · ".join(html.escape(word) for word in self._words())
        numbers = ", ".join(
            f"{html.escape(name.replace('_', ' '))} {_number(value)}"
            for name, value in (self._known.headline or {}).items()
        )
        return f"<b>{self.id}</b> {words}" + (f"<br>{numbers}" if numbers else "")

    def _words(self) -> list[str]:
        known = self._known
        return [word for word in (known.title, known.model, known.task, known.status) if word]

    def _whole(self) -> str:
        from headscope.analyses.request import find

        return find(self.analysis).whole.name

    def _now(self) -> RunOut:
        """What is known, asked for again while it may change."""
        return self._known if self._known.status == "done" else self.describe()

    def _raise_unless_done(self) -> None:
        if self._known.status == "cancelled":
            raise Cancelled(
                f"Run {self.id} was cancelled.", "Ask for it again to go on from its last finished piece."
            )
        if self._known.status == "failed":
            raise self.error or HeadscopeError(f"Run {self.id} failed.", "Ask for it again.")


def _with_unit(column: dict[str, Any]) -> str:
    return f"{column['title']} ({column['unit']})" if column["unit"] else column["title"]


def _number(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else html.escape(str(value))
