"""Tasks drawn from a vocabulary: what they ask, that splits share nothing, and that a draw is for ever."""

from __future__ import annotations

import dataclasses
from dataclasses import replace
from typing import cast

import pytest

from headscope.core.model.tokens import Tokenizer
from headscope.errors import Invalid
from headscope.tasks.builtin import builtin_tasks
from headscope.tasks.draw import distinct
from headscope.tasks.generated import N_TEST, N_TRAIN, InductionTask, RuleTask
from headscope.tasks.task import Example, Split
from headscope.tasks.vocabulary import ordinary_tokens, rule_tokens, spaced_words, within_text, word_tokens

INDUCTION = cast("InductionTask", builtin_tasks()["induction"])
ANY = cast("InductionTask", builtin_tasks()["induction-any-token"])
ABA, ABB = (cast("RuleTask", builtin_tasks()[f"rule-{rule}"]) for rule in ("aba", "abb"))
SPLITS: tuple[Split, Split] = ("train", "test")


def lines(tokenizer: Tokenizer, example: Example) -> list[list[str]]:
    """A rule's example as text, cut where a reader would."""
    ids = [token for token in example.tokens if not tokenizer.is_special(token)]
    text = b"".join(tokenizer.decode_bytes(token) for token in ids).decode()
    return [line.split("^") for line in text.split("\n")]


# -- induction -------------------------------------------------------------------------------------------


def test_random_tokens_stand_twice_and_the_second_copy_carries_loss(
    tokenizer: Tokenizer, without_bos: Tokenizer
) -> None:
    for reader in (tokenizer, without_bos):
        n_bos = int(reader.adds_bos)
        for example in INDUCTION.examples(reader, "train", limit=5):
            once = example.tokens[n_bos : n_bos + INDUCTION.length]
            assert example.tokens[n_bos:] == once * 2
            assert len(set(once)) == INDUCTION.length
            assert example.targets == tuple(range(n_bos + INDUCTION.length + 1, n_bos + 2 * INDUCTION.length))
            assert example.target_ids == once[1:]
            assert not any(reader.is_special(token) for token in once)


def test_words_are_drawn_where_there_are_enough(tokenizer: Tokenizer, only_bytes: Tokenizer) -> None:
    words = set(word_tokens(tokenizer))
    assert len(words) >= 2 * INDUCTION.length
    for example in INDUCTION.examples(tokenizer, "train", limit=20):
        once = example.tokens[1 : 1 + INDUCTION.length]
        assert set(once) <= words
        read = b"".join(map(tokenizer.decode_bytes, once)).decode()
        assert all(word.isalpha() and word.islower() for word in read.split(" ")[1:])
        assert len(read.split(" ")) == 1 + INDUCTION.length
        assert tuple(tokenizer.encode(read, bos=False)) == once
    assert not word_tokens(only_bytes)
    assert (
        INDUCTION.examples(only_bytes, "train", limit=3).items
        == ANY.examples(only_bytes, "train", limit=3).items
    )


def test_any_token_is_what_was_drawn_before(tokenizer: Tokenizer) -> None:
    vocabulary = ordinary_tokens(tokenizer)
    drawn = [vocabulary[index] for index in distinct("induction 0 train 0", len(vocabulary), 24)]
    (first,) = ANY.examples(tokenizer, "train", limit=1)
    assert first.tokens[1:25] == tuple(drawn)


def test_a_length_more_is_another_task() -> None:
    assert replace(INDUCTION, length=25).content_hash != INDUCTION.content_hash
    assert replace(INDUCTION, title="Another title").content_hash == INDUCTION.content_hash


def test_in_context_examples_of_one_sequence_are_refused(tokenizer: Tokenizer) -> None:
    with pytest.raises(Invalid, match="no in-context examples") as error:
        INDUCTION.examples(tokenizer, "train", shots=1)
    assert error.value.code == "shots"
    assert INDUCTION.examples(tokenizer, "train", limit=1, shots=0)


@pytest.mark.parametrize("task", [INDUCTION, ABA, ABB], ids=lambda task: task.name)
def test_a_draw_is_the_seeds_and_the_splits(tokenizer: Tokenizer, task: InductionTask | RuleTask) -> None:
    def drawn(split: Split, seed: int, limit: int = 8) -> tuple[Example, ...]:
        return task.examples(tokenizer, split, seed=seed, limit=limit).items

    assert drawn("train", 0) == drawn("train", 0)
    assert drawn("train", 0, 3) == drawn("train", 0)[:3]
    assert len({drawn("train", 0), drawn("train", 1), drawn("test", 0), drawn("test", 1)}) == 4
    assert (task.n_rows, task.template, task.kind) == (None, None, "generated")
    assert [len(task.examples(tokenizer, split)) for split in SPLITS] == [N_TRAIN, N_TEST]


# -- rules -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shots", [0, 1, 4])
@pytest.mark.parametrize("split", SPLITS)
def test_a_rules_examples_read_as_they_are_meant(tokenizer: Tokenizer, split: Split, shots: int) -> None:
    for task, answer in ((ABA, 0), (ABB, 1)):
        for example in task.examples(tokenizer, split, limit=5, shots=shots):
            read = lines(tokenizer, example)
            assert len(read) == shots + 1
            for first, second, third in read:
                assert third == (first, second)[answer] != (second, first)[answer]
            assert example.targets == (len(example.tokens) - 1,)
            (other,) = example.counterfactual or ()
            assert tokenizer.decode_bytes(other).decode() == read[-1][1 - answer]
            assert example.paired is not None
            pair = lines(tokenizer, dataclasses.replace(example, tokens=example.paired))
            assert pair[:-1] == read[:-1], "the same examples"
            assert pair[-1] == [read[-1][1], read[-1][0], read[-1][2]], "the items of the question exchanged"


