"""Data: characters, boards, variants."""
