"""What causal head gating finds: gates, losses and held-out scores of every seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Final

import numpy as np
from jaxtyping import Bool, Float, Integer, UInt8

from headscope.analyses.ablation import of_run
from headscope.analyses.base import Quantity, Result
from headscope.analyses.chg import rounding
from headscope.analyses.result import added
from headscope.core.gating import roles
from headscope.core.gating.ability import LEAST, Ability
from headscope.core.gating.rounding import Rounded
from headscope.core.gating.vocabulary import ROLES, STEERING, Vocabulary
from headscope.core.statistics.discovery import Discoveries, discoveries
from headscope.core.statistics.replication import Replication, replication, split_half
from headscope.core.statistics.share_intervals import PARTS, share_intervals
from headscope.tasks.task import Split

BOUND: Final = 0.1
"""Nats a target token that closing a head may cost, by two standard errors, and it still "doesn't matter"."""

Gates = Float[np.ndarray, "seed layer head"]
"""In [0, 1]; NaN where a seed's fit failed."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ChgResult(Result):
    """Gates after phase 0, pushed open and pushed shut, and how the model does under them.

    ``shots`` in-context examples stand before each question, and guessing the most frequent held-out answer
    gets ``chance``; None in results that didn't keep it. ``solved_`` [row] has 1 for the rows of a split that
    the model gets right and that alone were used, where that was asked for.

    Losses [seed, update] are nats on the targets, NaN after a seed's last update; ``updates`` [seed, phase]
    are those done. Held-out rows are ``core.gating.roles.CONDITIONS``, ``rounded_`` rows G+ and G- with gates
    rounded at 0.5, ``binary`` ones the masks of the last phase. ``null_`` gates are those of fits on permuted
    targets. ``closed_rise`` is what closing each head by itself costs, nats, with its standard error. These
    only where they were asked for. Version 1 had neither ``updates`` nor rounded gates.
    """

    NAME: ClassVar[str] = "chg"
    VERSION: ClassVar[int] = 2

    g_zero: Gates
    g_plus: Gates
    g_minus: Gates
    loss_zero: Float[np.ndarray, "seed update"]
    loss_plus: Float[np.ndarray, "seed update"]
    loss_minus: Float[np.ndarray, "seed update"]
    heldout_accuracy: Float[np.ndarray, "condition seed"]
    heldout_log_probability: Float[np.ndarray, "condition seed"]
    updates: Integer[np.ndarray, "seed phase"] | None = None
    rounded_accuracy: Float[np.ndarray, "pushed seed"] | None = None
    rounded_log_probability: Float[np.ndarray, "pushed seed"] | None = None
    g_plus_binary: Gates | None = None
    g_minus_binary: Gates | None = None
    binary_accuracy: Float[np.ndarray, "pushed seed"] | None = None
    binary_log_probability: Float[np.ndarray, "pushed seed"] | None = None
    null_plus: Float[np.ndarray, "null layer head"] | None = None
    null_minus: Float[np.ndarray, "null layer head"] | None = None
    solved_train: UInt8[np.ndarray, " row"] | None = None
    solved_test: UInt8[np.ndarray, " row"] | None = None
    closed_rise: Float[np.ndarray, "layer head"] | None = None
    closed_rise_se: Float[np.ndarray, "layer head"] | None = None
    n_train: int | None = None
    n_test: int | None = None
    n_left_out: int = 0
    tokens_per_example: float | None = None
    targets_per_example: float | None = None
    judged: str = "top"
    shots: int | None = added()
    chance: float | None = added()
    failed_seeds: Sequence[int] = ()
    partial: Mapping[str, int] | None = None
    added_to: Mapping[str, Any] | None = None
    notes: Sequence[str] = ()

    @cached_property
    def ability(self) -> Ability:
        """How the model does on the held-out rows as it is. A coin is the chance of any pair."""
        known = self.chance if self.chance is not None else 0.5 if self.judged == "pair" else None
        accuracy = self.heldout_accuracy[roles.CONDITIONS.index("ungated")]
        return Ability(float(accuracy.mean(dtype=np.float64)), self.n_test, known)

    @property
    def vocabulary(self) -> Vocabulary:
        """How it speaks of its heads: of roles only where the model can do the task."""
        return ROLES if self.ability.can_do else STEERING

    @property
    def ablation(self) -> str:
        """What was done to closed heads (``core.gating.ablation``)."""
        return of_run(self.params)

    @property
    def solved(self) -> dict[Split, UInt8[np.ndarray, " row"] | None]:
        """Which rows of each split were used; None for all."""
        return {"train": self.solved_train, "test": self.solved_test}

    @property
    def ran(self) -> Bool[np.ndarray, " seed"]:
        """Which seeds have a fit."""
        return roles.finished(self.g_plus, self.g_minus)

    @property
    def scores(self) -> dict[str, Gates]:
        """Facilitation, interference and irrelevance of each seed, in [0, 1]."""
        return roles.scores(self.g_plus, self.g_minus)

    @property
    def losses(self) -> dict[str, Float[np.ndarray, "seed update"]]:
        """By phase."""
        return {"zero": self.loss_zero, "plus": self.loss_plus, "minus": self.loss_minus}

    @property
    def heldout(self) -> dict[str, Float[np.ndarray, "condition seed"]]:
        """By score: accuracy is a share, log-probability in nats."""
        return {"accuracy": self.heldout_accuracy, "log_probability": self.heldout_log_probability}

    @property
    def rounded(self) -> dict[str, Float[np.ndarray, "pushed seed"]]:
        """The same under gates rounded at 0.5; empty where that wasn't scored."""
        if self.rounded_accuracy is None or self.rounded_log_probability is None:
            return {}
        return {"accuracy": self.rounded_accuracy, "log_probability": self.rounded_log_probability}

    @property
    def rounding(self) -> dict[str, Rounded]:
        """By pushed gates (plus, minus): held-out accuracy as they are and rounded; empty as ``rounded``."""
        return rounding.rounded(self.heldout_accuracy, self.rounded_accuracy)

    @property
    def facilitation(self) -> Float[np.ndarray, "layer head"]:
        """In [0, 1]: mean of G- over the seeds that have a fit."""
        return np.asarray(self.g_minus[self.ran].astype(np.float64).mean(axis=0))

    @property
    def heads_a_group(self) -> int:
        """How many query heads share keys and values."""
        return self.model.n_heads // self.model.n_kv_heads

    def codes(self, threshold: float) -> UInt8[np.ndarray, "seed layer head"]:
        """Role codes of all seeds (``core.gating.roles``)."""
        return roles.roles(self.g_plus, self.g_minus, threshold, self.costly)

    @property
    def costly(self) -> Bool[np.ndarray, "layer head"] | None:
        """Heads that cost more than ``BOUND`` to close, by two standard errors: none of them "doesn't
        matter". None where that wasn't measured.
        """
        if self.closed_rise is None or self.closed_rise_se is None:
            return None
        return np.asarray(self.closed_rise - 2 * self.closed_rise_se > BOUND)

    def spared(self, threshold: float) -> list[tuple[int, int]]:
        """Heads whose gates say in some seed that they don't matter, and that cost much to close."""
        if self.costly is None:
            return []
        plain = roles.roles(self.g_plus, self.g_minus, threshold)[self.ran]
        found = np.argwhere((plain == roles.IRRELEVANT).any(axis=0) & self.costly)
        return [(int(layer), int(head)) for layer, head in found]

    def held(self, threshold: float) -> dict[str, Bool[np.ndarray, "seed layer head"]]:
        """By role (needed, harmful, irrelevant): which heads have it in each seed that has a fit."""
        return roles.held(self.codes(threshold)[self.ran])

    def replication(self, threshold: float = 0.5) -> dict[str, Replication]:
        """By role: whether a new fit would give it each head again, [layer, head]."""
        return {role: replication(has.sum(axis=0), len(has)) for role, has in self.held(threshold).items()}

    def discoveries(self, threshold: float = 0.5) -> dict[str, Discoveries]:
        """By role: which heads have it in more fits than those on permuted targets tell; empty without."""
        if self.null_plus is None or self.null_minus is None:
            return {}
        ran = roles.finished(self.null_plus, self.null_minus)
        null = roles.held(roles.roles(self.null_plus, self.null_minus, threshold, self.costly)[ran])
        if not ran.any() or not self.ran.any():
            return {}
        return {role: discoveries(has, null[role]) for role, has in self.held(threshold).items()}

    def split_half(self, threshold: float = 0.5) -> dict[str, float | None]:
        """By role: how well the shares of one half of the seeds tell the other's; at most 1."""
        return {role: split_half(has) for role, has in self.held(threshold).items()}


