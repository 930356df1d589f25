"""The house rules as programs: each has a name, its gist and its reason.

`./tenon check` runs them all; CONTRIBUTING.md lists the same names, and a test holds the
two together. A breach is one line: where, which rule, what, and how to correct it.
"""

from __future__ import annotations

from tools.check import language, measured, sources, structure, tools, tree
from tools.check.rule import Breach, Context, Rule, Skipped

RULES: tuple[Rule, ...] = (
    *tree.RULES,
    *structure.RULES,
    *sources.RULES,
    *language.RULES,
    *measured.RULES,
    *tools.RULES,
)

__all__ = ["RULES", "Breach", "Context", "Rule", "Skipped"]
