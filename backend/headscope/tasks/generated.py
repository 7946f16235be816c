"""Tasks whose examples are drawn from a tokenizer's vocabulary, the same for a seed and tokenizer.

Induction: [BOS] t1 .. tn t1 .. tn, the t's different and random. The second copy carries loss from its second
token on: nothing before says that its first token comes [Elhage et al. 2021]. The t's are whole words with
their space, so that nothing but their order is odd; pieces of words and of characters, which most of a
vocabulary is, would be; where there are fewer words than two sequences take, any tokens.

Abstract rules ABA and ABB on random words of a token each: lines ``A^B^A``, each with tokens of its own, then
``A^B^`` whose answer is A or B by the rule; the other one is the counterfactual [Yang et al. 2025]. In the
paired prompt the question's tokens change places, so that the rule answers with the other one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Literal

from headscope.core.model.tokens import Tokenizer
from headscope.errors import Invalid
from headscope.tasks.draw import distinct
from headscope.tasks.fitting import collect
from headscope.tasks.pool import check_sets, set_of
from headscope.tasks.task import Example, Examples, Judged, Split
from headscope.tasks.text import MAX_SHOTS
from headscope.tasks.vocabulary import ordinary_tokens, rule_tokens, within_text, word_tokens

GENERATOR = 2
"""Version of what is drawn; part of the content hash. The first drew any tokens."""
N_TRAIN = 1024
N_TEST = 256
_SIZES: dict[Split, int] = {"train": N_TRAIN, "test": N_TEST}


@dataclass(frozen=True)
class _Generated:
    """What both have in common: no rows, no text, no template."""

    name: str
    title: str
    description: str
    source: str
    licence: str
    targets: str
    shots: int = 0
    judged: Judged = "top"
    origin: Literal["built-in", "yours"] = "built-in"

    @property
    def kind(self) -> Literal["generated"]:
        """Drawn, not written."""
        return "generated"

    @property
    def n_rows(self) -> None:
        """None: rows are drawn from each tokenizer's vocabulary."""
        return

    @property
    def template(self) -> str | None:
        """None: examples are tokens, not text."""
        return None

    def sizes(self, *, seed: int = 0) -> tuple[int, int]:
        """How many examples are drawn for each split."""
        return N_TRAIN, N_TEST


