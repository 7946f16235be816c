"""A task of rows: a template, in-context examples from the training split, splits by seed.

1. Rows with the same prompt count once (the first one): a prompt in both splits would leak.
2. A seed puts the rows in order by hash; the first ``TEST_SHARE`` of them are the test split, the rest the
   training split. Each split keeps that order.
3. A row's in-context examples are drawn by hash of seed and prompt from the training split without the row
   itself; with more shots the first ones stay the same. Or training rows share a few sets (``tasks.pool``).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import Literal

from headscope.core.model.tokens import Tokenizer
from headscope.errors import Invalid
from headscope.tasks.draw import distinct, ordered
from headscope.tasks.fitting import collect
from headscope.tasks.pool import check_sets, set_of
from headscope.tasks.render import paired_tokens, render
from headscope.tasks.task import Example, Examples, Judged, Row, Split
from headscope.tasks.template import QUESTION, Template

TEST_SHARE = 0.3
SPLIT_RULE = 1
"""Version of steps 1 to 3; part of the content hash."""
MAX_SHOTS = 64


@dataclass(frozen=True)
class TextTask:
    """Rows and how they are asked; see the module for splits. ``bos`` None: the tokenizer's own policy.

    ``instruction`` asks for the same thing in words, and gives the task another form (``tasks.forms``);
    ``form_of`` is the task that this one is such a form of.
    """

    name: str
    title: str
    rows: tuple[Row, ...]
    description: str = ""
    source: str = ""
    licence: str = ""
    template: str = QUESTION
    separator: str = "\n\n"
    shots: int = 1
    bos: bool | None = None
    targets: str = "The answer's tokens, with the space before it."
    judged: Judged = "top"
    origin: Literal["built-in", "yours"] = "yours"
    instruction: str = ""
    form_of: str = ""

    @property
    def kind(self) -> Literal["text"]:
        """Rows of text."""
        return "text"

    @property
    def n_rows(self) -> int:
        """Rows with different prompts."""
        return len(self.distinct_rows)

    @property
    def n_duplicates(self) -> int:
        """Rows that are not used, since an earlier one has the same prompt."""
        return len(self.rows) - len(self.distinct_rows)

    @cached_property
    def unused(self) -> str:
        """How many rows are not used and why, in words; empty where all are."""
        first: dict[str, Row] = {}
        later: list[Row] = []
        for row in self.rows:
            if row.prompt in first:
                later.append(row)
            else:
                first[row.prompt] = row
        other = [row.prompt for row in later if _answers(row) != _answers(first[row.prompt])]
        if not later:
            return ""
        why = "an earlier row has the same prompt"
        if other:
            why += "" if len(other) == len(later) else f", in {len(other)} of them"
            why += f" with another answer (first: {_short(other[0])})"
        return f"{len(later)} of {len(self.rows)} rows unused: {why}."

    @cached_property
    def distinct_rows(self) -> tuple[Row, ...]:
        """The first row of each prompt."""
        first: dict[str, Row] = {}
        for row in self.rows:
            first.setdefault(row.prompt, row)
        return tuple(first.values())

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 over rows, template, shots, BOS policy, split rule and judging; names don't count.

        Nor does the instruction, which is part of its own form's template.
        """
        content = {
            "rows": [_identity(row) for row in self.rows],
            "template": asdict(self._template),
            "shots": self.shots,
            "bos": self.bos,
            "split": [SPLIT_RULE, TEST_SHARE],
            "judged": self.judged,
        }
        return sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    @cached_property
    def _template(self) -> Template:
        return Template.parse(self.template, self.separator)

    def template_of(self, row: Row) -> Template:
        """How a row becomes text, its in-context examples too."""
        return self._template

    def sizes(self, *, seed: int = 0) -> tuple[int, int]:
        """Rows in the training and in the test split; the same for every seed."""
        n_test = max(1, round(TEST_SHARE * self.n_rows))
        return self.n_rows - n_test, n_test

    def split(self, seed: int) -> dict[Split, list[Row]]:
        """The rows of both splits, in order."""
        rows = self.distinct_rows
        order = [rows[index] for index in ordered(f"split {seed}", [row.prompt for row in rows])]
        _, n_test = self.sizes()
        return {"train": order[n_test:], "test": order[:n_test]}

    def check_shots(self, shots: int | None = None) -> int:
        """How many in-context examples to use. Raises Invalid where the training split hasn't so many."""
        shots = self.shots if shots is None else shots
        if not 0 <= shots <= MAX_SHOTS:
            raise Invalid(f"{shots} in-context examples.", f"Ask for 0 to {MAX_SHOTS}.", code="shots")
        n_train, _ = self.sizes()
        if n_train < shots + 1:
            raise Invalid(
                f"Task {self.name} has {n_train} rows to train on; {shots} in-context examples and the row "
                f"itself need {shots + 1}.",
                "Ask for fewer in-context examples, or add rows.",
                code="too-few-rows",
            )
        return shots

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
        """See ``Task.examples``. Also raises Invalid naming the row whose target tokenises to nothing, and
        what ``tasks.pool`` does.
        """
        shots = self.check_shots(shots)
        if pool is not None and shots and split == "train":
            drawn = self._pooled(tokenizer, seed, shots, pool)
        else:
            drawn = self._rendered(tokenizer, split, seed, shots)
        return collect(self.name, drawn, limit=limit, n_ctx=n_ctx)

    def asked(self, tokenizer: Tokenizer, row: Row, in_context: Sequence[Row]) -> Example:
        """A row after these in-context examples. Raises Invalid naming the row, see ``render``."""
        template = self.template_of(row)
        text = template.context(in_context, row.prompt)
        try:
            example = render(tokenizer, text, row.target, row.counterfactual, bos=self.bos)
        except Invalid as error:
            raise error.about(f"Task {self.name}, the row with prompt {_short(row.prompt)}") from error
        if row.paired is None:
            return example
        text = template.context(in_context, row.paired)
        return replace(example, paired=paired_tokens(tokenizer, example, text, row.target, bos=self.bos))

    def _rendered(
        self, tokenizer: Tokenizer, split: Split, seed: int, shots: int
    ) -> Iterator[tuple[str, Example]]:
        """The split's rows one by one, each with its prompt for messages."""
        splits = self.split(seed)
        train = splits["train"]
        for place, row in enumerate(splits[split]):
            context = _in_context(
                train, place if split == "train" else None, f"shots {seed} {row.prompt}", shots
            )
            example = self.asked(tokenizer, row, context)
            yield row.prompt, example

    def _pooled(
        self, tokenizer: Tokenizer, seed: int, shots: int, pool: int
    ) -> Iterator[tuple[str, Example]]:
        """The training rows one by one, their in-context examples from ``pool`` sets."""
        train = self.split(seed)["train"]
        sets = [distinct(f"pool {seed} {number}", len(train), shots) for number in range(check_sets(pool))]
        for place, row in enumerate(train):
            mine = set_of(self.name, place, sets, (place,))
            context = [train[index] for index in sets[mine]]
            yield row.prompt, replace(self.asked(tokenizer, row, context), pool_set=mine)


def _answers(row: Row) -> tuple[str, str | None]:
    return row.target, row.counterfactual


def _identity(row: Row) -> list[str | None]:
    """What of a row counts for its task's hash: rows without a paired prompt as ever."""
    paired = [] if row.paired is None else [row.paired]
    return [row.prompt, row.target, row.counterfactual, *paired]


def _in_context(train: Sequence[Row], own: int | None, key: str, shots: int) -> list[Row]:
    """``shots`` rows of the training split, never the one at ``own``."""
    if own is None:
        return [train[index] for index in distinct(key, len(train), shots)]
    drawn = distinct(key, len(train) - 1, shots)
    return [train[index + (index >= own)] for index in drawn]


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:59] + "…")
