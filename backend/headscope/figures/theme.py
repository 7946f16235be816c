"""How figures look: two palettes and the two plotly templates made of them. Sent once; figures go without.

Every colour in a figure is a palette value, and the values of one palette are distinct: a page may repaint a
figure by replacing them one for one.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from headscope.core.gating.roles import ROLE_NAMES
from headscope.errors import Invalid

ThemeName = Literal["light", "dark"]
Drawing = dict[str, Any]

FONT = "Inter, 'Inter Variable', system-ui, -apple-system, 'Segoe UI', sans-serif"
CLEAR = "rgba(0,0,0,0)"


@dataclass(frozen=True)
class Palette:
    """Colours of one theme as hexadecimal strings; ``scale`` runs from nothing to most."""

    page: str
    panel: str
    line: str
    ink: str
    muted: str
    needed: str
    harmful: str
    both: str
    irrelevant: str
    scale: tuple[str, ...]
    series: tuple[str, ...]
    """For what is told apart and has no role: the models of a comparison. None looks like a role's colour."""
    functions: tuple[str, ...]
    """For kinds of what a head does, in the order of the names: dark on the light page, light on the dark, so
    that a letter in the panel's colour can be read on each."""

    def role(self, name: str) -> str:
        """The colour of one of core.gating.roles' names; undecided is clear, so that the panel shows
        through.
        """
        return CLEAR if name == "undecided" else str(getattr(self, name))


PALETTES: dict[ThemeName, Palette] = {
    "light": Palette(
        page="#fbfaf7",
        panel="#ffffff",
        line="#e4e2dc",
        ink="#1c1d21",
        muted="#6b6a72",
        needed="#1f77b4",
        harmful="#d1495b",
        both="#8e6bbf",
        irrelevant="#e3e1db",
        scale=("#f4f6f9", "#c6dbec", "#7db0d8", "#2f7ebc", "#0b4377"),
        series=("#00796b", "#b26a00", "#8a3f7c", "#5d7a1f", "#7a4a2b"),
        functions=(
            "#a15c00",
            "#7a2e63",
            "#b0489a",
            "#6e7300",
            "#00685c",
            "#23857e",
            "#3f7d20",
            "#4a3b32",
            "#946549",
            "#777570",
        ),
    ),
    "dark": Palette(
        page="#14161a",
        panel="#1b1e24",
        line="#2b2f37",
        ink="#ecebe7",
        muted="#9a9ca5",
        needed="#58a6e0",
        harmful="#ee7c86",
        both="#b79ae0",
        irrelevant="#343840",
        scale=("#23272f", "#25435f", "#2f6c9e", "#5aa5df", "#c8e4fb"),
        series=("#4fc0b0", "#e0a34a", "#d48cc8", "#a9c46a", "#c99a7a"),
        functions=(
            "#f0b45c",
            "#d79ac6",
            "#f2a7e0",
            "#cfd35f",
            "#4fd6c4",
            "#9fe5dd",
            "#9ed07c",
            "#c2b2a6",
            "#e0b497",
            "#8f9199",
        ),
    ),
}


def palette(theme: str) -> Palette:
    """``Invalid`` (unknown-theme) for anything but light and dark."""
    for name, colours in PALETTES.items():
        if name == theme:
            return colours
    raise Invalid(f"There is no theme {theme!r}.", "Use light or dark.", code="unknown-theme")


def role_scale(colours: Palette) -> list[list[Any]]:
    """A discrete scale for role codes 0-4 with ``zmin`` -0.5 and ``zmax`` 5.5; code 5 is a gap and clear."""
    steps = [colours.role(name) for name in ROLE_NAMES] + [CLEAR]
    return [[(code + side) / len(steps), colour] for code, colour in enumerate(steps) for side in (0, 1)]


def magnitude_scale(colours: Palette) -> list[list[Any]]:
    """The one sequential scale: nothing to most."""
    last = len(colours.scale) - 1
    return [[index / last, colour] for index, colour in enumerate(colours.scale)]


def signed_scale(colours: Palette) -> list[list[Any]]:
    """From below nothing, through the panel at 0, to above."""
    return [[0, colours.harmful], [0.5, colours.panel], [1, colours.needed]]


def theme() -> dict[str, dict[str, Any]]:
    """Both themes as they are sent to a page: ``{"light": {"template", "palette"}, "dark": ...}``."""
    return {
        name: {"template": template(colours), "palette": asdict(colours)}
        for name, colours in PALETTES.items()
    }


def template(colours: Palette) -> dict[str, Any]:
    """A plotly template: quiet axes, horizontal gridlines only, Inter with tabular figures."""
    axis = {
        "gridcolor": colours.line,
        "linecolor": colours.line,
        "zeroline": False,
        "automargin": True,
        "ticks": "",
        # Powers of ten, not the letters of units: 4×10⁻⁴ and not 400μ.
        "exponentformat": "power",
        "ticklabelstandoff": 4,
        "tickfont": {"color": colours.muted, "size": 12},
        "title": {"font": {"color": colours.muted, "size": 12}, "standoff": 8},
    }
    layout = {
        "font": {"family": FONT, "size": 13, "color": colours.ink},
        "paper_bgcolor": colours.panel,
        "plot_bgcolor": colours.panel,
        "colorway": [colours.needed, colours.harmful, colours.both, colours.muted],
        "xaxis": {**axis, "showgrid": False},
        "yaxis": axis,
        "margin": {"l": 48, "r": 16, "t": 12, "b": 44},
        "hovermode": "closest",
        "hoverlabel": {
            "bgcolor": colours.panel,
            "bordercolor": colours.line,
            "font": {"family": FONT, "size": 12, "color": colours.ink},
        },
        "legend": {
            "font": {"color": colours.muted, "size": 12},
            "orientation": "h",
            "x": 0,
            "y": 1.02,
            "yanchor": "bottom",
            "traceorder": "normal",
        },
        "annotationdefaults": {"font": {"color": colours.muted, "size": 12}, "showarrow": False},
        "separators": ".\u202f",
    }
    words = {"color": colours.muted, "size": 12}
    colorbar = {
        "outlinewidth": 0,
        "thickness": 8,
        # Beside a grid there is room for little: 4e−4.
        "exponentformat": "e",
        "tickfont": {"color": colours.muted, "size": 11},
        "title": {"font": words},
    }
    data = {"heatmap": [{"colorbar": colorbar}], "scatter": [{"marker": {"colorbar": colorbar}}]}
    return {"layout": layout, "data": data}


def titled(figure: Drawing, title: str, reading: str, **more: Any) -> Drawing:
    """The figure with its title, a sentence that says how to read it, and what else a page needs to know."""
    layout = figure["layout"]
    meta = {**layout.get("meta", {}), "title": title, "reading": reading, **more}
    return {**figure, "layout": {**layout, "meta": meta}}
