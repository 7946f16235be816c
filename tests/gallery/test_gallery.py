"""The shipped runs: written, read, imported once, and the same as what anybody would ask for."""

from __future__ import annotations

import gzip
import logging
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from figures.results import result
from headscope.analyses import ANALYSES, figures
from headscope.analyses.induction.result import strongest
from headscope.analyses.request import Request, resolve
from headscope.errors import Invalid, Refused
from headscope.gallery import build, import_gallery, shipped
from headscope.gallery.build import LISTED, ListedRun
from headscope.gallery.long import CAN_DO, LONG
from headscope.gallery.shipped import Shipped
from headscope.models.catalogue import Catalogue
from headscope.settings import Settings
from headscope.store import migrate, runs
from headscope.store.session import Store, open_store
from headscope.tasks.catalogue import TaskCatalogue


def run(task: str = "induction", seed: int = 0) -> Shipped:
    made = result(layers=2, heads=4, seeds=3, steps=5, seed=seed)
    request = resolve("chg", made.model, TaskCatalogue([]).get(task), "quick", {"seeds": 3})
    moment = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    return Shipped(request, made, dict(ANALYSES["chg"].headline(made)), "0.1.0", "2 CPU cores", 61.5, moment)


@pytest.fixture
def store(settings: Settings) -> Iterator[Store]:
    migrate.upgrade(settings)
    opened = open_store(settings)
    yield opened
    opened.close()


def test_a_run_reads_back_and_writes_the_same_bytes(tmp_path: Path) -> None:
    written = run()
    path = shipped.write(written, tmp_path)
    again = shipped.read(path)
    assert replace(again, result=written.result) == written
    for name, array in written.result.arrays.items():
        np.testing.assert_array_equal(again.result.arrays[name], array)
    before = path.read_bytes()
    assert shipped.write(again, tmp_path).read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["tiny-induction.json.gz"]


def test_import_brings_runs_in_once(store: Store, tmp_path: Path) -> None:
    first, second = run("induction"), run("present-past", seed=1)
    shipped.write(first, tmp_path)
    assert import_gallery(store, tmp_path) == [first.request.id]
    assert import_gallery(store, tmp_path) == []
    shipped.write(second, tmp_path)
    assert import_gallery(store, tmp_path) == [second.request.id]
    with store.session() as session:
        found = runs.get(session, first.request.id)
        assert (found.status, found.origin, found.machine) == ("done", "gallery", "2 CPU cores")
        assert found.wall_seconds == 61.5
        assert list(found.headline or ()) == list(first.headline)
        assert found.headline == first.headline
        stored = runs.result(session, first.request.id)
    np.testing.assert_array_equal(stored.arrays["g_plus"], first.result.arrays["g_plus"])


def test_the_same_request_gives_the_shipped_run(store: Store, tmp_path: Path) -> None:
    known = run()
    shipped.write(known, tmp_path)
    import_gallery(store, tmp_path)
    asked = resolve("chg", known.result.model, TaskCatalogue([]).get("induction"), None, known.request.params)
    with store.session() as session:
        got = runs.create_or_get(session, asked, queue="cpu")
        assert (got.new, got.run.id, got.run.status) == (False, known.request.id, "done")


def test_a_run_on_what_a_task_was_before_still_comes_in_and_shows(store: Store, tmp_path: Path) -> None:
    """The content of ``induction`` has changed once; what was found on the tokens of then is kept."""
    before, made = TaskCatalogue([]).get("induction-any-token").content_hash, run()
    assert before != made.request.task_hash
    earlier = replace(made, request=replace(made.request, id="0" * 20, task_hash=before))
    shipped.write(earlier, tmp_path)
    assert import_gallery(store, tmp_path) == [earlier.request.id]
    with store.session() as session:
        found = runs.get(session, earlier.request.id)
        assert (found.status, found.task, found.task_hash) == ("done", "induction", before)
        kept = runs.result(session, earlier.request.id)
        asked = runs.create_or_get(session, made.request, queue="cpu")
        assert (asked.new, asked.run.id) == (True, made.request.id)
    for name in figures.names("chg"):
        assert figures.build(kept, name)["data"] is not None


def test_a_deleted_run_stays_deleted(store: Store, tmp_path: Path) -> None:
    known = run()
    shipped.write(known, tmp_path)
    import_gallery(store, tmp_path)
    with store.session() as session:
        runs.delete(session, known.request.id)
    assert import_gallery(store, tmp_path) == []
    with store.session() as session:
        assert runs.find(session)[1] == 0


