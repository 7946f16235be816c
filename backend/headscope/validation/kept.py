"""Finished draws, kept as files so that a long validation goes on where it was stopped.

A folder for each setting of the fit, a file for each case in it: what ``chg.described`` says of a trial.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

import numpy as np

from headscope.analyses.chg.schema import ChgParams
from headscope.validation.chg import N_TEST, N_TRAIN, Trial, described
from headscope.validation.planted import ROLES, Head
from headscope.validation.premises import Premises
from headscope.validation.suite import Case

REVISION: Final = 1
"""Of what is planted, fitted and measured: raised when any of it changes, so that no older draw is taken."""


@dataclass(frozen=True)
class KeptDraws:
    """Draws fitted with one setting, in ``folder``."""

    folder: Path

    @classmethod
    def under(cls, data_dir: Path, params: ChgParams) -> KeptDraws:
        """Where draws of these settings are kept."""
        asked = {
            "revision": REVISION,
            "rows": [N_TRAIN, N_TEST],
            "params": params.identifying(params.model_dump(mode="json")),
        }
        digest = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:16]
        return cls(data_dir / "validation" / f"chg-{digest}")

    def get(self, case: Case) -> Trial | None:
        """A draw that is there; None where it isn't, or can't be read."""
        try:
            return remembered(json.loads(self._file(case).read_text()))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, one: Trial) -> None:
        """Keep a draw, all or nothing."""
        self.folder.mkdir(parents=True, exist_ok=True)
        file = self._file(one.case)
        half = file.with_suffix(f".{os.getpid()}.part")
        half.write_text(json.dumps(described(one)))
        half.replace(file)

    def _file(self, case: Case) -> Path:
        return self.folder / f"{case.size}-{case.form}-{case.noise:g}-{case.seed}.json"


def remembered(content: Mapping[str, Any]) -> Trial:
    """A trial from what was said of it. Raises KeyError, TypeError, ValueError for anything else."""
    plan = Case(**{field.name: content[field.name] for field in fields(Case)}).plan
    shape = (-1, plan.n_layers, plan.n_heads)
    return Trial(
        case=Case(**{field.name: content[field.name] for field in fields(Case)}),
        premises=Premises(**{field.name: content["premises"][field.name] for field in fields(Premises)}),
        planted={role: _heads(content["planted"][role]) for role in ROLES},
        found={role: _heads(content["found"][role]) for role in ROLES},
        g_plus=_numbers(content["g_plus"]).reshape(shape),
        g_minus=_numbers(content["g_minus"]).reshape(shape),
        redundancy=_numbers(content["redundancy"]).reshape(shape[1:]),
        seconds=float(content["seconds"]),
    )


def _heads(names: list[str]) -> tuple[Head, ...]:
    pairs = (name.split(".") for name in names)
    return tuple((int(layer), int(head)) for layer, head in pairs)


def _numbers(nested: Any) -> Any:
    """None is NaN."""
    return np.array(nested, dtype=np.float32)
