"""The documentation is complete: see docs.py."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from house.docs import CHECKS, absent_modules, absent_paths


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_documentation(check: Callable[[], Iterator[str]]) -> None:
    assert list(check()) == []


def test_a_path_that_leads_nowhere_is_found() -> None:
    text = "`core/model/load.py`, `core/model/gone.py`, `lab/board/`, a/b, docs/gone.md and `analyses/NAME/`"
    assert absent_paths(text) == ["core/model/gone.py", "docs/gone.md"]


def test_a_name_that_the_package_lacks_is_found() -> None:
    assert absent_modules("`analyses.ANALYSES`, `analyses.gone`, `layout.meta`") == ["analyses.gone"]
