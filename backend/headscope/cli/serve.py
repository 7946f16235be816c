"""``headscope serve``: the pages, the API and one worker. ``headscope worker``: one more worker."""

from __future__ import annotations

import errno
import os
import socket
import sys
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headscope import __version__
from headscope.cli import console

if TYPE_CHECKING:
    from headscope.settings import Settings


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on.", show_default="127.0.0.1")] = None,
    port: Annotated[int | None, typer.Option(help="Port; 0 takes a free one.", show_default="8000")] = None,
    data_dir: Annotated[Path | None, typer.Option(help="Where results and models live.")] = None,
    with_worker: Annotated[
        bool, typer.Option("--worker/--no-worker", help="Run jobs too, in a child process.")
    ] = True,
    open_browser: Annotated[
        bool, typer.Option("--open", help="Open the atlas in a browser, if there is one.")
    ] = False,
) -> None:
    """Serve the pages and the API, and run jobs with one worker."""
    settings = console.settings(host=host, port=port, data_dir=data_dir)

    from headscope.web.security import check_exposure

    check_exposure(settings)
    with listen(settings.host, settings.port) as listener:
        settings = settings.model_copy(update={"port": listener.getsockname()[1]})
        prepare_store(settings)
        worker = _embedded_worker(settings) if with_worker else None
        try:
            if worker:
                worker.start()
            _server(settings, open_browser).run(sockets=[listener])
        finally:
            if worker:
                worker.stop()


def worker(
    queue: Annotated[
        str | None, typer.Option(help="Queue to serve.", show_default="the device's class: cpu, gpu-24, ...")
    ] = None,
    device: Annotated[str | None, typer.Option(help="auto, cpu, cuda, cuda:1.", show_default="auto")] = None,
    host: Annotated[
        str | None, typer.Option(help="Address of the endpoint for prompts.", show_default="127.0.0.1")
    ] = None,
    data_dir: Annotated[Path | None, typer.Option(help="Where results and models live.")] = None,
    parent_pid: Annotated[int | None, typer.Option(hidden=True, help="Exit when this process does.")] = None,
) -> None:
    """Run jobs and answer prompts, on one device. Start one for each GPU."""
    settings = console.settings(queue=queue, device=device, worker_host=host, data_dir=data_dir)

    from headscope.worker.main import run

    run(settings, parent_pid=parent_pid)


def listen(host: str, port: int) -> socket.socket:
    """Take the port before any slow work; raises ``Unavailable`` (port-taken, address-unusable)."""
    from headscope.errors import Unavailable

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    # Accepted connections inherit it; asyncio sets it only on sockets that name their protocol. Without it
    # each answer waits 40 ms for an acknowledgement between its head and its body.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        listener.bind((host, port))
        # Listening already, so that a second server on the port is refused; connections wait in the backlog.
        listener.listen(128)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise Unavailable(
                f"Port {port} on {host} is taken by another program.",
                f"Stop it, or choose another: headscope serve --port {port + 1}",
                code="port-taken",
            ) from None
        raise Unavailable(
            f"Headscope can't listen on {host}:{port}: {error.strerror}.",
            "Name an address of this machine with --host, and a port that you may use with --port.",
            code="address-unusable",
        ) from None
    return listener


def prepare_store(settings: Settings) -> None:
    """Make the data folder, bring the tables up to date, import the shipped results."""
    from headscope.gallery import import_gallery
    from headscope.store.opening import opened

    with opened(settings) as store:
        import_gallery(store)


def _embedded_worker(settings: Settings) -> Any:
    from headscope.cli.embedded_worker import EmbeddedWorker

    return EmbeddedWorker({"HEADSCOPE_DATA_DIR": str(settings.data_dir)})


def _server(settings: Settings, open_browser: bool) -> Any:
    """Uvicorn with one more line: the address, once it answers there."""
    import uvicorn

    from headscope.web.app import create_app

    url = f"http://{_spoken(settings.host)}:{settings.port}"
    config = uvicorn.Config(
        create_app(settings), log_level="warning", access_log=False, timeout_graceful_shutdown=2
    )

    class AnnouncingServer(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets=sockets)
            if self.started:
                sys.stdout.write(f"Headscope {__version__} is ready at {url} (data in {settings.data_dir})\n")
                sys.stdout.flush()
                if open_browser and _has_screen():
                    webbrowser.open(url)

    return AnnouncingServer(config)


def _spoken(host: str) -> str:
    """The address a browser on this machine would use."""
    if host in ("0.0.0.0", "::"):  # noqa: S104  compared, not bound
        return "localhost"
    return f"[{host}]" if ":" in host else host


def _has_screen() -> bool:
    return sys.platform in ("darwin", "win32") or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )
