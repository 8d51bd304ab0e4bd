"""A whole agent in plain Python: plays at random, repeatably. Try it with

mrjack tournament --agents random "cmd:python3 examples/random_program.py"
"""

import json
import random
import sys

choose = random.Random()
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        answer = {"protocol": 1}
    elif message["type"] == "new game":
        choose.seed(message["seed"])
        answer = {"ready": True}
    elif message["type"] == "observation":
        answer = {"action": choose.choice(message["legal_actions"])}
    else:
        break
    print(json.dumps(answer), flush=True)
