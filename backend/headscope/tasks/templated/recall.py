"""Tasks whose answer stands in the prompt: coloured objects, docstring arguments, copying a list.

The paired prompt asks for another of the things that stand there, or has them in another order; that one is
the counterfactual. Guessing among those that stand there is what chance means. Held out are words, and
templates where there are several.
"""

from __future__ import annotations

from headscope.tasks.task import Row, Split
from headscope.tasks.template import CONTINUATION
from headscope.tasks.templated.drawing import Pick, both_splits, parted
from headscope.tasks.templated.task import TemplatedTask
from headscope.tasks.templated.words import ARGUMENTS, COLOURS, NOUNS, OBJECTS

_ON_THE_TABLE: dict[Split, tuple[str, ...]] = {
    "train": (
        "On the table there are a {0}, a {1} and a {2}. The colour of the {asked} is",
        "I have a {0}, a {1} and a {2}. The colour of my {asked} is",
        "She bought a {0}, a {1} and a {2}. The colour of her {asked} is",
    ),
    "test": ("In the drawer lie a {0}, a {1} and a {2}. The colour of the {asked} is",),
}
_OBJECTS = parted(OBJECTS)


def coloured_object() -> TemplatedTask:
    """The colour of one of three things; the paired prompt asks for another of them."""

    def make(pick: Pick, split: Split) -> Row:
        things, colours = pick.some(_OBJECTS[split], 3), pick.some(COLOURS, 3)
        template, (mine, other) = pick.one(_ON_THE_TABLE[split]), pick.some(range(3), 2)
        shown = [" ".join(pair) for pair in zip(colours, things, strict=True)]
        asked, paired = (template.format(*shown, asked=things[place]) for place in (mine, other))
        return Row(asked, colours[mine], colours[other], paired=paired)

    return TemplatedTask(
        "coloured-object",
        "Coloured objects",
        both_splits("coloured-object", make, 480, 160),
        "The colour of one thing of three: “On the table there are a red pen, a blue cup and a green book. "
        "The colour of the cup is” goes on with “blue”.",
        source="Templates of our own, after BIG-bench's coloured objects and Merullo et al. 2023 "
        "(arXiv 2310.08744)",
        licence="MIT",
        template=CONTINUATION,
        separator="\n",
        shots=5,
        targets="The colour of the thing asked for.",
        origin="built-in",
        n_held_out=160,
        offered=3,
    )


_ARGUMENTS, _WORDS = parted(ARGUMENTS), parted(NOUNS)
_FUNCTION = '''def {name}(self, {arguments}):
    """{title}

    :param {first}: {about_first}
    :param {second}: {about_second}
    :param'''


def docstring_argument() -> TemplatedTask:
    """The third documented argument of a Python function of six: the one after the second in its head.

    In the paired prompt it has changed places with the last argument.
    """

    def make(pick: Pick, split: Split) -> Row:
        arguments = pick.some(_ARGUMENTS[split], 6)
        about = iter(pick.some(_WORDS[split], 7))
        first, second, third, last = arguments[1], arguments[2], arguments[3], arguments[5]
        words = {
            "name": next(about),
            "title": f"{next(about)} {next(about)}",
            "about_first": f"{next(about)} {next(about)}",
            "about_second": f"{next(about)} {next(about)}",
        }
        turned = [*arguments[:3], last, arguments[4], third]
        asked, paired = (
            _FUNCTION.format(arguments=", ".join(order), first=first, second=second, **words)
            for order in (arguments, turned)
        )
        return Row(asked, third, last, paired=paired)

    return TemplatedTask(
        "docstring-argument",
        "Docstring arguments",
        both_splits("docstring-argument", make, 480, 160),
        "The next argument of a Python function: “def old(self, first, files, page, names, size, read)”, "
        "documented as far as “:param files: … :param page: … :param”, goes on with “names”.",
        source="Templates of our own, after Heimersheim and Janiak 2023 (a circuit for Python docstrings)",
        licence="MIT",
        template=CONTINUATION,
        separator="\n\n",
        shots=0,
        targets="The argument that comes next.",
        origin="built-in",
        n_held_out=160,
        offered=6,
    )


def copying() -> TemplatedTask:
    """A list of five words, then its beginning again. Paired: the next one changed places with another."""

    def make(pick: Pick, split: Split) -> Row:
        words = pick.some(_WORDS[split], 5)
        told = pick.number(1, 3)
        place = pick.one([place for place in range(told, 5) if place != told])
        turned = list(words)
        turned[told], turned[place] = words[place], words[told]
        begun = ", ".join(words[:told])
        asked, paired = (f"{', '.join(order)}. Again: {begun}," for order in (words, turned))
        return Row(asked, words[told], words[place], paired=paired)

    return TemplatedTask(
        "copying",
        "Copying a list",
        both_splits("copying", make, 480, 160),
        "The next word of a list said before: “tree, lamp, river, coat, bread. Again: tree, lamp,” goes on "
        "with “river”.",
        source="A template of our own, after the copying of Elhage et al. 2021 and Olsson et al. 2022",
        licence="MIT",
        template=CONTINUATION,
        separator="\n",
        shots=0,
        targets="The word that comes next.",
        origin="built-in",
        n_held_out=160,
        offered=5,
    )
