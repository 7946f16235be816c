"""The table twins of meaning's figures."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from headscope.analyses.columns import Column, Table, flat, places, table
from headscope.analyses.meaning.evidence import Evidence, Tested
from headscope.analyses.meaning.names import NONE, names_of
from headscope.analyses.meaning.result import MeaningResult
from headscope.analyses.meaning.roles import ROLES
from headscope.figures.view import View

PerHead = Float[np.ndarray, "layer head"]


def names(result: MeaningResult, view: View) -> Table:
    """A row a head: its names, what each rests on, what contradicts them."""
    found = result.evidence
    heads = list(np.ndindex(*result.first_name.shape))
    against: dict[str, list[str]] = {}
    for each in result.conflicts:
        against.setdefault(each["head"], []).append(each["text"])
    columns: list[Column] = [
        *places(result.model),
        ("names", "names", "", np.array([_names(result, found, head) for head in heads], object)),
        ("evidence", "evidence", "", np.array([_evidence(result, found, head) for head in heads], object)),
        (
            "conflicts",
            "what doesn't fit",
            "",
            np.array([" ".join(against.get(f"{layer}.{head}", [])) for layer, head in heads], object),
        ),
    ]
    if result.roles is not None:
        columns += [
            (key, words, "", flat(having) > 0)
            for (key, words, *_), having in zip(ROLES, result.roles, strict=True)
        ]
    return table(columns)


def evidence(result: MeaningResult, view: View) -> Table:
    """A row a head: every score, and whether its test was passed."""
    columns: list[Column] = [*places(result.model)]
    for each in result.evidence.tested:
        key, test = each.test.key, each.test
        columns.append((key, f"{test.name}: {test.measure}", "", flat(each.score).astype(np.float32)))
        columns.append(
            (f"{key}_error", f"{test.name}: standard error", "", flat(each.error).astype(np.float32))
        )
        if each.q is not None:
            title = f"{test.name}: p, corrected for the heads"
            columns.append((f"{key}_q", title, "", flat(each.q).astype(np.float32)))
        columns.append((f"{key}_passed", f"passes for {test.name} ({asked(each)})", "", flat(each.passed)))
    if result.resting is not None:
        columns.append(("resting", "attention to the first token", "share", flat(result.resting)))
    return table(columns)


def cross(result: MeaningResult, view: View) -> Table:
    """A row a role and name."""
    found, tests = result.cross, result.tests
    if found is None:
        empty = np.zeros(0)
        return table([("role", "role", "", empty), ("name", "name", "", empty)])
    named = result.passed.astype(int).sum(axis=(1, 2))
    n_tests, n_roles = len(tests), len(ROLES)
    columns: list[Column] = [
        ("role", "role", "", np.repeat(np.array([words for _, words, *_ in ROLES], object), n_tests)),
        ("name", "name", "", np.tile(np.array([each["name"] for each in tests], object), n_roles)),
        ("both", "heads with both", "", flat(found.count)),
        ("role_heads", "heads with the role", "", np.repeat(found.sizes, n_tests)),
        ("name_heads", "heads with the name", "", np.tile(named, n_roles)),
        ("expected", "expected by chance", "", flat(found.expected)),
        ("p", "p", "", flat(found.p)),
        ("p_corrected", "p, corrected for all cells", "", flat(found.corrected)),
    ]
    if found.least is not None:
        columns.append(("p_least", "smallest p of such sizes", "", flat(found.least)))
    return table(columns)


def asked(each: Tested) -> str:
    """What a test asks for, in words."""
    test = each.test
    if test.threshold is None:
        return f"significant by {test.rule}"
    return f"{'at least' if test.sign > 0 else 'at most'} {test.threshold:g}"


def in_words(each: Tested, head: tuple[int, int], resting: PerHead | None = None) -> str:
    """A score, what was asked, how near it is, and of how much of the head's attention it speaks."""
    error = each.error[head]
    spread = f" ± {error:.2g}" if np.isfinite(error) else ""
    close = ", close to it" if each.close[head] else ""
    sure = "" if each.q is None or not np.isfinite(each.q[head]) else f", p {each.q[head]:.1g}"
    text = (
        f"{each.test.name}: {each.test.measure} {each.score[head]:.3g}{spread} ({asked(each)}{sure}{close})"
    )
    if resting is None or each.test.param != "induction":
        return text
    return f"{text}, of the {100 * (1 - resting[head]):.0f} % of its attention not on the first token"


def _names(result: MeaningResult, found: Evidence, head: tuple[int, int]) -> str:
    passed = [each.test.name for each in names_of(found, head)]
    return ", ".join(passed) or ("none" if result.first_name[head] == NONE else "unknown")


def _evidence(result: MeaningResult, found: Evidence, head: tuple[int, int]) -> str:
    return "; ".join(in_words(each, head, result.resting) for each in names_of(found, head))
