"""What closed heads give in a gating run: from the rows that it is fitted on, or from each row's own pair."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from headscope.analyses import ablation
from headscope.analyses.base import Context, Kept, Spec
from headscope.analyses.chg.rows import asked, rows
from headscope.analyses.chg.schema import ChgParams
from headscope.tasks.task import Examples, Split

if TYPE_CHECKING:
    from headscope.core.gating.replacements import Replacements

_SPLITS: tuple[Split, ...] = ("train", "test")


def training(spec: Spec[ChgParams], context: Context) -> Examples:
    """The rows that means are taken over, and that other rows are drawn from."""
    return rows(spec, context, "train")


def replacements(spec: Spec[ChgParams], context: Context) -> Replacements | None:
    """None for zero."""
    return ablation.replacements(spec.params.ablation, partial(training, spec), context)


def unpaired(spec: Spec[ChgParams], context: Context) -> Kept:
    """``n_unpaired``: rows without a pair of their length, in training and held out, where pairs are used."""
    if spec.params.ablation != "counterfactual":
        return {}
    left_out = [len(asked(spec, context, split)) - len(rows(spec, context, split)) for split in _SPLITS]
    return {"n_unpaired": np.array(left_out)}
