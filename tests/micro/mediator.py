"""A model in which one head carries what the task is, because every weight is set by hand.

The task: question i has answer i. Prompts are ``w1 question w2 answer`` three times, then ``w1 question w2``.

0.0  at an answer: looks two back if the question there is the answer's own, else at the first token; raises
     a flag where the label is right
1.1  the mediator: at the last token, the share of flags, written as "the task is on"
2.0  if the task is on, looks at the last question and writes its answer to the logits; else rests

In prompts with shuffled labels no flag is up and the answer is a guess. The mediator's clean mean switches
the task on; no other head's does: 0.0 rests at the last token, the mean of 2.0 is other questions' answers.
"""

from __future__ import annotations

import math

import torch

from headscope.core.model.head_model import HeadModel
from headscope.tasks.task import Row
from headscope.tasks.text import TextTask
from headscope.validation.model import as_model
from headscope.validation.planted import Plan, Weights

MEDIATOR = (1, 1)
SHOTS = 3
VOCAB, PAIRS, N_POSITIONS = 64, 14, 16
D_MODEL = 2 * VOCAB + N_POSITIONS + 2
_QUESTION = torch.arange(PAIRS) + 3
_ANSWER = _QUESTION + PAIRS
_FLAG, _ON = VOCAB + N_POSITIONS, VOCAB + N_POSITIONS + 1
_LOGITS = slice(_ON + 1, _ON + 1 + VOCAB)
_SINK = VOCAB - 1  # a dimension of the heads that no question has
_LOOK, _REST = 20.0, 30.0
_SURE = 8.0
_ASKED = 4 * SHOTS + 1
"""Where the last question stands."""


def mediator_model(strength: float = 1.0) -> HeadModel:
    """The model of the module's table; ``strength`` 0 never answers."""
    plan, weights = empty(3, 4, VOCAB, N_POSITIONS, D_MODEL)
    weights.W_U[_LOGITS] = torch.eye(VOCAB, dtype=torch.float64)
    _flagging(weights)
    _mediating(weights)
    _answering(weights, strength)
    return as_model(weights, plan, "mediator")


def empty(layers: int, heads: int, vocab: int, n_ctx: int, d_model: int) -> tuple[Plan, Weights]:
    """Heads that do nothing; the stream begins with the token, then the position."""
    plan = Plan(layers, heads, heads, vocab, d_model, kinds={}, n_ctx=n_ctx)
    inside, outside = (layers, heads, d_model, plan.d_head), (layers, heads, plan.d_head, d_model)
    W_E, W_pos, W_Q, W_K, W_V, W_O, W_U = (
        torch.zeros(shape, dtype=torch.float64)
        for shape in ((vocab, d_model), (n_ctx, d_model), inside, inside, inside, outside, (d_model, vocab))
    )
    W_E[:, :vocab] = torch.eye(vocab)
    W_pos[:, vocab : vocab + n_ctx] = torch.eye(n_ctx)
    return plan, Weights(W_E, W_pos, W_Q, W_K, W_V, W_O, W_U)


def mediator_task(rows: int = PAIRS) -> TextTask:
    """Question i has answer i."""
    pairs = zip(_QUESTION.tolist()[:rows], _ANSWER.tolist()[:rows], strict=True)
    return TextTask(
        "pairs",
        "Pairs",
        tuple(Row(f"w{question}", f"w{answer}") for question, answer in pairs),
        template="w1 {prompt} w2 {target}",
        separator=" ",
        bos=False,
    )


def _flagging(weights: Weights) -> None:
    q, k = weights.W_Q[0, 0], weights.W_K[0, 0]
    root, dims = math.sqrt(VOCAB), torch.arange(PAIRS)
    positions = torch.arange(N_POSITIONS)
    q[_ANSWER, dims] = _LOOK * root
    k[_QUESTION, dims] = 1
    q[VOCAB + positions[2:], PAIRS + positions[:-2]] = _LOOK * root
    k[VOCAB + positions, PAIRS + positions] = 1
    q[VOCAB + positions, _SINK] = _REST * root
    k[VOCAB, _SINK] = 1
    weights.W_V[0, 0, _QUESTION, 0] = 1
    weights.W_O[0, 0, 0, _FLAG] = 1


def _mediating(weights: Weights) -> None:
    layer, head = MEDIATOR
    weights.W_V[layer, head, _FLAG, 0] = 1
    weights.W_O[layer, head, 0, _ON] = (4 * SHOTS + 3) / SHOTS  # all labels right: 1


def _answering(weights: Weights, strength: float) -> None:
    q, k = weights.W_Q[2, 0], weights.W_K[2, 0]
    root, dims = math.sqrt(VOCAB), torch.arange(PAIRS)
    q[_ON, 0] = 2 * _LOOK * root
    k[VOCAB + _ASKED, 0] = 1
    q[VOCAB : VOCAB + N_POSITIONS, _SINK] = _LOOK * root
    k[VOCAB, _SINK] = 1
    weights.W_V[2, 0, _QUESTION, dims] = 1
    weights.W_O[2, 0, dims, _LOGITS.start + _ANSWER] = _SURE * strength
