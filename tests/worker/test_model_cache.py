"""Which models stay loaded, who bears which name, what an accuracy means."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from headscope.core.gating.verdict import judge
from headscope.errors import Refused, Unavailable
from headscope.worker.identity import take_name
from headscope.worker.model_cache import Key, ModelCache
from jobs.tiny import NoWeights


class Shelf:
    def __init__(self, budget: int, limit: int) -> None:
        self.loaded: list[str] = []
        self.before: dict[str, Callable[[], object]] = {}
        self.models = ModelCache(self._load, lambda key: int(key.name), budget, limit)

    def _load(self, key: Key) -> Any:
        self.before.get(key.name, lambda: None)()
        self.loaded.append(key.name)
        return NoWeights()

    def use(self, name: str, wait: float | None = None) -> Any:
        return self.models.model(name, dtype="float32", attention="sdpa", wait=wait)


def test_the_model_unused_for_longest_goes_first() -> None:
    shelf = Shelf(budget=100, limit=200)
    for name in ("40", "50", "40", "30"):
        with shelf.use(name):
            pass
    assert shelf.models.names() == ["30", "40"]
    assert shelf.loaded == ["40", "50", "30"]
    assert shelf.models.held() == 70


def test_a_model_in_use_is_never_dropped() -> None:
    shelf = Shelf(budget=100, limit=160)
    with shelf.use("80"):
        with shelf.use("60"):
            assert shelf.models.names() == ["60", "80"]
            with pytest.raises(Unavailable) as error, shelf.use("30"):
                pass
            assert error.value.code == "models-busy"
        with shelf.use("30"):
            assert shelf.models.names() == ["30", "80"]


def test_loading_one_model_holds_up_no_other() -> None:
    go, began = threading.Event(), threading.Event()
    shelf = Shelf(budget=100, limit=200)
    with shelf.use("40"):
        pass

    def slowly() -> None:
        began.set()
        go.wait(20)

    shelf.before = {"50": slowly}
    with pytest.raises(Unavailable) as error, shelf.use("50", wait=0.05):
        pass
    assert (error.value.code, error.value.retry_after) == ("model-loading", 2)
    assert began.wait(20)
    start = time.monotonic()
    with shelf.use("40"):
        assert time.monotonic() - start < 10, "it waited for the other"
    assert shelf.models.names() == ["40"]
    assert shelf.models.held() == 90, "its place is taken already"
    go.set()
    with shelf.use("50", wait=20):
        assert shelf.models.names() == ["40", "50"]
    assert shelf.loaded == ["40", "50"], "giving up waiting didn't stop it"


def test_models_load_one_at_a_time() -> None:
    """transformers sets torch's default dtype while it loads."""
    inside, most = [0], [0]

    def count() -> None:
        inside[0] += 1
        most[0] = max(most[0], inside[0])
        time.sleep(0.05)
        inside[0] -= 1

    shelf = Shelf(budget=100, limit=200)
    shelf.before = dict.fromkeys(("10", "20", "30"), count)

    def use(name: str) -> None:
        with shelf.use(name):
            pass

    threads = [threading.Thread(target=use, args=(name,)) for name in ("10", "20", "30", "10", "20")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert most == [1]
    assert sorted(shelf.loaded) == ["10", "20", "30"]


def test_a_load_that_fails_is_told_to_all_who_wait_and_tried_anew() -> None:
    go = threading.Event()
    shelf = Shelf(budget=100, limit=200)

    def fail() -> None:
        go.wait(20)
        raise MemoryError("none left")

    shelf.before = {"10": fail}
    errors: list[str] = []

    def use() -> None:
        try:
            with shelf.use("10"):
                pass
        except MemoryError as error:
            errors.append(str(error))

    threads = [threading.Thread(target=use) for _ in range(3)]
    for thread in threads:
        thread.start()
    time.sleep(0.1)
    go.set()
    for thread in threads:
        thread.join(20)
    assert errors == ["none left"] * 3
    assert shelf.models.held() == 0
    shelf.before = {}
    with shelf.use("10"):
        assert shelf.models.names() == ["10"]


def test_a_model_larger_than_the_device_is_refused_with_numbers() -> None:
    shelf = Shelf(budget=100, limit=2**30)
    with pytest.raises(Refused, match=r"2\.0 GiB of the device's 1\.0 GiB"), shelf.use(str(2**31)):
        pass


def test_idle_models_go_where_memory_is_short_and_what_is_too_much_is_refused_with_numbers() -> None:
    shelf = Shelf(budget=2**40, limit=2**40)
    shelf.models.free = lambda: 3 * 2**30 - shelf.models.held()
    gib = str(2**30)
    for name in (gib, str(2**31)):
        with shelf.use(name):
            pass
    assert shelf.models.names() == [gib, str(2**31)]
    with shelf.use(str(3 * 2**29)):  # 1.5 GiB, where nothing is left
        assert shelf.models.held() == 3 * 2**29
        with (
            pytest.raises(Unavailable, match=r"takes 2\.0 GiB; 1\.5 GiB of memory are free") as error,
            shelf.use(str(2**31)),
        ):
            pass
    assert error.value.code == "models-busy"


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
        (1.0, 0.0, 1, "too-few"),
    ],
)
def test_an_accuracy_is_judged_against_guessing(accuracy: float, chance: float, n: int, verdict: str) -> None:
    assert judge(accuracy, chance, n) == verdict
