"""docker-compose.yml and Dockerfile against the program: commands, options, variables, ports, health checks.

No Docker engine is needed: what the files name must exist in the program, and the web application must import
with everything blocked that its image leaves out.
"""

from __future__ import annotations

import importlib.metadata
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer.main
import yaml

from headscope.cli import app
from headscope.settings import Settings
from web_requirements import WORKER_ONLY, name, web_requirements

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    return dict(yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def stages() -> dict[str, str]:
    """The Dockerfile's stages by name."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    parts = re.split(r"^FROM \S+ AS (\w+)$", text, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def commands(text: str) -> list[list[str]]:
    """Every ``headscope ...`` in a file, as words."""
    plain = re.sub(r'", "', " ", text)
    return [found.split() for found in re.findall(r"headscope ((?:serve|worker|models|db)[\w .:-]*)", plain)]


@pytest.mark.parametrize("file", ["Dockerfile", "docs/operations.md", "Makefile"])
def test_each_command_and_option_exists(file: str) -> None:
    found = commands((ROOT / file).read_text(encoding="utf-8"))
    assert found
    for words in found:
        command: Any = typer.main.get_command(app)
        for word in words:
            if word.startswith("--"):
                known = {
                    option for param in command.params for option in [*param.opts, *param.secondary_opts]
                }
                assert word.rstrip("'.") in known, f"{file}: headscope {' '.join(words)}"
            elif word in getattr(command, "commands", {}):
                command = command.commands[word]


def test_each_variable_is_a_setting(compose: dict[str, Any], stages: dict[str, str]) -> None:
    known = {f"HEADSCOPE_{field.upper()}" for field in Settings.model_fields}
    named = {
        variable
        for service in compose["services"].values()
        for variable in service.get("environment", {})
        if variable.startswith("HEADSCOPE_")
    }
    named |= {word for stage in stages.values() for word in re.findall(r"HEADSCOPE_\w+", stage)}
    assert named <= known
    assert {"HEADSCOPE_DATABASE_URL", "HEADSCOPE_TOKEN", "HEADSCOPE_DATA_DIR"} <= named


def test_settings_take_what_compose_gives(compose: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"POSTGRES_PASSWORD": "secret", "HEADSCOPE_TOKEN": "a long random word"}
    for variable, value in compose["services"]["web"]["environment"].items():
        monkeypatch.setenv(variable, interpolate(value, given))
    settings = Settings()
    assert settings.url == "postgresql://headscope:secret@db/headscope"
    assert settings.token is not None
    assert settings.allowed_hosts == ()


@pytest.mark.parametrize("variable", ["HEADSCOPE_TOKEN", "POSTGRES_PASSWORD"])
def test_compose_refuses_to_start_without_its_secrets(variable: str) -> None:
    text = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
    uses = re.findall(rf"\$\{{{variable}([^}}]*)\}}", text)
    assert uses
    assert all(use.startswith(":?") for use in uses)


def test_each_build_target_is_a_stage(compose: dict[str, Any], stages: dict[str, str]) -> None:
    built = {
        key: service["build"]["target"] for key, service in compose["services"].items() if "build" in service
    }
    assert built == {"web": "web", "worker": "worker", "worker-gpu": "worker"}
    assert set(built.values()) <= set(stages)
    arguments = {word for s in compose["services"].values() for word in s.get("build", {}).get("args", {})}
    assert all(f"ARG {argument}=" in stages["worker"] for argument in arguments)


def test_the_published_port_is_the_one_the_web_process_listens_on(
    compose: dict[str, Any], stages: dict[str, str]
) -> None:
    serve = json.loads(stages["web"].rsplit("CMD ", 1)[1])
    port = serve[serve.index("--port") + 1]
    assert compose["services"]["web"]["ports"][0].endswith(f":{port}")
    assert f"EXPOSE {port}" in stages["web"]
    assert f"http://127.0.0.1:{port}/api/v1/health" in stages["web"]


def test_the_health_check_asks_a_route_that_needs_no_token(tmp_path: Path) -> None:
    from fastapi.testclient import TestClient
    from pydantic import SecretStr

    from headscope.store.migrate import upgrade
    from headscope.web.app import create_app

    settings = Settings(data_dir=tmp_path, host="0.0.0.0", token=SecretStr("a long random word"))  # noqa: S104
    upgrade(settings)
    with TestClient(create_app(settings), base_url="http://127.0.0.1:8000") as client:
        assert client.get("/api/v1/health").status_code == 200
        assert client.get("/api/v1/runs").status_code in {401, 403}


def test_web_and_workers_share_the_database_and_the_models(compose: dict[str, Any]) -> None:
    services = compose["services"]
    for key in ("worker", "worker-gpu"):
        assert services[key]["volumes"] == services["web"]["volumes"]
        for variable in ("HEADSCOPE_DATABASE_URL", "HEADSCOPE_TOKEN"):
            assert services[key]["environment"][variable] == services["web"]["environment"][variable]
    for key in ("web", "worker", "worker-gpu"):
        assert services[key]["depends_on"]["db"]["condition"] == "service_healthy"
    assert services["web"]["volumes"][0].endswith(":/data")
    assert set(compose["volumes"]) == {"database", "data"}


def test_the_web_image_has_all_that_the_web_application_imports() -> None:
    installed = {name(line) for line in web_requirements(ROOT / "pyproject.toml")}
    assert {"torch", "transformer-lens"}.isdisjoint(installed)
    imported = run_blocked("import headscope.web.app, headscope.cli.serve")
    ours = closure(installed) | {"headscope", "pip", "setuptools"}
    owners = importlib.metadata.packages_distributions()
    needed = {dist.lower().replace("_", "-") for module in imported for dist in owners.get(module, [])}
    assert needed - ours == set()


def run_blocked(statement: str) -> set[str]:
    """Top-level modules that a fresh interpreter holds after a statement, PyTorch and its like blocked."""
    blocked = sorted(requirement.replace("-", "_") for requirement in WORKER_ONLY) + ["transformers"]
    code = f"""
import sys
for blocked in {blocked!r}:
    sys.modules[blocked] = None
{statement}
print(*sorted({{name.split(".")[0] for name, module in sys.modules.items() if module is not None}}))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def closure(names: set[str]) -> set[str]:
    """The distributions and all that they depend on, as installed here."""
    from packaging.requirements import Requirement

    seen: set[str] = set()
    todo = [(wanted, "") for wanted in names]
    while todo:
        wanted, _ = todo.pop()
        if wanted in seen:
            continue
        seen.add(wanted)
        try:
            requires = importlib.metadata.requires(wanted) or []
        except importlib.metadata.PackageNotFoundError:
            continue
        for line in requires:
            required = Requirement(line)
            if (
                required.marker is None
                or required.marker.evaluate({"extra": ""})
                or "extra" in str(required.marker)
            ):
                todo.append((required.name.lower().replace("_", "-"), ""))
    return seen


def interpolate(value: str, given: dict[str, str]) -> str:
    """What compose makes of ``${NAME:?message}`` and ``${NAME:-default}``."""

    def fill(match: re.Match[str]) -> str:
        default = (match["rest"] or "").removeprefix(":-") if (match["rest"] or "").startswith(":-") else ""
        return given.get(match["name"], default)

    return re.sub(r"\$\{(?P<name>\w+)(?P<rest>:[?-][^}]*)?\}", fill, value)
