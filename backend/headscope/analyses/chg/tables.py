"""The table twins of causal head gating's figures: the same content as numbers, at full resolution."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from headscope.analyses.chg.result import BOUND, ChgResult
from headscope.analyses.columns import (
    Array,
    Column,
    Table,
    flat,
    over_seeds,
    places,
    quietly,
    spread,
    table,
)
from headscope.core.gating import roles as gates
from headscope.core.gating.roles import ROLE_NAMES
from headscope.core.gating.rounding import LARGEST
from headscope.core.model.info import head_name
from headscope.core.statistics.replication import VERDICTS
from headscope.figures.view import View


def heads(result: ChgResult, view: View) -> Table:
    """A row for each head: scores over seeds, the share of seeds with each role, Always and Any; and of each
    role its rate, 90 % interval and verdict.
    """
    codes = result.codes(view.threshold)[result.ran]
    columns = places(result.model)
    for name, score in result.scores.items():
        columns += [
            (f"{name}_mean", f"{name}, mean", "", flat(quietly(np.nanmean, score, axis=0))),
            (f"{name}_sd", f"{name}, sd over seeds", "", flat(spread(score))),
        ]
    names = result.vocabulary.names
    for code, role in enumerate(ROLE_NAMES):
        word = _spoken(names[role])
        columns.append((f"share_{names[role]}", f"share of seeds {word}", "", flat(_share(codes == code))))
    for role, has in gates.held(codes).items():
        name, word = names[role], _spoken(names[role])
        columns += [
            (f"always_{name}", f"always {word}", "", flat(has.all(axis=0) & (len(codes) > 0))),
            (f"any_{name}", f"any {word}", "", flat(has.any(axis=0))),
        ]
    for role, found in result.replication(view.threshold).items():
        name, word = names[role], _spoken(names[role])
        columns += [
            (
                f"held_{name}",
                f"share of seeds with the role {word}, alone or not",
                "share",
                flat(found.share),
            ),
            (f"rate_{name}", f"probability of {word} in a new fit", "share", flat(found.rate)),
            (f"rate_{name}_low", f"rate of {word}, lower end of 90 %", "share", flat(found.low)),
            (f"rate_{name}_high", f"rate of {word}, upper end of 90 %", "share", flat(found.high)),
            (f"verdict_{name}", f"verdict on {word}", "", flat(np.array(VERDICTS)[found.verdict])),
        ]
    for role, beyond in result.discoveries(view.threshold).items():
        columns += [
            (
                f"null_{names[role]}",
                f"share of fits on permuted targets {names[role]}",
                "share",
                flat(beyond.null_share),
            ),
            (f"p_{names[role]}", f"p of {names[role]}, against permuted targets", "", flat(beyond.p)),
            (f"q_{names[role]}", f"q of {names[role]}, false-discovery rate", "", flat(beyond.q)),
        ]
    if result.closed_rise is not None and result.closed_rise_se is not None:
        columns += [
            ("closed_rise", "loss with it alone closed, rise", "nats", flat(result.closed_rise)),
            ("closed_rise_se", "its standard error", "nats", flat(result.closed_rise_se)),
        ]
    return table(columns)


def spared_words(result: ChgResult, view: View) -> str:
    """Which heads aren't said not to matter because they cost much to close: a sentence, or nothing."""
    heads = result.spared(view.threshold)
    if not heads or result.closed_rise is None:
        return ""
    rises = [float(result.closed_rise[head]) for head in heads]
    ranked = [heads[at] for at in np.argsort(-np.array(rises), kind="stable")]
    named = ", ".join(head_name(head) for head in ranked[:4]) + (" and others" if len(heads) > 4 else "")
    return (
        f" The gates of {named} say in some seed that it doesn’t matter, but closing it alone costs up to "
        f"{max(rises):.2g} nats (more than {BOUND}): such a head is shown as undecided there."
    )


def score(name: str) -> Callable[[ChgResult, View], Table]:
    """A row for each head: one score's mean, spread, lowest and highest seed."""

    def rows(result: ChgResult, view: View) -> Table:
        values = result.scores[name]
        columns = places(result.model) + [
            ("mean", f"{name}, mean", "", flat(over_seeds(values, "every"))),
            ("sd", "sd over seeds", "", flat(spread(values))),
            ("low", "lowest seed", "", flat(over_seeds(values, "always"))),
            ("high", "highest seed", "", flat(over_seeds(values, "any"))),
        ]
        return table(columns)

    return rows


