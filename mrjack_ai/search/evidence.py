"""Belief that takes the opponent's plays as evidence of who he is."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mrjack_ai.engine.tables import build_tables
from mrjack_ai.engine.types import Player
from mrjack_ai.game.belief import possible_identities, public_identities
from mrjack_ai.game.observation import Observation
from mrjack_ai.game.position import state_record
from mrjack_ai.game.state import new_game
from mrjack_ai.search.opponent_model import model_choices, weigh_plays
from mrjack_ai.search.weights import Weights


class PlayEvidence:
    """Probabilities of the identities by how likely a model of Jack makes what Jack has done.

    Exact probabilities (`belief.identity_probabilities`) times the likelihood of Jack's choices so
    far; see `search.opponent_model` for the model. Keeps what it has weighed while a game goes on.

    Args:
        weights: of the fitted value function.
        inverse_temperature: how strongly the model prefers what it rates higher, per unit of
            return; with 0 only exits let go by, and the number of actions each of them would have
            had, count.
    """

    def __init__(self, weights: Weights, inverse_temperature: float) -> None:
        self._weights = weights
        self._inverse_temperature = inverse_temperature
        self._begun: tuple[object, ...] = ()
        self._events: tuple[int, ...] = ()
        self._logarithms = np.zeros(0)

    def identity_probabilities(self, observation: Observation) -> npt.NDArray[np.float64]:
        """Probability of each seat to be Jack, as the Detective would see it.

        Args:
            observation: of either player, after Jack's card was drawn. From Jack's the Detective's
                own alibi cards cannot be known: this is then what everybody can conclude.

        Returns:
            float64, shape `(seats,)`, adding up to 1.
        """
        seats = len(observation.variant.cast)
        detective = observation.player == Player.DETECTIVE
        possible = (possible_identities if detective else public_identities)(observation)
        mask = (possible >> np.arange(seats) & 1).astype(np.float64)
        if possible.bit_count() < 2:
            return mask
        begun = (observation.variant, observation.root)
        known = len(self._events)
        if begun != self._begun or observation.events[:known] != self._events:
            self._begun, known = begun, 0
            self._logarithms = np.zeros(seats)
        if observation.root is not None:
            root = np.frombuffer(bytearray(observation.root), np.uint64)
        else:
            root = new_game(observation.variant).position_words()
        weigh_plays(
            root,
            build_tables(observation.variant),
            self._weights,
            np.array(observation.events, np.int64),
            known,
            possible,
            self._inverse_temperature,
            self._logarithms,
        )
        self._events = observation.events
        likely = mask * np.exp(self._logarithms - self._logarithms[mask > 0].max())
        probabilities: npt.NDArray[np.float64] = likely / likely.sum()
        return probabilities

    def exposure(self, observation: Observation) -> npt.NDArray[np.float64]:
        """How much each of Jack's legal actions would add to the suspicion against him.

        Returns:
            float64, of the length of `observation.actions`: the logarithm of the factor by which
            the Detective's probability of the true identity grows; negative where it falls.
        """
        belief = self.identity_probabilities(observation)
        words = observation.position_words()
        choices = np.zeros((len(belief), len(observation.actions)))
        model_choices(
            words,
            build_tables(observation.variant),
            self._weights,
            public_identities(observation),
            self._inverse_temperature,
            choices,
        )
        jack = int(state_record(words)["jack"])
        exposure: npt.NDArray[np.float64] = np.log(choices[jack] / (belief @ choices))
        return exposure
