"""Kconfig as propositional logic: one literal per symbol, one clause set per tree.

The encoding follows kconfiglib's evaluation of bools: a symbol is y if something
selects it, may be y if it is visible, and takes its default where it is not. A select
that would override unmet dependencies is forbidden, so that a model of the clauses is a
configuration without a warning.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import kconfiglib as kc

BOOLS = (kc.BOOL, kc.TRISTATE)
_COMPARISONS: dict[int, Callable[[int, int], bool]] = {
    kc.EQUAL: operator.eq,
    kc.UNEQUAL: operator.ne,
    kc.LESS: operator.lt,
    kc.LESS_EQUAL: operator.le,
    kc.GREATER: operator.gt,
    kc.GREATER_EQUAL: operator.ge,
}


@dataclass
class Encoding:
    """The clauses of a tree, and the literal of each of its bools."""

    literals: dict[str, int]
    clauses: list[list[int]]
    settable: frozenset[str] = frozenset()
    """The bools that a user may set."""
    preferences: dict[str, int] = field(default_factory=dict)
    """For each symbol or choice the literal of its default value."""

    def literal(self, symbol: str, value: bool = True) -> int:
        """The literal for a symbol with a value."""
        return self.literals[symbol] if value else -self.literals[symbol]

    def model(self, assignment: Sequence[int]) -> dict[str, bool]:
        """The value of every bool in a solver's assignment."""
        true = {literal for literal in assignment if literal > 0}
        return {name: literal in true for name, literal in self.literals.items()}


def encode(tree: kc.Kconfig, numbers: Mapping[str, int] | None = None) -> Encoding:
    """The encoding of a tree, with `numbers` as given and all others at their defaults."""
    return _Encoder(tree, numbers or {}).run()


