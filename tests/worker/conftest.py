from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from core.conftest import save_model
from headscope.jobs.device import find_device
from headscope.jobs.device_queue import DeviceQueue
from headscope.models.catalogue import Catalogue
from headscope.settings import Settings
from headscope.store import migrate, workers
from headscope.store.session import Store, open_store
from headscope.worker.accuracy import Accuracies
from headscope.worker.app import create_app
from headscope.worker.client import WorkerClient
from headscope.worker.handler import RequestHandler
from headscope.worker.main import model_cache
from services.served import served


@dataclass(frozen=True)
class Served:
    """A worker's endpoint, served for real, and a client that finds it in the database."""

    store: Store
    handler: RequestHandler
    client: WorkerClient
    address: str


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("worker")
    settings = Settings(data_dir=folder / "data")
    migrate.upgrade(settings)
    store = open_store(settings)
    catalogue = Catalogue(settings)
    catalogue.add("tiny", save_model("gpt2", folder / "tiny"))
    models = model_cache(settings, catalogue, find_device("cpu"))
    handler = RequestHandler(store, catalogue, models, Accuracies(store, models, DeviceQueue()), "a secret")
    with served(create_app(handler)) as address:
        with store.session() as session:
            workers.register(
                session,
                "w",
                host="h",
                device="cpu",
                queue="cpu",
                address=address,
                secret="a secret",
                patience=3600,
            )
        client = WorkerClient(store)
        yield Served(store, handler, client, address)
        client.close()
    store.close()


def without_workers(worker: Served, folder: Path) -> Served:
    """The same worker, seen from a database that knows no worker."""
    settings = Settings(data_dir=folder)
    migrate.upgrade(settings)
    store = open_store(settings)
    return replace(worker, store=store, client=WorkerClient(store))
