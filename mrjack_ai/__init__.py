"""Game-theory AI for the board game Mr. Jack.

    import mrjack_ai
    state = mrjack_ai.new_game()

`import mrjack_ai` also registers the game in OpenSpiel: `pyspiel.load_game("mrjack")`.
"""

import gc

# Importing makes many objects and hardly any garbage; looking for some takes a tenth of the time.
_collects_garbage = gc.isenabled()
gc.disable()
try:
    import mrjack_ai.openspiel as openspiel
    from mrjack_ai.agents.base import Agent
    from mrjack_ai.errors import (
        AgentError,
        ArgumentError,
        BoardError,
        IllegalActionError,
        MrJackError,
        NotationError,
        NotResetError,
        RecordError,
        VariantError,
    )
    from mrjack_ai.game.actions import Action, action_space
    from mrjack_ai.game.belief import determinize, identity_probabilities
    from mrjack_ai.game.observation import Observation
    from mrjack_ai.game.position import Outcome
    from mrjack_ai.game.state import State, new_game
    from mrjack_ai.setup.board import Board, board_from_dict, built_in_boards, load_board
    from mrjack_ai.setup.variant import DETECTIVE, JACK, Variant, make_variant
    from mrjack_ai.version import RULES_VERSION, __version__
finally:
    if _collects_garbage:
        if gc.get_freeze_count() == 0:
            # Moves all objects to the oldest generation. The collector would look through those
            # that were made without it as soon as it is back.
            gc.freeze()
            gc.unfreeze()
        gc.enable()

__all__ = [
    "DETECTIVE",
    "JACK",
    "RULES_VERSION",
    "Action",
    "Agent",
    "AgentError",
    "ArgumentError",
    "Board",
    "BoardError",
    "IllegalActionError",
    "MrJackError",
    "NotResetError",
    "NotationError",
    "Observation",
    "Outcome",
    "RecordError",
    "State",
    "Variant",
    "VariantError",
    "__version__",
    "action_space",
    "board_from_dict",
    "built_in_boards",
    "determinize",
    "identity_probabilities",
    "load_board",
    "make_variant",
    "new_game",
    "openspiel",
]
