"""How a row becomes text: ``Q: {prompt}\\nA: {target}``, one such block per in-context example first.

The target ends the template, so that an example ends with its last target token.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headscope.errors import Invalid
from headscope.tasks.task import Row

QUESTION = "Q: {prompt}\nA: {target}"
"""The template of the paper's short tasks [Causal Head Gating, appendix]."""
LONG_QUESTION = "Question: {prompt}\nAnswer: {target}"
CONTINUATION = "{prompt} {target}"

_PROMPT = "{prompt}"
_TARGET = "{target}"
_MAX_CHARACTERS = 4000


@dataclass(frozen=True)
class Template:
    """Text before the prompt, between prompt and target, and between blocks."""

    before: str
    between: str
    separator: str = "\n\n"

    @classmethod
    def parse(cls, text: str, separator: str = "\n\n") -> Template:
        """Read ``Q: {prompt}\\nA: {target}``. Raises Invalid (code ``template``) where it can't be used."""
        text = text.replace("\r\n", "\n")  # what a browser's form makes of a line's end
        if len(text) > _MAX_CHARACTERS:
            raise _invalid(f"The template has {len(text)} characters, at most {_MAX_CHARACTERS} are read.")
        for field in (_PROMPT, _TARGET):
            if text.count(field) != 1:
                raise _invalid(f"The template has {field} {text.count(field)} times, it must appear once.")
        if not text.endswith(_TARGET):
            raise _invalid("The template must end with {target}: what follows the answer can't carry loss.")
        before, _, rest = text.partition(_PROMPT)
        if _TARGET in before:
            raise _invalid("The template has {target} before {prompt}.")
        return cls(before, rest.removesuffix(_TARGET), separator)

    @property
    def text(self) -> str:
        """The template as it was written."""
        return f"{self.before}{_PROMPT}{self.between}{_TARGET}"

    @property
    def spaced(self) -> bool:
        """Whether the template itself puts white space before the target."""
        return self.between[-1:].isspace()

    def context(self, shots: Sequence[Row], prompt: str) -> str:
        """All that comes before the target: the in-context examples in order, then the question."""
        blocks = [f"{self.before}{row.prompt}{self.between}{row.target}" for row in shots]
        return self.separator.join([*blocks, f"{self.before}{prompt}{self.between}"])


def _invalid(message: str) -> Invalid:
    return Invalid(message, r"Write it like `Q: {prompt}\nA: {target}`.", code="template")
