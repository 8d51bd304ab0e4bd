"""Settings shared by all tests."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

import mrjack_ai

# The same examples in every run, so that a red run can be repeated; `explore` looks further.
settings.register_profile(
    "repeatable",
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile("explore", settings.get_profile("repeatable"), derandomize=False)
settings.load_profile(os.environ.get("MRJACK_HYPOTHESIS", "repeatable"))


@pytest.fixture(autouse=True, scope="session")
def _compiled_engine() -> None:
    """Compile before the first test, which might be one that looks at standard error."""
    mrjack_ai.new_game()
