"""``hs.load``: a model to compute with, by name, by folder, or as it lies in memory."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from headscope.core.gating.ablation import Ablation
from headscope.core.gating.gate_vector import GateVector
from headscope.core.model.capabilities import Proof
from headscope.core.model.info import ModelInfo
from headscope.core.model.tokens import Tokenizer
from headscope.errors import Invalid
from headscope.models.catalogue import Catalogue
from headscope.python.loading import Loaded
from headscope.settings import Settings

if TYPE_CHECKING:
    from torch import nn

    from headscope.core.model.head_model import HeadModel


Reference = Sequence[str | Sequence[int]]
"""Texts, or rows of token ids, that closed heads' output is taken from."""


class Model:
    """A model that runs can be computed on. ``hs.load`` makes it; weights are loaded when they are needed,
    and stay for as long as this object does.
    """

    def __init__(self, catalogue: Catalogue, name: str, module: nn.Module | None, settings: Settings) -> None:
        self._catalogue, self._module = catalogue, module
        self.name: str = catalogue.info(name).name
        """What runs call it."""
        self.loaded = Loaded(catalogue, settings.device)

    @property
    def info(self) -> ModelInfo:
        """Its sizes and its revision, as its files are now."""
        return self._catalogue.info(self.name)

    @property
    def folder(self) -> Path:
        """Where its configuration, weights (safetensors) and tokenizer lie."""
        return self._catalogue.folder(self.name)

    @property
    def tokenizer(self) -> Tokenizer:
        """Its tokenizer, with true byte spans."""
        return self._catalogue.tokenizer(self.name)

    @property
    def module(self) -> nn.Module | None:
        """The transformers model that was given to ``hs.load``, where one was."""
        return self._module

    @property
    def heads(self) -> HeadModel:
        """The model as Headscope sees it (``headscope.core.model.head_model``), in float32."""
        with self.loaded.model(self.name, dtype="float32", attention="sdpa") as heads:
            return heads

    @property
    def proof(self) -> Proof:
        """What it is proved to give, in float32, against the plain model: ``has("patterns")``, and ``checks``
        with their largest differences. Weights that were never checked are loaded for it.
        """
        return self._catalogue.proof(self.name) or self._catalogue.proofs.of(self.heads)

    def logits(self, text: str) -> Float[np.ndarray, "pos vocab"]:
        """Logits of the next token at each of the text's positions, under the gates of an open ``hs.gated``.

        Raises ``Invalid`` for a text beyond the model's context.
        """
        import torch

        tokens = torch.tensor([self.tokenizer.encode(text)])
        with torch.no_grad():
            if self._module is None:
                logits = self.heads.logits(tokens.to(self.heads.device))
            else:
                logits = self._module(tokens.to(next(self._module.parameters()).device)).logits
        table: np.ndarray[Any, np.dtype[np.float32]] = logits[0].float().cpu().numpy()
        return table

    def gated(
        self,
        gates: GateVector | Any,
        *,
        ablation: Ablation | None = None,
        reference: Reference = (),
        seed: int = 0,
    ) -> AbstractContextManager[None]:
        """See ``headscope.gated``."""
        import torch

        table = gates
        if isinstance(gates, GateVector):
            self._check(gates)
            table = gates.gates
        kind = ablation or own_ablation(gates)
        rows = [self.tokenizer.encode(row) if isinstance(row, str) else list(row) for row in reference]
        if self._module is not None:
            from headscope.core.gating.plain_model import gated_model

            return gated_model(self._module, table, kind, rows, seed)
        from headscope.core.gating.gate_vector import gate_table
        from headscope.core.gating.text_replacements import of_text

        given = table.detach().cpu().numpy() if isinstance(table, torch.Tensor) else table
        heads = self.heads
        self.proof.require(["gating"])
        inside = of_text(heads, kind, rows, seed)
        return heads.gated(torch.from_numpy(gate_table(given, self.info)).to(heads.device), inside)

    def __repr__(self) -> str:
        info = self.info
        size = f"{info.n_layers} layers of {info.n_heads} heads, {info.n_params / 1e6:.3g} million parameters"
        return f"<Model {self.name}: {size}, weights {info.revision}>"

    def _check(self, gates: GateVector) -> None:
        if gates.revision and gates.revision != self.info.revision:
            raise Invalid(
                f"The gates {gates.name or gates.id!r} belong to {gates.model}, weights {gates.revision}; "
                f"those of {self.name} are {self.info.revision}.",
                "Use gates that were made for these weights.",
                code="other-model",
            )


