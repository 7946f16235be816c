"""The tasks that the field knows, made from templates and lists of our own.

Each row has a counterfactual answer and a paired prompt of the same template in which that answer is right;
what is held out is decided by content. A row's choices come from a hash of the task's name, the split and the
row's number, so the same rows are made everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence

from headscope.tasks.task import Row
from headscope.tasks.templated.counting import addition, successor
from headscope.tasks.templated.pairs import comparative, past_present, plural_singular
from headscope.tasks.templated.recall import coloured_object, copying, docstring_argument
from headscope.tasks.templated.sentences import gendered_pronoun, greater_than, indirect_object
from headscope.tasks.templated.task import TemplatedTask


def templated_tasks(plurals: Sequence[Row], pasts: Sequence[Row]) -> list[TemplatedTask]:
    """All of them; ``plurals`` and ``pasts`` are the rows of ``singular-plural`` and ``present-past``."""
    return [
        indirect_object(),
        greater_than(),
        successor(),
        gendered_pronoun(),
        coloured_object(),
        docstring_argument(),
        copying(),
        plural_singular(plurals),
        past_present(pasts),
        comparative(),
        addition(),
    ]
