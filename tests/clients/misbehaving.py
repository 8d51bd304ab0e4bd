"""An agent that plays the first action and breaks the protocol as its argument says."""

import json
import os
import signal
import sys
import time
from pathlib import Path

HOW = sys.argv[1]


def answer(message: dict) -> str:
    kind = message["type"]
    if kind == "hello":
        if HOW == "stays":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            Path(sys.argv[2], f"hello-{os.getpid()}").touch()
        return json.dumps({"protocol": 2 if HOW == "version" else 1})
    if kind == "new game":
        print("new game as", message["role"], file=sys.stderr, flush=True)
        if HOW == "garbage":
            print("x" * 200_000, file=sys.stderr, flush=True)
        if HOW == "loading":
            time.sleep(60)
        return json.dumps({"ready": HOW != "unready"})
    action = {"action": message["legal_actions"][0]}
    if HOW == "garbage":
        return "I think " + str(action)
    if HOW == "number":
        return "17"
    if HOW == "nested":
        return "[" * 100_000
    if HOW == "illegal":
        return json.dumps({"action": "pick ME"})
    if HOW == "list":
        return json.dumps({"action": [1]})
    if HOW == "gives-up":
        return json.dumps({"error": "out of ideas"})
    if HOW == "twice":
        return json.dumps(action) + "\n" + json.dumps(action)
    if HOW == "slow":
        time.sleep(60)
    if HOW == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if HOW == "exits":
        sys.exit("no more")
    if HOW == "crashes":
        os.kill(os.getpid(), signal.SIGSEGV)
    if HOW == "long":
        return "x" * 2_000_000
    if HOW == "endless":
        while True:
            sys.stdout.write("x" * 10_000)
    if HOW == "closes-output":
        os.close(1)
        time.sleep(60)
    if HOW == "bytes":
        sys.stdout.buffer.write(b"\xff\xfe\n")
        sys.stdout.flush()
        return ""
    return json.dumps(action)


for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "quit":
        if HOW == "stays":
            Path(sys.argv[2], f"quit-{os.getpid()}").touch()
        while HOW == "stubborn":
            time.sleep(60)
        break
    print(answer(message), flush=True)
    if HOW == "closes-input" and message["type"] == "new game":
        os.close(0)
        time.sleep(60)
while HOW == "stays":  # after its input has ended
    time.sleep(60)
