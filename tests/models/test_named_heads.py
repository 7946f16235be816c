"""Heads that are named on prompts: known induction heads are, bright columns are not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from headscope.core.model.head_model import HeadModel
from headscope.core.model.load import load_model
from headscope.core.patterns.reading import Look, look
from headscope.core.patterns.repeat_scores import repeat_scores
from headscope.core.patterns.repeats import copies
from headscope.core.patterns.scores import CLAIMS, claims
from headscope.core.statistics.intervals import bootstrap_interval
from headscope.models.catalogue import Catalogue
from headscope.settings import Settings
from models.test_smollm2 import ZORBLAX, folder  # noqa: F401

TWELVE = (
    "Alice Kowalczyk and Bob Zimmerman opened a bakery. Alice Kowalczyk baked bread while Bob Zimmerman sold "
    "it. Soon Alice"
)
MARY = "When Mary and John went to the store, John gave a drink to"
KNOWN = {(18, 6), (17, 4), (17, 3)}
COLUMNS = [(4, 7), (7, 7), (7, 0), (4, 4), (5, 5)]
"""Of the prompt of Mary and John the heads with the most weight on followers that do no induction."""


@pytest.fixture(scope="module")
def smollm2(folder: Path) -> HeadModel:  # noqa: F811
    return load_model(folder, name="smollm2-135m", device="cpu")


def seen(model: HeadModel, text: str) -> Look:
    tokens = model.tokenizer.tokens(text, bos=False)
    return look(model, [token.id for token in tokens], copies(tokens), most_thumb_bytes=0)


def strongest(scores: np.ndarray, count: int) -> list[tuple[int, int]]:
    order = np.argsort(-scores, axis=None)[:count]
    return [divmod(int(index), scores.shape[1]) for index in order]


def claimed(found: Look) -> np.ndarray:
    excess = found.excess[0]
    low, _ = bootstrap_interval(excess.reshape(-1, excess.shape[-1]))
    codes = claims(excess.mean(-1), low.reshape(excess.shape[:-1]), excess.shape[-1])
    return np.asarray(np.array(CLAIMS)[codes])


@pytest.mark.parametrize("text", [ZORBLAX, TWELVE])
def test_known_induction_heads_are_named_on_prompts_that_repeat_enough(smollm2: HeadModel, text: str) -> None:
    found = seen(smollm2, text)
    assert found.excess[0].shape[-1] >= 8
    assert set(strongest(found.above[0], 5)) >= KNOWN
    assert {str(claimed(found)[head]) for head in KNOWN} == {"clear"}


def test_a_column_is_no_stripe_and_two_queries_name_nobody(smollm2: HeadModel) -> None:
    found = seen(smollm2, MARY)
    weight, above = found.values[1], found.above[0]
    assert found.excess[0].shape[-1] == 2
    assert min(weight[head] for head in COLUMNS) > 0.38, "as bright as the induction heads by weight"
    assert max(above[head] for head in COLUMNS) < 0.1
    assert strongest(above, 2) == [(17, 4), (17, 5)]
    assert set(claimed(found).reshape(-1)) == {"too few"}


def test_random_repeats_rank_the_known_heads_first(smollm2: HeadModel) -> None:
    scores = repeat_scores(smollm2)
    assert scores is not None
    assert set(strongest(scores[0], 3)) == KNOWN
    assert set(strongest(scores[2], 2)) == {(16, 0), (11, 1)}
    assert max(scores[0][head] for head in COLUMNS) < 0.05


def test_the_small_models_known_heads_are_named() -> None:
    catalogue = Catalogue(Settings(data_dir=Path("unused")))
    model = load_model(catalogue.folder("headscope-2l"), name="headscope-2l", device="cpu")
    scores = repeat_scores(model)
    assert scores is not None
    assert set(strongest(scores[0], 2)) == {(1, 2), (1, 5)}
    found = seen(model, "Zorblax the wizard met a dragon. Zorblax the wizard met a dragon. Zorblax the")
    assert {str(claimed(found)[head]) for head in ((1, 2), (1, 5))} == {"clear"}
    assert "clear" not in claimed(found)[0], "induction needs two layers"
