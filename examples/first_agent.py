"""An agent in Python: captures Jack or escapes when that is certain, else plays at random.

mrjack tournament --code examples/first_agent.py --agents first random
"""

import mrjack_ai
from mrjack_ai.agents import register_agent


class First(mrjack_ai.Agent):
    """Uses nothing but the observation and `self.rng`."""

    def act(self, observation):
        legal = observation.legal_actions()
        names = {observation.action_to_string(action): action for action in legal}
        suspects = observation.suspects()
        for name, action in names.items():
            if name.startswith("escape "):
                return action
            if len(suspects) == 1 and name == f"accuse {suspects[0]}":
                return action
        quiet = [action for name, action in names.items() if not name.startswith("accuse ")]
        return int(self.rng.choice(quiet or legal))


register_agent("first", First)