def test_every_item_of_an_example_is_another(tokenizer: Tokenizer) -> None:
    for example in ABA.examples(tokenizer, "test", limit=20, shots=6):
        items = [item for first, second, _ in lines(tokenizer, example) for item in (first, second)]
        assert len(set(items)) == len(items) == 14


def test_both_rules_ask_the_same_questions(tokenizer: Tokenizer) -> None:
    for split in SPLITS:
        for aba, abb in zip(
            ABA.examples(tokenizer, split, limit=5), ABB.examples(tokenizer, split, limit=5), strict=True
        ):
            assert [line[:2] for line in lines(tokenizer, aba)] == [
                line[:2] for line in lines(tokenizer, abb)
            ]
            assert aba.target_ids == abb.counterfactual
            assert abb.target_ids == aba.counterfactual


def test_what_is_asked_in_testing_was_never_shown_in_training(tokenizer: Tokenizer) -> None:
    pool = rule_tokens(tokenizer, 0, whole=True)
    assert not set(pool["train"]) & set(pool["test"])
    for example in ABA.examples(tokenizer, "test", limit=20):
        assert {*example.target_ids, *(example.counterfactual or ())} <= set(pool["test"])
        shown = [item for line in lines(tokenizer, example)[:-1] for item in line]
        assert not set(shown) & {tokenizer.decode_bytes(token).decode() for token in pool["test"]}


@pytest.mark.parametrize("shots", [-1, 65])
def test_too_many_examples_in_context(tokenizer: Tokenizer, shots: int) -> None:
    with pytest.raises(Invalid, match=f"{shots} in-context examples") as error:
        ABA.examples(tokenizer, "train", shots=shots)
    assert (error.value.code, "0 to" in error.value.remedy) == ("shots", True)


def test_a_vocabulary_that_is_too_small_says_both_numbers(words: Tokenizer) -> None:
    offered = len(ordinary_tokens(words))
    for task, needed in ((INDUCTION, 48), (ABA, 2 * ABA.shots + 2)):
        with pytest.raises(Invalid, match=rf"needs {needed} different tokens.*offers \d+") as error:
            task.examples(words, "train")
        assert error.value.code == "small-vocabulary"
    assert offered < 48


# -- vocabularies ----------------------------------------------------------------------------------------


def test_ordinary_tokens_stand_for_text(tokenizer: Tokenizer, sentencepiece: Tokenizer) -> None:
    for reader in (tokenizer, sentencepiece):
        ordinary = ordinary_tokens(reader)
        assert len(set(ordinary)) == len(ordinary)
        assert all(reader.decode_bytes(token) and not reader.is_special(token) for token in ordinary)
        assert len(ordinary) < reader.n_vocab, "special tokens are none"


def test_a_rules_tokens_are_letters_that_come_back_as_they_are(tokenizer: Tokenizer) -> None:
    pool = rule_tokens(tokenizer, 0)
    every = [*pool["train"], *pool["test"]]
    assert len(pool["test"]) == round(0.2 * len(every))
    for token in every:
        text = tokenizer.decode_bytes(token).decode()
        assert text.isascii()
        assert text.isalpha()
        assert len(text) >= 2
        assert tokenizer.encode(f"^{text}^", bos=False)[1:-1] == [token]
    assert rule_tokens(tokenizer, 1) != pool


def test_whole_words_stand_after_a_space_too(tokenizer: Tokenizer) -> None:
    after_space = {tokenizer.decode_bytes(i)[1:] for i in ordinary_tokens(tokenizer)}
    pool = rule_tokens(tokenizer, 0, whole=True)
    whole = {tokenizer.decode_bytes(i) for i in (*pool["train"], *pool["test"])}
    any_kind = rule_tokens(tokenizer, 0)
    assert whole <= after_space
    assert len(whole) >= 100
    assert not {tokenizer.decode_bytes(i) for i in (*any_kind["train"], *any_kind["test"])} <= after_space


def test_a_vocabulary_of_bytes_has_its_letters(only_bytes: Tokenizer) -> None:
    pool = rule_tokens(only_bytes, 0)
    letters = sorted(only_bytes.decode_bytes(token) for token in (*pool["train"], *pool["test"]))
    assert len(letters) == 52
    assert ABA.examples(only_bytes, "test", limit=2, shots=2)


def test_spaced_words_keep_their_tokens_in_a_text(tokenizer: Tokenizer) -> None:
    drawn = list(spaced_words(tokenizer, 0))[:30]
    assert len(set(drawn)) == 30
    assert all(word[0] == " " and word[1:].islower() and len(word) > 2 for word in drawn)
    assert len(tokenizer.encode(" a" + "".join(drawn), bos=False)) == 31
    assert list(spaced_words(tokenizer, 1))[:30] != drawn


def test_a_mark_within_a_text_has_no_space_of_its_own(tokenizer: Tokenizer, sentencepiece: Tokenizer) -> None:
    for reader in (tokenizer, sentencepiece):
        assert b"".join(reader.decode_bytes(token) for token in within_text(reader, "^")) == b"^"


def test_tokens_are_placed_one_after_the_other(tokenizer: Tokenizer) -> None:
    ids = tokenizer.encode("größer \U0001f9d9")
    placed = tokenizer.sequence(ids)
    assert [token.id for token in placed] == ids
    assert (placed[0].special, placed[0].start, placed[0].end) == (True, 0, 0)
    spelled = b"".join(token.bytes for token in placed if not token.special)
    assert spelled == "größer \U0001f9d9".encode()
    assert all(spelled[token.start : token.end] == token.bytes for token in placed if not token.special)
