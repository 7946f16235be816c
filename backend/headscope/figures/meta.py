"""What a figure says of itself in ``layout.meta``: words, what it follows, and the geometry of its grid.

The API's document has these types, and the page's types come from there; unknown keys are no part of them.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal, NotRequired

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from headscope.core.gating.ability import Ability
from headscope.core.gating.vocabulary import MapKind, Vocabulary
from headscope.core.statistics.replication import Verdict
from headscope.figures.view import Mode
from headscope.messages.base import example

Head = tuple[int, int]
"""Layer and head."""

Range = tuple[float, float]

CLOSED = ConfigDict(extra="forbid")


@with_config(example(always=[0.07, 0.21], any=[0.3, 0.5]) | CLOSED)
class ShareRanges(TypedDict):
    """Both ends of the 95 % interval of a share; null with too few seeds."""

    always: Range | None
    any: Range | None


@with_config(
    example(
        needed={"always": [0.07, 0.21], "any": [0.3, 0.5]}, harmful={"always": [0.0, 0.02], "any": [0.1, 0.2]}
    )
    | CLOSED
)
class RoleRanges(TypedDict):
    """Of the share of heads with each role."""

    needed: ShareRanges
    harmful: ShareRanges


_REPLICATION = {
    "prior": [0.44, 0.7],
    "rate": [0.14, 0.46, 0.78],
    "low": [0.0, 0.1, 0.38],
    "high": [0.52, 0.84, 1.0],
    "verdict": ["undecided", "undecided", "undecided"],
    "more": [None, None, 4],
    "replicating": 0.0,
    "split_half": 0.77,
}


@with_config(example(**_REPLICATION) | CLOSED)
class RoleReplication(TypedDict):
    """Of a role, by the number of fits that gave it, from none to all: would a new fit give it again?"""

    prior: Annotated[tuple[float, float], Field(description="Beta(a, b) of the heads' rates.")]
    rate: Annotated[list[float], Field(description="Probability of the role in a new fit.")]
    low: Annotated[list[float], Field(description="Lower end of the rate's 90 % interval.")]
    high: Annotated[list[float], Field(description="Upper end of it.")]
    verdict: list[Verdict]
    more: Annotated[
        list[int | None],
        Field(description="More fits until it replicates, at the share seen; null: too many."),
    ]
    replicating: Annotated[float, Field(description="Share of all heads whose role replicates.")]
    split_half: Annotated[
        float | None, Field(description="Correlation of shares between halves, for all fits; null: too few.")
    ]


@with_config(example(needed=_REPLICATION, harmful=_REPLICATION, irrelevant=_REPLICATION) | CLOSED)
class Replications(TypedDict):
    """Of each role."""

    needed: RoleReplication
    harmful: RoleReplication
    irrelevant: RoleReplication


@with_config(
    example(
        kind="roles",
        title="What each head does for the task",
        roles=["undecided", "needed", "harmful", "both", "doesn’t matter"],
        terms=["undecided", "facilitating", "interfering", "ambivalent", "irrelevant"],
        scores={"facilitation": "needed", "interference": "harmful", "irrelevance": "doesn’t matter"},
        lifted="with harmful heads ablated",
    )
    | CLOSED
)
class MapWords(TypedDict):
    """How a map speaks of its heads: of roles, or where the model can't do the task of what would lift it."""

    kind: MapKind
    title: str
    roles: Annotated[list[str], Field(description="By role code, for legends and after a head.")]
    terms: Annotated[list[str], Field(description="By role code: the paper's, or what the gates did.")]
    scores: Annotated[dict[str, str], Field(description="What a head with a high score is.")]
    lifted: Annotated[
        str, Field(description="What was done to the model where its accuracy under G+ is told.")
    ]


def map_words(words: Vocabulary) -> MapWords:
    """A vocabulary as a figure carries it."""
    return {
        "kind": words.kind,
        "title": words.title,
        "roles": words.by_code(words.labels),
        "terms": words.by_code(words.terms),
        "scores": words.scores,
        "lifted": words.lifted,
    }


@with_config(
    example(
        accuracy=0.91,
        interval=[0.83, 0.96],
        chance=0.02,
        n=96,
        can_do=True,
        words="answers 91.0 % right",
    )
    | CLOSED
)
class ToldAbility(TypedDict):
    """How the model does on the run's held-out rows as it is; what isn't known is null."""

    accuracy: float | None
    interval: Range | None
    chance: float | None
    n: int | None
    can_do: bool
    words: str
    caution: NotRequired[
        Annotated[str, Field(description="That its rows are too few to say what it can do, where they are.")]
    ]


def told_ability(ability: Ability) -> ToldAbility:
    """An ability as a figure carries it."""
    told: ToldAbility = {
        "accuracy": ability.accuracy if math.isfinite(ability.accuracy) else None,
        "interval": ability.interval,
        "chance": ability.chance,
        "n": ability.n,
        "can_do": ability.can_do,
        "words": ability.words,
    }
    if ability.caution is not None:
        told["caution"] = ability.caution
    return told


_WHY = {
    "kind": "backup",
    "text": "Other heads do its work when it is closed.",
    "accounts_for": ["left_out"],
}


@with_config(example(**_WHY) | CLOSED)
class Why(TypedDict):
    """A sentence on why methods disagree, and the methods that it accounts for."""

    kind: str
    text: str
    accounts_for: list[str]


