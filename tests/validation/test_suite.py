"""Which planted models there are, what they are asked, and what the command says of the smallest."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from headscope.cli import app
from headscope.cli.validate.chg import sentence
from headscope.cli.validate.tables import share
from headscope.core.statistics.ranking import Interval
from headscope.validation.cells import MEASURES, Cell, Found
from headscope.validation.chg import MOSTLY, Verdict
from headscope.validation.planted import ROLES, Plan, Role
from headscope.validation.premises import MUCH, Premises
from headscope.validation.score import Match, found_roles, matches, together
from headscope.validation.suite import COPIED, FORMS, SIZES, Case, cases, sizes_named
from headscope.validation.task import PlantedTask, planted_examples
from headscope.validation.words import word_tokenizer

SHAPES = {"small": (2, 4), "medium": (3, 6), "large": (4, 8)}


def test_the_sizes_are_those_of_the_docs() -> None:
    assert {name: (size.n_layers, size.n_heads) for name, size in SIZES.items()} == SHAPES
    for size in SIZES.values():
        plan = Case("small", "mlp", 0.0, 0).plan
        # Token, position, token before, logits and answer side by side.
        assert size.d_model >= 4 * size.vocab + plan.n_ctx
        assert size.vocab - 2 >= COPIED


@given(st.sampled_from(list(SIZES)), st.sampled_from(list(FORMS)), st.integers(0, 2**31 - 1))
def test_whatever_is_drawn_every_role_has_its_heads(size: str, form: str, seed: int) -> None:
    plan = Case(size, form, 0.0, seed).plan  # type: ignore[arg-type]
    n_layers, n_heads = SHAPES[size]
    heads = {role: plan.heads(role) for role in ROLES}
    assert [len(heads[role]) for role in ("needed", "harmful", "redundant")] == [2, 2, 2]
    assert sum(map(len, heads.values())) == n_layers * n_heads
    (previous,) = [head for head, kind in plan.kinds.items() if kind == "previous"]
    (induction,) = [head for head, kind in plan.kinds.items() if kind == "induction"]
    assert previous[0] == 0 < induction[0], "induction reads what an earlier layer wrote"
    (layer, head), twin = heads["redundant"]
    assert twin == (layer, head + 1)
    assert plan.group(head) == plan.group(head + 1) or form != "grouped"


def test_cases_are_every_size_in_every_form_at_every_noise() -> None:
    made = cases(("small", "large"), (0.0, 0.1), seed=40)
    assert len(made) == 2 * len(FORMS) * 2
    assert [case.seed for case in made] == list(range(40, 52))
    assert {(case.size, case.form, case.noise) for case in made} == {
        (size, form, noise) for size in ("small", "large") for form in FORMS for noise in (0.0, 0.1)
    }
    assert made[0].name == "small, attention only, noise 0"
    assert len({case.name for case in made}) == len(made)


def test_draws_are_the_same_cells_again_each_with_a_seed_of_its_own() -> None:
    made = cases(("small",), (0.1,), seed=7, draws=3)
    assert [case.seed for case in made] == list(range(7, 16))
    assert made[:3] == cases(("small",), (0.1,), seed=7)
    assert {case.name for case in made[3:6]} == {case.name for case in made[:3]}


def test_one_size_or_those_of_the_setting() -> None:
    assert sizes_named(None, ("small", "medium")) == ("small", "medium")
    assert sizes_named("large", ("small",)) == ("large",)


# -- what they are asked ---------------------------------------------------------------------------------


@given(st.integers(0, 1000), st.integers(8, 20), st.integers(2, 6))
def test_an_example_is_a_start_and_a_few_tokens_twice(seed: int, vocab: int, copy: int) -> None:
    for example in planted_examples(3, seed, vocab, copy):
        start, *rest = example.tokens
        assert start == vocab - 1
        assert rest[:copy] == rest[copy:]
        assert len(set(rest)) == copy
        assert not {0, vocab - 1} & set(rest)
        assert example.target_ids == tuple(rest[1:copy])


def test_the_splits_are_drawn_apart_and_the_same_again() -> None:
    task = PlantedTask(rows=(40, 20), vocab=12, copy=4)
    train, test = (task.examples(None, split, seed=3) for split in ("train", "test"))
    assert (len(train), len(test)) == task.sizes() == (40, 20)
    assert train.items == task.examples(None, "train", seed=3).items
    assert train.items[:20] != test.items
    assert task.examples(None, "train", limit=5, seed=3).items == train.items[:5]


@pytest.mark.parametrize("bos", [None, 6])
def test_a_word_is_a_token(bos: int | None) -> None:
    tokenizer = word_tokenizer(7, bos)
    assert tokenizer.n_vocab == 7
    assert tokenizer.encode("w3 w1 w5", bos=False) == [3, 1, 5]
    assert (tokenizer.bos_id, tokenizer.adds_bos) == (bos, bos is not None)
    assert tokenizer.encode("w3") == ([3] if bos is None else [6, 3])


# -- scores by hand --------------------------------------------------------------------------------------


def test_a_score_at_the_threshold_is_enough() -> None:
    plus, minus = np.array([[[0.5, 0.5]]]), np.array([[[0.5, 0.4]]])
    found = found_roles(plus, minus)
    assert found["needed"] == ((0, 0),)
    assert found["harmful"] == ((0, 0), (0, 1))
    assert found["redundant"] == ()


def test_nothing_fitted_finds_nothing() -> None:
    none = np.zeros((0, 2, 4))
    assert found_roles(none, none) == dict.fromkeys(ROLES, ())


heads = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), unique=True).map(tuple)
drawn_heads = st.fixed_dictionaries(dict.fromkeys(ROLES, heads))


@given(drawn_heads, drawn_heads)
def test_precision_and_recall_change_places_with_planted_and_found(
    planted: dict[Role, tuple[tuple[int, int], ...]], found: dict[Role, tuple[tuple[int, int], ...]]
) -> None:
    there, back = matches(planted, found), matches(found, planted)
    for role in ROLES:
        np.testing.assert_equal(there[role].precision, back[role].recall)
        assert there[role].both <= min(there[role].planted, there[role].found)
    assert together([there, back])["needed"].planted == len(planted["needed"]) + len(found["needed"])
    assert all(match.recall == 1 for match in matches(planted, planted).values() if match.planted)


def test_nothing_together_is_nothing() -> None:
    assert together([]) == dict.fromkeys(ROLES, Match(0, 0, 0))
    assert math.isnan(Match(0, 0, 0).precision)
    assert math.isnan(Match(0, 0, 0).recall)


PERFECT = dict.fromkeys(ROLES, Match(2, 2, 2))


@pytest.mark.parametrize(
    ("matched", "pairs", "n", "passed"),
    [
        (PERFECT, 1.0, 3, True),
        (PERFECT, MOSTLY, 10, True),
        (PERFECT, MOSTLY - 0.01, 10, False),
        (PERFECT, 1.0, 0, False),
        ({**PERFECT, "needed": Match(2, 3, 2)}, 1.0, 3, False),
        ({**PERFECT, "useless": Match(3, 2, 2)}, 1.0, 3, False),
        ({**PERFECT, "redundant": Match(2, 5, 1)}, 1.0, 3, True),
    ],
)
def test_targets(matched: dict[Role, Match], pairs: float, n: int, passed: bool) -> None:
    assert Verdict(matched, pairs, n).passed is passed


HOLDING = Premises(needed=2.0, harmful=1.0, pair=MUCH, useless=0.01, one_of_pair=0.02, little=0.02)


@pytest.mark.parametrize(
    ("changes", "hold"),
    [
        ({}, True),
        ({"needed": 0.49}, False),
        ({"harmful": -1.0}, False),
        ({"pair": 0.4}, False),
        ({"useless": 0.021}, False),
        ({"one_of_pair": 0.021}, False),
        *(({name: math.nan}, False) for name in ("needed", "harmful", "pair", "useless", "one_of_pair")),
    ],
)
def test_each_premise_counts(changes: dict[str, float], hold: bool) -> None:
    assert replace(HOLDING, **changes).hold is hold


# -- the command -----------------------------------------------------------------------------------------


def test_the_smallest_case_is_told_on_stdout_and_its_table_beside_it(tmp_path: Path) -> None:
    words = [
        "validate",
        "chg",
        "--size",
        "small",
        "--noise",
        "3",
        "--seed",
        "5",
        "--draws",
        "1",
        "--json",
        "-",
    ]
    result = CliRunner().invoke(app, words, env={"COLUMNS": "200", "HEADSCOPE_DATA_DIR": str(tmp_path)})
    assert result.exit_code == 1, "no model holds what was planted"
    told = json.loads(result.stdout)
    assert (told["validation"], told["passed"], told["pair_found"]) == ("chg", False, None)
    assert [model["form"] for model in told["models"]] == list(FORMS)
    assert [model["seed"] for model in told["models"]] == [5, 6, 7]
    for model in told["models"]:
        assert not model["premises"]["hold"]
        assert model["g_plus"] == model["g_minus"] == []
        assert model["scores"]["needed"] == {
            "planted": 2, "found": 0, "both": 0, "precision": None, "recall": 0.0,
        }  # fmt: skip
    for words_shown in ("small, with MLP, noise 3", "0 of 1", "use less noise"):
        assert words_shown in result.stderr


@pytest.mark.parametrize(
    "words", [("--noise", "11"), ("--noise", "-1"), ("--seed", "-1"), ("--size", "tiny")]
)
def test_what_can_not_be_planted(words: tuple[str, ...]) -> None:
    result = CliRunner().invoke(app, ["validate", "chg", *words])
    assert result.exit_code == 2
    assert words[0].strip("-") in result.stderr


def test_the_verdict_in_words() -> None:
    one = Interval(1.0, 0.8, 1.0, 3)
    found = dict.fromkeys(MEASURES, Found(one, one, one))
    rows = [Cell("small", 3, 3, found)]
    passed = sentence(rows, Verdict(PERFECT, 1.0, 3), 3, 3)
    assert "3 models" in passed
    assert "All targets are met." in passed
    assert "found in all of them" in passed
    assert "Stopped" not in passed
    low = Found(replace(one, mean=0.94), one, one)
    missed = sentence([Cell("small", 2, 2, {**found, "needed": low})], Verdict(PERFECT, 0.5, 2), 2, 6)
    assert "A target is missed:" in missed
    assert "needed (small)" in missed
    assert "Stopped after 2 of 6 models." in missed
    assert share(math.nan, 0.75) == "– / 0.75"
    assert share(1.0, 2 / 3) == "1 / 0.667"


def test_a_plan_says_nothing_of_heads_that_nobody_planted() -> None:
    plan = Plan(1, 2, 1, 8, 64, {(0, 1): "spare"})
    assert (plan.kind((0, 0)), plan.heads("redundant"), plan.heads("useless")) == (
        "nothing", ((0, 1),), ((0, 0),),
    )  # fmt: skip
