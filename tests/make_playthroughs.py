"""Write the golden playthroughs anew: `python tests/make_playthroughs.py`."""

from pathlib import Path

from absl import flags
from open_spiel.python.algorithms import generate_playthrough

import mrjack_ai

GAMES = {
    "mrjack": "mrjack",
    "mrjack_small": "mrjack(board=mews,cast=SH+JW+SG+JB,first=jack,turns=4)",
}

if __name__ == "__main__":
    flags.FLAGS(["make_playthroughs"])
    for name, game in GAMES.items():
        text = generate_playthrough.playthrough(game, [], seed=7)
        path = Path(__file__).parent / "data" / f"{name}.playthrough.txt"
        path.write_text(text, encoding="utf-8")
        print(f"{path}: {len(text.splitlines())} lines, mrjack_ai {mrjack_ai.__version__}")
