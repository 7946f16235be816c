"""A finished run's result: a frozen class for each analysis, and one codec to and from what is stored.

Stored, a result is plain JSON: the header's fields by name, plain numbers and words in ``values``, and arrays
beside them as typed arrays (``core.arrays``; NaN survives). A class says by its fields which arrays and which
values there are, with their shapes:

1. A field annotated as an array is an array of that name; one whose default is None may be missing, in
   results of an earlier version or of fewer inputs.
2. A field made by ``by_name`` holds several arrays whose names follow a pattern.
3. Every other field is a value.
4. A value made by ``added`` may be missing, in results of an earlier version, which stay as they are.
5. What a class has no field for, because another version of Headscope wrote it, is kept and written again.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np
from jaxtyping import AbstractArray
from numpy.typing import NDArray

from headscope.core.arrays import decode, encode
from headscope.core.model.info import ModelInfo
from headscope.errors import Invalid
from headscope.tasks.task import Task

if TYPE_CHECKING:
    from headscope.analyses.base import Spec

R = TypeVar("R", bound="Result")

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, kw_only=True, eq=False)
class Result:
    """What every analysis' result has: what it is of. Subclasses add its arrays and values as fields."""

    NAME: ClassVar[str] = ""
    """The analysis' name in ``ANALYSES``, part of every run's id."""
    VERSION: ClassVar[int] = 1
    """Goes up when arrays, values or their meaning change; part of every run's id."""

    analysis: str
    schema_version: int
    params: Mapping[str, Any]
    model: ModelInfo
    task: Mapping[str, Any] | None
    seeds: Sequence[int]
    other_arrays: Arrays = field(default_factory=dict)
    other_values: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def header(
        cls,
        spec: Spec[Any],
        *,
        seeds: Sequence[int] = (),
        task: Task | None = None,
        model: ModelInfo | None = None,
    ) -> dict[str, Any]:
        """The fields that say what a result is of, as keywords; ``model`` where weights were processed."""
        return {
            "analysis": cls.NAME,
            "schema_version": cls.VERSION,
            "params": spec.params.model_dump(mode="json"),
            "model": model or spec.model,
            "task": identity(task),
            "seeds": tuple(seeds),
        }

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays by their stored names."""
        return {**dict(self._own_arrays()), **self.other_arrays}

    @property
    def values(self) -> dict[str, Any]:
        """All plain values by their stored names."""
        layout = _layout(type(self))
        own = {name: getattr(self, name) for name in layout.values}
        return {
            **{name: value for name, value in own.items() if name not in layout.added or value is not None},
            **self.other_values,
        }

    def to_json(self, *, with_arrays: bool = True) -> dict[str, Any]:
        """Plain JSON: the header by name, the arrays beside it as typed arrays."""
        arrays = self.arrays if with_arrays else {}
        taken = sorted(_HEADER & set(arrays))
        if taken:
            raise Invalid(
                f"Arrays can't be called {', '.join(taken)}.",
                "Rename them: a result has fields of that name.",
            )
        return {
            "analysis": self.analysis,
            "schema_version": self.schema_version,
            "params": dict(self.params),
            "model": self.model.to_json(),
            "task": None if self.task is None else dict(self.task),
            "seeds": list(self.seeds),
            "values": self.values,
            **{name: encode(array) for name, array in arrays.items()},
        }

    @classmethod
    def from_json(cls: type[R], content: Mapping[str, Any]) -> R:
        """The inverse of ``to_json``.

        ``Invalid`` (malformed-result) where a field is missing or of another kind, or an array of another
        shape; (malformed-array) where one can't be read.
        """
        missing = sorted(_HEADER - set(content))
        if missing:
            raise _malformed(f"The result lacks {', '.join(missing)}.")
        for name, kinds in _PLAIN.items():
            if not isinstance(content[name], kinds):
                raise _malformed(f"The result's {name} can't be read: {type(content[name]).__name__}.")
        try:
            model = ModelInfo(**content["model"])
        except TypeError as error:
            raise _malformed(f"The result's model can't be read: {error}.") from error
        header = {name: content[name] for name in ("analysis", "schema_version", "params", "task")}
        arrays = {name: decode(value) for name, value in content.items() if name not in _HEADER}
        return cls.of_parts(
            {**header, "model": model, "seeds": tuple(content["seeds"])}, arrays, content["values"]
        )

    @classmethod
    def of_parts(cls: type[R], header: Mapping[str, Any], arrays: Arrays, values: Mapping[str, Any]) -> R:
        """From stored names; ``Invalid`` (malformed-result) where one is missing or has another shape."""
        layout = _layout(cls)
        given: dict[str, Any] = {}
        used: set[str] = set()
        for name, hint in layout.arrays.items():
            if name in arrays:
                given[name] = _of_shape(name, arrays[name], hint)
                used.add(name)
        for name, stored in layout.named.items():
            given[name] = {key: arrays[each] for key, each in stored.items() if each in arrays}
            used |= set(stored.values())
        given |= {name: values[name] for name in layout.values if name in values}
        missing = sorted(layout.needed - set(given))
        if missing:
            raise _malformed(f"The result lacks {', '.join(missing)}.")
        others = {name: array for name, array in arrays.items() if name not in used}
        rest = {name: value for name, value in values.items() if name not in layout.values}
        return cls(**header, **given, other_arrays=others, other_values=rest)

    def _own_arrays(self) -> Iterator[tuple[str, NDArray[Any]]]:
        layout = _layout(type(self))
        for name in layout.arrays:
            if (array := getattr(self, name)) is not None:
                yield name, array
        for name, stored in layout.named.items():
            for key, array in getattr(self, name).items():
                yield stored[key], array


def by_name(pattern: str, names: Sequence[str]) -> Any:
    """A field that holds arrays by key: that of key ``named`` is stored as ``pattern.format("named")``.

    ``names`` are the keys there can be; a result may have some of them.
    """
    return field(default_factory=dict, metadata={"stored": {name: pattern.format(name) for name in names}})


def added() -> Any:
    """A value that earlier results lack: None there, and then not written."""
    return field(default=None, metadata={"added": True})


def identity(task: Task | None) -> dict[str, Any] | None:
    """What a result says of its task."""
    if task is None:
        return None
    return {"name": task.name, "title": task.title, "content_hash": task.content_hash, "judged": task.judged}


@dataclass(frozen=True)
class _Layout:
    """A class' own fields: arrays with their types, arrays by name, values; which of these earlier results
    may lack, and which fields have no default.
    """

    arrays: Mapping[str, Any]
    named: Mapping[str, Mapping[str, str]]
    values: tuple[str, ...]
    added: frozenset[str]
    needed: frozenset[str]


def _read_layout(cls: Any) -> _Layout:
    own = [each for each in fields(cls) if each.name not in _BASE]
    hints = get_type_hints(cls)
    named = {each.name: each.metadata["stored"] for each in own if "stored" in each.metadata}
    arrays = {
        each.name: hint
        for each in own
        if each.name not in named and (hint := _array_type(hints[each.name])) is not None
    }
    return _Layout(
        arrays=arrays,
        named=named,
        values=tuple(each.name for each in own if each.name not in arrays and each.name not in named),
        added=frozenset(each.name for each in own if "added" in each.metadata),
        needed=frozenset(each.name for each in own if _without_default(each)),
    )


# A class object is hashable, whatever its instances are; cache's own type doesn't know.
_layout: Callable[[Any], _Layout] = cache(_read_layout)


def _array_type(hint: Any) -> Any:
    """The array type of an annotation, with or without None; None for all else."""
    if get_origin(hint) in (Union, types.UnionType):
        return next((found for part in get_args(hint) if (found := _array_type(part)) is not None), None)
    if get_origin(hint) is np.ndarray or hint is np.ndarray:
        return np.ndarray
    return hint if isinstance(hint, type) and issubclass(hint, AbstractArray) else None


def _of_shape(name: str, array: Any, hint: Any) -> Any:
    if not isinstance(array, hint):
        raise _malformed(f"The result's {name} is {array.dtype}{list(array.shape)}, not {_typed(hint)}.")
    return array


def _typed(hint: Any) -> str:
    return f"[{hint.dim_str}]" if issubclass(hint, AbstractArray) else "an array"


def _without_default(each: Field[Any]) -> bool:
    return each.default is MISSING and each.default_factory is MISSING


def _malformed(message: str) -> Invalid:
    return Invalid(message, "Export it again from the run it came from.", code="malformed-result")


_BASE = frozenset(each.name for each in fields(Result))
_HEADER = frozenset({"analysis", "schema_version", "params", "model", "task", "seeds", "values"})

_PLAIN: Mapping[str, type | tuple[type, ...]] = {
    "params": Mapping,
    "task": (Mapping, types.NoneType),
    "seeds": (list, tuple),
    "values": Mapping,
}
"""What parts of the header are, where anything else would fail only when it is used."""
