"""What ``make bench`` writes: build/bench.json, a list of {name, value, unit, target, met}.

A figure without a target says so by None; one that can't be taken here has a ``skipped`` with the reason.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FILE = Path(__file__).resolve().parents[2] / "build" / "bench.json"


@dataclass
class Bench:
    """Collects figures; a target missed is written down like one met, and fails the benchmark at its end."""

    figures: list[dict[str, Any]] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)

    def at_most(self, name: str, value: float, target: float, unit: str = "s") -> None:
        """A figure that should not exceed its target."""
        self._add(name, value, target, unit, value <= target)

    def at_least(self, name: str, value: float, target: float, unit: str) -> None:
        """A figure that should exceed its target."""
        self._add(name, value, target, unit, value > target)

    def noted(self, name: str, value: float, unit: str) -> None:
        """A figure that promises nothing by itself."""
        self._write({"name": name, "value": round(value, 4), "unit": unit, "target": None, "met": None})
        print(f"\n{name}: {value:.4g} {unit}")

    def skipped(self, name: str, reason: str) -> None:
        """A figure that can't be taken on this machine."""
        self._write({"name": name, "value": None, "skipped": reason})

    def _add(self, name: str, value: float, target: float, unit: str, met: bool) -> None:
        figure = {"name": name, "value": round(value, 4), "unit": unit, "target": target, "met": met}
        self._write(figure)
        print(f"\n{name}: {value:.4g} {unit} (target {target:g}, {'met' if met else 'MISSED'})")
        if not met:
            self.missed.append(f"{name}: {value:.4g} {unit}, target {target:g}")

    def _write(self, figure: dict[str, Any]) -> None:
        self.figures.append(figure)
        FILE.parent.mkdir(exist_ok=True)
        FILE.write_text(json.dumps(self.figures, indent=1) + "\n", encoding="utf-8")
