"""What every shipped run shows, as fingerprints: figures, tables, exports and headline, in few bytes each.

A fingerprint is a hash of all words and of where numbers stand, and sums over the numbers: the words must be
the same to the letter, the numbers to what another processor may round differently.

``PYTHONPATH=backend:tests python tests/gallery/fingerprints.py`` writes them anew; the diff is the review.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from headscope.analyses import figures
from headscope.analyses.export import export
from headscope.core.arrays import decode, is_typed
from headscope.gallery import shipped
from headscope.gallery.shipped import Shipped

GOLDEN = Path(__file__).parents[1] / "golden" / "shipped.json"
TEXT_EXPORTS = ("csv", "json", "html")

Fingerprint = list[Any]
"""Hash of the words; how many numbers, how many not finite, their sum, and their sum weighted by place."""


def fingerprint(value: Any) -> Fingerprint:
    """Of anything that JSON holds, typed arrays decoded."""
    numbers: list[float] = []
    words = hashlib.sha256("\n".join(_words(value, numbers)).encode()).hexdigest()[:16]
    array = np.array(numbers, dtype=np.float64)
    known = np.nan_to_num(array, nan=0.0, posinf=0.0, neginf=0.0)
    places = 1 + np.arange(len(known)) % 101
    missing = int((~np.isfinite(array)).sum())
    return [words, len(array), missing, float(known.sum()), float((known * places).sum())]


def alike(one: Fingerprint, other: Fingerprint) -> bool:
    """The same words, and numbers to what float32 gives."""
    return one[:3] == other[:3] and all(
        math.isclose(a, b, rel_tol=2e-5, abs_tol=1e-4) for a, b in zip(one[3:], other[3:], strict=True)
    )


def of(run: Shipped) -> dict[str, Fingerprint]:
    """By what is looked at: a shipped run's fingerprints."""
    result, id_ = run.result, {"id": run.request.id}
    found = {"result": fingerprint(result.to_json()), "headline": fingerprint(run.headline)}
    for name in figures.names(result.analysis):
        found[f"figure {name}"] = fingerprint(figures.build(result, name))
        found[f"figure {name}, dark, always, .7"] = fingerprint(
            figures.build(result, name, 0.7, "always", "dark", head="1.0")
        )
        found[f"table {name}"] = fingerprint(figures.table(result, name))
        found[f"table {name}, any, .7"] = fingerprint(figures.table(result, name, 0.7, "any", "1.0"))
    for kind in TEXT_EXPORTS:
        found[f"export {kind}"] = fingerprint(_parsed(export(result, kind, id_).content, kind))
    found["export npz"] = fingerprint(_unpacked(export(result, "npz", id_).content))
    return found


def all_shipped() -> Iterator[tuple[str, Shipped]]:
    """File names and runs."""
    for path in shipped.files():
        yield path.name, shipped.read(path)


def _words(value: Any, numbers: list[float]) -> Iterator[str]:
    if is_typed(value):
        array = decode(value)
        yield f"{array.dtype.kind}{array.shape}"
        numbers.extend(np.asarray(array, dtype=np.float64).reshape(-1).tolist())
    elif isinstance(value, dict):
        for key in sorted(value):
            yield f"{key}:"
            yield from _words(value[key], numbers)
    elif isinstance(value, list | tuple):
        yield f"[{len(value)}"
        for item in value:
            yield from _words(item, numbers)
    elif isinstance(value, bool) or value is None or isinstance(value, str):
        yield repr(value)
    else:
        yield "number"
        numbers.append(float(value))


def _parsed(content: bytes, kind: str) -> Any:
    text = content.decode("utf-8-sig")
    if kind == "json":
        return json.loads(text)
    if kind == "html":
        # plotly.js and the fonts are other projects' bytes; what is drawn stands between these two.
        return text.split("<main>")[1].split('<script type="text/plain" id="plotly">')[0]
    return [[_number(cell) for cell in line.split(",")] for line in text.splitlines()]


def _number(cell: str) -> Any:
    try:
        return float(cell)
    except ValueError:
        return cell


def _unpacked(content: bytes) -> dict[str, Any]:
    with np.load(io.BytesIO(content)) as arrays:
        return {
            name: arrays[name].astype(np.float64).tolist()
            if arrays[name].dtype.kind in "fiub"
            else str(arrays[name])
            for name in arrays.files
        }


def _plain(array: np.ndarray[Any, Any]) -> Any:
    return array.astype(np.float64).tolist() if array.dtype.kind in "fiub" else str(array)


def main() -> None:
    """Write them all."""
    found = {name: of(run) for name, run in all_shipped()}
    lines = [
        f'"{name}": {{\n'
        + ",\n".join(f" {json.dumps(key)}: {json.dumps(value)}" for key, value in prints.items())
        + "\n}"
        for name, prints in found.items()
    ]
    GOLDEN.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
