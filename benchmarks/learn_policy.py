"""Learn to play Jack by policy gradient on `BatchEnv`, and measure what was learnt.

    python benchmarks/learn_policy.py                   # learns for 12 minutes on one core
    python benchmarks/learn_policy.py --folder jack --minutes 5

The opponent is `cautious`. A network with one hidden layer rates the actions (softmax over the
legal ones) and the position; whole games are played, and each choice is made more or less likely
by how much better the game went than the rating said (REINFORCE with a learnt baseline, an entropy
bonus, Adam). Only numpy is used. Weights and the learning curve are kept in the folder after every
`EVERY` updates and on Ctrl-C; the same command carries on. At the end a tournament on deals that
were never seen says how good the result is.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import time
from pathlib import Path

import numpy as np
from curve import draw_curve

import mrjack_ai
from mrjack_ai.agents import make_agent, register_agent
from mrjack_ai.common.files import replacing, write_whole
from mrjack_ai.engine.tables import build_tables, tables_record
from mrjack_ai.engine.types import ActionKind
from mrjack_ai.envs import BatchEnv
from mrjack_ai.game.observation import split_tensor, tensor_sections, tensor_size
from mrjack_ai.tournament import Settings, run_tournament, standings

GAMES = 256
"""Games played for one update."""
HIDDEN, RATE, ENTROPY, PARTS, EVERY = 128, 1e-3, 0.01, 8, 10
VARIANT = mrjack_ai.Variant()
_BASE = tables_record(build_tables(VARIANT))["base"]
ACCUSATIONS = slice(int(_BASE[ActionKind.ACCUSE]), int(_BASE[ActionKind.ACCUSE + 1]))
SECTIONS = tensor_sections(VARIANT)


def inputs(tensors: np.ndarray) -> np.ndarray:
    """What the network sees: the tensors; where Jack is and where who is being played is; whether
    the two are the same, and whether Jack is visible. A small network is slow to multiply."""
    parts = split_tensor(tensors, SECTIONS)
    jack, playing = parts["identity"], parts["playing"]
    more = [np.einsum("ns,nsh->nh", who, parts["position"]) for who in (jack, playing)]
    more += [(jack * other).sum(1)[:, None] for other in (playing, parts["visible"])]
    return np.concatenate([tensors, *more], axis=1)


class Network:
    """Inputs -> `HIDDEN` rectified units -> a logit for each action, and the expected return."""

    def __init__(self, size: int, actions: int, seed: int = 0, hidden: int = HIDDEN) -> None:
        rng = np.random.default_rng(seed)
        self.weights = [
            rng.normal(0, 0.1, (size, hidden)).astype(np.float32),
            np.zeros(hidden, np.float32),
            rng.normal(0, 0.01, (hidden, actions + 1)).astype(np.float32),
            np.zeros(actions + 1, np.float32),
        ]
        self.moments = [np.zeros_like(w) for w in (*self.weights, *self.weights)]
        self.updates = 0

    def forward(self, x: np.ndarray, masks: np.ndarray) -> tuple[np.ndarray, ...]:
        """Hidden units, probability of each action (0 where illegal), expected return."""
        first, bias, second, out_bias = self.weights
        hidden = np.maximum(x @ first + bias, 0)
        out = hidden @ second + out_bias
        logits = np.where(masks, out[:, :-1], -np.inf)
        odds = np.exp(logits - logits.max(1, keepdims=True))
        return hidden, odds / odds.sum(1, keepdims=True), out[:, -1]

    def loss_and_gradient(
        self, x: np.ndarray, masks: np.ndarray, actions: np.ndarray, returns: np.ndarray
    ) -> tuple[float, list[np.ndarray]]:
        """Loss, and its gradient by the weights while the advantages are held fixed."""
        rows = np.arange(len(x))
        hidden, chances, values = self.forward(x, masks)
        logs = np.log(np.where(masks, np.maximum(chances, 1e-12), 1))
        advantage = returns - values
        scale = advantage / (advantage.std() + 1e-6)
        entropy = -(chances * logs).sum(1)
        each = -scale * logs[rows, actions] + 0.5 * advantage**2 - ENTROPY * entropy
        back = np.zeros((len(x), chances.shape[1] + 1), np.float32)
        back[:, :-1] = scale[:, None] * chances + ENTROPY * chances * (logs + entropy[:, None])
        back[rows, actions] -= scale
        back[:, -1] = -advantage
        back /= len(x)
        inner = (back @ self.weights[2].T) * (hidden > 0)
        return float(each.mean()), [x.T @ inner, inner.sum(0), hidden.T @ back, back.sum(0)]

    def learn(self, gradient: list[np.ndarray]) -> None:
        """One step of Adam (Kingma, Ba 2015)."""
        self.updates += 1
        means, squares = self.moments[:4], self.moments[4:]
        for w, mean, square, g in zip(self.weights, means, squares, gradient, strict=True):
            mean += 0.1 * (g - mean)
            square += 0.001 * (g**2 - square)
            scale = np.sqrt(square / (1 - 0.999**self.updates)) + 1e-8
            w -= RATE / (1 - 0.9**self.updates) * mean / scale

    def save(self, path: Path) -> None:
        """Write weights and the state of the optimiser; whole or not at all."""
        with replacing(path) as file:
            np.savez(file, *self.weights, *self.moments, updates=self.updates)

    def load(self, path: Path) -> None:
        """Inverse of `save`."""
        with np.load(path) as kept:
            arrays = [kept[f"arr_{k}"] for k in range(12)]
            self.updates = int(kept["updates"])
        self.weights, self.moments = arrays[:4], arrays[4:]


def new_network(seed: int = 0) -> Network:
    """An untaught network for the standard game."""
    size = inputs(np.zeros((1, tensor_size(VARIANT)), np.float32)).shape[1]
    return Network(size, mrjack_ai.action_space(VARIANT).num_actions, seed)


def draw(chances: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """An index for each row, drawn with its chances."""
    sums = chances.cumsum(1)
    return (sums > rng.random((len(chances), 1)) * sums[:, -1:]).argmax(1)


def play_cautiously(
    tensors: np.ndarray, masks: np.ndarray, sampled: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Actions of a `cautious` Detective; where nobody can be accused, the `sampled` ones."""
    actions = sampled.copy()
    rows = np.flatnonzero(masks[:, ACCUSATIONS].any(1))
    parts, allowed = split_tensor(tensors[rows], SECTIONS), masks[rows].copy()
    cleared = [parts[name] for name in ("cleared", "exonerated", "own_alibis")]
    possible = ~np.logical_or.reduce(cleared)
    # Turn 8: Jack, the Detective twice, Jack. His last card is the last but one on the table.
    last = (parts["turn"][:, -1] == 1) & (parts["cards"].sum(1) == 2)
    wanted = allowed[:, ACCUSATIONS] & possible
    accuse = wanted.any(1) & ((possible.sum(1) == 1) | last)
    only = allowed.copy()
    only[:, ACCUSATIONS] = False
    allowed = np.where(only.any(1, keepdims=True), only, allowed)
    allowed[accuse] = False
    allowed[accuse, ACCUSATIONS] = wanted[accuse]
    actions[rows] = draw(allowed.astype(np.float32), rng)
    return actions