def ecdf(result: ChgResult, view: View) -> Table:
    """A row for each score from 0 to 1: the share of heads that reach it."""
    by_score = {name: gates.ecdf(values) for name, values in result.scores.items()}
    columns: list[Column] = [("score", "score", "", next(iter(by_score.values())).thresholds)]
    for name, curve in by_score.items():
        columns += [
            (name, f"heads with {name} this high", "share", curve.pooled),
            (f"{name}_low", "lowest seed", "share", curve.low),
            (f"{name}_high", "highest seed", "share", curve.high),
        ]
    return table(columns)


def loss(result: ChgResult, view: View) -> Table:
    """A row for each update of a phase: the three phases' mean loss over seeds, with lowest and highest."""
    columns: list[Column] = [("update", "update", "", np.arange(1, result.loss_zero.shape[1] + 1))]
    for phase, title in (("zero", "phase 0"), ("plus", "G+"), ("minus", "G−")):
        curves = result.losses[phase]
        for statistic, reduce in (("mean", np.nanmean), ("low", np.nanmin), ("high", np.nanmax)):
            columns.append(
                (f"{phase}_{statistic}", f"{title}, {statistic}", "nats", quietly(reduce, curves, axis=0))
            )
    return table(columns)


def heldout(result: ChgResult, view: View) -> Table:
    """A row for each condition and seed; G+ and G- once more with gates rounded at 0.5, where that was
    scored, with what rounding changes and whether it changes little enough for a circuit.
    """
    names = [*gates.CONDITIONS]
    scores = result.heldout
    if result.rounded:
        names += ["plus, rounded", "minus, rounded"]
        scores = {name: np.concatenate([soft, result.rounded[name]]) for name, soft in scores.items()}
    if result.binary_accuracy is not None and result.binary_log_probability is not None:
        names += ["plus, binarised", "minus, binarised"]
        masks = {"accuracy": result.binary_accuracy, "log_probability": result.binary_log_probability}
        scores = {name: np.concatenate([known, masks[name]]) for name, known in scores.items()}
    change = np.full(scores["accuracy"].shape, np.nan)
    if result.rounded:
        change[4:6] = result.rounded["accuracy"] - result.heldout_accuracy[2:]
    circuit = np.where(np.isnan(change), "", np.where(np.abs(change) <= LARGEST, "yes", "no"))
    columns: list[Column] = [
        ("condition", "gates", "", np.repeat(np.array(names), len(result.seeds))),
        ("seed", "seed", "", np.tile(np.array(result.seeds), len(names))),
        ("accuracy", "held-out accuracy", "share", flat(scores["accuracy"])),
        (
            "log_probability",
            "held-out log-probability of the target",
            "nats",
            flat(scores["log_probability"]),
        ),
        ("change", "change of accuracy by rounding", "share", flat(change)),
        ("circuit", "rounding changes it by 5 points at most", "", flat(circuit)),
    ]
    return table(columns)


def layers(result: ChgResult, view: View) -> Table:
    """A row for each layer: the share of seeds x heads with each role."""
    shares = layer_shares(result, view.threshold)
    columns: list[Column] = [("layer", "layer", "", np.arange(result.model.n_layers))]
    names = {role: result.vocabulary.names[role] for role in shares}
    return table(
        columns + [(names[role], _spoken(names[role]), "share", values) for role, values in shares.items()]
    )


def layer_shares(result: ChgResult, threshold: float) -> dict[str, Array]:
    """By role name: the share of seeds x heads in each layer. NaN where no seed has a fit."""
    codes = result.codes(threshold)[result.ran]
    return {
        role: np.asarray(quietly(np.mean, codes == code, axis=(0, 2))) for code, role in enumerate(ROLE_NAMES)
    }


def _spoken(name: str) -> str:
    return name.replace("_", " ")


def _share(has: Array) -> Array:
    return np.asarray(quietly(np.mean, has, axis=0))
