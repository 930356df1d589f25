"""Rules about what was measured of the tree: it must be of the tree as it is."""

from __future__ import annotations

from collections.abc import Iterator

from tenonos.cards import card
from tenonos.errors import InputError
from tenonos.paths import ROOT
from tools.check.rule import Breach, Context, Rule, Skipped


def fresh_cards(context: Context) -> Iterator[Breach]:
    """Cards of other sources or options, and libraries without one."""
    if context.root != ROOT:
        raise Skipped("cards are measured in the tree itself")
    from tools.cards.stale import compiler, stale

    mend = "measure again: ./tenon measure"
    try:
        others = {one.compiler for one in card.load(context.root).values()} - {compiler()}
        if others:
            raise Skipped(
                f"the cards are of Rust {', '.join(sorted(others))}, here is {compiler()}"
            )
        for library, why in stale(card.load(context.root)):
            where = context.shown(card.place(library, context.root))
            yield Breach("fresh-cards", where, why, mend)
    except InputError as error:
        yield Breach("fresh-cards", error.where or "?", error.what, error.mend or mend)


RULES = (
    Rule(
        "fresh-cards",
        "Every library that a system has has a measured card, of its sources as they are.",
        "The solver chooses by the cards, and explain quotes them.",
        fresh_cards,
    ),
)