def play_games(env: BatchEnv, network: Network, seed: int) -> tuple[list[np.ndarray], float]:
    """Whole games of the network's Jack against `cautious`.

    Returns:
        inputs, masks, actions and returns of all of Jack's choices; share of games he won.
    """
    rng = np.random.default_rng(seed)
    batch = env.reset(seed)
    kept: list[tuple[np.ndarray, ...]] = []
    returns = np.zeros(env.n, np.float32)
    while not batch.terminated.all():
        actions = env.sample_actions().copy()
        games = np.flatnonzero(batch.current_player == mrjack_ai.DETECTIVE)
        seen, masks = batch.observation_tensor[games], batch.legal_actions_mask[games]
        actions[games] = play_cautiously(seen, masks, actions[games], rng)
        games = np.flatnonzero(batch.current_player == mrjack_ai.JACK)
        x, masks = inputs(batch.observation_tensor[games]), batch.legal_actions_mask[games]
        actions[games] = draw(network.forward(x, masks)[1], rng)
        kept.append((x, masks, actions[games], games))
        env.step(actions)
        returns += batch.rewards[:, mrjack_ai.JACK]
    x, masks, actions, games = (np.concatenate(column) for column in zip(*kept, strict=True))
    return [x, masks, actions, returns[games]], float((returns > 0).mean())


