"""The laboratory: variants small enough to solve, and how exploitable agents are there."""

from mrjack_ai.lab.agent_policies import SideExploitability, exploit
from mrjack_ai.lab.miniatures import MINIATURES, miniature
from mrjack_ai.lab.public_tree import PublicTree, build_public_tree
from mrjack_ai.lab.solution import Progress, Solution, solve
from mrjack_ai.lab.solver import Exploitability, Solver, TreeEvaluator

__all__ = [
    "MINIATURES",
    "Exploitability",
    "Progress",
    "PublicTree",
    "SideExploitability",
    "Solution",
    "Solver",
    "TreeEvaluator",
    "build_public_tree",
    "exploit",
    "miniature",
    "solve",
]
