"""Figures decoded and rounded, so that a snapshot reads like a table and not like pixels.

``PYTHONPATH=backend:tests python tests/figures/snapshots.py`` writes them anew; the diff is the review.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from figures.results import compared, result
from figures.samples import SAMPLES
from headscope.analyses import comparisons, figures
from headscope.core.arrays import decode, is_typed

GOLDEN = Path(__file__).parents[1] / "golden" / "figures"


def readable(value: Any) -> Any:
    """Typed arrays as nested lists, numbers to four digits, NaN as "nan"."""
    if is_typed(value):
        return readable(decode(value).tolist())
    if isinstance(value, dict):
        return {key: readable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [readable(item) for item in value]
    if isinstance(value, float):
        return "nan" if value != value else float(f"{value:.4g}") + 0.0
    return value


def snapshots() -> dict[str, Any]:
    """File name -> what it should hold."""
    shown = {
        f"{analysis}-{name}": figures.build(sample(), name)
        for analysis, sample in SAMPLES.items()
        for name in figures.names(analysis)
    }
    shown |= {
        f"compare-{name}": comparisons.build(name, compared(one.one_model))
        for name, one in comparisons.COMPARISONS.items()
    }
    shown["chg-roles-always-dark"] = figures.build(result(), "roles", 0.7, "always", "dark")
    return {name: readable(figure) for name, figure in shown.items()}


if __name__ == "__main__":
    GOLDEN.mkdir(parents=True, exist_ok=True)
    for name, content in snapshots().items():
        (GOLDEN / f"{name}.json").write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
