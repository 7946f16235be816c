"""Write the reference from the docstrings: ``python -m headscope.python.reference > docs/reference.md``."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from typing import Any

import headscope
from headscope import errors

WIDTH = 100

_BEGINNING = """# Reference

What `import headscope as hs` gives, from its docstrings; `make reference` writes this page.
[python.md](python.md) shows it at work.
"""


def document() -> str:
    """The page as Markdown; the same on every machine."""
    return "\n".join([_BEGINNING, *_functions(), *_classes(), *_errors()]).rstrip() + "\n"


def _functions() -> Iterator[str]:
    yield "## Functions\n"
    for name, thing in _public():
        if not inspect.isclass(thing):
            yield _entry(f"hs.{name}", thing)


def _classes() -> Iterator[str]:
    for name, thing in _public():
        if inspect.isclass(thing):
            yield f"## hs.{name}\n"
            if name in ("Client", "Local"):
                yield f"{_code(_signature(f'hs.{name}', thing))}\n"
            yield f"{_words(thing)}\n"
            yield from _members(name.lower(), thing)


def _members(owner: str, kind: type) -> Iterator[str]:
    for name, member in vars(kind).items():
        if name.startswith("_") or not (inspect.getdoc(member) or "").strip():
            continue
        if inspect.isfunction(member):
            yield _entry(f"{owner}.{name}", member)
        else:
            yield f"### {owner}.{name}\n\n{_words(member)}\n"


def _entry(name: str, thing: Any) -> str:
    return f"### {name}\n\n{_code(_signature(name, thing))}\n\n{_words(thing)}\n"


def _errors() -> Iterator[str]:
    tree = (errors.__doc__ or "").split("\n\n", 1)[1].strip()
    yield "## Errors\n"
    yield "From `headscope.errors`, with their HTTP statuses; `code`, `message` and `remedy` say more.\n"
    yield _code(tree, "")


def _public() -> Iterator[tuple[str, Any]]:
    for name in headscope.__all__:
        yield name, getattr(headscope, name)


def _signature(name: str, thing: Any) -> str:
    """As it is called, on one line or one argument a line."""
    found = inspect.signature(thing)
    given = [_argument(one) for one in found.parameters.values() if one.name != "self"]
    kinds = [one.kind for one in found.parameters.values() if one.name != "self"]
    positional = kinds.count(inspect.Parameter.POSITIONAL_ONLY)
    keyword = next((i for i, kind in enumerate(kinds) if kind is inspect.Parameter.KEYWORD_ONLY), None)
    if keyword is not None:
        given.insert(keyword, "*")
    if positional:
        given.insert(positional, "/")
    back = "" if inspect.isclass(thing) else f" -> {_type(found.return_annotation)}"
    line = f"{name}({', '.join(given)}){back}"
    if len(line) <= WIDTH:
        return line
    return f"{name}(\n" + "".join(f"    {one},\n" for one in given) + f"){back}"


def _argument(one: inspect.Parameter) -> str:
    stars = "**" if one.kind is inspect.Parameter.VAR_KEYWORD else ""
    default = "" if one.default is inspect.Parameter.empty else f" = {one.default!r}"
    return f"{stars}{one.name}: {_type(one.annotation)}{default}"


def _type(annotation: Any) -> str:
    return str(annotation).strip("'")


def _words(thing: Any) -> str:
    # Double backticks are one in Markdown; three are a block of code already.
    return re.sub(r"(?<!`)``(?!`)", "`", inspect.getdoc(thing) or "").strip()


def _code(text: str, language: str = "python") -> str:
    return f"```{language}\n{text}\n```"


if __name__ == "__main__":
    sys.stdout.write(document())