class LearnedAgent(mrjack_ai.Agent):
    """Jack as the network has learnt to play him; as the Detective it plays `cautious`."""

    def __init__(self, weights: str = "learned/weights.npz") -> None:
        self.network = new_network()
        self.network.load(Path(weights))
        self.detective = make_agent("cautious")

    def start(self, variant: mrjack_ai.Variant, player: int, rng: np.random.Generator) -> None:
        if variant != VARIANT:
            raise mrjack_ai.VariantError("the network was taught the standard game only")
        super().start(variant, player, rng)
        self.detective.start(variant, player, rng)

    def act(self, observation: mrjack_ai.Observation) -> int:
        if self.player == mrjack_ai.DETECTIVE:
            return self.detective.act(observation)
        mask = observation.legal_actions_mask()[None]
        x = inputs(observation.observation_tensor()[None])
        return int(draw(self.network.forward(x, mask)[1], self.rng)[0])


def evaluate(folder: Path, games: int, seed: int) -> dict[str, object]:
    """A tournament of what was learnt against `cautious`: each is Jack in half of the games.

    Returns:
        settings, and the share of games won as Jack by each with its 95 % interval, in %.
    """
    register_agent("learned", LearnedAgent, replace=True)
    names = (f"learned:weights={folder / 'weights.npz'}", "cautious")
    settings = Settings(agents=names, games=games, seed=seed, variant=VARIANT)
    found: dict[str, object] = {"games": games, "seed": seed}
    for standing in standings(run_tournament(settings)):
        rate = standing.as_jack
        figures = [round(100 * share, 1) for share in (rate.value, rate.low, rate.high)]
        found[standing.agent.partition(":")[0]] = figures
    return found


def learn(folder: Path, seconds: float, seed: int) -> list[dict[str, float]]:
    """Learn until so many seconds have been spent in all runs on this folder.

    Returns:
        The learning curve: for every `EVERY` batches of games, how many batches there were, the
        seconds spent so far, and the share of games that Jack won.
    """
    network, weights, progress = new_network(seed), folder / "weights.npz", folder / "curve.json"
    curve: list[dict[str, float]] = []
    if weights.exists() and progress.exists():
        network.load(weights)
        curve = json.loads(progress.read_text(encoding="utf-8"))
        # The weights are written first: a run killed in between has one point too few.
    batches = int(curve[-1]["batches"]) if curve else 0
    started = time.perf_counter() - (curve[-1]["seconds"] if curve else 0)
    env = BatchEnv(GAMES, VARIANT, auto_reset=False)
    won: list[float] = []

    def keep() -> None:
        spent = round(time.perf_counter() - started, 1)
        share = round(float(np.mean(won)), 4)
        curve.append({"batches": batches, "seconds": spent, "won": share})
        network.save(weights)
        write_whole(progress, json.dumps(curve) + "\n")
        print(f"{spent:6.0f} s  {batches * GAMES:7} games  Jack won {share:.1%}", flush=True)
        won.clear()

    try:
        while time.perf_counter() - started < seconds:
            data, share = play_games(env, network, seed + batches)
            order = np.random.default_rng(seed + batches).permutation(len(data[0]))
            for part in np.array_split(order, PARTS):
                network.learn(network.loss_and_gradient(*[column[part] for column in data])[1])
            batches += 1
            won.append(share)
            if len(won) == EVERY:
                keep()
    finally:  # on Ctrl-C too
        if won:
            keep()
    return curve


def main(arguments: list[str] | None = None) -> None:
    """Learn, draw the curve, play the tournament and write the record."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--folder", type=Path, default=Path("learned"), help="weights and results")
    parser.add_argument("--minutes", type=float, default=12, help="of learning, all runs together")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--games", type=int, default=2000, help="of the tournament at the end")
    options = parser.parse_args(arguments)
    if not options.minutes > 0:
        parser.error(f"--minutes {options.minutes} must be positive")
    options.folder.mkdir(parents=True, exist_ok=True)
    try:
        curve = learn(options.folder, 60 * options.minutes, options.seed)
    except KeyboardInterrupt:
        print(f"interrupted; the same command carries on from {options.folder}", file=sys.stderr)
        raise SystemExit(130) from None
    draw_curve(curve, options.folder / "curve.svg")
    record = {
        "command": "python benchmarks/learn_policy.py " + shlex.join(arguments or sys.argv[1:]),
        "mrjack_ai": mrjack_ai.__version__,
        "seconds": curve[-1]["seconds"],
        "games": int(curve[-1]["batches"]) * GAMES,
        "won_as_jack": evaluate(options.folder, options.games, 1_000_000 + options.seed),
    }
    text = json.dumps(record, indent=2) + "\n"
    write_whole(options.folder / "record.json", text)
    print(text, end="")


if __name__ == "__main__":
    main()
