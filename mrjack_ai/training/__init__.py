"""What makes the weights that ship: games of self-play, and a value function fitted to them."""

from mrjack_ai.training.fit import FitSettings, fit, read_examples
from mrjack_ai.training.self_play import SelfPlay, play_games
from mrjack_ai.training.train import train

__all__ = ["FitSettings", "SelfPlay", "fit", "play_games", "read_examples", "train"]
