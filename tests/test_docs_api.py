"""The pages of the API have every module of the package, and its index every public name."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import mrjack_ai

PACKAGE = Path(mrjack_ai.__file__).parent
PAGES = PACKAGE.parent / "docs" / "api"
LEFT_OUT = ("cli", "common")
"""Folders without an interface of their own."""
PUBLIC_FOLDERS = ("agents", "tournament", "render", "envs", "openspiel", "training", "lab")
PUBLIC = ("mrjack_ai", *(f"mrjack_ai.{folder}" for folder in PUBLIC_FOLDERS))


def modules() -> set[str]:
    found = set()
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        if not parts[-1].startswith("__") and parts[0] not in LEFT_OUT:
            found.add(".".join(["mrjack_ai", *parts]))
    return found


def test_every_module_is_on_the_page_of_its_folder() -> None:
    listed = []
    for page in PAGES.glob("*.md"):
        names = re.findall(r"^::: (\S+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
        folders = {name.split(".")[1] for name in names if name.count(".") > 1}
        assert folders <= {page.stem}
        listed += names
    assert len(listed) == len(set(listed))
    missing, unknown = modules() - set(listed), set(listed) - modules()
    assert not missing, f"list {sorted(missing)} as `::: NAME` on the pages of docs/api"
    assert not unknown


def test_every_page_is_in_the_navigation() -> None:
    settings = (PACKAGE.parent / "mkdocs.yml").read_text(encoding="utf-8")
    pages = {path.relative_to(PAGES.parent).as_posix() for path in PAGES.parent.rglob("*.md")}
    assert set(re.findall(r"\S+\.md\b", settings)) == pages


@pytest.mark.parametrize("package", PUBLIC)
def test_every_public_name_is_linked_to_what_it_is(package: str) -> None:
    text = (PAGES / "index.md").read_text(encoding="utf-8")
    section = text.partition(f"## `{package}`\n")[2].partition("\n## ")[0]
    links = dict(re.findall(r"\[`(\w+)`\]\[([\w.]+)\]", section))
    module = import_module(package)
    public = {
        name
        for name in module.__all__
        if not name.startswith("__") and not isinstance(getattr(module, name), ModuleType)
    }
    assert set(links) == public
    for name, target in links.items():
        home, _, attribute = target.rpartition(".")
        assert home in modules(), target
        assert getattr(import_module(home), attribute) is getattr(module, name)
