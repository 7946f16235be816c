"""JSON from people: what Python's parser would pass over is a fault here, each with line and column.

A name given twice (the last one would win) and NaN or Infinity (no JSON at all) are refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final, NoReturn

from headscope.files.place import Place, quoted

_LINE_END: Final = re.compile(r"\r\n|\n|\r")
"""Not ``splitlines``: strings may hold U+2028."""


def json_lines(file: str, text: str, example: str) -> Iterator[tuple[int, Any]]:
    """What each line that isn't blank says, with its number; ``example`` shows how a line is written.

    Raises ``Invalid`` (json) for a line that isn't JSON and for one list of all.
    """
    if text.lstrip()[:1] == "[":
        raise Place(file).fault(
            "the file is one JSON list.", f"Write one object per line instead, like {example}.", "json"
        )
    for line, source in enumerate(_LINE_END.split(text), 1):
        if source.strip():
            yield line, _parsed(source, Place(file, line), f"Write the line like {example}.", "json")


def json_value(file: str, text: str, remedy: str, code: str) -> Any:
    """A whole file's value; ``Invalid`` with that code where it isn't JSON."""
    return _parsed(text, Place(file), remedy, code)


def kind_of(value: Any) -> str:
    """What a JSON value is, in words: ``a number``."""
    names = {str: "text", bool: "true or false", list: "a list", dict: "an object", type(None): "nothing"}
    return names.get(type(value), "a number")


def _parsed(source: str, place: Place, remedy: str, code: str) -> Any:
    try:
        return json.loads(source, object_pairs_hook=_without_repeats, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        line = error.lineno + (place.line or 1) - 1
        raise place.at(line, error.colno).fault(f"this isn't JSON: {error.msg}.", remedy, code) from error
    except _Fault as error:
        raise place.fault(f"{error}.", remedy, code) from error
    except (ValueError, RecursionError) as error:
        raise place.fault(f"this isn't JSON that can be read: {error}.", remedy, code) from error


class _Fault(Exception):
    """What is JSON to Python's parser and a mistake all the same."""


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, value in pairs:
        if name in values:
            raise _Fault(f"the field {quoted(name)} appears twice")
        values[name] = value
    return values


def _no_number(name: str) -> NoReturn:
    raise _Fault(f"{name} is no number in JSON")