def load(
    model: str | Path | nn.Module | tuple[nn.Module, Any] | Model,
    tokenizer: Any = None,
    *,
    name: str | None = None,
    fetch: bool = False,
    accept_terms: bool = False,
    settings: Settings | None = None,
) -> Model:
    """A model to compute with.

    ``model`` is a name as ``headscope models list`` shows it, a path to a folder, a hub name ``org/name``, or
    a transformers model with its tokenizer, as a pair or as two arguments. Nothing is downloaded unless
    ``fetch`` says so, and what has terms of use only where ``accept_terms`` does. A model in memory is kept
    as a folder in the data directory, by its content and under ``name`` if that is given, so that its runs
    say which weights they are of; one that still equals the folder it was loaded from is that folder.

    Raises ``NotFound`` (unknown-model) with the names there are, ``Unavailable`` (model-not-fetched),
    ``Refused`` (terms-not-accepted), ``Invalid`` for a folder, an architecture or a tokenizer that can't be
    used.
    """
    if isinstance(model, Model):
        return model
    settings = settings or Settings()
    catalogue = Catalogue(settings)
    if isinstance(model, str | Path):
        asked = str(model)
        if fetch:
            catalogue.fetch(asked, accept_terms=accept_terms)
        return Model(catalogue, _named(catalogue, asked), None, settings)
    module, words = model if isinstance(model, tuple) else (model, tokenizer)
    if words is None:
        raise Invalid(
            "A model in memory needs its tokenizer.",
            "Write hs.load((model, tokenizer)).",
            code="tokenizer-missing",
        )
    from headscope.models.loaded import keep

    return Model(catalogue, keep(catalogue, module, words, name), module, settings)


def gated(
    model: Model | nn.Module,
    gates: GateVector | Any,
    *,
    ablation: Ablation | None = None,
    reference: Reference = (),
    seed: int = 0,
) -> AbstractContextManager[None]:
    """Gate the heads of a model while the context is open: what ``load`` gave, or any transformers model.

    ``gates`` [layer, head] in [0, 1]: a vector as ``Run.gates`` and ``load_gates`` give it, an array, a
    tensor or nested lists. Each head's output z becomes g z + (1 - g) r before W_O, at every position, in
    generation too. ``ablation`` says what r is: ``zero``, nothing; ``mean``, the head's mean over the
    ``reference`` texts, their first tokens apart; ``resample``, what it gives in one of them, drawn by
    ``seed``. Unset it is that which the gates were fitted with, zero for plain arrays. Reference texts are
    strings, or token ids for a transformers model alone, which has no tokenizer.

    Raises ``Invalid`` for gates of another shape or, where the weights are known, of other weights; for an
    architecture whose heads aren't known; where a layer's hook isn't reached; without reference texts where
    they are needed (no-reference); for ``counterfactual``, which texts don't have (no-pairs).
    """
    if isinstance(model, Model):
        return model.gated(gates, ablation=ablation, reference=reference, seed=seed)
    from headscope.core.gating.plain_model import gated_model

    kind = ablation or own_ablation(gates)
    return gated_model(model, gates, kind, [_token_ids(row) for row in reference], seed)


def own_ablation(gates: GateVector | Any) -> Ablation:
    """What gates were fitted with."""
    return gates.ablation if isinstance(gates, GateVector) else "zero"


def _token_ids(row: str | Sequence[int]) -> list[int]:
    if isinstance(row, str):
        raise Invalid(
            "A transformers model alone has no tokenizer to read reference texts with.",
            "Give token ids, or the model with its tokenizer: hs.load((model, tokenizer)).",
            code="tokenizer-missing",
        )
    return list(row)


def _named(catalogue: Catalogue, asked: str) -> str:
    """The name for a model's runs: a folder's is its path, whether or not it is written with a slash."""
    if any(entry.name == asked for entry in catalogue.all()):
        return asked
    path = Path(asked).expanduser()
    return str(path.resolve()) if path.is_dir() else asked
