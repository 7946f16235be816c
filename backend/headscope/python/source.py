"""Where runs lie: in this machine's store, or on a server. ``Run`` speaks to either by the same few words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from headscope.analyses.base import Result
    from headscope.analyses.columns import Table
    from headscope.core.gating.gate_vector import GateVector
    from headscope.figures.theme import Drawing
    from headscope.web.schemas import RunOut


class Source(Protocol):
    """What ``Run`` needs. Unknown runs raise ``NotFound``; one without a result ``Refused`` (run-not-done)
    or ``NotFound`` (no-result).
    """

    @property
    def address(self) -> str:
        """Where the pages are, without a slash at the end."""
        ...

    def describe(self, run_id: str) -> RunOut:
        """The run as it is now."""
        ...

    def changes(self, run_id: str, timeout: float | None) -> Iterator[RunOut]:
        """The run at each change, until it has ended; ``TimeoutError`` after about so many seconds."""
        ...

    def result(self, run_id: str) -> Result:
        """All that was computed."""
        ...

    def figure(
        self, run_id: str, name: str, *, threshold: float, mode: str, theme: str, head: str | None
    ) -> Drawing:
        """One figure as plotly JSON without template."""
        ...

    def table(self, run_id: str, name: str, *, threshold: float, mode: str, head: str | None) -> Table:
        """The same content as numbers."""
        ...

    def gates(self, run_id: str, preset: str, *, seed: int | None, threshold: float) -> GateVector:
        """Gates that the run gives."""
        ...

    def export(self, run_id: str, format: str, **view: Any) -> bytes:  # noqa: A002
        """The run as a file's content."""
        ...

    def cancel(self, run_id: str) -> RunOut:
        """Ask it to stop."""
        ...

    def delete(self, run_id: str) -> None:
        """Delete it with its results."""
        ...
