"""Scores of paired games, ratings and sequential tests; knows no game."""
