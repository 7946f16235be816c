"""What identifies a model and its heads, read from its folder without torch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, SupportsInt

from headscope.core.model.folder import architecture, bos_policy, check, read_config
from headscope.core.model.kinds import check_kind
from headscope.core.model.revision import revision
from headscope.core.model.sizes import counts


@dataclass(frozen=True)
class ModelInfo:
    """What identifies a model and its heads. ``revision`` is a hash of all that it computes by
    (``core.model.revision``); heads are query heads.
    """

    name: str
    revision: str
    architecture: str
    n_layers: int
    n_heads: int
    n_kv_heads: int
    d_model: int
    d_head: int
    d_vocab: int
    n_ctx: int
    n_params: int
    n_params_non_embedding: int
    dtype: str
    weight_processing: str
    tokenizer_hash: str
    bos: bool
    """Whether the tokenizer's own policy puts a beginning-of-sequence token first."""
    title: str = ""
    """The model's name in words."""
    note: str = ""
    """What must be known of it wherever its heads are shown: a sentence or two, mostly none."""

    @property
    def added_note(self) -> str:
        """The note as a sentence behind others; empty where there is none."""
        return f" {self.note}" if self.note else ""

    def to_json(self) -> dict[str, Any]:
        """As it is stored: words that there aren't are left out, as before there were any."""
        return {name: value for name, value in asdict(self).items() if value or name not in _WORDS}


_WORDS = ("title", "note")


def model_info(folder: Path, *, name: str, dtype: str = "float32") -> ModelInfo:
    """What config.json, the weight files' headers and the tokenizer say; loads no torch.

    Raises NotFound without the folder, Invalid where a file is damaged or the model's kind has no heads.
    """
    config = read_config(folder)
    check_kind(config)
    sizes: Mapping[str, Any] = counts(config, check(folder))
    tokenizer_hash, bos = bos_policy(folder, sizes["d_vocab"])
    return ModelInfo(
        name=name,
        revision=revision(folder),
        architecture=architecture(config),
        dtype=dtype,
        weight_processing="none",
        tokenizer_hash=tokenizer_hash,
        bos=bos,
        **sizes,
    )


def head_name(place: Iterable[SupportsInt]) -> str:
    """Layer and head as they are written: 1.5."""
    layer, head = place
    return f"{int(layer)}.{int(head)}"


def heads_in_words(count: int) -> str:
    """``1 head``, ``3 heads``."""
    return f"{count} head" if count == 1 else f"{count} heads"
