"""How commands speak: results to stdout, everything else to stderr, errors as a message and a remedy."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any, NoReturn

import typer
from typer.core import TyperGroup

if TYPE_CHECKING:
    from rich.console import Console

    from headscope.errors import HeadscopeError
    from headscope.settings import Settings

FAILED = 1
BAD_INPUT = 2
CANCELLED = 130


class Commands(TyperGroup):
    """The top group: what a command raises on purpose becomes a message, a remedy and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for; see the module for the exit codes."""
        from headscope.errors import Cancelled, HeadscopeError

        try:
            return super().invoke(ctx)
        except Cancelled as error:
            _interrupt_was_handled()
            fail(error, CANCELLED)
        except HeadscopeError as error:
            fail(error)
        except KeyboardInterrupt:
            _interrupt_was_handled()
            err_console().print("Stopped.")
            raise typer.Exit(CANCELLED) from None


def _interrupt_was_handled() -> None:
    """Let the process end with our exit code though Ctrl-C came while a string was executed.

    Where Ctrl-C meets ``exec`` of a string (as dataclasses and named tuples do while modules are imported),
    CPython notes an unhandled interrupt and at its end kills itself with SIGINT, whatever was caught and
    whatever code was asked for. The next ``exec`` of a string takes the note away.
    """
    exec("")  # noqa: S102 - nothing is executed


def err_console() -> Console:
    """Where notes and progress go."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, width=None if sys.stderr.isatty() else 160)


def out_console() -> Console:
    """Where results go; in a pipe or file lines are wide, so that nothing is broken over two."""
    from rich.console import Console

    return Console(highlight=False, width=None if sys.stdout.isatty() else 160)


def fail(error: HeadscopeError, code: int | None = None) -> NoReturn:
    """Say what is wrong and what to do, and leave: 2 where the request is at fault, else 1."""
    from headscope.errors import Invalid, NotFound, Refused

    err = err_console()
    err.print(f"[bold red]Error:[/] {plain(error.message)}", soft_wrap=True)
    if remedy := error.remedy_for("command"):
        err.print(plain(remedy), soft_wrap=True)
    asked_wrongly = isinstance(error, Invalid | NotFound | Refused)
    raise typer.Exit(code if code is not None else BAD_INPUT if asked_wrongly else FAILED)


def settings(**overrides: Any) -> Settings:
    """Settings from ``HEADSCOPE_*`` variables; options given win. ``Invalid`` names a bad variable."""
    from pydantic import ValidationError

    from headscope.errors import Invalid
    from headscope.settings import Settings

    given = {name: value for name, value in overrides.items() if value is not None}
    try:
        return Settings(**given)
    except ValidationError as error:
        first = error.errors()[0]
        name = "HEADSCOPE_" + "_".join(str(part) for part in first["loc"][:1]).upper()
        raise Invalid(
            f"{name} can't be used: {first['msg']}.",
            "Correct the variable or option; docs/operations.md lists them all.",
            code="bad-setting",
        ) from None


def write_json(value: Any) -> None:
    """A result for programs, on stdout."""
    json.dump(value, sys.stdout, indent=2, default=str)
    sys.stdout.write("\n")


def plain(text: str) -> str:
    """A text with nothing in it that rich would read as markup."""
    from rich.markup import escape

    return escape(text)