SOUGHT: Final = ("needed", "harmful")
"""The roles that are told of in numbers."""


def _shares(words: Vocabulary) -> dict[str, Quantity]:
    """How a vocabulary tells the shares of heads."""
    told = {}
    for role in SOUGHT:
        name, label = words.names[role], words.labels[role]
        told[f"always_{name}"] = Quantity(f"Always {label}", "share")
        told[f"any_{name}"] = Quantity(f"{label.capitalize()} in some seed", "share")
        for part in PARTS:
            whole = told[f"{part}_{name}"].label
            for end, said in (("low", "lower"), ("high", "upper")):
                told[f"{end}_{part}_{name}"] = Quantity(f"{whole}, {said} end of 95 %", "share")
    for role in SOUGHT:
        name, label = words.names[role], words.labels[role]
        told[f"replicating_{name}"] = Quantity(f"{label.capitalize()}, and replicates", "share")
    for role in SOUGHT:
        name, label = words.names[role], words.labels[role]
        told[f"discovered_{name}"] = Quantity(
            f"{label.capitalize()} beyond permuted targets, FDR 5 %", "share"
        )
    for role in SOUGHT:
        told[f"split_half_{words.names[role]}"] = Quantity(f"Split-half correlation, {words.labels[role]}")
    return told


QUANTITIES: Mapping[str, Quantity] = {
    **_shares(ROLES),
    **_shares(STEERING),
    "accuracy_ungated": Quantity("Accuracy, ungated", "share"),
    "accuracy_plus": Quantity("Accuracy under G+", "share"),
    "accuracy_minus": Quantity("Accuracy under G−", "share"),
    "accuracy_plus_rounded": Quantity("Accuracy under G+, rounded", "share"),
    "accuracy_minus_rounded": Quantity("Accuracy under G−, rounded", "share"),
    "accuracy_plus_binary": Quantity("Accuracy under G+, binarised", "share"),
    "accuracy_minus_binary": Quantity("Accuracy under G−, binarised", "share"),
    "rounding": Quantity("Most that rounding changes accuracy", "share"),
    "logp_ungated": Quantity("Log-probability, ungated", "nats"),
    "logp_plus": Quantity("Log-probability under G+", "nats"),
    "logp_minus": Quantity("Log-probability under G−", "nats"),
    "fits": Quantity("Fits", "count"),
}


