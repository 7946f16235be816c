"""Every question that a worker answers live: one table for the API's routes, the worker and its client."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from headscope.messages.accuracy import AccuracyIn, TaskAccuracyOut
from headscope.messages.base import AboutModel, Schema
from headscope.messages.circuits import CrossedIn, CrossedOut, TablesIn, TablesOut, VirtualIn, VirtualOut
from headscope.messages.lab import (
    ContinueIn,
    ContinueOut,
    GatesIn,
    GatesOut,
    HeadAblationIn,
    HeadAblationOut,
    LookIn,
    LookOut,
    PatternsIn,
    PatternsOut,
)
from headscope.messages.logits import AttributionIn, AttributionOut, LensIn, LensOut
from headscope.messages.proof import ProofIn, ProofOut
from headscope.messages.trial import TrialIn, TrialOut

In = TypeVar("In", bound=AboutModel)
Out = TypeVar("Out", bound=Schema)


@dataclass(frozen=True)
class Question(Generic[In, Out]):
    """What is asked and what is answered, by POST to ``path``: of the API below /api/v1, and of a worker.

    ``name`` is the operation's id in OpenAPI, the first part of ``path`` its tag, ``detail`` its description.
    """

    name: str
    path: str
    asks: type[In]
    answers: type[Out]
    summary: str
    detail: str

    @property
    def tag(self) -> str:
        """``lab`` or ``circuits``."""
        return self.path.split("/")[1]


LOOK: Final = Question(
    "look", "/lab/look", LookIn, LookOut,
    "All heads on a prompt: scores, losses, repeats, thumbnails",
    "One pass. Patterns come as thumbnails; `/lab/patterns` has them whole, layer by layer.",
)  # fmt: skip
PATTERNS: Final = Question(
    "patterns", "/lab/patterns", PatternsIn, PatternsOut,
    "Attention patterns of a prompt",
    "422 for a prompt beyond the context or a layer there isn't; 413 for too much at once.",
)  # fmt: skip
GATES: Final = Question(
    "gates", "/lab/gates", GatesIn, GatesOut,
    "Next-token probabilities before and after gating heads",
    "Gates are [layers, heads] in [0, 1]. One forward pass per move of a slider.",
)  # fmt: skip
CONTINUE: Final = Question(
    "continue_prompt", "/lab/continue", ContinueIn, ContinueOut,
    "What the model writes next, ungated and gated",
    "Greedy at temperature 0; sampled by `seed` above, with the same draws for both.",
)  # fmt: skip
ABLATION: Final = Question(
    "ablation", "/lab/ablation", HeadAblationIn, HeadAblationOut,
    "One head ablated: losses with patterns frozen and free",
    "Frozen patterns show what the head writes itself; free ones also what later heads make of it.",
)  # fmt: skip
ATTRIBUTION: Final = Question(
    "attribution", "/lab/attribution", AttributionIn, AttributionOut,
    "A logit as a sum over heads and other parts",
    "Direct logit attribution at the scale of the final norm; the parts add up to the logit.",
)  # fmt: skip
LENS: Final = Question(
    "lens", "/lab/lens", LensIn, LensOut,
    "What each layer would predict",
    "The logit lens: the stream after each layer, read through the final norm and the unembedding.",
)  # fmt: skip
TABLES: Final = Question(
    "tables", "/circuits/tables", TablesIn, TablesOut,
    "The strongest cells of a head's OV or QK table, or of one token's",
    "Exact over the whole vocabulary: seconds for a large one. 413 for a table that takes too long.",
)  # fmt: skip
CROSSED: Final = Question(
    "crossed", "/circuits/crossed", CrossedIn, CrossedOut,
    "Skip-trigram bugs of a head: pairs that it can't keep apart",
    "Two chosen pairs of one source and their crossed ones, or the worst that the head has.",
)  # fmt: skip
VIRTUAL: Final = Question(
    "virtual", "/circuits/virtual", VirtualIn, VirtualOut,
    "What one component reads of what another one writes",
    "Norm and top singular directions, read in tokens.",
)  # fmt: skip

QUESTIONS: Final[tuple[Question[Any, Any], ...]] = (
    LOOK, PATTERNS, GATES, CONTINUE, ABLATION, ATTRIBUTION, LENS,
    TABLES, CROSSED, VIRTUAL,
)  # fmt: skip
"""Those that the API passes on, in the order of its document."""

PROOF: Final = Question(
    "proof", "/proof", ProofIn, ProofOut,
    "What is proved of a model",
    "Asked by `POST /models/{name}/check`: a worker loads the model and checks what was never checked.",
)  # fmt: skip

TRIAL: Final = Question(
    "trial", "/trial", TrialIn, TrialOut,
    "A configuration tried",
    "Asked by `POST /models/try`: a worker makes a small model of it and proves that.",
)  # fmt: skip

ACCURACY: Final = Question(
    "accuracy", "/accuracy", AccuracyIn, TaskAccuracyOut,
    "How a model does on a task without gates",
    "Asked by `GET /tasks/{name}/accuracy` where no answer is kept.",
)  # fmt: skip
