"""What was found of models whose heads are known, as a table and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headscope.analyses.chg.schema import ChgParams
    from headscope.validation.cells import Cell, Found


def table(rows: Sequence[Cell]) -> object:
    """A row a cell: AUROC with its interval over draws, and precision and recall."""
    from rich.table import Table

    from headscope.validation.cells import MEASURES

    drawn = Table("cell", "draws", *MEASURES, box=None, pad_edge=False)
    for row in rows:
        counted = f"{row.counted} of {row.draws}"
        drawn.add_row(row.name, counted, *(_cell(row.found[name]) for name in MEASURES))
    drawn.caption = (
        "AUROC, mean over draws [95 %]; below it precision / recall, strictly. pair: both closed against "
        "each; shares: needed in some fits and not in all. Draws: those that noise hasn't drowned."
    )
    return drawn


def _cell(found: Found) -> str:
    area = found.auroc
    if area.n == 0:
        return "–"
    exact = share(found.precision.mean, found.recall.mean)
    return f"{area.mean:.3f} [dim][{area.low:.2f}, {area.high:.2f}][/]\n[dim]{exact}[/]"


def share(precision: float, recall: float) -> str:
    """Two shares in three figures; "–" where there is nothing to divide by."""
    return " / ".join("–" if number != number else f"{number:.3g}" for number in (precision, recall))


def table_json(rows: Sequence[Cell], params: ChgParams, n_planned: int) -> bytes:
    """The table, with the settings and how many models were meant to be fitted."""
    import json

    from headscope.validation import cells

    content = {
        "params": params.model_dump(mode="json"),
        "passed": cells.passed(rows),
        "models_planned": n_planned,
        "cells": cells.to_json(rows),
    }
    return (json.dumps(content, indent=1) + "\n").encode()
