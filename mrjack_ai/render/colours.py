"""The colours of pages, boards and figures.

Hues are those of Okabe and Ito, Color Universal Design (2008), which people of all kinds of colour
vision can tell apart, darker or lighter where a contrast of 4.5 to the background needs it. What
differs in colour differs in shape, lightness or text as well.
"""

from __future__ import annotations

BLUE, VERMILLION, GREEN, PURPLE = "#0072b2", "#d55e00", "#009e73", "#cc79a7"
ORANGE, SKY, BLACK, WHITE = "#e69f00", "#56b4e9", "#000000", "#ffffff"
DEEP_VERMILLION, DEEP_GREEN, DEEP_PURPLE = "#c24e00", "#007a59", "#8b1a6b"
"""Dark enough for text on paper."""

SERIES: tuple[str, ...] = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, BLACK)
"""Colours of the lines of a figure, one after the other; yellow is too light on white."""

# -- the board --------------------------------------------------------------------------------

PAPER, INK, MUTED, LINE = "#faf9f5", "#1b1e22", "#565d66", "#c9ccd1"
UNLIT, LIT, BEAM = "#8d99a8", "#ffe28a", "#d3edff"
BUILDING, ROOF, POST, GLOW = "#5f656e", "#777e88", "#383d45", "#ffc61a"
PALE, SHADE, OUT = "#dfe2e6", "#b9bec6", "#aab0b8"
"""Greys: names on dark ground, a manhole's cover, a gaslight that is out."""
INNOCENT, INNOCENT_INK, JACK_EDGE = "#c6cbd2", "#3d434b", "#ff9a3d"
CORDON, EXIT = "#2b2f35", "#e6f5ef"

# -- pages ------------------------------------------------------------------------------------

ENDINGS: dict[str, str] = {
    "caught": BLUE,
    "wrong": ORANGE,
    "escape": DEEP_VERMILLION,
    "dawn": "#8d5a86",
    "forfeit": "#7d8590",
}
"""Colour of each ending of a game, by its word."""

LIGHT: dict[str, str] = {
    "page": WHITE,
    "raised": "#f5f6f8",
    "text": "#1a1d21",
    "muted": "#59616b",
    "line": "#d5d9df",
    "grid": "#e4e7eb",
    "plain": "#33475b",
    "link": "#0060a0",
    "detective": BLUE,
    "jack": DEEP_VERMILLION,
    **ENDINGS,
    "on-wrong": "#1a1d21",
}
"""Colours of a web page by use, each a variable of its style sheets."""

DARK: dict[str, str] = {
    "page": "#14171b",
    "raised": "#1d2126",
    "text": "#e7eaee",
    "muted": "#a0a8b2",
    "line": "#3a4048",
    "grid": "#2a2f36",
    "plain": "#b9c6d4",
    "link": "#7cc4f5",
    "detective": SKY,
    "jack": "#f08a3c",
    "caught": SKY,
    "wrong": "#e8c048",
    "escape": "#f08a3c",
    "dawn": "#d39acb",
    "forfeit": "#8a929c",
    "on-wrong": "#1a1d21",
}
"""The same for readers who prefer dark pages."""


def variables() -> str:
    """The colours of a page as variables of its style sheets, for light and dark."""
    light, dark = (
        " ".join(f"--{name}: {colour};" for name, colour in theme.items())
        for theme in (LIGHT, DARK)
    )
    return (
        f"\n:root {{ color-scheme: light dark; {light} }}"
        f"\n@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}"
    )


def faded(colour: str, opacity: float) -> str:
    """A colour that lets the background through, for a style.

    Args:
        colour: six hexadecimal digits after a `#`.
        opacity: 0 to 1.
    """
    parts = ", ".join(str(part) for part in bytes.fromhex(colour[1:]))
    return f"rgba({parts}, {opacity:g})"
