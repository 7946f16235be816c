"""What can be done with a model, and the proof of it: a check each against the plain model. Loads no torch.

A capability is lost where one of its checks fails; without ``logits`` nothing is left.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal, get_args

from headscope.errors import Refused

Capability = Literal["logits", "patterns", "gating", "circuits", "attribution"]

CAPABILITIES: Final[tuple[Capability, ...]] = get_args(Capability)

WORDS: Final[Mapping[Capability, str]] = {
    "logits": "what the model predicts",
    "patterns": "attention patterns",
    "gating": "gates on heads",
    "circuits": "circuits from weights",
    "attribution": "attribution of logits to parts",
}
"""What a capability is, as sentences say it."""

Verdict = Literal["holds", "limited", "fails"]

VERSION: Final = 1
"""Goes up when the checks, or what they check, change within a release; a proof of before is made anew."""


@dataclass(frozen=True)
class Check:
    """One comparison with the plain model.

    ``difference`` is the largest there is: of shares as it is, of anything else as a share of the largest
    number that it stands beside; None where there is nothing to compare, which ``detail`` explains.
    ``limited``: it differs, or can't be looked at, for the reason in ``detail``, which circuits state.
    """

    name: str
    title: str
    capability: Capability
    tolerance: float
    difference: float | None
    verdict: Verdict
    detail: str = ""

    @property
    def reason(self) -> str:
        """What is wrong, as a sentence says it."""
        if self.difference is None:
            return f"{self.title}: {self.detail}"
        return f"{self.title}: differs by {self.difference:.2g}, allowed is {self.tolerance:.2g}"


@dataclass(frozen=True)
class CapabilityProof:
    """A capability in words; ``reason`` is the check that takes it away, None where the model has it."""

    name: Capability
    title: str
    reason: str | None
    limits: tuple[str, ...]


@dataclass(frozen=True)
class Proof:
    """What was found of weights of one ``revision``, in one ``dtype``, within ``seconds``."""

    model: str
    revision: str
    dtype: str
    checks: tuple[Check, ...]
    seconds: float
    version: int = VERSION
    code_version: str = ""
    """The version of Headscope that read the model."""
    library: str = ""
    """The version of transformers whose model was the plain one."""

    def lost_by(self, capability: Capability) -> Check | None:
        """The first check that fails of a capability, or of logits, without which there is none."""
        counted = ("logits", capability)
        return next((c for c in self.checks if c.capability in counted and c.verdict == "fails"), None)

    def has(self, capability: Capability) -> bool:
        """Whether nothing that a capability stands on fails."""
        return self.lost_by(capability) is None

    @property
    def capabilities(self) -> list[CapabilityProof]:
        """Each capability with what takes it away, if anything does."""
        return [
            CapabilityProof(name, WORDS[name], None if lost is None else lost.reason, self.limits(name))
            for name in CAPABILITIES
            for lost in [self.lost_by(name)]
        ]

    @property
    def whole(self) -> bool:
        """Whether no check fails."""
        return all(check.verdict != "fails" for check in self.checks)

    def limits(self, capability: Capability) -> tuple[str, ...]:
        """What a capability that holds leaves out, a sentence each."""
        found = (c.detail for c in self.checks if c.capability == capability and c.verdict == "limited")
        return tuple(dict.fromkeys(found))

    def require(self, needs: Iterable[Capability]) -> None:
        """Raise ``Refused`` (not-proved) naming the first of ``needs`` that is lost, and its figure."""
        for capability in ("logits", *needs):
            check = self.lost_by(capability)
            if check is not None:
                left = [c for c in CAPABILITIES if c != "logits" and self.has(c)]
                raise Refused(
                    f"{self.model} can't give {WORDS[capability]}: {check.reason}.",
                    f"What it can give is {', '.join(WORDS[c] for c in left)}."
                    if left
                    else "Choose another model: this one isn't read right here.",
                    code="not-proved",
                )

    def to_json(self) -> dict[str, Any]:
        """Plain JSON, which ``from_json`` reads."""
        return {**asdict(self), "checks": [asdict(check) for check in self.checks]}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Proof:
        """What ``to_json`` wrote. Raises KeyError, TypeError for anything else."""
        return cls(**{**stored, "checks": tuple(Check(**check) for check in stored["checks"])})
