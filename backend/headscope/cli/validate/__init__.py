"""``headscope validate``: whether what is said of heads is so, tried here and now.

Models whose heads are known by construction (``chg``), programs and small trained models (``programs``), and
a model of one's own (``roles``).
"""

from __future__ import annotations

import typer

from headscope.cli.validate import chg, programs, roles

app = typer.Typer(help="Check a method against what is known, or against itself.", no_args_is_help=True)

app.command("chg")(chg.chg)
app.command("programs")(programs.programs)
app.command("roles")(roles.roles)
