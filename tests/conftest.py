"""Settings shared by all tests."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from mrjack_ai.engine.warmup import BATCH, COUNTING, ENGINE
from mrjack_ai.lab.warmup import LAB
from mrjack_ai.search.warmup import FITTING, HEURISTIC, SEARCH

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

_MOST_PROCESSES = 8
"""Each can take 700 MB and a browser of its own."""


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads the options
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Run in several processes unless told otherwise.

    Not said in `addopts`: without pytest-xdist, as under `-p no:xdist`, pytest refuses its options.
    """
    if not config.pluginmanager.hasplugin("xdist") or hasattr(config, "workerinput"):
        return
    option = config.option
    if option.numprocesses is None and option.dist == "no" and not option.tx:
        option.numprocesses, option.dist = "auto", "worksteal"
        option.maxprocesses = option.maxprocesses or _MOST_PROCESSES


def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile before the first test, which might be one that looks at standard error.

    Once, before the processes of pytest-xdist start.
    """
    if hasattr(session.config, "workerinput"):
        return
    for group in (ENGINE, COUNTING, BATCH, HEURISTIC, SEARCH, FITTING, LAB):
        group.ensure()


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A headless Chromium; what a test changes of it, the next one has to set anew."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        missing = "needs chromium and chromedriver (apt-get install chromium chromium-driver)"
        if os.environ.get("MRJACK_REQUIRE_BROWSER"):
            pytest.fail(missing)
        pytest.skip(missing)
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for word in (
        *("headless", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run"),
        *("disable-background-networking", "disable-component-update", "disable-sync"),
        *("disable-dev-shm-usage", f"user-data-dir={tmp_path_factory.mktemp('chromium')}"),
    ):
        options.add_argument(f"--{word}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(executable_path=driver)
    window = webdriver.Chrome(options=options, service=service)
    yield window
    window.quit()
