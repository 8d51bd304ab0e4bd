"""Environments for reinforcement learning.

`BatchEnv` plays many games at once in compiled code; `mrjack_ai.envs.pettingzoo` is the game as a
PettingZoo environment, and needs that library.
"""

from mrjack_ai.envs.batch import ENDINGS, Batch, BatchEnv

__all__ = ["ENDINGS", "Batch", "BatchEnv"]
