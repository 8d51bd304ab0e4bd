"""What the agents that search share."""

from __future__ import annotations

import time as clock
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from mrjack_ai.agents.base import Agent, uniform_over
from mrjack_ai.agents.parameters import ranges
from mrjack_ai.common.numbers import RealNumbers, WholeNumbers, Words
from mrjack_ai.game.belief import possible_identities
from mrjack_ai.game.observation import Observation
from mrjack_ai.game.state import State
from mrjack_ai.search import kernels as engine
from mrjack_ai.search.evidence import PlayEvidence
from mrjack_ai.search.tactics import avoidable_losses, certain_wins
from mrjack_ai.search.tree import HEURISTIC as BY_HEURISTIC
from mrjack_ai.search.tree import RootStatistics, SearchSettings, Tree, add_up, split
from mrjack_ai.search.warmup import HEURISTIC, SEARCH
from mrjack_ai.search.weights import FITTED
from mrjack_ai.setup.variant import DETECTIVE, JACK, MAX_TURNS, Variant

ROLLOUTS: dict[str, int] = {
    "none": engine.ROLLOUT_NONE,
    "random": engine.ROLLOUT_RANDOM,
    "cautious": engine.ROLLOUT_CAUTIOUS,
    "greedy": engine.ROLLOUT_GREEDY,
}
ORDERS: dict[str, int] = {
    "random": engine.ORDER_RANDOM,
    "heuristic": engine.ORDER_HEURISTIC,
    "fitted": engine.ORDER_FITTED,
}
BELIEFS: tuple[str, ...] = ("exact", "plays")
FINAL_CHOICES: tuple[str, ...] = ("visits", "value")
_CONSIDERED = 0.2
"""Jack hides among actions with at least this share of the visits of the one visited most."""


MOST_SIMULATIONS = 10**7
"""Of a decision; what a tree counts over a whole game must stay below 2^31."""
_THOUSAND = RealNumbers(0, 1000)


