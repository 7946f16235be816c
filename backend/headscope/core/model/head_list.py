"""Lists of heads as people write them, and as they are written for people and programs.

Read: ``0.3, 1.5`` with commas, semicolons, spaces or lines between; ``L0H3``; ``a0.h3``; JSON
(``["0.3", [1, 5], {"layer": 1, "head": 6}]``, or an object with such a list under ``heads``); a table whose
first line names the columns ``layer`` and ``head`` among others. Lines that begin with # are remarks. A JSON
number such as 1.1 is refused: it may have been 1.10. A list may name a head twice; a table may not, since its
rows would say different things of one head.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from headscope.core.model.info import ModelInfo, head_name
from headscope.errors import Invalid
from headscope.files.json_text import json_value
from headscope.files.place import Place, position
from headscope.files.table import read_table

Head = tuple[int, int]
"""Layer and head, counted from 0."""

LONGEST: Final = 100_000
"""Characters that a list may have."""

_NAME = re.compile(r"[la]?(\d{1,5})(?:\.h?|h|:)(\d{1,5})", re.IGNORECASE | re.ASCII)
_ENTRY = re.compile(r"[^\s,;]+")
_REMARK = re.compile(r"^[^\S\r\n]*#[^\r\n]*", re.MULTILINE)
_TYPED = Place("")
_REMEDY = 'Write heads as layer.head: "0.3, 1.5". L0H3, JSON and CSV with columns layer and head do, too.'


def read_heads(text: str) -> tuple[Head, ...]:
    """Different heads in the order of layer and head.

    ``Invalid``: bad-head names the first entry that is none, and where it stands; no-heads where there are
    none at all; and what reading tables raises.
    """
    if len(text) > LONGEST:
        raise Invalid(f"A list of heads of {len(text):,} characters is too long.", _REMEDY, code="bad-head")
    bare = _REMARK.sub("", text.removeprefix("\ufeff")).rstrip()
    found = {_head(entry, place) for entry, place in _entries(bare)}
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


def _entries(text: str) -> Iterable[tuple[Any, Place]]:
    start = text.lstrip()
    if start.startswith(("[", "{")):
        return ((entry, _TYPED) for entry in _of_json(text))
    if {"layer", "head"} <= set(re.findall(r"[a-z_]+", start.partition("\n")[0].partition("\r")[0].lower())):
        return _of_table(text)
    return ((each[0], _TYPED.at(*position(text, each.start()))) for each in _ENTRY.finditer(text))


def _of_table(text: str) -> Iterable[tuple[list[str], Place]]:
    table = read_table("", text, [("layer", "head")])
    if table is None or not {"layer", "head"} <= set(table.names):
        raise _TYPED.fault("the first line names no columns layer and head.", _REMEDY, "bad-head")
    columns = [table.names.index(name) for name in ("layer", "head")]
    lines: dict[tuple[str, ...], int] = {}
    for record in table.rows():
        place = Place("", record.line)
        parts = tuple(record.fields[column].strip() for column in columns)
        if parts in lines:
            raise place.fault(
                f"the head {'.'.join(parts)} stands on line {lines[parts]} already.",
                "Give each head one line: a table of several fits has each head several times.",
                "bad-head",
            )
        lines[parts] = record.line
        yield list(parts), place


def _of_json(text: str) -> Sequence[Any]:
    content = json_value("", text, _REMEDY, "bad-head")
    listed = content.get("heads") if isinstance(content, dict) else content
    if not isinstance(listed, list):
        raise Invalid("The JSON has no list of heads.", _REMEDY, code="bad-head")
    return listed


def _head(entry: Any, place: Place) -> Head:
    if isinstance(entry, str) and (match := _NAME.fullmatch(entry.strip())):
        return int(match[1]), int(match[2])
    parts = [entry.get("layer"), entry.get("head")] if isinstance(entry, dict) else entry
    if isinstance(parts, list) and len(parts) == 2 and all(map(_whole, parts)):
        return int(parts[0]), int(parts[1])
    raise place.fault(f"{_shown(entry)} is no head.", _REMEDY, "bad-head")


def _whole(part: Any) -> bool:
    return (type(part) is int and 0 <= part < 100_000) or (
        isinstance(part, str) and re.fullmatch(r"\s*\d{1,5}\s*", part, re.ASCII) is not None
    )


def _shown(entry: Any) -> str:
    text = entry if isinstance(entry, str) else json.dumps(entry, ensure_ascii=False)
    return f'"{text[:40]}…"' if len(text) > 40 else f'"{text}"'
