"""RASP programs compiled by Tracr [Lindner et al. 2023, arXiv 2301.05062] to the weights in ``programs/``.

Run once, with the extra ``tracr`` installed, and only when a program changes:

    python -m headscope.validation.compile_programs

Each file holds a program's matrices as Tracr places them (row vectors, no bias, causal), the heads by layer,
and the words of its vocabulary; ``compiled`` makes models of them. Tracr is Apache-2.0.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from headscope.validation.compiled import ASK, FOLDER, LETTERS, SORTED

BOS: Final = "bos"
LOGIT: Final = 10.0
"""What the program's answer gets over all other words."""


def previous() -> Any:
    """The token before."""
    from tracr.rasp import rasp

    before = rasp.Select(rasp.indices, rasp.indices, lambda key, query: key == query - 1)
    return rasp.Aggregate(before, rasp.tokens).named("previous")


def induction() -> Any:
    """What followed the present token where it stood before."""
    from tracr.rasp import rasp

    same = rasp.Select(previous(), rasp.tokens, rasp.Comparison.EQ)
    return rasp.Aggregate(same, rasp.tokens).named("induction")


def count() -> Any:
    """How often the present token has occurred, itself included."""
    from tracr.rasp import rasp

    return rasp.SelectorWidth(rasp.Select(rasp.tokens, rasp.tokens, rasp.Comparison.EQ)).named("count")


def order() -> Any:
    """The j-th smallest of ``SORTED`` different tokens; they come twice, since a causal head ranks a token
    only by those before it.
    """
    from tracr.rasp import rasp

    last = 2 * SORTED
    first = rasp.SequenceMap(lambda t, i: t if i < SORTED else "~", rasp.tokens, rasp.indices)
    rank = rasp.SelectorWidth(rasp.Select(first, rasp.tokens, lambda key, query: key < query)).named("rank")
    placed = rasp.SequenceMap(lambda r, i: r if SORTED <= i < last else -1, rank, rasp.indices)
    asked = rasp.Map(lambda t: ASK.index(t) if t in ASK else -2, rasp.tokens)
    return rasp.Aggregate(rasp.Select(placed, asked, rasp.Comparison.EQ), rasp.tokens).named("order")


def distinct() -> Any:
    """The j-th different token, in the order in which they came."""
    from tracr.rasp import rasp

    new = rasp.Map(lambda n: "new" if n == 1 else "again", count())
    every = rasp.Map(lambda t: "new", rasp.tokens)
    seen = rasp.SelectorWidth(rasp.Select(new, every, rasp.Comparison.EQ)).named("seen")
    placed = rasp.SequenceMap(lambda n, kind: n - 1 if kind == "new" else -1, seen, new)
    asked = rasp.Map(lambda t: ASK.index(t) if t in ASK else -2, rasp.tokens)
    return rasp.Aggregate(rasp.Select(placed, asked, rasp.Comparison.EQ), rasp.tokens).named("distinct")


def bystander() -> Any:
    """The token before, though a count is made as well: of it the answer doesn't depend."""
    from tracr.rasp import rasp

    return rasp.SequenceMap(lambda token, n: token, previous(), count()).named("bystander")


PROGRAMS: Final = {
    "previous": (previous, LETTERS, 8),
    "induction": (induction, LETTERS, 8),
    "count": (count, LETTERS[:4], 8),
    "order": (order, (*LETTERS, *ASK[:SORTED]), 2 * SORTED + 2),
    "distinct": (distinct, (*LETTERS[:4], *ASK), 8),
    "bystander": (bystander, LETTERS[:4], 6),
}


def compiled_arrays(name: str) -> dict[str, NDArray[Any]]:
    """A program's matrices by the names of ``planted.Weights``, its words, and where its heads are."""
    from tracr.compiler import compiling

    make, vocab, longest = PROGRAMS[name]
    program = make()
    model = compiling.compile_rasp_to_model(program, set(vocab), longest, causal=True, compiler_bos=BOS)
    config, params, labels = model.model_config, model.params, model.residual_labels
    layers, heads, d_head = config.num_layers, config.num_heads, config.key_size

    def weight(layer: int, part: str) -> NDArray[Any]:
        module = params[f"transformer/layer_{layer}/{part}"]
        if np.any(np.asarray(module["b"])):
            raise ValueError(f"{name}: {part} of layer {layer} has a bias, and models here have none.")
        return np.asarray(module["w"], np.float32)

    def read(part: str) -> NDArray[Any]:
        matrices = [weight(layer, f"attn/{part}") for layer in range(layers)]
        return np.stack([m.reshape(-1, heads, d_head).transpose(1, 0, 2) for m in matrices])

    out = np.stack([weight(layer, "attn/linear").reshape(heads, d_head, -1) for layer in range(layers)])
    encoding = model.input_encoder.encoding_map
    answers = {value: labels.index(f"{program.label}:{value}") for value in model.output_encoder.encoding_map}
    inputs = sorted(encoding, key=lambda word: encoding[word])
    words = [*map(str, inputs), *(str(value) for value in answers if value not in encoding)]
    embed = np.asarray(params["token_embed"]["embeddings"], np.float32)
    W_E = np.zeros((len(words), embed.shape[1]), np.float32)
    W_E[: len(inputs)] = embed
    W_U = np.zeros((embed.shape[1], len(words)), np.float32)
    for value, direction in answers.items():
        W_U[direction, words.index(str(value))] = LOGIT
    return {
        "W_E": W_E,
        "W_pos": np.asarray(params["pos_embed"]["embeddings"], np.float32),
        "W_Q": read("query"),
        "W_K": read("key"),
        "W_V": read("value"),
        "W_O": out,
        "W_U": W_U,
        "W_in": np.stack([weight(layer, "mlp/linear_1") for layer in range(layers)]),
        "W_out": np.stack([weight(layer, "mlp/linear_2") for layer in range(layers)]),
        "words": np.array([str(word) for word in words]),
        "writes": np.array(
            [[_written(out[layer, head], labels) for head in range(heads)] for layer in range(layers)]
        ),
    }


def _written(out: NDArray[Any], labels: list[str]) -> str:
    """The name of the value that a head writes; empty where it writes nothing."""
    names = {label.split(":")[0] for label, column in zip(labels, out.T, strict=True) if np.any(column)}
    return " ".join(sorted(names))


def main(folder: Path = FOLDER) -> None:
    """Write all programs."""
    folder.mkdir(exist_ok=True)
    for name in PROGRAMS:
        np.savez_compressed(folder / f"{name}.npz", allow_pickle=False, **compiled_arrays(name))


if __name__ == "__main__":
    main()
