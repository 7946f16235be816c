"""Planted against found roles: cases worked by hand."""

from __future__ import annotations

import math

import numpy as np

from headscope.validation.planted import Head, Role
from headscope.validation.score import Match, found_roles, matches, together

# Two seeds of one layer: needed, harmful, useless, needed in one seed, undecided.
PLUS = np.array([[[0.9, 0.1, 0.9, 0.9, 0.6]], [[0.9, 0.2, 0.8, 0.9, 0.6]]])
MINUS = np.array([[[0.9, 0.0, 0.1, 0.9, 0.3]], [[0.6, 0.0, 0.0, 0.1, 0.3]]])


def test_roles_are_found_over_all_seeds() -> None:
    assert found_roles(PLUS, MINUS) == {
        "needed": ((0, 0),),
        "harmful": ((0, 1),),
        "redundant": ((0, 3),),
        "useless": ((0, 2),),
    }


def test_a_failed_seed_finds_nothing() -> None:
    lost = PLUS.copy()
    lost[1] = np.nan
    assert set(found_roles(lost, MINUS).values()) == {()}


def test_precision_and_recall_are_shares_of_found_and_of_planted() -> None:
    planted: dict[Role, tuple[Head, ...]] = {
        "needed": ((0, 0), (0, 3)),
        "harmful": ((0, 1),),
        "redundant": (),
        "useless": ((0, 2), (0, 4)),
    }
    scored = matches(planted, found_roles(PLUS, MINUS))
    assert scored["needed"] == Match(planted=2, found=1, both=1)
    assert (scored["needed"].precision, scored["needed"].recall) == (1.0, 0.5)
    assert (scored["redundant"].precision, math.isnan(scored["redundant"].recall)) == (0.0, True)
    assert together([scored, scored])["useless"] == Match(planted=4, found=2, both=2)
