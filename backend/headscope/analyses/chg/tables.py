"""The table twins of causal head gating's figures: the same content as numbers, at full resolution."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headscope.analyses.base import Result
from headscope.core import roles as gates
from headscope.core.roles import BOTH, HARMFUL, IRRELEVANT, NEEDED, ROLE_NAMES
from headscope.figures.view import Mode, View

Array = NDArray[Any]
Table = dict[str, Any]


def heads(result: Result, view: View) -> Table:
    """A row for each head: scores over seeds, the share of seeds with each role, Always and Any."""
    g_plus, g_minus = result.arrays["g_plus"], result.arrays["g_minus"]
    codes = gates.roles(g_plus, g_minus, view.threshold)[gates.finished(g_plus, g_minus)]
    columns = _places(result)
    for name, score in gates.scores(g_plus, g_minus).items():
        columns += [
            (f"{name}_mean", f"{name}, mean", "", _flat(quietly(np.nanmean, score, axis=0))),
            (f"{name}_sd", f"{name}, sd over seeds", "", _flat(spread(score))),
        ]
    for code, role in enumerate(ROLE_NAMES):
        columns.append((f"share_{role}", f"share of seeds {role}", "", _flat(_share(codes == code))))
    for role, has in _held(codes).items():
        columns += [
            (f"always_{role}", f"always {role}", "", _flat(has.all(axis=0) & (len(codes) > 0))),
            (f"any_{role}", f"any {role}", "", _flat(has.any(axis=0))),
        ]
    return _table(columns)


def score(name: str) -> Callable[[Result, View], Table]:
    """A row for each head: one score's mean, spread, lowest and highest seed."""

    def rows(result: Result, view: View) -> Table:
        values = gates.scores(result.arrays["g_plus"], result.arrays["g_minus"])[name]
        columns = _places(result) + [
            ("mean", f"{name}, mean", "", _flat(over_seeds(values, "every"))),
            ("sd", "sd over seeds", "", _flat(spread(values))),
            ("low", "lowest seed", "", _flat(over_seeds(values, "always"))),
            ("high", "highest seed", "", _flat(over_seeds(values, "any"))),
        ]
        return _table(columns)

    return rows


def ecdf(result: Result, view: View) -> Table:
    """A row for each score from 0 to 1: the share of heads that reach it."""
    by_score = {
        name: gates.ecdf(values)
        for name, values in gates.scores(result.arrays["g_plus"], result.arrays["g_minus"]).items()
    }
    columns: list[_Column] = [("score", "score", "", next(iter(by_score.values())).thresholds)]
    for name, curve in by_score.items():
        columns += [
            (name, f"heads with {name} this high", "share", curve.pooled),
            (f"{name}_low", "lowest seed", "share", curve.low),
            (f"{name}_high", "highest seed", "share", curve.high),
        ]
    return _table(columns)


def loss(result: Result, view: View) -> Table:
    """A row for each update of a phase: the three phases' mean loss over seeds, with lowest and highest."""
    columns: list[_Column] = [("update", "update", "", np.arange(1, result.arrays["loss_zero"].shape[1] + 1))]
    for phase, title in (("zero", "phase 0"), ("plus", "G+"), ("minus", "G−")):
        curves = result.arrays[f"loss_{phase}"]
        for statistic, reduce in (("mean", np.nanmean), ("low", np.nanmin), ("high", np.nanmax)):
            columns.append(
                (f"{phase}_{statistic}", f"{title}, {statistic}", "nats", quietly(reduce, curves, axis=0))
            )
    return _table(columns)


def heldout(result: Result, view: View) -> Table:
    """A row for each condition and seed."""
    n_seeds = len(result.seeds)
    columns: list[_Column] = [
        ("condition", "gates", "", np.repeat(np.array(gates.CONDITIONS), n_seeds)),
        ("seed", "seed", "", np.tile(np.array(result.seeds), len(gates.CONDITIONS))),
        ("accuracy", "held-out accuracy", "share", _flat(result.arrays["heldout_accuracy"])),
        (
            "log_probability",
            "held-out log-probability of the target",
            "nats",
            _flat(result.arrays["heldout_log_probability"]),
        ),
    ]
    return _table(columns)


def layers(result: Result, view: View) -> Table:
    """A row for each layer: the share of seeds x heads with each role."""
    shares = layer_shares(result, view.threshold)
    columns: list[_Column] = [("layer", "layer", "", np.arange(result.model.n_layers))]
    return _table(columns + [(role, role, "share", values) for role, values in shares.items()])


TABLES: dict[str, Callable[[Result, View], Table]] = {
    "roles": heads,
    "facilitation": score("facilitation"),
    "interference": score("interference"),
    "irrelevance": score("irrelevance"),
    "ecdf": ecdf,
    "layers": layers,
    "heldout": heldout,
    "loss": loss,
}


def over_seeds(values: Array, mode: Mode) -> Array:
    """[seed, layer, head] -> [layer, head]: the mean; for ``always`` the lowest, for ``any`` the highest."""
    reducers: dict[Mode, Callable[..., Any]] = {"every": np.nanmean, "always": np.nanmin, "any": np.nanmax}
    return np.asarray(quietly(reducers[mode], values, axis=0))


def spread(values: Array) -> Array:
    """Standard deviation over seeds with n - 1; NaN below two finished seeds."""
    return np.asarray(quietly(np.nanstd, values, axis=0, ddof=1))


def layer_shares(result: Result, threshold: float) -> dict[str, Array]:
    """By role name: the share of seeds x heads in each layer. NaN where no seed has a fit."""
    g_plus, g_minus = result.arrays["g_plus"], result.arrays["g_minus"]
    codes = gates.roles(g_plus, g_minus, threshold)[gates.finished(g_plus, g_minus)]
    return {
        role: np.asarray(quietly(np.mean, codes == code, axis=(0, 2))) for code, role in enumerate(ROLE_NAMES)
    }


def quietly(reduce: Callable[..., Any], values: Array, **how: Any) -> Any:
    """A reduction over what may be empty or all NaN: the answer is NaN, without numpy's warning about it."""
    with warnings.catch_warnings(), np.errstate(invalid="ignore", divide="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        return reduce(values, **how)


_Column = tuple[str, str, str, Array]


def _places(result: Result) -> list[_Column]:
    info = result.model
    layer, head = np.divmod(np.arange(info.n_layers * info.n_heads), info.n_heads)
    group = head // (info.n_heads // info.n_kv_heads)
    return [
        ("layer", "layer", "", layer),
        ("head", "head", "", head),
        ("kv_group", "key/value group", "", group),
    ]


def _held(codes: Array) -> dict[str, Array]:
    return {
        "needed": np.isin(codes, (NEEDED, BOTH)),
        "harmful": np.isin(codes, (HARMFUL, BOTH)),
        "irrelevant": codes == IRRELEVANT,
    }


def _share(has: Array) -> Array:
    return np.asarray(quietly(np.mean, has, axis=0))


def _flat(values: Any) -> Array:
    return np.asarray(values).reshape(-1)


def _table(columns: Sequence[_Column]) -> Table:
    heads = [{"name": name, "title": title, "unit": unit} for name, title, unit, _ in columns]
    return {
        "columns": heads,
        "rows": [list(map(_plain, row)) for row in zip(*(c[3] for c in columns), strict=True)],
    }


def _plain(value: Any) -> Any:
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, float):
        # float32 shown with float64's digits would pretend to know more than it does
        return None if plain != plain else float(f"{plain:.7g}")
    return plain
