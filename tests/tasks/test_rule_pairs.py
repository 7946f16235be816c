"""Pairs of contexts: what each asks for, what is alike in both, and what can't be asked."""

from __future__ import annotations

from itertools import islice

import pytest

from headscope.core.model.tokens import Tokenizer
from headscope.errors import Invalid
from headscope.models.catalogue import Catalogue
from headscope.settings import Settings
from headscope.tasks.rule_pairs import RulePair, Signs, rule_pair, rule_pairs
from headscope.validation.words import word_tokenizer

LA, LI, TE, TO, HI, HA, CARET, LINE = range(1, 9)
SIGNS = Signs((CARET,), (LINE,))


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    return Catalogue(Settings(data_dir=tmp_path_factory.mktemp("data"))).tokenizer("headscope-2l")


def items(tokens: tuple[int, ...]) -> list[int]:
    return [token for token in tokens if token not in (CARET, LINE)]


def test_a_swapped_rule_keeps_third_items_and_the_answer() -> None:
    pair = rule_pair([(LA, LI), (TE, TO)], (HI, HA), "ABA", "rule", SIGNS)
    assert items(pair.base) == [LA, LI, LA, TE, TO, TE, HI, HA]
    assert items(pair.other) == [LI, LA, LA, TO, TE, TE, HA, HI]
    assert (pair.base_answer, pair.other_answer, pair.expected) == (HI, HI, HA)
    assert [pair.base[at] for at in pair.third] == [pair.other[at] for at in pair.third] == [LA, TE]
    back = rule_pair([(LA, LI)], (HI, HA), "ABB", "rule", SIGNS)
    assert items(back.base) == [LA, LI, LI, HI, HA]
    assert items(back.other) == [LI, LA, LI, HA, HI]
    assert (back.base_answer, back.other_answer, back.expected) == (HA, HA, HI)


def test_swapped_items_keep_rule_and_examples() -> None:
    pair = rule_pair([(LA, LI)], (HI, HA), "ABB", "items", SIGNS)
    assert items(pair.base) == [LA, LI, LI, HI, HA]
    assert items(pair.other) == [LA, LI, LI, HA, HI]
    assert (pair.base_answer, pair.other_answer, pair.expected) == (HA, HI, HA)


def test_pairs_are_the_seed_s_and_read_back_as_they_are(tokenizer: Tokenizer) -> None:
    def drawn(seed: int) -> list[RulePair]:
        return list(islice(rule_pairs(tokenizer, "rule", shots=3, seed=seed, n_ctx=256), 8))

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)
    assert [pair.rule for pair in drawn(1)] == ["ABA", "ABB"] * 4
    for pair in drawn(1):
        for tokens in (pair.base, pair.other):
            start = int(tokenizer.adds_bos)
            text = b"".join(tokenizer.decode_bytes(token) for token in tokens[start:]).decode()
            assert tuple(tokenizer.encode(text)) == tokens
        assert len(set(pair.base)) == 2 * 3 + 2 + 2 + int(tokenizer.adds_bos)


def test_what_cannot_be_asked_is_refused_with_the_numbers(tokenizer: Tokenizer) -> None:
    with pytest.raises(Invalid, match="offers 0 and 0") as caught:
        rule_pairs(word_tokenizer(16, None), "rule", shots=2, seed=0, n_ctx=64)
    assert caught.value.code == "small-vocabulary"
    with pytest.raises(Invalid, match="0 in-context examples"):
        rule_pairs(tokenizer, "rule", shots=0, seed=0, n_ctx=64)
    with pytest.raises(Invalid, match=r"3 examples has 2\d tokens; .* holds 8"):
        next(rule_pairs(tokenizer, "rule", shots=3, seed=0, n_ctx=8))
