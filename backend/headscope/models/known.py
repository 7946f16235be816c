"""Well-known models of the Hugging Face hub that Headscope reads, offered by name: what they are, what they
take. Numbers are of the published configurations; a test computes the parameters from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from headscope.core.model.memory import ELEMENT_BYTES, PROGRAM_BYTES

Fits = Literal["float32", "bfloat16", "no"]
"""In which precision a model has room, float32 first: the lab and the analyses' default."""

_HEADROOM: Final = 1.2
"""Weights and what a pass holds beside them."""


@dataclass(frozen=True)
class KnownModel:
    """A model by its hub name; heads are query heads, ``n_bytes`` what a fetch downloads."""

    name: str
    title: str
    summary: str
    licence: str
    gated: bool
    """Whether its terms must be accepted on the hub first."""
    n_params: int
    n_layers: int
    n_heads: int
    n_kv_heads: int
    n_ctx: int
    n_bytes: int

    @property
    def command(self) -> str:
        """What the operator runs to have it here."""
        return f"headscope models fetch {self.name}"

    def memory_bytes(self, dtype: str = "float32") -> int:
        """What a worker takes with it loaded."""
        return memory_bytes(self.n_params, dtype)

    def fits(self, memory: int | None) -> Fits | None:
        """In which precision it has room in so many bytes; None where they aren't known."""
        takes = {dtype: self.memory_bytes(dtype) for dtype in ("float32", "bfloat16")}
        return None if memory is None else fitting(takes, memory)


def memory_bytes(n_params: int, dtype: str) -> int:
    """What a worker takes with so many parameters loaded: the program, the weights, room for a pass."""
    return PROGRAM_BYTES + int(_HEADROOM * n_params * ELEMENT_BYTES[dtype])


def fitting(takes: Mapping[str, int], memory: int) -> Fits:
    """The first of two precisions whose bytes have room in ``memory``."""
    if takes["float32"] <= memory:
        return "float32"
    return "bfloat16" if takes["bfloat16"] <= memory else "no"


KNOWN: Final = (
    KnownModel(
        "openai-community/gpt2", "GPT-2 small", "The model of the first published circuits.",
        "MIT", False, 124_439_808, 12, 12, 12, 1024, 548_000_000,
    ),
    KnownModel(
        "EleutherAI/pythia-160m", "Pythia 160M", "Trained in the open; its own unembedding.",
        "Apache-2.0", False, 162_322_944, 12, 12, 12, 2048, 375_000_000,
    ),
    KnownModel(
        "google/gemma-3-270m", "Gemma 3 270M", "One key/value head, windows of 512 tokens on most layers.",
        "Gemma Terms of Use", True, 268_098_176, 18, 4, 1, 32_768, 536_000_000,
    ),
    KnownModel(
        "Qwen/Qwen3-0.6B", "Qwen 3 0.6B", "Grouped queries with a norm on queries and keys; many languages.",
        "Apache-2.0", False, 596_049_920, 28, 16, 8, 40_960, 1_503_000_000,
    ),
    KnownModel(
        "google/gemma-3-1b-pt", "Gemma 3 1B", "As the 270M, deeper and wider.",
        "Gemma Terms of Use", True, 999_885_952, 26, 4, 1, 32_768, 2_000_000_000,
    ),
    KnownModel(
        "meta-llama/Llama-3.2-1B", "Llama 3.2 1B", "The smallest of the family in the paper on gating.",
        "Llama 3.2 Community Licence", True, 1_235_814_400, 16, 32, 8, 131_072, 2_472_000_000,
    ),
    KnownModel(
        "allenai/OLMo-2-0425-1B", "OLMo 2 1B", "Trained in the open; norms behind attention and MLP.",
        "Apache-2.0", False, 1_484_916_736, 16, 16, 16, 4096, 5_940_000_000,
    ),
    KnownModel(
        "microsoft/Phi-4-mini-instruct", "Phi-4 mini", "Instruct model; rotary embedding on part of a head.",
        "MIT", False, 3_836_021_760, 32, 24, 8, 131_072, 7_672_000_000,
    ),
    KnownModel(
        "mistralai/Mistral-7B-v0.3", "Mistral 7B", "The largest here: a graphics card's work.",
        "Apache-2.0", True, 7_248_023_552, 32, 32, 8, 32_768, 14_496_000_000,
    ),
)  # fmt: skip
"""From small to large."""
