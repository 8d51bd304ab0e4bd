"""Versions of the library and of the rules it plays."""

__version__ = "0.2.0"

RULES_VERSION = 1
"""Kept in every game record; raised when the rules or the notation change."""
