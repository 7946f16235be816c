"""Which models stay loaded, who bears which name, what an accuracy means."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from headscope.errors import Refused, Unavailable
from headscope.worker.accuracy import judge
from headscope.worker.identity import take_name
from headscope.worker.resident import Key, Resident
from jobs.tiny import NoWeights


class Shelf:
    def __init__(self, budget: int, limit: int) -> None:
        self.loaded: list[str] = []
        self.resident = Resident(self._load, lambda key: int(key.name), budget, limit)

    def _load(self, key: Key) -> Any:
        self.loaded.append(key.name)
        return NoWeights()

    def use(self, name: str) -> Any:
        return self.resident.model(name, dtype="float32", attention="sdpa")


def test_the_model_unused_for_longest_goes_first() -> None:
    shelf = Shelf(budget=100, limit=200)
    for name in ("40", "50", "40", "30"):
        with shelf.use(name):
            pass
    assert shelf.resident.names() == ["30", "40"]
    assert shelf.loaded == ["40", "50", "30"]
    assert shelf.resident.held() == 70


def test_a_model_in_use_is_never_dropped() -> None:
    shelf = Shelf(budget=100, limit=160)
    with shelf.use("80"):
        with shelf.use("60"):
            assert shelf.resident.names() == ["60", "80"]
            with pytest.raises(Unavailable) as error, shelf.use("30"):
                pass
            assert error.value.code == "models-busy"
        with shelf.use("30"):
            assert shelf.resident.names() == ["30", "80"]


def test_a_model_larger_than_the_device_is_refused_with_numbers() -> None:
    shelf = Shelf(budget=100, limit=2**30)
    with pytest.raises(Refused, match=r"2\.0 GiB of the device's 1\.0 GiB"), shelf.use(str(2**31)):
        pass


def test_a_name_is_borne_by_one_worker_and_taken_up_by_the_next(tmp_path: Path) -> None:
    first, first_lock = take_name(tmp_path)
    second, second_lock = take_name(tmp_path)
    assert first != second
    first_lock.release()
    again, again_lock = take_name(tmp_path)
    assert again == first
    second_lock.release()
    again_lock.release()


@pytest.mark.parametrize(
    ("accuracy", "chance", "n", "verdict"),
    [
        (0.0, 0.0, 100, "cannot"),
        (0.04, 0.02, 100, "cannot"),
        (0.3, 0.02, 100, "weak"),
        (0.8, 0.02, 100, "can"),
        (0.55, 0.5, 100, "cannot"),
        (0.7, 0.5, 100, "weak"),
        (0.9, 0.5, 100, "can"),
        (1.0, 0.0, 1, "cannot"),
    ],
)
def test_an_accuracy_is_judged_against_guessing(accuracy: float, chance: float, n: int, verdict: str) -> None:
    assert judge(accuracy, chance, n) == verdict