@dataclass(frozen=True)
class InductionTask(_Generated):
    """Random words, repeated; with ``words`` false any tokens, as the first version drew them. ``length`` is
    n, the tokens in one copy.
    """

    length: int = 24
    words: bool = True

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 over generator version, length and sizes."""
        return _hash(
            {
                "generator": ["induction", GENERATOR if self.words else 1],
                "length": self.length,
                "judged": self.judged,
                "sizes": _SIZES,
            }
        )

    def examples(
        self,
        tokenizer: Tokenizer,
        split: Split,
        *,
        limit: int | None = None,
        seed: int = 0,
        shots: int | None = None,
        n_ctx: int | None = None,
        pool: int | None = None,
    ) -> Examples:
        """See ``Task.examples``. Raises Invalid (``shots``) where in-context examples are asked for."""
        if shots:
            raise Invalid(
                f"Task {self.name} is one repeated sequence, it has no in-context examples.",
                "Leave the number of in-context examples empty, or 0.",
                code="shots",
            )
        return collect(self.name, self._drawn(tokenizer, split, seed), limit=limit, n_ctx=n_ctx)

    def _drawn(self, tokenizer: Tokenizer, split: Split, seed: int) -> Iterator[tuple[str, Example]]:
        vocabulary = word_tokens(tokenizer) if self.words else ()
        if len(vocabulary) < 2 * self.length:
            vocabulary = ordinary_tokens(tokenizer)
        if len(vocabulary) < 2 * self.length:
            raise _small_vocabulary(self.name, len(vocabulary), 2 * self.length)
        bos = [tokenizer.bos_id] if tokenizer.adds_bos and tokenizer.bos_id is not None else []
        first = len(bos) + self.length + 1
        for number in range(_SIZES[split]):
            drawn = distinct(f"induction {seed} {split} {number}", len(vocabulary), self.length)
            tokens = (*bos, *(2 * [vocabulary[index] for index in drawn]))
            yield f"{split} {number}", Example(tokens, tuple(range(first, len(tokens))))


@dataclass(frozen=True)
class RuleTask(_Generated):
    """``A^B^`` goes on with A (rule ABA) or B (ABB). Test questions use tokens that training never shows."""

    rule: Literal["ABA", "ABB"] = "ABA"

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 over generator version, rule, in-context examples and sizes."""
        return _hash(
            {"generator": ["rule", GENERATOR], "rule": self.rule, "shots": self.shots, "sizes": _SIZES}
        )

    def examples(
        self,
        tokenizer: Tokenizer,
        split: Split,
        *,
        limit: int | None = None,
        seed: int = 0,
        shots: int | None = None,
        n_ctx: int | None = None,
        pool: int | None = None,
    ) -> Examples:
        """See ``Task.examples``; in-context examples are drawn from the training split's tokens."""
        shots = self.shots if shots is None else shots
        if not 0 <= shots <= MAX_SHOTS:
            raise Invalid(f"{shots} in-context examples.", f"Ask for 0 to {MAX_SHOTS}.", code="shots")
        sets = pool if shots and split == "train" else None
        return collect(self.name, self._drawn(tokenizer, split, seed, shots, sets), limit=limit, n_ctx=n_ctx)

    def _drawn(
        self, tokenizer: Tokenizer, split: Split, seed: int, shots: int, sets: int | None
    ) -> Iterator[tuple[str, Example]]:
        pool = rule_tokens(tokenizer, seed, whole=True)
        needed = 2 * shots + 2
        if len(pool["train"]) < needed or len(pool["test"]) < 2:
            raise _small_vocabulary(self.name, sum(map(len, pool.values())), needed)
        shared = [
            [
                pool["train"][index]
                for index in distinct(f"rule pool {seed} {each}", len(pool["train"]), 2 * shots)
            ]
            for each in range(0 if sets is None else check_sets(sets))
        ]
        bos = [tokenizer.bos_id] if tokenizer.adds_bos and tokenizer.bos_id is not None else []
        caret, newline = within_text(tokenizer, "^"), within_text(tokenizer, "\n")
        for number in range(_SIZES[split]):
            # The rule isn't in the key: ABA and ABB ask the same questions.
            key = f"rule {seed} {split} {number}"
            train = [pool["train"][index] for index in distinct(key, len(pool["train"]), needed)]
            a, b = train[:2]
            items, mine = train[2:], None
            if sets is not None:
                mine = set_of(self.name, number, shared, (a, b))
                items = shared[mine]
            pairs = list(zip(items[::2], items[1::2], strict=True))
            if split == "test":
                a, b = (pool["test"][index] for index in distinct(f"{key} question", len(pool["test"]), 2))
            tokens = list(bos)
            for first, second in pairs:
                answer, _ = self._answers(first, second)
                tokens += [first, *caret, second, *caret, answer, *newline]
            answer, other = self._answers(a, b)
            paired = (*tokens, b, *caret, a, *caret, answer)
            tokens += [a, *caret, b, *caret, answer]
            place = len(tokens) - 1
            yield f"{split} {number}", Example(tuple(tokens), (place,), (other,), paired, mine)

    def _answers(self, a: int, b: int) -> tuple[int, int]:
        """The rule's answer and the other rule's."""
        return (a, b) if self.rule == "ABA" else (b, a)


def _hash(content: dict[str, object]) -> str:
    return sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _small_vocabulary(task: str, available: int, needed: int) -> Invalid:
    return Invalid(
        f"Task {task} needs {needed} different tokens, this model's vocabulary offers {available}.",
        "Use a model with a larger vocabulary, or fewer in-context examples.",
        code="small-vocabulary",
    )