@ranges(
    sims=WholeNumbers(1, MOST_SIMULATIONS),
    time=WholeNumbers(0, 10**9),
    c=_THOUSAND,
    rollout=Words(tuple(ROLLOUTS)),
    horizon=WholeNumbers(1, MAX_TURNS),
    eval=Words((BY_HEURISTIC, FITTED), others="FILE.npz"),
    widening=RealNumbers(0, 10**9, above=True),
    power=RealNumbers(0, 1),
    order=Words(tuple(ORDERS)),
    refine=WholeNumbers(1, 10**9),
    belief=Words(BELIEFS),
    inverse_temperature=_THOUSAND,
    observer_inverse_temperature=_THOUSAND,
    concealment=_THOUSAND,
    final=Words(FINAL_CHOICES),
    threads=WholeNumbers(1, 256),
)
class SearchAgent(Agent):
    """An agent that searches a tree of games; subclasses say which.

    Args:
        sims: simulations a decision; not used when `time` is given.
        time: milliseconds a decision; 0 counts simulations instead.
        c: exploration constant of UCB, for returns of -1 to 1.
        rollout: how a new leaf is played out: `none`, `random`, `cautious` or `greedy` (takes a
            certain accusation and an escape at once, and accuses in no other case but the last
            chance).
        horizon: calls for witnesses to play through before the value is estimated; 8 plays
            every game to its end; not with `rollout=none`.
        eval: how it is estimated: `heuristic` (that of `greedy`), `fitted`, or a file of
            weights of your own (see `mrjack_ai.search.weights`).
        widening, power: a node has at most `widening * visits ** power` actions under
            consideration.
        order: in which order actions are considered: `random`, `heuristic`, or `fitted`: by
            fitted values at nodes that have been visited `refine` times, by the heuristic before.
        refine: see `order`.
        belief: who the Detective takes for Jack: `exact` weights, or `plays`: these times how
            likely a model of Jack would have played as he did (`PlayEvidence`).
        inverse_temperature: of that model, per unit of return. Moderate, since Jack may hide.
        observer_inverse_temperature: of the model that Jack, with `belief=plays`, expects the
            Detective to have of him.
        concealment: how much of their return Jack gives up for each nat by which an action would
            add to the suspicion of such a Detective.
        reuse: begin each search of a game with what the last one found below the position; only
            `ismcts` does.
        final: choose the action with the most `visits`, or the best `value`. As Jack with
            `concealment` always the best value, less what it costs to tell, among the actions
            with a fair share of the visits.
        threads: search so many trees at once and add them up (root parallelism).

    Raises:
        ArgumentError: when a value is of the wrong type or out of range; `agent_parameters` has
            the ranges.
    """

    kind: int

    def __init__(
        self,
        sims: int = 1000,
        time: int = 0,
        c: float = 0.5,
        rollout: str = "none",
        horizon: int = 1,
        eval: str = FITTED,
        widening: float = 0.5,
        power: float = 0.5,
        order: str = "fitted",
        refine: int = 4,
        belief: str = "plays",
        inverse_temperature: float = 2.0,
        observer_inverse_temperature: float = 8.0,
        concealment: float = 0.1,
        reuse: bool = True,
        final: str = "visits",
        threads: int = 1,
    ) -> None:
        self._simulations = sims
        self._seconds = time / 1000
        self._final = final
        self._threads = threads
        self._reuse = reuse
        self._concealment = concealment
        self._trees: list[Tree] = []
        self._evidence: PlayEvidence | None = None
        self._inverse_temperatures: dict[int, float] = {}
        if belief == "plays":
            self._inverse_temperatures = {
                DETECTIVE: inverse_temperature,
                JACK: observer_inverse_temperature,
            }
        self._settings = SearchSettings(
            exploration=c,
            rollout=ROLLOUTS[rollout],
            horizon=horizon,
            widening=widening,
            power=power,
            order=ORDERS[order],
            refine=refine,
            evaluation=eval,
        )
        self._settings.weights()  # an unusable file is told now

    @classmethod
    def load(cls) -> None:
        HEURISTIC.load()
        SEARCH.load()

    def start(self, variant: Variant, player: int, rng: np.random.Generator) -> None:
        super().start(variant, player, rng)
        HEURISTIC.ensure()
        SEARCH.ensure()
        self._trees = []
        self._evidence = None
        if player in self._inverse_temperatures:
            inverse_temperature = self._inverse_temperatures[player]
            self._evidence = PlayEvidence(self._settings.weights(), inverse_temperature)

    def act(self, observation: Observation) -> int:
        if len(observation.actions) == 1:
            return observation.actions[0]
        self._begun = clock.perf_counter()
        possible = self._possible(observation)
        wins = certain_wins(observation, possible)
        if wins:
            return wins[int(self.rng.integers(len(wins)))]
        found = self._find(observation)
        losses = avoidable_losses(observation, possible)
        allowed = np.isin(found.actions, losses, invert=True)
        values = np.nan_to_num(found.values, nan=-2.0)
        keys = (values, found.visits) if self._final == "visits" else (found.visits, values)
        if self._evidence is not None and self._concealment and observation.player == JACK:
            considered = found.visits >= _CONSIDERED * found.visits[allowed].max(initial=0)
            hidden = values - self._concealment * self._evidence.exposure(observation)
            keys = (hidden, considered)
        return int(found.actions[np.lexsort((*keys, allowed))[-1]])

    def _possible(self, observation: Observation) -> int:
        return possible_identities(observation)

    def suspicion(self, observation: Observation) -> npt.NDArray[np.float64] | None:
        """Probability of each seat to be Jack, his plays so far taken as evidence.

        Returns:
            float64, shape `(seats,)`, see `PlayEvidence.identity_probabilities`; None where the
            agent goes by the exact ones.
        """
        return (
            None if self._evidence is None else self._evidence.identity_probabilities(observation)
        )

    def _belief(self, observation: Observation) -> npt.NDArray[np.float64] | None:
        """Whom the searching player takes for Jack; None for the exact weights. Jack knows."""
        return None if observation.player == JACK else self.suspicion(observation)

    def policy(self, observation: Observation) -> npt.NDArray[np.float64]:
        """Share of the simulations through each action, certainties taken into account.

        Certain wins share everything; actions that lose for certain get nothing unless all do.
        (`act` chooses the best of these actions; as Jack perhaps one that tells less.)
        """
        actions = np.array(observation.actions)
        possible = self._possible(observation)
        wins = certain_wins(observation, possible)
        if wins:
            return uniform_over(np.isin(actions, wins))
        allowed = np.isin(actions, avoidable_losses(observation, possible), invert=True)
        visits = self.search(observation).visits * allowed
        if visits.sum() == 0:
            return uniform_over(allowed)
        policy: npt.NDArray[np.float64] = visits / visits.sum()
        return policy

    def search(self, observation: Observation) -> RootStatistics:
        """Search from an observation of the player to move, within the budget."""
        self._begun = clock.perf_counter()
        return self._find(observation)

    def _find(self, observation: Observation) -> RootStatistics:
        """The search of a decision that began at `_begun`."""
        return self._search(observation, None, self._simulations, self._seconds)

    def _left(self, seconds: float) -> float:
        """What is left of a budget of time after all that was done beside searching."""
        return max(0.0, seconds - (clock.perf_counter() - self._begun))

    def _search(
        self, observation: Observation, world: State | None, simulations: int, seconds: float
    ) -> RootStatistics:
        belief = self._belief(observation) if world is None else None
        shares = [0] * self._threads if seconds else split(simulations, self._threads)
        trees = [
            Tree(
                observation, self.kind, self._settings, int(self.rng.integers(2**63)), world, belief
            )
            for _ in shares
        ]
        if self._reuse and self.kind != engine.MULTIPLE_OBSERVER and world is None:
            for tree, earlier in zip(trees, self._trees, strict=False):
                tree.carry_over(earlier)
            self._trees = trees

        def run(tree: Tree, share: int) -> RootStatistics:
            if seconds:
                tree.run_for(self._left(seconds))
            else:
                tree.run(share)
            return tree.statistics()

        if len(trees) == 1:
            return run(trees[0], shares[0])
        with ThreadPoolExecutor(len(trees)) as pool:
            try:
                return add_up(list(pool.map(run, trees, shares)))
            except BaseException:  # Ctrl-C: the pool waits for its threads
                for tree in trees:
                    tree.stop()
                raise
