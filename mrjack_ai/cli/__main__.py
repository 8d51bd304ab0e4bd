"""`python -m mrjack_ai.cli`."""

import sys

from mrjack_ai.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