def test_a_run_that_is_there_already_stays_as_it_is(store: Store, tmp_path: Path) -> None:
    known = run()
    with store.session() as session:
        runs.create_or_get(session, known.request, queue="cpu")
    shipped.write(known, tmp_path)
    assert import_gallery(store, tmp_path) == []
    with store.session() as session:
        assert runs.get(session, known.request.id).status == "queued"


@pytest.mark.parametrize(
    "damage",
    [b"", b"not gzip", gzip.compress(b"{}"), gzip.compress(b'{"format": 99}')],
    ids=["empty", "not gzip", "nothing in it", "another format"],
)
def test_a_damaged_file_hides_no_other(
    store: Store, tmp_path: Path, caplog: pytest.LogCaptureFixture, damage: bytes
) -> None:
    (tmp_path / "broken.json.gz").write_bytes(damage)
    shipped.write(run(), tmp_path)
    with caplog.at_level(logging.WARNING):
        assert len(import_gallery(store, tmp_path)) == 1
    assert "broken.json.gz" in caplog.text
    with pytest.raises(Invalid, match=r"broken\.json\.gz"):
        shipped.read(tmp_path / "broken.json.gz")


def test_what_ships_is_listed_whole_and_light() -> None:
    found = [shipped.read(path) for path in shipped.files()]
    kinds = {_kind(each.request) for each in found}
    assert {_listed(entry) for entry in LISTED} <= kinds
    assert kinds <= {_listed(entry) for entry in (*LISTED, *LONG)}
    assert len(list(shipped.files())) == len(kinds)
    assert sum(path.stat().st_size for path in shipped.files()) < build.MAX_BYTES
    for each in found:
        if each.request.analysis == "chg":
            seeds = 10 if each.request.model.name == "headscope-2l" else 5
            assert each.result.arrays["g_plus"].shape[0] >= seeds
            assert np.isfinite(each.result.arrays["g_plus"]).all()
        assert each.wall_seconds
        assert each.machine
        assert each.code_version


@pytest.mark.parametrize(
    ("model", "induction", "previous"),
    [("headscope-2l", {"1.5", "1.2"}, {"0.3"}), ("smollm2-135m", {"18.6", "17.4", "17.3"}, {"16.0", "11.1"})],
)
def test_the_shipped_induction_runs_name_the_known_heads(
    model: str, induction: set[str], previous: set[str]
) -> None:
    known = shipped.read(shipped.FOLDER / f"induction-{model}.json.gz").result
    assert induction <= {_name(place) for place in strongest(known.arrays["induction"], 3)}
    assert previous <= {_name(place) for place in strongest(known.arrays["previous"], 2)}
    assert known.arrays["loss_second"].mean() < known.arrays["loss_first"].mean() / 3


def _entries(request: Request) -> list[ListedRun]:
    return [entry for entry in (*LISTED, *LONG) if _listed(entry) == _kind(request)]


def _kind(request: Request) -> tuple[str, str, str | None, str]:
    return request.analysis, request.model.name, request.task, shipped.replaced_by(request.params)


def _listed(entry: ListedRun) -> tuple[str, str, str | None, str]:
    return entry.analysis, entry.model, entry.task, shipped.replaced_by(entry.params)


def _name(place: tuple[int, int]) -> str:
    return f"{place[0]}.{place[1]}"


def test_what_ships_is_what_anybody_would_ask_for() -> None:
    tasks = TaskCatalogue([])
    ships = {_kind(request): request for request in (shipped.read(path).request for path in shipped.files())}
    for path in shipped.files():
        request = shipped.read(path).request
        task = tasks.get(request.task) if request.task else None
        named = {_entries(each)[0].name: each.id for each in ships.values()}
        asked = {
            resolve(
                entry.analysis,
                request.model,
                task,
                entry.preset,
                {**entry.params, **{param: named[name] for param, name in entry.runs.items()}},
            ).id
            for entry in _entries(request)
        }
        name = _entries(request)[0].name
        assert request.id in asked, f"{path.name} is stale: `headscope atlas build --only {name}`"


def test_the_bundled_models_run_has_the_bundled_models_weights(settings: Settings) -> None:
    known: Request = shipped.read(shipped.FOLDER / "headscope-2l-induction.json.gz").request
    assert build.requested(LISTED[0], Catalogue(settings)).id == known.id


def test_build_computes_once_and_writes(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "data", device="cpu")
    small = {"steps": 2, "seeds": 1, "batch_size": 4, "n_train": 8, "n_test": 4}
    entry = ListedRun("headscope-2l", "induction", params=small)
    seen: list[float] = []
    folder = tmp_path / "runs"
    (path,) = build.build(
        settings, [entry], lambda _, progress: seen.append(progress.fraction), folder=folder
    )
    assert seen
    first = path.read_bytes()
    seen.clear()
    (folder / "old-task.json.gz").write_bytes(b"stale")
    build.build(settings, [entry], lambda _, progress: seen.append(progress.fraction), folder=folder)
    assert not seen
    assert path.read_bytes() == first
    assert [file.name for file in folder.iterdir()] == ["headscope-2l-induction.json.gz"]
    assert shipped.read(path).result.arrays["g_plus"].shape == (1, 2, 8)


