"""Statistics and pictures of many games: what the notebooks are made of.

`load_data` reads the data that `python -m mrjack_ai.studies data` makes; the functions take data
frames and give data frames. Pictures are in `mrjack_ai.studies.plots` and need matplotlib, from
the extra `notebooks`.
"""

from mrjack_ai.studies import plots, sentences
from mrjack_ai.studies.data import NotebookData, games_frame, load_data, make_data
from mrjack_ai.studies.plan import JACK_FIRST, SIZES, STANDARD, Size, Study, studies, variants
from mrjack_ai.studies.replay import (
    Anatomy,
    branching,
    calls_by_turn,
    entropy,
    gain,
    heat,
    take_apart,
    told_and_expected,
    who_plays,
    witness_call,
)
from mrjack_ai.studies.significance import (
    Difference,
    benjamini_hochberg,
    by_dealt_card,
    by_group,
    contrast_by_deals,
    deal_scores,
    family,
    group_difference,
    holm,
    nearest_to_half,
    paired_difference,
    rates,
    ratio_by_deals,
    share_of,
)
from mrjack_ai.studies.strength import (
    Line,
    doubling_line,
    fit_line,
    matches,
    rate_agents,
    ratings_frame,
    thinking_times,
)
from mrjack_ai.studies.tree_size import (
    TreeSize,
    information_set_size,
    log10_product,
    position_bound,
    probe_tree,
    tree_size,
)

__all__ = [
    "JACK_FIRST",
    "SIZES",
    "STANDARD",
    "Anatomy",
    "Difference",
    "Line",
    "NotebookData",
    "Size",
    "Study",
    "TreeSize",
    "benjamini_hochberg",
    "branching",
    "by_dealt_card",
    "by_group",
    "calls_by_turn",
    "contrast_by_deals",
    "deal_scores",
    "doubling_line",
    "entropy",
    "family",
    "fit_line",
    "gain",
    "games_frame",
    "group_difference",
    "heat",
    "holm",
    "information_set_size",
    "load_data",
    "log10_product",
    "make_data",
    "matches",
    "nearest_to_half",
    "paired_difference",
    "plots",
    "position_bound",
    "probe_tree",
    "rate_agents",
    "rates",
    "ratings_frame",
    "ratio_by_deals",
    "sentences",
    "share_of",
    "studies",
    "take_apart",
    "thinking_times",
    "told_and_expected",
    "tree_size",
    "variants",
    "who_plays",
    "witness_call",
]
