"""Every rule that code and tests cite by number is a clause of docs/rules.md."""

from __future__ import annotations

import io
import re
import tokenize
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
RULES = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")

SECTION = re.compile(r"^## (\d+) ", re.MULTILINE)
CLAUSE = re.compile(r"^\*\*(\d+\.\d+)\*\* ", re.MULTILINE)

NUMBER = r"[1-9]\d?\.\d"
LIST = rf"{NUMBER}(?:(?:-|, | and ){NUMBER})*"
PARENTHESES = re.compile(r"\(([^()]*)\)")
RULE = re.compile(rf"\b[Rr]ules? ({LIST})")
SECTIONS = re.compile(r"\b[Ss]ections? (\d{1,2}(?!\d*\.\d)(?:(?:-|, | and )\d{1,2}(?!\d*\.\d))*)")
WHOLE = re.compile(rf"(?:section \d+, )?({LIST})(?:[,;] section \d+)?(?:[,;:] [^()]*)?")
TEST = re.compile(r"\bdef test_rule_(\d+)_(?:(\d)_)?")


def words_of(source: str) -> str:
    """Comments and texts of a module, where numbers are not values."""
    kinds = (tokenize.COMMENT, tokenize.STRING)
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return "\n".join(token.string for token in tokens if token.type in kinds)


def spread(text: str) -> set[str]:
    """The clauses of a list; a range within a section stands for all between its ends."""
    found = set(re.findall(NUMBER, text))
    for chapter, first, other, last in re.findall(r"(\d+)\.(\d)-(\d+)\.(\d)", text):
        assert chapter == other
        found |= {f"{chapter}.{clause}" for clause in range(int(first), int(last) + 1)}
    return found


def citations(source: str) -> set[str]:
    """Numbers of the rules and sections that a module cites."""
    words = words_of(source)
    found = set()
    for inside in PARENTHESES.findall(words):
        if match := WHOLE.fullmatch(inside):
            found |= spread(match[1])
    for listed in RULE.findall(words):
        found |= spread(listed)
    papers = re.compile(r"\d{4}, section")  # of a book or paper, no rule
    for match in SECTIONS.finditer(words):
        if not papers.search(words[max(0, match.start() - 6) : match.end()]):
            found |= set(re.findall(r"\d+", match[1]))
    for section, clause in TEST.findall(source):
        found.add(f"{section}.{clause}" if clause else section)
    return found


def cited() -> dict[str, set[str]]:
    """Files that cite each number."""
    found: dict[str, set[str]] = {}
    for folder in ("mrjack_ai", "tests"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            if path == Path(__file__):
                continue
            for number in citations(path.read_text(encoding="utf-8")):
                found.setdefault(number, set()).add(str(path.relative_to(ROOT)))
    return found


def test_numbers_of_clauses_and_sections_are_unique_and_in_order() -> None:
    sections, clauses = SECTION.findall(RULES), CLAUSE.findall(RULES)
    assert sections == [str(number) for number in range(1, 12)]
    assert [n for n, count in Counter(clauses).items() if count > 1] == []
    pairs = [tuple(map(int, clause.split("."))) for clause in clauses]
    assert pairs == sorted(pairs)
    assert len(clauses) == 33


def test_clauses_stand_under_their_section() -> None:
    for part in re.split(r"^## ", RULES, flags=re.MULTILINE)[1:]:
        section = part.split()[0]
        assert {clause.split(".")[0] for clause in CLAUSE.findall(part)} <= {section}


def test_every_rule_that_is_cited_exists() -> None:
    known = {*SECTION.findall(RULES), *CLAUSE.findall(RULES)}
    found = cited()
    missing = {number: files for number, files in found.items() if number not in known}
    assert missing == {}
    assert sum(map(len, found.values())) >= 100, "citations are no longer recognised"
    assert len({number for number in found if "." in number}) >= 30
    package = {n for n, files in found.items() if any(f.startswith("mrjack_ai") for f in files)}
    assert len(package) >= 20


def test_every_clause_has_a_test_named_after_it() -> None:
    tested = set()
    for path in sorted((ROOT / "tests").glob("test_*.py")):
        for section, clause in TEST.findall(path.read_text(encoding="utf-8")):
            tested.add(f"{section}.{clause}" if clause else section)
    assert set(CLAUSE.findall(RULES)) <= tested


@pytest.mark.parametrize(
    ("source", "numbers"),
    [
        ('"""Lit hexes (6.1)."""', {"6.1"}),
        ("# reachable (4.2-4.5)", {"4.2", "4.3", "4.4", "4.5"}),
        ("# the whistle (5.6, 5.7)", {"5.6", "5.7"}),
        ("# by rule 5.4 or rules 2.2 and 3.1", {"5.4", "2.2", "3.1"}),
        ("# who starts (section 9, 11.1); sections 1 and 5", {"9", "11.1", "1", "5"}),
        ("def test_rule_5_6_whistle() -> None: ...", {"5.6"}),
        ("def test_rule_8_suspects() -> None: ...", {"8"}),
        ("wait(0.2); ticks = (0.0, 0.25)  # at (0.25) of it", set()),
        ("# Knuth, 1977, section 6.3", set()),
    ],
)
def test_citations_are_told_from_other_numbers(source: str, numbers: set[str]) -> None:
    assert citations(source) == numbers
