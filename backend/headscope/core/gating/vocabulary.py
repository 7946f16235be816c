"""How a map speaks of its heads: of roles where the model can do the task, else of what lifts its answers.

Codes, scores and shares are the same in both (``core.gating.roles``). On a *steering map* a head whose gate
stays open although it is pushed shut isn't needed, since nothing works that could need it: it *lifts when
open*; one that stays shut *lifts when shut*.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from headscope.core.gating.roles import ROLE_NAMES

MapKind = Literal["roles", "steering"]

_SCORED: Final = {"facilitation": "needed", "interference": "harmful", "irrelevance": "irrelevant"}
"""The role that each score gives."""


@dataclass(frozen=True)
class Vocabulary:
    """Words by the names of ``core.gating.roles``.

    ``names`` are for programs: columns, the headline's numbers. ``labels`` stand in legends and after a head,
    ``clauses`` after "heads", ``terms`` are the paper's, or say what the gates did. ``questions`` are the
    titles of maps of one score. ``conditions`` are the held-out rows of ``roles.CONDITIONS``, and ``lifted``
    says what was done to the model where G+ is meant.
    """

    kind: MapKind
    title: str
    names: Mapping[str, str]
    labels: Mapping[str, str]
    clauses: Mapping[str, str]
    terms: Mapping[str, str]
    questions: Mapping[str, str]
    conditions: tuple[str, str, str, str]
    lifted: str

    @property
    def scores(self) -> dict[str, str]:
        """What a head with a high score is, by score."""
        return {score: self.labels[role] for score, role in _SCORED.items()}

    def heads(self, role: str) -> str:
        """ "needed heads", "heads that lift when open"."""
        clause = self.clauses[role]
        return f"heads {clause}" if clause.startswith("that ") else f"{clause} heads"

    def by_code(self, words: Mapping[str, str]) -> list[str]:
        """Some of its words in the order of role codes."""
        return [words[name] for name in ROLE_NAMES]


ROLES: Final = Vocabulary(
    kind="roles",
    title="What each head does for the task",
    names={name: name for name in ROLE_NAMES},
    labels={
        "needed": "needed",
        "both": "both",
        "undecided": "undecided",
        "irrelevant": "doesn’t matter",
        "harmful": "harmful",
    },
    clauses={"needed": "needed", "harmful": "harmful"},
    terms={
        "needed": "facilitating",
        "both": "ambivalent",
        "undecided": "undecided",
        "irrelevant": "irrelevant",
        "harmful": "interfering",
    },
    questions={
        "facilitation": "How needed is each head?",
        "interference": "How harmful is each head?",
        "irrelevance": "How little does it matter?",
    },
    conditions=("ungated", "no push (G0)", "harmful shut (G+)", "only needed open (G−)"),
    lifted="with harmful heads ablated",
)

STEERING: Final = Vocabulary(
    kind="steering",
    title="Steering map: what would lift the answers",
    names={
        "needed": "lifts_open",
        "both": "both",
        "undecided": "undecided",
        "irrelevant": "either_way",
        "harmful": "lifts_shut",
    },
    labels={
        "needed": "lifts when open",
        "both": "both",
        "undecided": "undecided",
        "irrelevant": "either way",
        "harmful": "lifts when shut",
    },
    clauses={"needed": "that lift when open", "harmful": "that lift when shut"},
    terms={
        "needed": "stays open although pushed shut",
        "both": "neither push moves it",
        "undecided": "undecided",
        "irrelevant": "goes wherever it is pushed",
        "harmful": "stays shut although pushed open",
    },
    questions={
        "facilitation": "How much does each head lift when open?",
        "interference": "How much does each head lift when shut?",
        "irrelevance": "How far does it go either way?",
    },
    conditions=("ungated", "no push (G0)", "pushed open (G+)", "pushed shut (G−)"),
    lifted="under the gates pushed open",
)

VOCABULARIES: Final[Mapping[MapKind, Vocabulary]] = {words.kind: words for words in (ROLES, STEERING)}
