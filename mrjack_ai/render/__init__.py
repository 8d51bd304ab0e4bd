"""Pictures of a position."""

from mrjack_ai.render.terminal import board_text, describe

__all__ = ["board_text", "describe"]
