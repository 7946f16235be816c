"""Headscope: what every attention head of a language model is for.

```python
import headscope as hs

model = hs.load("smollm2-135m")
run = hs.run("chg", model=model, task="singular-plural", preset="quick", seeds=3)
run.result.g_plus  # [seed, layer, head]
run.figure("roles")
```
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headscope.python.client import Client
    from headscope.python.local import Local
    from headscope.python.model import Model, gated, load
    from headscope.python.page import open  # noqa: A004 - hs.open(run)
    from headscope.python.run import Run
    from headscope.python.top_level import (
        add_task,
        find,
        list_models,
        list_tasks,
        run,
        runs,
    )
    from headscope.store.gate_source import load_gates

__version__ = "0.1.0"

__all__ = [
    "Client", "Local", "Model", "Run", "add_task", "find", "gated", "list_models", "list_tasks", "load",
    "load_gates", "open", "run", "runs",
]  # fmt: skip

if not TYPE_CHECKING:
    # Nothing is imported before it is used: commands and pages import this package, too.
    _LIVES = {
        "client": ("Client",),
        "top_level": ("add_task", "find", "list_models", "list_tasks", "run", "runs"),
        "local": ("Local",),
        "model": ("Model", "gated", "load"),
        "page": ("open",),
        "run": ("Run",),
    }
    _LAZY = {name: f"headscope.python.{module}" for module, names in _LIVES.items() for name in names}
    _LAZY["load_gates"] = "headscope.store.gate_source"

    def __getattr__(name: str) -> Any:
        if name not in _LAZY:
            raise AttributeError(f"module 'headscope' has no attribute {name!r}")
        return getattr(import_module(_LAZY[name]), name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
