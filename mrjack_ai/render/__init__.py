"""Pictures of a position: for a terminal, and as SVG; and a page that shows a whole game."""

from mrjack_ai.render.svg import board_svg
from mrjack_ai.render.terminal import board_text, describe

__all__ = ["board_svg", "board_text", "describe"]
