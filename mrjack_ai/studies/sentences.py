"""Sentences that follow from numbers: what a notebook says, true whatever came out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from mrjack_ai.stats.scores import Rate

if TYPE_CHECKING:
    import pandas

    from mrjack_ai.studies.tree_size import TreeSize


def p_text(p: float) -> str:
    """A p-value as text."""
    return "p < 0.0001" if p < 1e-4 else f"p = {p:.2g}"


def side_text(rate: Rate) -> str:
    """Whom a game favours, given the share of games the Detective wins."""
    share = f"the Detective wins {rate.percent()} % of {rate.games:,} games"
    if rate.low > 0.5:
        return f"{share}: **the Detective is favoured**"
    if rate.high < 0.5:
        return f"{share}: **Jack is favoured**"
    return f"{share}: **neither side is shown to be favoured**"


def significant_text(
    table: pandas.DataFrame, row_text: Callable[[pandas.Series], str], nothing: str
) -> str:
    """A list of what a family of tests has shown, or what is said when it has shown nothing.

    Args:
        table: from `significance.family`.
        row_text: says one row.
        nothing: the sentence when no row is significant.
    """
    shown = table[table["significant"]]
    if shown.empty:
        return nothing
    return "\n".join(f"- {row_text(row)}" for _, row in shown.iterrows())


def change_text(row: pandas.Series) -> str:
    """The difference of a row of `significance.family` with interval and corrected p-value."""
    values = [100 * row[name] for name in ("value", "low", "high")]
    change = "{:+.1f} points [{:+.1f}, {:+.1f}]".format(*values)
    return f"{change}, corrected {p_text(row['corrected'])}"


def power_of_ten(size: TreeSize) -> str:
    """An estimated size as a power of ten with its interval."""
    return f"10^{size.value:.1f} [10^{size.low:.1f}, 10^{size.high:.1f}]"


def join(words: Sequence[str]) -> str:
    """Words as in a sentence: `a, b and c`."""
    *most, last = words or ["none"]
    return f"{', '.join(most)} and {last}" if most else last
