"""The database's clock, as seconds since 1970: the one clock that all workers share."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Float
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.expression import FunctionElement


class database_clock(FunctionElement[float]):  # noqa: N801 (an SQL function, written like one)
    """Seconds since 1970 by the database server's clock, with fractions."""

    type = Float()
    inherit_cache = True


@compiles(database_clock, "sqlite")
def _sqlite(element: Any, compiler: Any, **options: Any) -> str:
    return "((julianday('now') - 2440587.5) * 86400.0)"


@compiles(database_clock, "postgresql")
def _postgres(element: Any, compiler: Any, **options: Any) -> str:
    return "extract(epoch from clock_timestamp())::double precision"
