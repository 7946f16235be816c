"""From measured numbers to sentences: what would explain that methods disagree on a head.

Closing the head is the yardstick. Where that costs something, the methods that miss the head are to be
explained; where it doesn't, those that find it. What no rule accounts for is said to be unknown.
"""

from __future__ import annotations

from headscope.analyses.agreement.evidence import Explanation, HeadEvidence, nats, titles
from headscope.analyses.agreement.reasons import RULES


def explanations(head: HeadEvidence) -> list[Explanation]:
    """What the evidence says of a head's verdicts; ``unknown`` closes it where a method is left over."""
    told = [made for rule in RULES if (made := rule(head)) is not None]
    covered = {name for made in told for name in made.accounts_for}
    asked = head.missed if head.counts else head.found
    left_over = [name for name in asked if name not in covered]
    if left_over:
        one = len(left_over) == 1
        verb = ("misses" if one else "miss") if head.counts else ("finds" if one else "find")
        text = (
            f"Nothing that was measured explains why {titles(left_over)} {verb} it, where closing it costs "
            f"{nats(head.closed)}."
        )
        told.append(Explanation("unknown", text, left_over))
    return told
