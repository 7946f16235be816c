"""A run as a Jupyter notebook that runs as it is: it finds the run, or computes it again, and shows it.

Plain JSON of nbformat 4.5, without outputs. Cells call ``headscope`` as docs/python.md describes it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from html import escape
from typing import TYPE_CHECKING, Any

from headscope.analyses import ANALYSES, figures
from headscope.analyses.base import Result
from headscope.analyses.chg.result import ChgResult
from headscope.analyses.request import spoken

if TYPE_CHECKING:
    from headscope.analyses.export import ExportView
    from headscope.analyses.export.facts import Facts

Cell = dict[str, Any]

_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def notebook(result: Result, run: Mapping[str, Any], facts: Facts, look: ExportView) -> bytes:
    """The notebook's content. ``run`` holds the API's fields of the run; ``look.figure`` picks one figure."""
    cells = [
        {**cell, "id": f"cell-{number}", "metadata": {}}
        for number, cell in enumerate(_cells(result, run, facts, look))
    ]
    content = {"cells": cells, "metadata": _METADATA, "nbformat": 4, "nbformat_minor": 5}
    return (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode()


def _cells(result: Result, run: Mapping[str, Any], facts: Facts, look: ExportView) -> Iterator[Cell]:
    rows = "\n".join(f"- {name}: {value}" for name, value in facts.rows)
    yield _words(escape(f"# {facts.title}\n\n{facts.subtitle}\n\n{rows}", quote=False))
    yield _code("import headscope as hs")
    if run.get("id"):
        yield _words(
            "The run, if this machine has it; otherwise it is computed again: the same settings on the same "
            "weights give the same run."
        )
        yield _code(f"run = hs.find({run['id']!r}) or {_asked(result, run)}\nrun")
    else:
        yield _code(f"run = {_asked(result, run)}\nrun")
    for name in [look.figure] if look.figure else figures.names(result.analysis):
        meta = figures.build(result, name, look.threshold, look.mode, head=look.head)["layout"]["meta"]
        yield _words(f"## {meta['title']}\n\n{meta['reading']}")
        yield _code(f"run.figure({', '.join([repr(name), *_view(look)])})")
    yield _words("## The numbers\n\nA table as a DataFrame, and every array by its name.")
    yield _code(f"run.frame({look.figure!r})" if look.figure else "run.frame()")
    yield _code("{name: array.shape for name, array in run.result.arrays.items()}")
    if isinstance(result, ChgResult):
        yield _words(_GATING.format(model=result.model.name))


_GATING = """## On the model

The gates act on any transformers model with these weights while a context is open:

```python
model = hs.load({model!r})
with hs.gated(model, run.gates("G+")):
    model.logits("...")
```"""


def _asked(result: Result, run: Mapping[str, Any]) -> str:
    """The call that gives the run: its preset, and the parameters that differ from it."""
    preset = run.get("preset")
    preset = preset if preset in ANALYSES[result.analysis].presets else None
    named = {"model": result.model.name, "task": (result.task or {}).get("name"), "preset": preset}
    given = {name: value for name, value in named.items() if value is not None}
    given |= spoken(result.analysis, preset, result.params)
    words = [repr(result.analysis), *(f"{name}={value!r}" for name, value in given.items())]
    return "hs.run(\n" + "".join(f"    {word},\n" for word in words) + ")"


def _view(look: ExportView) -> list[str]:
    """What differs from how a figure is looked at by itself."""
    given = {"threshold": (look.threshold, 0.5), "mode": (look.mode, "every"), "theme": (look.theme, "light")}
    given["head"] = (look.head, None)
    return [f"{name}={value!r}" for name, (value, usual) in given.items() if value != usual]


def _words(text: str) -> Cell:
    return {"cell_type": "markdown", "source": text}


def _code(text: str) -> Cell:
    return {"cell_type": "code", "source": text, "execution_count": None, "outputs": []}
