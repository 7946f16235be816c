"""The documentation is complete: see docs.py."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from house.docs import CHECKS


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_documentation(check: Callable[[], Iterator[str]]) -> None:
    assert list(check()) == []
