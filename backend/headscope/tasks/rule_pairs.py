"""Pairs of contexts for the rules ABA and ABB, alike but for one thing [Yang et al. 2025, arXiv 2502.20332].

    la^li^la      an example of ABA: three items, each one token
    te^to^te
    hi^ha^        the question; ABA asks for hi, ABB for ha

``rule``: the other context has the other rule. Each example's first two items change places and the third
stays, so that the same token stands there for the other variable; the question's items change places too, so
that both contexts have the same answer, and y*, what the base rule makes of the other question, is neither's.

``items``: the other context has the same rule and the same examples; the question's items change places. y*
is the base context's answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from headscope.core.model.tokens import Tokenizer
from headscope.errors import Invalid
from headscope.tasks.draw import distinct
from headscope.tasks.text import MAX_SHOTS
from headscope.tasks.vocabulary import rule_tokens, within_text

Rule = Literal["ABA", "ABB"]
Swapped = Literal["rule", "items"]


@dataclass(frozen=True)
class RulePair:
    """Tokens of both contexts, what each asks for, what a patched head should make the other one say, and
    where in both the examples' third items stand.
    """

    base: tuple[int, ...]
    other: tuple[int, ...]
    base_answer: int
    other_answer: int
    expected: int
    third: tuple[int, ...]
    rule: Rule


@dataclass(frozen=True)
class Signs:
    """The tokens between items, between examples, and before all."""

    caret: tuple[int, ...]
    newline: tuple[int, ...]
    start: tuple[int, ...] = ()


def rule_pairs(
    tokenizer: Tokenizer, swapped: Swapped, *, shots: int, seed: int, n_ctx: int
) -> Iterator[RulePair]:
    """Endless pairs, the same for a seed and tokenizer; the base context's rule is ABA and ABB in turn.

    Every item is one token. Question and examples have items of their own, apart as the rule tasks' splits.
    Raises Invalid: ``shots``; ``small-vocabulary`` where there are too few such items; ``too-long``;
    ``unfit-tokenizer`` where a context, written as text, isn't read as these tokens again.
    """
    if not 1 <= shots <= MAX_SHOTS:
        raise Invalid(f"{shots} in-context examples.", f"Ask for 1 to {MAX_SHOTS}.", code="shots")
    pool = rule_tokens(tokenizer, seed)
    if len(pool["train"]) < 2 * shots or len(pool["test"]) < 2:
        raise Invalid(
            f"{2 * shots} items for the examples and 2 for the question must be one token each; this model's "
            f"vocabulary offers {len(pool['train'])} and {len(pool['test'])}.",
            "Use a model with a larger vocabulary, or fewer in-context examples.",
            code="small-vocabulary",
        )
    bos = (tokenizer.bos_id,) if tokenizer.adds_bos and tokenizer.bos_id is not None else ()
    signs = Signs(within_text(tokenizer, "^"), within_text(tokenizer, "\n"), bos)
    return _drawn(tokenizer, pool["train"], pool["test"], swapped, shots, seed, n_ctx, signs)


def rule_pair(
    examples: list[tuple[int, int]], question: tuple[int, int], rule: Rule, swapped: Swapped, signs: Signs
) -> RulePair:
    """The pair of these items; ``rule`` is the base context's."""
    base, third = _context(examples, question, rule, signs)
    turned = (question[1], question[0])
    answer = _answer(question, rule)
    if swapped == "items":
        other, _ = _context(examples, turned, rule, signs)
        return RulePair(base, other, answer, _answer(turned, rule), answer, third, rule)
    rest: Rule = "ABB" if rule == "ABA" else "ABA"
    other, _ = _context([(b, a) for a, b in examples], turned, rest, signs)
    return RulePair(base, other, answer, _answer(turned, rest), _answer(turned, rule), third, rule)


def _drawn(
    tokenizer: Tokenizer,
    items: tuple[int, ...],
    asked: tuple[int, ...],
    swapped: Swapped,
    shots: int,
    seed: int,
    n_ctx: int,
    signs: Signs,
) -> Iterator[RulePair]:
    number = 0
    while True:
        key = f"rule pair {seed} {number}"
        drawn = [items[index] for index in distinct(key, len(items), 2 * shots)]
        a, b = (asked[index] for index in distinct(f"{key} question", len(asked), 2))
        examples = list(zip(drawn[::2], drawn[1::2], strict=True))
        pair = rule_pair(examples, (a, b), "ABA" if number % 2 == 0 else "ABB", swapped, signs)
        if number == 0:
            _check(tokenizer, pair, n_ctx, len(signs.start))
        yield pair
        number += 1


def _context(
    examples: list[tuple[int, int]], question: tuple[int, int], rule: Rule, signs: Signs
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Tokens, and where the examples' third items stand."""
    tokens, third = list(signs.start), list[int]()
    for a, b in examples:
        tokens += [a, *signs.caret, b, *signs.caret]
        third.append(len(tokens))
        tokens += [_answer((a, b), rule), *signs.newline]
    tokens += [question[0], *signs.caret, question[1], *signs.caret]
    return tuple(tokens), tuple(third)


def _answer(items: tuple[int, int], rule: Rule) -> int:
    return items[0] if rule == "ABA" else items[1]


def _check(tokenizer: Tokenizer, pair: RulePair, n_ctx: int, start: int) -> None:
    n = len(pair.base)
    if n > n_ctx:
        raise Invalid(
            f"A context of {len(pair.third)} examples has {n} tokens; the model's context holds {n_ctx}.",
            "Ask for fewer in-context examples.",
            code="too-long",
        )
    written = b"".join(tokenizer.decode_bytes(token) for token in pair.base[start:]).decode()
    read = tokenizer.encode(written, bos=False)
    if tuple(read) != pair.base[start:]:
        same = [a == b for a, b in zip(read, pair.base[start:], strict=False)]
        alike = same.index(False) if False in same else len(same)
        raise Invalid(
            f"This model's tokenizer reads {written[:40]!r}… as {len(read)} tokens, the first {alike} as "
            f"meant; the items and signs are {n - start}.",
            "Use a model whose tokenizer keeps short words, ^ and line ends apart.",
            code="unfit-tokenizer",
        )
