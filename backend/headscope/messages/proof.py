"""What is proved of a model: capabilities with their verdicts, and the checks that they stand on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from headscope.messages.base import REVISION, AboutModel, Schema, example

if TYPE_CHECKING:
    from headscope.core.model.capabilities import Check, Proof

CapabilityName = Literal["logits", "patterns", "gating", "circuits", "attribution"]


class ProofIn(AboutModel):
    wait: float = Field(
        default=2.0, ge=0, le=120, description="Seconds to wait for a model that is being loaded."
    )
    anew: bool = Field(default=False, description="Check again, whatever is kept.")


class CheckOut(Schema):
    model_config = example(
        name="patterns",
        title="patterns equal the plain model's",
        capability="patterns",
        difference=2e-7,
        tolerance=1e-3,
        verdict="holds",
        detail="",
    )

    name: str
    title: str
    capability: CapabilityName
    difference: float | None = Field(
        description="The largest: of shares as it is, else as a share of the largest number beside it. Null "
        "where nothing could be compared."
    )
    tolerance: float
    verdict: Literal["holds", "limited", "fails"]
    detail: str = Field(description="Why it is limited, or couldn't be computed.")

    @classmethod
    def of(cls, check: Check) -> CheckOut:
        """A check as it travels."""
        return cls(
            name=check.name, title=check.title, capability=check.capability, difference=check.difference,
            tolerance=check.tolerance, verdict=check.verdict, detail=check.detail,
        )  # fmt: skip


class CapabilityOut(Schema):
    model_config = example(name="patterns", title="attention patterns", has=True, reason=None, limits=[])

    name: CapabilityName
    title: str
    has: bool = Field(description="Whether the model gives it; what needs it is refused elsewhere.")
    reason: str | None = Field(description="Which check fails, with its figure.")
    limits: list[str] = Field(description="What it leaves out, a sentence each.")


class ProofOut(Schema):
    model_config = example(
        model="headscope-2l",
        revision=REVISION,
        dtype="float32",
        seconds=0.4,
        library="5.24.0",
        capabilities=[CapabilityOut.example()],
        checks=[CheckOut.example()],
    )

    model: str
    revision: str
    dtype: str
    seconds: float = Field(description="How long the checks took.")
    library: str = Field(description="The version of transformers whose model was the plain one.")
    capabilities: list[CapabilityOut]
    checks: list[CheckOut]

    @classmethod
    def of(cls, proof: Proof) -> ProofOut:
        """A proof as it travels."""
        return cls(
            model=proof.model, revision=proof.revision, dtype=proof.dtype, seconds=proof.seconds,
            library=proof.library,
            capabilities=[
                CapabilityOut(
                    name=each.name, title=each.title, has=each.reason is None, reason=each.reason,
                    limits=list(each.limits),
                )
                for each in proof.capabilities
            ],
            checks=[CheckOut.of(check) for check in proof.checks],
        )  # fmt: skip
