"""Targets exchanged among the rows: what a fit finds where prompts say nothing of answers.

1. Only rows with equally many target tokens exchange theirs, so that every row keeps its length and its
   target positions.
2. Among them a random order is drawn by the seed, and each row takes the target of the next: no row keeps its
   own unless it is alone. A row may get another row's *equal* target: were that forbidden, tasks of few
   answers (letters, yes and no) would have targets that are wrong by rule, which is something to learn.
3. The tokens at the target positions are replaced. Where an answer is many tokens, its later ones are
   predicted from its earlier ones, as before; where targets make up half of the text, as in induction, the
   second half is another row's, and nothing in it has occurred before.

A row's counterfactual goes with its target.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from headscope.tasks.draw import distinct
from headscope.tasks.task import Example, Examples


def permuted(examples: Examples, seed: int) -> Examples:
    """The examples in their order, each with the target of another of as many target tokens."""
    items = list(examples.items)
    for rows in _alike(items):
        order = [rows[at] for at in distinct(f"permuted targets {seed}", len(rows), len(rows))]
        for row, giver in zip(order, order[1:] + order[:1], strict=True):
            items[row] = _with_target(examples.items[row], examples.items[giver])
    return replace(examples, items=tuple(items))


def _alike(items: Sequence[Example]) -> list[list[int]]:
    """Rows by number of target tokens."""
    groups = defaultdict(list)
    for row, example in enumerate(items):
        groups[len(example.targets)].append(row)
    return list(groups.values())


def _with_target(example: Example, giver: Example) -> Example:
    tokens = list(example.tokens)
    for position, token in zip(example.targets, giver.target_ids, strict=True):
        tokens[position] = token
    return replace(example, tokens=tuple(tokens), counterfactual=giver.counterfactual)