def headline(result: ChgResult, threshold: float = 0.5) -> dict[str, Any]:
    """Of so many fits the shares of heads at the threshold with their intervals, how well they replicate, and
    held-out means over the seeds that finished (or None).
    """
    heldout = result.heldout_accuracy, result.heldout_log_probability
    numbers: dict[str, Any] = roles.headline(result.g_plus, result.g_minus, *heldout, threshold)
    numbers["fits"] = int(result.ran.sum())
    held = result.held(threshold)
    for role in SOUGHT:
        for part, ends in share_intervals(held[role]).items():
            if ends is not None:
                numbers |= {f"low_{part}_{role}": ends[0], f"high_{part}_{role}": ends[1]}
    found, halves = result.replication(threshold), result.split_half(threshold)
    for role in SOUGHT:
        numbers[f"replicating_{role}"] = float(found[role].replicates.mean()) if result.ran.any() else None
        numbers[f"split_half_{role}"] = halves[role]
    beyond = result.discoveries(threshold)
    numbers |= {f"discovered_{role}": float(beyond[role].found.mean()) for role in SOUGHT if role in beyond}
    numbers |= _rounding(result.rounding)
    if result.binary_accuracy is not None:
        for name, row in zip(("plus", "minus"), result.binary_accuracy, strict=True):
            numbers[f"accuracy_{name}_binary"] = float(row[result.ran].mean()) if result.ran.any() else None
    ordered = {name: numbers[name] for name in QUANTITIES if name in numbers}
    return _worded(ordered, result.vocabulary)


def retell(stored: Mapping[str, Any]) -> Mapping[str, Any]:
    """A headline that was stored before there were steering maps, as it is told today."""
    accuracy = stored.get("accuracy_ungated")
    return _worded(stored, STEERING) if accuracy is not None and accuracy < LEAST else stored


def _rounding(found: Mapping[str, Rounded]) -> dict[str, float]:
    """Mean accuracy under rounded gates, and the largest change in a fit; nothing where none was scored."""
    scored = {name: one for name, one in found.items() if len(one.hard)}
    if not scored:
        return {}
    means = {f"accuracy_{name}_rounded": float(one.hard.mean()) for name, one in scored.items()}
    return means | {"rounding": max((one.largest for one in scored.values()), key=abs)}


def _worded(numbers: Mapping[str, Any], words: Vocabulary) -> dict[str, Any]:
    """Numbers of roles by a vocabulary's names: a steering map has ``always_lifts_open``."""
    return {_named(name, words): value for name, value in numbers.items()}


def _named(name: str, words: Vocabulary) -> str:
    before, _, role = name.rpartition("_")
    return f"{before}_{words.names[role]}" if role in SOUGHT else name
