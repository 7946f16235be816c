from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headscope.core.model.tokens import Tokenizer
from headscope.errors import Invalid
from headscope.tasks.render import _answered, _by_spans, render

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


def spelled(tokenizer: Tokenizer, ids: tuple[int, ...]) -> bytes:
    return b"".join(tokenizer.decode_bytes(i) for i in ids)


def test_target_is_the_last_bytes_with_the_space_before(tokenizer: Tokenizer) -> None:
    example = render(tokenizer, "Q: wallet\nA: ", "wallets")
    assert spelled(tokenizer, example.target_ids) == b" wallets"
    assert example.tokens[0] == tokenizer.bos_id
    assert list(example.tokens) == tokenizer.encode("Q: wallet\nA: wallets")
    assert example.targets == tuple(range(example.targets[0], len(example.tokens)))


def test_a_space_that_is_a_token_of_its_own_belongs_to_the_target(only_bytes: Tokenizer) -> None:
    example = render(only_bytes, "A: ", "18")
    assert [only_bytes.decode_bytes(i) for i in example.target_ids] == [b" ", b"1", b"8"]


def test_other_white_space_belongs_to_the_prompt(only_bytes: Tokenizer) -> None:
    assert spelled(only_bytes, render(only_bytes, "A:\n", "18").target_ids) == b"18"


def test_a_token_across_the_boundary_begins_the_target(straddling: Tokenizer) -> None:
    example = render(straddling, "A:", "cat")
    assert [straddling.decode_bytes(i) for i in example.target_ids] == [b":c", b"at"]


def test_a_token_that_ends_with_the_space_stays_with_the_prompt(straddling: Tokenizer) -> None:
    example = render(straddling, "A: ", "cat")
    assert [straddling.decode_bytes(i) for i in example.target_ids] == [b"c", b"at"]


def test_sentencepiece(sentencepiece: Tokenizer) -> None:
    example = render(sentencepiece, "Q: dog\nA: ", "cat", "dog")
    assert [sentencepiece.decode_bytes(i) for i in example.target_ids] == [b" cat"]
    assert example.counterfactual is not None
    assert [sentencepiece.decode_bytes(i) for i in example.counterfactual] == [b" dog"]


def test_a_normaliser_that_changes_the_text(lowercasing: Tokenizer) -> None:
    example = render(lowercasing, "Q: ALBANIA\nA: ", "ÉCOLE")
    assert spelled(lowercasing, example.target_ids) == b" ecole"


def test_an_answer_of_decomposed_letters(composing: Tokenizer) -> None:
    example = render(composing, "Q: e\u0301tude\nA: ", "e\u0301cole")
    assert spelled(composing, example.target_ids) == " \u00e9cole".encode()
    assert spelled(composing, example.tokens).endswith("\u00e9tude\nA: \u00e9cole".encode())


@pytest.mark.parametrize("reader", ["composing", "replacing"])
def test_an_answer_that_the_normaliser_joins_to_the_prompt_is_refused(
    request: pytest.FixtureRequest, reader: str
) -> None:
    tokenizer: Tokenizer = request.getfixturevalue(reader)
    ends, begins = ("cafe", "\u0301s") if reader == "composing" else ("say `", "`so")
    with pytest.raises(Invalid, match="where the answer begins is unclear") as caught:
        render(tokenizer, ends, begins)
    assert caught.value.code == "ambiguous-target"
    assert "Begin the answer with" in caught.value.remedy


def test_what_the_normaliser_takes_off_the_answer_is_not_the_prompts_last_letter(
    lowercasing: Tokenizer,
) -> None:
    assert spelled(lowercasing, render(lowercasing, "cafe", "\u0301 noir").target_ids) == b" noir"


def test_spaces_that_the_normaliser_collapses(replacing: Tokenizer) -> None:
    example = render(replacing, "A:  ", "  cat")
    assert spelled(replacing, example.target_ids) == b" cat"


def test_emoji_of_several_tokens(only_bytes: Tokenizer) -> None:
    assert spelled(only_bytes, render(only_bytes, "smile: ", "😀").target_ids) == " 😀".encode()


def test_counterfactual_stands_at_the_targets(tokenizer: Tokenizer) -> None:
    example = render(tokenizer, "These patients do respect ", "themselves", "himself")
    assert example.counterfactual is not None
    start = example.targets[0]
    whole = tokenizer.encode("These patients do respect himself")
    assert whole == [*example.tokens[:start], *example.counterfactual]


def test_a_counterfactual_that_changes_the_tokens_before_begins_with_them(straddling: Tokenizer) -> None:
    example = render(straddling, "A:", "at", "cat")
    assert example.counterfactual is not None
    assert [straddling.decode_bytes(i) for i in example.target_ids] == [b":", b"at"]
    assert [straddling.decode_bytes(i) for i in example.counterfactual] == [b":c", b"at"]


def test_a_counterfactual_that_the_normaliser_takes_away(words: Tokenizer) -> None:
    with pytest.raises(Invalid) as caught:
        render(words, "say ", "cat", "\u0301")
    assert caught.value.code == "empty-target"


def test_target_that_tokenises_to_nothing(tokenizer: Tokenizer) -> None:
    with pytest.raises(Invalid, match="tokenises to nothing") as caught:
        render(tokenizer, "A:", "")
    assert caught.value.code == "empty-target"


def test_a_target_that_the_normaliser_takes_away(words: Tokenizer) -> None:
    assert render(words, "say ", "cat").targets == (1,)
    with pytest.raises(Invalid) as caught:
        render(words, "say ", "\u0301")
    assert caught.value.code == "empty-target"


def test_a_target_needs_a_token_before_it(tokenizer: Tokenizer, without_bos: Tokenizer) -> None:
    assert render(tokenizer, "", "cat").targets[0] == 1
    with pytest.raises(Invalid) as caught:
        render(without_bos, "", "cat")
    assert caught.value.code == "nothing-before-target"


def test_bos_policy(tokenizer: Tokenizer, without_bos: Tokenizer) -> None:
    assert render(tokenizer, "A: ", "cat", bos=False).tokens[0] != tokenizer.bos_id
    with pytest.raises(Invalid):
        render(without_bos, "A: ", "cat", bos=True)


@pytest.mark.parametrize("kind", ["tokenizer", "only_bytes", "straddling", "sentencepiece"])
@given(context=TEXT, target=TEXT.filter(bool), spaced=st.booleans())
def test_the_walk_from_the_end_agrees_with_the_spans(
    request: pytest.FixtureRequest, kind: str, context: str, target: str, spaced: bool
) -> None:
    tokenizer: Tokenizer = request.getfixturevalue(kind)
    context += " " if spaced else ""
    ids, start = _answered(tokenizer, context, target, None)
    assert start == _by_spans(tokenizer, context + target, context, None, spaced=context.endswith(" "))
    assert spelled(tokenizer, tuple(ids[start:])).endswith(target.encode())
