"""Settings, read once from ``HEADSCOPE_*`` variables and passed in, never global."""

from __future__ import annotations

from pathlib import Path

from platformdirs import user_data_path
from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """Everything that can be configured; docs/operations.md lists each one."""

    model_config = SettingsConfigDict(env_prefix="HEADSCOPE_", frozen=True, extra="ignore")

    data_dir: Path = Field(default_factory=lambda: user_data_path("headscope"))
    """Where the SQLite file, fetched models and what was proved of models live."""
    database_url: str | None = None
    """SQLAlchemy URL; unset: ``sqlite:///{data_dir}/headscope.db``."""
    host: str = "127.0.0.1"
    port: int = Field(default=8000, ge=0, le=65535)
    token: SecretStr | None = None
    """Access token; required to listen beyond loopback."""
    allowed_hosts: tuple[str, ...] = ()
    """Host names accepted beside loopback and ``host``."""
    max_upload_bytes: int = Field(default=10 * 2**20, gt=0)
    device: str = "auto"
    """``auto``, ``cpu``, ``cuda``, ``cuda:1``; auto takes a CUDA device where there is one."""
    threads: int | None = Field(default=None, gt=0)
    """CPU threads that a computation takes, which decides how sums are rounded; unset: as torch does."""
    model_memory_bytes: int | None = Field(default=None, gt=0)
    """How much resident models may hold in a worker; unset: half of the device's memory."""
    queue: str | None = None
    """The queue a worker serves; unset: the class of its device (``cpu``, ``gpu-24``, ``gpu-80``, ...)."""
    worker_patience: float = Field(default=10.0, gt=0)
    """Seconds without a sign of life after which others take a worker for dead and its run over."""
    worker_host: str = "127.0.0.1"
    """Where a worker's interactive endpoint listens, and the address it registers."""

    @property
    def url(self) -> str:
        """The database's URL, with the default filled in."""
        return self.database_url or f"sqlite:///{self.data_dir / 'headscope.db'}"