_DISAGREEMENT = {
    "head": "1.5",
    "strength": 0.8,
    "found": ["gating"],
    "missed": ["left_out"],
    "seeds": 1.0,
    "measured": {"direct": 0.02},
    "why": [_WHY],
}


@with_config(example(**_DISAGREEMENT) | CLOSED)
class Disagreement(TypedDict):
    """A head that some methods find and others don't, with what would explain it."""

    head: str
    strength: float
    found: list[str]
    missed: list[str]
    seeds: Annotated[float, Field(description="Share of the seeds that need it.")]
    measured: dict[str, Any]
    why: list[Why]


@with_config(example(title="Prefix matching", reading="How much each repeated token looks back.") | CLOSED)
class FigureMeta(TypedDict):
    """What a figure says beside its traces; what doesn't concern it is left out."""

    title: str
    reading: Annotated[str, Field(description="How to read it, in a sentence or a few.")]
    wide: NotRequired[Annotated[bool, Field(description="It wants the page's whole width.")]]
    absent: NotRequired[Annotated[bool, Field(description="The run has nothing for it to show.")]]

    # What it shows, and what it follows.
    threshold: NotRequired[Annotated[float, Field(description="Where there is one, it follows it.")]]
    mode: NotRequired[Mode]
    head: NotRequired[Annotated[Head, Field(description="It is about this one: layer and head.")]]
    looked_at: NotRequired[
        Annotated[list[Head], Field(description="The heads that can be asked for; every head where unset.")]
    ]
    score: NotRequired[Annotated[str, Field(description="Which score or measure it shows.")]]
    statistic: NotRequired[Annotated[str, Field(description="What a cell's number is, in words.")]]
    kind: NotRequired[Annotated[Literal["q", "k", "v"], Field(description="Which input of the reader.")]]
    whole: NotRequired[Annotated[bool, Field(description="A cell is a pair of heads, not of layers.")]]
    log_x: NotRequired[Annotated[bool, Field(description="Its x axis may be drawn in logarithms.")]]
    updates_per_point: NotRequired[int]
    pooled: NotRequired[Annotated[int, Field(description="Updates to a point.")]]
    n_test: NotRequired[Annotated[int, Field(description="Held-out examples.")]]
    failed_seeds: NotRequired[int]
    caution: NotRequired[Annotated[str, Field(description="What must be known before it is believed.")]]
    vocabulary: NotRequired[Annotated[MapWords, Field(description="How the map speaks of its heads.")]]
    ability: NotRequired[ToldAbility]
    fewest: NotRequired[Annotated[int | None, Field(description="Heads that are enough.")]]
    pair: NotRequired[Annotated[tuple[int, int], Field(description="Positions that learning compares.")]]

    # Shares against seeds.
    intervals: NotRequired[RoleRanges]
    advice: NotRequired[Annotated[str, Field(description="Whether more seeds would help, in words.")]]
    more_seeds: NotRequired[Annotated[int | None, Field(description="How many more would; null: unknown.")]]

    fits: NotRequired[Annotated[int, Field(description="Fits that finished.")]]
    replication: NotRequired[Replications]
    verdicts: NotRequired[
        Annotated[
            list[str],
            Field(description="By layer, a digit a head, the surest: 0 undecided, 1 leans, 2 replicates."),
        ]
    ]

    # Where methods disagree.
    disagreements: NotRequired[list[Disagreement]]
    methods: NotRequired[Annotated[dict[str, str], Field(description="Titles of methods by name.")]]

    # A grid of heads: all of these, or none.
    layers: NotRequired[int]
    heads: NotRequired[int]
    seeds: NotRequired[Annotated[int, Field(description="Stripes to a cell.")]]
    cell_columns: NotRequired[Annotated[int, Field(description="Columns of the heatmap to a cell.")]]
    row_order: NotRequired[Literal["head 0 on top"]]
    heads_per_group: NotRequired[Annotated[int, Field(description="Query heads that share a key and value.")]]
    head_y: NotRequired[Annotated[list[float], Field(description="Where each head's row is.")]]
    gap: NotRequired[Annotated[tuple[float, float], Field(description="Between cells, in cells: x, y.")]]
    max_width: NotRequired[Annotated[int, Field(description="Pixels.")]]
    outlined: NotRequired[Annotated[list[Head], Field(description="Heads with a frame round their cell.")]]
    words: NotRequired[
        Annotated[list[str], Field(description="What each value of a cell means, where values are kinds.")]
    ]


@with_config(example(run="3f9c2a7be104d6588c1e", label="Induction, Headscope two-layer") | CLOSED)
class ComparedRun(TypedDict):
    """A run by its id and in words."""

    run: str
    label: str


@with_config(
    example(
        title="How alike are the scores spread?",
        reading="Pearson's r between each two runs.",
        notes=["The runs were fitted with different presets."],
        runs=[{"run": "3f9c2a7be104d6588c1e", "label": "Induction, Headscope two-layer"}],
    )
    | CLOSED
)
class ComparisonMeta(FigureMeta):
    """The same of a figure over several runs."""

    notes: Annotated[list[str], Field(description="How the runs differ beyond what is compared.")]
    runs: list[ComparedRun]
    fewest_seeds: NotRequired[Annotated[int | None, Field(description="Of any of the runs.")]]
    seeds_differ: NotRequired[bool]
