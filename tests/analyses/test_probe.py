"""The probe as an analysis: a label that one planted head reads is found there and nowhere else."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from analyses.circuit_runs import two_layer
from analyses.specs import SMALL, asked
from figures.relative_samples import probe as sample
from headscope.analyses import figures
from headscope.analyses.base import Kept, Spec
from headscope.analyses.in_place import compute
from headscope.analyses.probe import PROBE
from headscope.analyses.probe.labels import groups_of, probing
from headscope.analyses.probe.result import QUANTITIES, ProbeResult, headline
from headscope.analyses.probe.schema import ProbeParams
from headscope.core.arrays import decode
from headscope.core.model.head_model import HeadModel
from headscope.core.model.tokens import Tokenizer
from headscope.errors import Invalid
from headscope.tasks.task import Example, Examples, Row
from headscope.tasks.text import TextTask
from headscope.validation.model import as_model
from headscope.validation.planted import build
from micro.planted import PLAN, START, PlantedTask
from services.results import changed

PREVIOUS, NOTHING, COPIER = (0, 0), (0, 1), (0, 3)
"""Heads of the planted model: 0.0 reads the token before, 0.3 the present one, 0.1 none."""


def above_six(row: int, before: int, split: str) -> int:
    return 13 + (before > 6)


@dataclass(frozen=True)
class TokenBefore(PlantedTask):
    """The answer follows from the last token but one, or from nothing; the last one never says anything."""

    rows: tuple[int, int] = (96, 60)
    answer: Callable[[int, int, str], int] = above_six

    def examples(self, tokenizer: Any, split: Any, **drawing: Any) -> Examples:
        n, source = self.rows[split == "test"], np.random.default_rng([split == "test", drawing["seed"]])
        pairs = source.integers(1, 13, (min(n, drawing["limit"]), 2)).tolist()
        found = [(START, one, two, self.answer(row, one, split)) for row, (one, two) in enumerate(pairs)]
        return Examples(tuple(Example(tokens, (3,)) for tokens in found))


TASK = TokenBefore()
PARAMS = ProbeParams(controls=3)


@pytest.fixture(scope="module")
def model() -> HeadModel:
    return as_model(build(PLAN), PLAN, "planted")


@pytest.fixture(scope="module")
def result(model: HeadModel) -> ProbeResult:
    return run(model, PARAMS)


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return two_layer().tokenizer


def run(model: HeadModel, params: ProbeParams, task: Any = TASK) -> ProbeResult:
    """The result after a trip through JSON, as it is stored."""
    found = compute(PROBE, Spec(params, model.info, task), model)
    return ProbeResult.from_json(json.loads(json.dumps(found.to_json())))


def text_task(answers: list[str]) -> TextTask:
    rows = [Row(f"the {'cat' if answer in 'ab' else 'dog'} {i}", answer) for i, answer in enumerate(answers)]
    return TextTask("own", "Own", tuple(rows), template="{prompt} sat on {target}", shots=0)


def test_the_label_is_found_in_the_head_that_reads_it_and_nowhere_else(result: ProbeResult) -> None:
    assert result.accuracy[PREVIOUS] == 1
    assert result.significant[PREVIOUS] == 1
    for place in (NOTHING, COPIER):
        assert result.accuracy[place] < 0.7
        assert result.significant[place] == 0
    assert (result.control[:, *PREVIOUS] < 0.75).all()
    assert result.labels in (["w13", "w14"], ["w14", "w13"])


def test_its_numbers_hang_together(result: ProbeResult) -> None:
    np.testing.assert_allclose(result.selectivity, result.accuracy - result.control.mean(axis=0), atol=1e-6)
    assert (result.n_train, result.n_test) == (sum(result.train_rows), sum(result.test_rows)) == (96, 60)
    assert result.chance == pytest.approx(max(result.test_rows) / 60)
    assert result.p.max() <= 1
    assert np.array_equal(result.significant == 1, result.p < 0.01)
    assert result.seeds == (0, 1, 2)


def test_the_headline_names_the_best_head(result: ProbeResult) -> None:
    numbers = headline(result)
    assert numbers["best_head"] == "0.0"
    assert numbers["accuracy"] == 1
    assert numbers["selectivity"] == pytest.approx(result.selectivity[PREVIOUS])
    assert numbers["significant_heads"] == result.significant.sum() >= 1
    assert list(numbers) == list(QUANTITIES)


def test_a_control_depends_on_its_seed_alone(model: HeadModel, result: ProbeResult) -> None:
    one = run(model, ProbeParams(controls=1, first_seed=2))
    np.testing.assert_array_equal(one.control[0], result.control[2])
    np.testing.assert_array_equal(one.accuracy, result.accuracy)


def test_layers_in_pieces_of_their_own_give_the_same_result(
    model: HeadModel, result: ProbeResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [piece.key for piece in PROBE.plan(Spec(PARAMS, model.info, TASK))] == ["layers/0-1"]
    monkeypatch.setattr("headscope.analyses.probe.compute.HEADS_A_PIECE", 4)
    pieces = PROBE.plan(Spec(PARAMS, model.info, TASK))
    assert [(piece.key, piece.label) for piece in pieces] == [
        ("layers/0-0", "Probes, layers 0–0"),
        ("layers/1-1", "Probes, layers 1–1"),
    ]
    assert pieces[0].weight == pieces[1].weight > 0
    cut = run(model, PARAMS)
    assert cut.values == result.values
    for name, array in result.arrays.items():
        np.testing.assert_allclose(cut.arrays[name], array, atol=1e-6, err_msg=name)


def test_where_no_head_tells_the_label_a_note_says_so(model: HeadModel) -> None:
    coin = np.random.default_rng(9).integers(13, 15, 96).tolist()
    found = run(model, PARAMS, TokenBefore(answer=lambda row, before, split: coin[row]))
    assert not found.significant.any()
    assert found.notes == [
        "60 held-out rows: accuracies are known roughly.",
        "From no head can the label be read significantly better than by guessing.",
    ]


def test_labels_are_answers_or_groups_of_them(tokenizer: Tokenizer) -> None:
    answers = [("a", "b", "c", "d")[i % 4] for i in range(120)]
    each = probing(text_task(answers), tokenizer, ProbeParams(), 64)
    assert sorted(each.names) == ["a", "b", "c", "d"]
    assert len(each.train.labels) + len(each.test.labels) == 120
    assert each.n_left_out == 0
    two = probing(text_task(answers), tokenizer, ProbeParams(groups="a, b | c"), 64)
    assert sorted(two.names) == ["a", "c"]
    assert two.n_left_out == 30
    assert 0.5 <= two.chance < 1


def test_rows_without_a_label_are_left_out_and_said(model: HeadModel) -> None:
    task = TokenBefore(answer=lambda row, before, split: above_six(row, before, split) if row % 4 else 12)
    found = run(model, ProbeParams(controls=1, least_rows=25), task)
    assert found.labels in (["w13", "w14"], ["w14", "w13"])
    assert (found.n_train, found.n_test) == (72, 45)
    assert "39 rows have other answers than the 2 labels and were left out." in found.notes


def test_tasks_without_two_labels_are_refused_with_the_numbers(tokenizer: Tokenizer) -> None:
    info = two_layer().info
    unseen = TokenBefore(answer=lambda row, before, split: 40 if split == "test" else 13 + row % 2)
    refused: dict[str, tuple[Any, ProbeParams, str]] = {
        "one-label": (text_task(["a"] * 40), ProbeParams(), "all 28 training rows answer 'a'"),
        "no-labels": (text_task([f"x{i}" for i in range(40)]), ProbeParams(), "28 different answers in 28"),
        "no-held-out": (unseen, ProbeParams(), "No held-out row of 'planted'"),
    }
    for code, (task, params, words) in refused.items():
        with pytest.raises(Invalid, match=words) as error:
            PROBE.estimate(Spec(params, info, task), tokenizer=tokenizer)
        assert error.value.code == code
        assert error.value.remedy
    with pytest.raises(Invalid, match="names 1 group") as one:
        groups_of("is, has")
    assert one.value.code == "one-label"


def test_without_a_task_it_is_refused(model: HeadModel) -> None:
    with pytest.raises(Invalid) as refused:
        compute(PROBE, Spec(PARAMS, model.info), model)
    assert refused.value.code == "task-missing"


def test_an_estimate_counts_the_probes_and_the_labels_there_are(model: HeadModel) -> None:
    def estimate(**more: Any) -> Any:
        return PROBE.estimate(Spec(ProbeParams(**more), model.info, TASK))

    assert estimate().basis.startswith("32 probes of 10 labels, 1 passes of 768 examples of 24 tokens")
    assert estimate(controls=30, n_train=4096).seconds > estimate(controls=30).seconds > estimate().seconds
    measured = PROBE.estimate(Spec(PARAMS, model.info, TASK), tokenizer=model.tokenizer)
    assert measured.basis.startswith("32 probes of 2 labels")


@pytest.mark.parametrize("name", figures.names("probe"))
def test_every_figure_can_be_drawn_and_read(result: ProbeResult, name: str) -> None:
    for theme in ("light", "dark"):
        figure = figures.build(result, name, theme=theme)
        json.dumps(figure, allow_nan=False)
        go.Figure(figure)
        assert figure["layout"]["meta"]["reading"].endswith(".")
    assert len(figures.table(result, name)["rows"]) == (2 if name == "labels" else 8)


def test_bars_begin_with_the_best_head_and_chance_is_a_line() -> None:
    figure = figures.build(sample(), "heads")
    assert figure["data"][0]["x"][0] == "1.2"
    assert [trace["name"] for trace in figure["data"]] == ["the label", "shuffled labels"]
    assert figure["layout"]["shapes"][0]["y0"] == pytest.approx(52.5)
    assert "guessing the most frequent one, 52 %" in figure["layout"]["meta"]["reading"]


def test_tables_hold_every_head_and_every_label() -> None:
    table = figures.table(sample(), "heads")
    rows = [dict(zip([c["name"] for c in table["columns"]], row, strict=True)) for row in table["rows"]]
    (best,) = (row for row in rows if row["significant"])
    assert (best["layer"], best["head"], best["accuracy"]) == (1, 2, pytest.approx(0.95))
    assert best["selectivity"] == pytest.approx(best["accuracy"] - best["control"], abs=1e-6)
    assert figures.table(sample(), "labels")["rows"] == [["is", 30, 21], ["are", 30, 19]]


def test_a_stored_result_of_another_shape_is_refused() -> None:
    found = sample()
    with pytest.raises(Invalid, match="significant") as refused:
        changed(found, arrays={**found.arrays, "significant": np.zeros((2, 4), np.float32)})
    assert refused.value.code == "malformed-result"


# -- joined from pieces drawn at random -------------------------------------------------------------


def drawn(accuracy: Any, test_rows: tuple[int, int] = (14, 26), **facts: int) -> ProbeResult:
    """What is made of these accuracies [layer, head], of two controls and of 40 held-out rows."""
    spec = asked("probe", SMALL, controls=2)
    source = np.random.default_rng(1)
    control = source.uniform(0.4, 0.6, (2, SMALL.n_layers, SMALL.n_heads))
    done: dict[str, Kept] = {}
    for piece in PROBE.plan(spec):
        first, last = map(int, piece.key.split("/")[1].split("-"))
        done[piece.key] = {
            "accuracy": np.asarray(accuracy)[first : last + 1],
            "control": control[:, first : last + 1],
            "unsettled": np.array([facts.get("unsettled", 0)]),
            "names": ["is", "are"],
            "train_counts": np.array([30, 31]),
            "test_counts": np.array(test_rows),
            "left_out": np.array([facts.get("left_out", 0)]),
        }
    found = PROBE.assemble(spec, done)
    np.testing.assert_allclose(found.control, control, rtol=1e-6)
    return found


def at_least(right: int, n: int, p: float) -> float:
    """Of so many right by luck."""
    return sum(comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(right, n + 1))


@pytest.mark.parametrize("a_piece", [4, 512])
def test_p_is_the_binomials_times_the_number_of_heads(a_piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headscope.analyses.probe.compute.HEADS_A_PIECE", a_piece)
    right = np.random.default_rng(2).integers(20, 41, (SMALL.n_layers, SMALL.n_heads))
    found = drawn(right / 40)
    heads = right.size
    for place, count in np.ndenumerate(right):
        luck = max(26 / 40, float(found.control[(slice(None), *place)].mean()))
        assert found.p[place] == pytest.approx(min(1, heads * at_least(int(count), 40, luck)), rel=1e-4)
    assert found.chance == pytest.approx(26 / 40)
    np.testing.assert_allclose(found.selectivity, right / 40 - found.control.mean(axis=0), atol=1e-6)
    assert (found.n_train, found.n_test) == (61, 40)


def test_each_caveat_of_the_probe_is_told_when_it_is_due() -> None:
    shape = (SMALL.n_layers, SMALL.n_heads)
    assert drawn(np.ones(shape), (200, 200)).notes == []
    assert drawn(np.full(shape, 0.5), (50, 50)).notes == [
        "From no head can the label be read significantly better than by guessing."
    ]
    assert drawn(np.ones(shape), left_out=3, unsettled=2).notes == [
        "40 held-out rows: accuracies are known roughly.",
        "3 rows have other answers than the 2 labels and were left out.",
        "The fits of 2 heads were stopped before they had settled.",
    ]


def test_what_the_probes_figures_draw_is_what_its_tables_say() -> None:
    found = drawn(np.linspace(0.4, 1, 12).reshape(3, 4))
    rows = figures.table(found, "heads")["rows"]
    drawn_bars, ticks = figures.build(found, "heads")["data"]
    assert drawn_bars["x"][:2] == ["2.3", "2.2"]
    by_name = {f"{row[0]}.{row[1]}": row for row in rows}
    for trace, column in ((drawn_bars, 3), (ticks, 4)):
        shown = [by_name[name][column] * 100 for name in trace["x"]]
        np.testing.assert_allclose(decode(trace["y"]), shown, rtol=1e-5)
    bars = figures.build(found, "labels")["data"]
    assert [decode(bar["y"]).tolist() for bar in bars] == [[30, 31], [14, 26]]
    assert "40 held-out rows: the 12 best" in figures.build(found, "heads")["layout"]["meta"]["reading"]
