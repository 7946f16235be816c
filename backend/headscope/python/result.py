"""A run's result with its arrays and values as attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headscope.analyses.base import Result


class RunResult:
    """What a run computed: ``result.g_plus`` is an array, ``result.n_train`` a value, ``result.model`` the
    model's facts. The analysis' page in docs/analyses names each; ``dir(result)`` lists them.
    """

    def __init__(self, stored: Result) -> None:
        self._stored = stored

    @property
    def stored(self) -> Result:
        """The result as it is kept: ``arrays`` and ``values`` by name; ``to_json`` writes it."""
        return self._stored

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        for kept in (self._stored.arrays, self._stored.values):
            if name in kept:
                return kept[name]
        if hasattr(self._stored, name):
            return getattr(self._stored, name)
        raise AttributeError(f"This result has no {name!r}; it has {', '.join(self._names())}.")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._names(), "model", "params", "seeds", "task"]

    def __repr__(self) -> str:
        arrays = [
            f"  {name}: {array.dtype} {list(array.shape)}" for name, array in self._stored.arrays.items()
        ]
        return "\n".join([f"<{self._stored.analysis} of {self._stored.model.name}", *arrays]) + ">"

    def _names(self) -> list[str]:
        return sorted([*self._stored.arrays, *self._stored.values])