def test_a_run_that_takes_another_is_built_after_it(tmp_path: Path) -> None:
    """Asked for alone, it has the other computed too, and names its id."""
    settings = Settings(data_dir=tmp_path / "data", device="cpu")
    small = {"steps": 1, "seeds": 1, "batch_size": 2, "n_train": 4, "n_test": 2}
    few = {"points": 2, "orders": 1, "n_test": 2}
    first = ListedRun("headscope-2l", "induction", params=small)
    later = ListedRun(
        "headscope-2l", "induction", "quick", few, "sequential-ablation", {"gating": "headscope-2l/induction"}
    )
    (path,) = build.build(settings, [first, later], only=[later.name], folder=tmp_path / "runs")
    assert path.name == "sequential-ablation-headscope-2l-induction.json.gz"
    gating = build.requested(first, Catalogue(settings)).id
    assert shipped.read(path).request.params["gating"] == gating


def test_the_longer_fits_can_be_asked_for_and_have_files_of_their_own() -> None:
    assert len({entry.name for entry in LONG}) == len(LONG)
    model = result(layers=2, heads=4, seeds=1, steps=1).model
    files = set()
    for entry in LONG:
        task = TaskCatalogue([]).get(entry.task or "")
        named = replace(model, name=entry.model)
        request = resolve(entry.analysis, named, task, entry.preset, entry.params)
        assert len(request.seeds) == 10
        assert request.params["demonstrations"] == "pool"
        assert request.params["shots"] == CAN_DO[entry.model][task.name]
        files.add(replace(run(), request=request).filename)
    assert len(files) == len(LONG)


def test_a_run_with_another_ablation_has_another_name_and_another_file() -> None:
    plain = run()
    mean = replace(plain, request=replace(plain.request, params={**plain.request.params, "ablation": "mean"}))
    assert mean.filename == "tiny-induction-mean.json.gz"
    assert ListedRun("tiny", "induction", params={"ablation": "mean"}).name == "tiny/induction/mean"
    assert ListedRun("tiny", "induction", params={"ablation": "zero"}).name == "tiny/induction"


def test_states_say_what_is_here(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "data", device="cpu")
    small = {"steps": 1, "seeds": 1, "batch_size": 2, "n_train": 4, "n_test": 2}
    done, later = (
        ListedRun("headscope-2l", "induction", params=small),
        ListedRun("headscope-2l", "rule-aba", params=small),
    )
    away = ListedRun("smollm2-135m", "capitalize")
    listed = [done, later, away]
    assert [state for _, state in build.states(settings, listed)] == ["not begun", "not begun", "no model"]
    build.build(settings, listed, only=[done.name], folder=tmp_path / "runs")
    assert [state for _, state in build.states(settings, listed)] == ["done", "not begun", "no model"]


def test_fits_of_models_that_are_not_fetched_are_left_out_by_name(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "data")
    small = ListedRun("headscope-2l", "induction")
    here, missing = build.of_models_here(settings, [small, *LONG])
    assert here == [small]
    assert [entry.name for entry in missing] == ["smollm2-135m", "gemma3-270m"]
    assert missing[1].remedy == "headscope models fetch gemma3-270m"


def test_files_of_longer_fits_stay_where_the_shipped_ones_are_built(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "data", device="cpu")
    entry = LONG[-1]
    model = replace(result(layers=2, heads=4, seeds=1, steps=1).model, name=entry.model)
    asked = resolve("chg", model, TaskCatalogue([]).get(entry.task or ""), entry.preset, entry.params)
    kept = shipped.write(replace(run(), request=asked), tmp_path / "runs")
    gone = shipped.write(run(), tmp_path / "runs")
    build.build(settings, [], folder=tmp_path / "runs")
    assert kept.exists()
    assert not gone.exists()


def test_build_refuses_what_it_does_not_know_and_what_is_too_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(data_dir=tmp_path / "data")
    with pytest.raises(Invalid, match="headscope-2l/induction"):
        build.build(settings, only=["gpt-7/chess"], folder=tmp_path)
    shipped.write(run(), tmp_path)
    monkeypatch.setattr(build, "MAX_BYTES", 10)
    with pytest.raises(Refused):
        build.build(settings, [], only=[], folder=tmp_path)
