"""Settings shared by all tests."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

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
