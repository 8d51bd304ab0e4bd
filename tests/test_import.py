"""What `import mrjack_ai` does, and what it leaves for later."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module

import pytest

import mrjack_ai
from mrjack_ai.agents import registry
from mrjack_ai.agents.random import RandomAgent

LAZY = "mrjack_ai.agents", "mrjack_ai.openspiel"


def in_new_python(code: str) -> object:
    """What code prints in a Python of its own, as JSON."""
    command = [sys.executable, "-c", code]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def test_pictures_search_and_bots_are_imported_on_demand() -> None:
    code = "import json, sys, mrjack_ai; print(json.dumps([*sys.modules]))"
    loaded = in_new_python(code)
    assert isinstance(loaded, list)
    assert "mrjack_ai.openspiel.game" in loaded
    late = ("mrjack_ai.render", "mrjack_ai.search", "mrjack_ai.agents.search", "pandas")
    late += ("mrjack_ai.openspiel.agents", "mrjack_ai.openspiel.bots", "mrjack_ai.engine.batch")
    assert [name for name in loaded if name.startswith(late)] == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("pass", [True, 0]),
        ("gc.disable()", [False, 0]),
        ("gc.freeze()", [True, 1]),
        ("gc.disable(); gc.freeze()", [False, 1]),
    ],
)
def test_garbage_is_collected_after_the_import_as_before(before: str, after: list[object]) -> None:
    code = (
        f"import gc, json; {before}; import mrjack_ai; "
        "print(json.dumps([gc.isenabled(), min(1, gc.get_freeze_count())]))"
    )
    assert in_new_python(code) == after


@pytest.mark.parametrize("package", LAZY)
def test_every_public_name_is_listed_and_found(package: str) -> None:
    code = (
        f"import json, {package} as p; n = [x for x in dir(p) if x in p.__all__]; "
        "print(json.dumps([n == sorted(p.__all__), all(getattr(p, x) is not None for x in n)]))"
    )
    assert in_new_python(code) == [True, True]


@pytest.mark.parametrize("package", LAZY)
def test_unknown_name_is_an_attribute_error(package: str) -> None:
    with pytest.raises(AttributeError, match=f"{package}.*'nothing'"):
        import_module(package).nothing  # noqa: B018


def test_name_stays_what_it_is_when_modules_are_imported_directly() -> None:
    code = (
        "import json, mrjack_ai.agents.analysis, mrjack_ai.agents.plugins, mrjack_ai.agents as a; "
        "print(json.dumps([callable(getattr(a, name)) for name in a.__all__]))"
    )
    assert in_new_python(code) == [True] * len(mrjack_ai.agents.__all__)


def test_agents_are_known_in_their_order_before_they_are_loaded() -> None:
    code = "import json, mrjack_ai.agents as a; print(json.dumps(a.agent_names()))"
    assert in_new_python(code) == [
        "random",
        "cautious",
        "greedy",
        "pimc",
        "ismcts",
        "mo-ismcts",
        "omniscient",
        *["cmd", "equilibrium", "openspiel"],
    ]


def test_only_the_very_classes_of_the_library_are_built_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_AGENTS", dict(registry._AGENTS))

    class Pretender(mrjack_ai.Agent):
        """Says that it is the library's own."""

    Pretender.__module__, Pretender.__qualname__ = "mrjack_ai.agents.random", "RandomAgent"
    registry.register_agent("random", Pretender, replace=True)
    registry.register_agent("other-name", RandomAgent)
    assert not registry.is_built_in("random")
    assert not registry.is_built_in("cmd")
    assert not registry.is_built_in("openspiel")
    assert registry.is_built_in("other-name")
    assert all(registry.is_built_in(name) for name in registry._BUILT_IN if name != "random")
