"""The answer to a configuration that is tried: a small model of it, made and proved beside other work."""

from __future__ import annotations

from headscope.messages import ProofOut, TrialIn, TrialOut
from headscope.models.known import fitting, memory_bytes
from headscope.worker.handler import RequestHandler

_SHOWN = ("n_layers", "n_heads", "n_kv_heads", "d_head", "d_model", "d_vocab", "n_ctx", "n_params")


def answer(handler: RequestHandler, wanted: TrialIn) -> TrialOut:
    """What the configuration describes; ``Invalid`` for one that can't be used."""
    from headscope.models.trial import try_config

    with handler.models.loading_alone():
        trial = try_config(wanted.config)
    takes = {dtype: memory_bytes(trial.sizes["n_params"], dtype) for dtype in ("float32", "bfloat16")}
    return TrialOut(
        architecture=trial.architecture,
        memory_float32=takes["float32"],
        memory_bfloat16=takes["bfloat16"],
        fits=fitting(takes, handler.models.limit),
        quantised=trial.quantised,
        expected=ProofOut.of(trial.proof).capabilities,
        **{name: trial.sizes[name] for name in _SHOWN},
    )