class _Encoder:
    def __init__(self, tree: kc.Kconfig, numbers: Mapping[str, int]) -> None:
        self.tree = tree
        self.numbers = numbers
        self.symbols = [s for s in tree.unique_defined_syms if s.orig_type in BOOLS]
        self.literals = {s.name: n for n, s in enumerate(self.symbols, start=1)}
        self.clauses: list[list[int]] = []
        self.count = len(self.symbols) + 1
        self.true = self.count
        self.clauses.append([self.true])
        self._known: dict[Any, int] = {}
        self._preferences: dict[str, int] = {}

    def run(self) -> Encoding:
        for symbol in self.symbols:
            if symbol.choice is None:
                self._symbol(symbol)
        for choice in self.tree.unique_choices:
            self._choice(choice)
        for name, number in self.numbers.items():
            self._within(self.tree.syms[name], number)
        settable = frozenset(s.name for s in self.symbols if any(_prompts(s)))
        return Encoding(self.literals, self.clauses, settable, self._preferences)

    def _symbol(self, symbol: kc.Symbol) -> None:
        value = self.literals[symbol.name]
        visible = self._or(self.expression(condition) for condition in _prompts(symbol))
        selected = self.expression(symbol.rev_dep)
        depends = self.expression(symbol.direct_dep)
        implied = self._and((self.expression(symbol.weak_rev_dep), depends))
        fallback = self._or((self._default(symbol), implied))
        if any(_prompts(symbol)):
            usual = self._or((fallback, selected))
            self._preferences[symbol.name] = self._or((-visible, self._same(value, usual)))
        self.clauses += [
            [-selected, value],
            [-selected, depends],
            [visible, -fallback, value],
            [-value, selected, visible, fallback],
        ]

    def _within(self, symbol: kc.Symbol, number: int) -> None:
        """The first range with a true condition must include the number."""
        earlier: list[int] = []
        for low, high, condition in symbol.ranges:
            holds = self.expression(condition)
            if not _number(low) <= number <= _number(high):
                self.clauses.append([-holds, *earlier])
            earlier.append(holds)

    def _default(self, symbol: kc.Symbol) -> int:
        """The first default with a true condition."""
        result = -self.true
        for expression, condition in reversed(symbol.defaults):
            holds, value = self.expression(condition), self.expression(expression)
            result = self._or((self._and((holds, value)), self._and((-holds, result))))
        return result

    def _choice(self, choice: kc.Choice) -> None:
        active = self._active(choice)
        members = [s for s in choice.syms if s.name in self.literals]
        values = [self.literals[s.name] for s in members]
        visible = [self._or(self.expression(c) for c in _prompts(s)) for s in members]
        for value, shown in zip(values, visible, strict=True):
            self.clauses += [[-value, active], [-value, shown], [-active, -shown, *values]]
        self.clauses += [[-a, -b] for i, a in enumerate(values) for b in values[i + 1 :]]
        usual = -self.true
        candidates = [(s, self.expression(c)) for s, c in choice.defaults] + [
            (member, self.true) for member in members
        ]
        for symbol, condition in reversed(candidates):
            value = self.literals[symbol.name]
            shown = visible[members.index(symbol)]
            holds = self._and((condition, shown))
            usual = self._or((self._and((holds, value)), self._and((-holds, usual))))
        if members:
            self._preferences[choice.name or members[0].name] = self._or((-active, usual))

    def _active(self, choice: kc.Choice) -> int:
        """The literal of a choice: whether one of its symbols must be chosen."""
        key = ("choice", id(choice))
        if key not in self._known:
            self._known[key] = self._fresh()
            shown = self._or(self.expression(condition) for condition in _prompts(choice))
            free = self._fresh() if choice.is_optional else self.true
            wanted = self._and((shown, free))
            self.clauses += [[-self._known[key], wanted], [self._known[key], -wanted]]
        return self._known[key]

    def expression(self, expression: Any) -> int:
        """The literal of a Kconfig expression."""
        if isinstance(expression, kc.Symbol):
            return self._leaf(expression)
        if isinstance(expression, kc.Choice):
            return self._active(expression)
        if expression not in self._known:
            self._known[expression] = self._compound(expression)
        return self._known[expression]

    def _leaf(self, symbol: kc.Symbol) -> int:
        if symbol is self.tree.y:
            return self.true
        if symbol.name in self.literals and not symbol.is_constant:
            return self.literals[symbol.name]
        return -self.true

    def _compound(self, expression: Any) -> int:
        relation = expression[0]
        if relation == kc.NOT:
            return -self.expression(expression[1])
        if relation == kc.AND:
            return self._and(self.expression(e) for e in expression[1:])
        if relation == kc.OR:
            return self._or(self.expression(e) for e in expression[1:])
        left, right = expression[1:]
        if relation in (kc.EQUAL, kc.UNEQUAL) and self._is_bool(left) and self._is_bool(right):
            same = self._same(self._leaf(left), self._leaf(right))
            return same if relation == kc.EQUAL else -same
        # A comparison of numbers or texts: their values are fixed, not solved for.
        # Kconfig has no value for a number that is invisible until its library is chosen.
        if left.orig_type == kc.INT and not right.nodes:
            wanted = self.numbers.get(left.name, _usual(left))
            if wanted is not None:
                holds = _COMPARISONS[relation](wanted, _number(right))
                return self.true if holds else -self.true
        return self.true if kc.expr_value(expression) else -self.true

    def _is_bool(self, symbol: kc.Symbol) -> bool:
        return symbol in (self.tree.y, self.tree.n) or symbol.orig_type in BOOLS

    def _same(self, a: int, b: int) -> int:
        return self._or((self._and((a, b)), self._and((-a, -b))))

    def _and(self, literals: Iterable[int]) -> int:
        return -self._or(-literal for literal in literals)

    def _or(self, literals: Iterable[int]) -> int:
        inside = sorted(set(literals) - {-self.true})
        if self.true in inside or any(-literal in inside for literal in inside):
            return self.true
        if len(inside) <= 1:
            return inside[0] if inside else -self.true
        key = ("or", *inside)
        if key not in self._known:
            result = self._known[key] = self._fresh()
            self.clauses += [[-literal, result] for literal in inside]
            self.clauses.append([-result, *inside])
        return self._known[key]

    def _fresh(self) -> int:
        self.count += 1
        return self.count


def _number(symbol: kc.Symbol) -> int:
    """The value of a constant."""
    return int(symbol.str_value, 0)


def _usual(symbol: kc.Symbol) -> int | None:
    """The default of a number, if it does not depend on other symbols."""
    if len(symbol.defaults) == 1 and not symbol.defaults[0][0].nodes:
        return _number(symbol.defaults[0][0])
    return None


def _prompts(item: kc.Symbol | kc.Choice) -> Iterator[Any]:
    """The conditions under which a user may set it."""
    for node in item.nodes:
        if node.prompt:
            yield node.prompt[1]
