"""Lists of heads as people write them, and as they are written for people and programs.

Read: ``0.3, 1.5`` with commas, semicolons, spaces or lines between; ``L0H3``; ``a0.h3``; JSON
(``["0.3", [1, 5], {"layer": 1, "head": 6}]``, or an object with such a list under ``heads``); CSV whose first
line names the columns ``layer`` and ``head`` among others. Lines that begin with # are remarks. A JSON number
such as 1.1 is refused: it may have been 1.10.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from headscope.core.model.info import ModelInfo, head_name
from headscope.errors import Invalid

Head = tuple[int, int]
"""Layer and head, counted from 0."""

LONGEST: Final = 100_000
"""Characters that a list may have."""

_NAME = re.compile(r"[la]?(\d{1,5})(?:\.h?|h|:)(\d{1,5})", re.IGNORECASE | re.ASCII)
_BETWEEN = re.compile(r"[\s,;]+")
_REMEDY = 'Write heads as layer.head: "0.3, 1.5". L0H3, JSON and CSV with columns layer and head do, too.'


def read_heads(text: str) -> tuple[Head, ...]:
    """Different heads in the order of layer and head.

    ``Invalid``: bad-head names the first entry that is none; no-heads where there are none at all.
    """
    if len(text) > LONGEST:
        raise Invalid(f"A list of heads of {len(text):,} characters is too long.", _REMEDY, code="bad-head")
    lines = [line for line in text.removeprefix("\ufeff").splitlines() if not line.lstrip().startswith("#")]
    bare = "\n".join(lines).strip()
    found = {_head(entry) for entry in _entries(bare)}
    if not found:
        raise Invalid("The list names no head.", _REMEDY, code="no-heads")
    return tuple(sorted(found))


def check_heads(heads: Sequence[Head], model: ModelInfo) -> None:
    """``Invalid`` (unknown-head) names those that the model doesn't have."""
    missing = [each for each in heads if each[0] >= model.n_layers or each[1] >= model.n_heads]
    if missing:
        raise Invalid(
            f"{model.name} has no head {', '.join(map(head_name, missing[:5]))}"
            f"{f' and {len(missing) - 5} more of the list' if len(missing) > 5 else ''}.",
            f"Its layers are 0 to {model.n_layers - 1}, their heads 0 to {model.n_heads - 1}.",
            code="unknown-head",
        )


def as_text(heads: Iterable[Head]) -> str:
    """``0.3, 1.5``."""
    return ", ".join(map(head_name, heads))


def as_csv(heads: Iterable[Head]) -> str:
    """Columns layer and head, a line each."""
    return "".join(["layer,head\n", *(f"{layer},{head}\n" for layer, head in heads)])


def as_json(heads: Iterable[Head], about: Mapping[str, Any]) -> str:
    """An object: ``heads`` as [layer, head], and what else is known ``about`` them."""
    return json.dumps({**about, "heads": [list(head) for head in heads]}, ensure_ascii=False) + "\n"


def _entries(text: str) -> Iterable[Any]:
    if text.startswith(("[", "{")):
        return _of_json(text)
    first, _, _ = text.partition("\n")
    between = next((mark for mark in ",;\t" if mark in first), ",")
    columns = [name.strip().lower() for name in next(csv.reader([first], delimiter=between), [])]
    if {"layer", "head"} <= set(columns):
        rows = list(csv.reader(io.StringIO(text), delimiter=between))[1:]
        at = [columns.index(name) for name in ("layer", "head")]
        return [[row[index] if index < len(row) else "" for index in at] for row in rows if any(row)]
    return [entry for entry in _BETWEEN.split(text) if entry]


def _of_json(text: str) -> Sequence[Any]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Invalid(f"The list of heads is no JSON: {error}.", _REMEDY, code="bad-head") from error
    listed = content.get("heads") if isinstance(content, dict) else content
    if not isinstance(listed, list):
        raise Invalid("The JSON has no list of heads.", _REMEDY, code="bad-head")
    return listed


def _head(entry: Any) -> Head:
    if isinstance(entry, str) and (match := _NAME.fullmatch(entry.strip())):
        return int(match[1]), int(match[2])
    parts = [entry.get("layer"), entry.get("head")] if isinstance(entry, dict) else entry
    if isinstance(parts, list) and len(parts) == 2 and all(map(_whole, parts)):
        return int(parts[0]), int(parts[1])
    raise Invalid(f"{_shown(entry)} is no head.", _REMEDY, code="bad-head")


def _whole(part: Any) -> bool:
    return (type(part) is int and 0 <= part < 100_000) or (
        isinstance(part, str) and re.fullmatch(r"\s*\d{1,5}\s*", part, re.ASCII) is not None
    )


def _shown(entry: Any) -> str:
    text = entry if isinstance(entry, str) else json.dumps(entry, ensure_ascii=False)
    return f'"{text[:40]}…"' if len(text) > 40 else f'"{text}"'
