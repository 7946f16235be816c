"""The tasks that ship: the paper's, agreement from BLiMP, worked problems, the generated ones, and those made
from templates (``tasks.templated``).

Rows lie in ``data/`` with their licences; data/README.md says where each file is from and how it was made.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from headscope.tasks.forms import with_forms
from headscope.tasks.generated import InductionTask, RuleTask
from headscope.tasks.task import Row, Task
from headscope.tasks.template import CONTINUATION, LONG_QUESTION, QUESTION
from headscope.tasks.templated import templated_tasks
from headscope.tasks.text import TextTask

_FUNCTION_VECTORS = "ericwtodd/function_vectors, dataset_files/abstractive (Todd et al. 2024)"
_COMMONSENSE = f"CommonsenseQA (Talmor et al. 2019), by way of {_FUNCTION_VECTORS}"
_BLIMP = "alexwarstadt/blimp (Warstadt et al. 2020)"
_MIT = "MIT"
_CC_BY = "CC-BY 4.0, © the authors of BLiMP"

_PAIRS = (
    (
        "singular-plural",
        "Singular to plural",
        "The plural of an English noun: wallet, wallets.",
        'What is the plural of "{prompt}"? The plural is "{target}',
    ),
    (
        "present-past",
        "Present to past",
        "The past tense of an English verb: adapt, adapted.",
        'What is the past tense of "{prompt}"? The past tense is "{target}',
    ),
    (
        "capitalize",
        "Capitalize",
        "The same word with a capital first letter: emu, Emu.",
        'What is "{prompt}" with a capital first letter? It is "{target}',
    ),
    (
        "country-capital",
        "Country to capital",
        "The capital of a country: Albania, Tirana.",
        "What is the capital of {prompt}? The capital is {target}",
    ),
    (
        "antonym",
        "Antonym",
        "A word of opposite meaning: true, false.",
        'What is the opposite of "{prompt}"? The opposite is "{target}',
    ),
    (
        "english-french",
        "English to French",
        "The French word for an English one: those, ceux.",
        'What is "{prompt}" in French? The French word is "{target}',
    ),
)
"""Name, title, what is asked, and the instruction of the form that asks in words."""


@cache
def builtin_tasks() -> MappingProxyType[str, Task]:
    """All built-in tasks by name, in the order in which they are shown."""
    tasks: list[Task] = [
        *_generated(),
        *_word_pairs(),
        *_questions(),
        *_agreement(),
        *templated_tasks(_rows("singular-plural"), _rows("present-past")),
    ]
    return MappingProxyType({task.name: task for task in tasks})


@cache
def _rows(name: str) -> tuple[Row, ...]:
    packed = (files("headscope.tasks") / "data" / f"{name}.jsonl.gz").read_bytes()
    return tuple(Row(**json.loads(line)) for line in gzip.decompress(packed).splitlines())


def _word_pairs() -> list[TextTask]:
    return [
        form
        for name, title, description, instruction in _PAIRS
        for form in with_forms(
            TextTask(
                name,
                title,
                _rows(name),
                description,
                source=_FUNCTION_VECTORS,
                licence=_MIT,
                template=QUESTION,
                targets="The answer's tokens, with the space before it.",
                origin="built-in",
                instruction=instruction,
            )
        )
    ]


def _questions() -> list[TextTask]:
    return [
        TextTask(
            "commonsense-qa",
            "CommonsenseQA",
            _rows("commonsense-qa"),
            "A question of everyday knowledge with five lettered options.",
            source=_COMMONSENSE,
            licence=_MIT,
            template=LONG_QUESTION,
            targets="The letter of the right option.",
            origin="built-in",
        ),
        TextTask(
            "gsm8k",
            "Grade-school math",
            _rows("gsm8k"),
            "A word problem with its worked solution; a few hundred tokens with one in-context example.",
            source="openai/grade-school-math, GSM8K (Cobbe et al. 2021)",
            licence=_MIT,
            template=LONG_QUESTION,
            targets="The whole worked solution and the final answer after ####.",
            judged="each",
            origin="built-in",
        ),
    ]


def _agreement() -> list[TextTask]:
    subject_verb = TextTask(
        "subject-verb-agreement",
        "Subject-verb agreement",
        _rows("subject-verb-agreement"),
        "The verb that agrees with the sentence's subject, also across a distracting noun: "
        "“The sketch of those trucks” goes on with “hasn't”, not “haven't”.",
        source=f"{_BLIMP}: four subject-verb agreement paradigms",
        licence=_CC_BY,
        template=CONTINUATION,
        separator="\n",
        shots=0,
        targets="The verb; right where it is likelier than the form that doesn't agree.",
        judged="pair",
        origin="built-in",
    )
    anaphor = TextTask(
        "anaphor-agreement",
        "Anaphor agreement",
        _rows("anaphor-agreement"),
        "The reflexive pronoun that agrees with its antecedent in gender or number: "
        "“These patients do respect” goes on with “themselves”, not “himself”.",
        source=f"{_BLIMP}: anaphor gender and number agreement",
        licence=_CC_BY,
        template=CONTINUATION,
        separator="\n",
        shots=0,
        targets="The pronoun; right where it is likelier than the one that doesn't agree.",
        judged="pair",
        origin="built-in",
    )
    return [subject_verb, anaphor]


def _generated() -> list[Task]:
    induction = InductionTask(
        "induction",
        "Induction on random words",
        "24 random words, then the same 24 again: only copying from the first copy can predict the second.",
        source="Drawn from the model's vocabulary (Elhage et al. 2021; Olsson et al. 2022)",
        licence=_MIT,
        targets="The second copy but for its first token.",
        judged="each",
    )
    any_token = replace(
        induction,
        name="induction-any-token",
        title="Induction on any tokens",
        description="The same with tokens of all kinds, pieces of words and of characters among them: what "
        "the task induction drew before it drew words.",
        words=False,
    )
    return [induction, any_token, _rule("ABA", "first"), _rule("ABB", "second")]


def _rule(rule: str, which: str) -> RuleTask:
    return RuleTask(
        f"rule-{rule.lower()}",
        f"Abstract rule {rule}",
        f"Lines of random words, A^B^{rule[-1]}, then a new A^B^: the {which} one is the answer.",
        source="Drawn from the model's vocabulary (Yang et al. 2025)",
        licence=_MIT,
        targets=f"The line's {which} word again; the other one is the counterfactual.",
        shots=5,  # with two, a small model guesses which of the two tokens it is
        rule="ABA" if rule == "ABA" else "ABB",
    )
