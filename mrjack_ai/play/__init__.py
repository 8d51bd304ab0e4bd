"""A game of a human against an agent in the terminal: `mrjack play`."""

from mrjack_ai.play.choices import Menu, NoMatchError, match
from mrjack_ai.play.dialogue import Dialogue
from mrjack_ai.play.session import Session
from mrjack_ai.play.terminal import play

__all__ = ["Dialogue", "Menu", "NoMatchError", "Session", "match", "play"]
