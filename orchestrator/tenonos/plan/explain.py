"""Explanations of a composition: words, paths, dependencies and costs of each library."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import kconfiglib as kc
from pydantic import Field

from tenonos.errors import InputError
from tenonos.linux.program import served
from tenonos.plan import parameters
from tenonos.plan.amend import MORTISE
from tenonos.plan.models import Analysis, Channel, Item, Model, Template
from tenonos.plan.parameters import Parameter
from tenonos.plan.pool import COST, Pool
from tenonos.plan.retrieval.graph import lib_graph, why
from tenonos.plan.retrieval.knowledge import kind_of
from tenonos.plan.retrieval.retrieve import THRESHOLD
from tenonos.system import load
from tenonos.system.calls import call_names

FILE = "explain.json"


class Step(Model):
    """One edge of the Lib-Graph on the way to a symbol."""

    source: str
    relation: str
    target: str


class Lookup(Model):
    """The interpretation of words: the path to a symbol, with its score."""

    words: str
    path: tuple[Step, ...]
    score: float
    threshold: float
    """Threshold of the score."""


class Explanation(Model):
    """The reason why a symbol is in an image, or not."""

    symbol: str
    name: str
    image: str
    chosen: bool
    because: str
    words: str | None = None
    span: tuple[int, int] | None = None
    rule: str | None = None
    path: tuple[Step, ...] = ()
    found: tuple[Lookup, ...] = ()
    """Lookups that led from words to it, or to a capability it provides."""
    pulls_in: tuple[str, ...] = ()
    calls: tuple[str, ...] | None = None
    """The system calls of the program that it serves, where the system states such."""
    cost: int | None = None
    cost_unit: str
    instructions: dict[str, int] = Field(default={})
    """Instructions of its key operations, from its card."""
    stack: int | None = None
    """The deepest stack of its functions, in bytes."""
    measured: str | None = None
    """The image in which its card was measured; none if the cost is estimated by lines."""


@dataclass
class Explainer:
    """The explanations of one composed folder."""

    folder: Path
    pool: Pool

    def __post_init__(self) -> None:
        file = self.folder / FILE
        try:
            self.record: dict[str, Any] = json.loads(file.read_text())
            self.symbols: dict[str, dict[str, bool]] = self.record["symbols"]
        except (OSError, ValueError, KeyError):
            raise InputError(
                f"no readable {FILE}", str(self.folder), "make one with ./tenon compose -o"
            ) from None
        self.graph = lib_graph(self.pool.tree.kconf)

    def plan(self) -> list[Item]:
        """The demands and defaults of the composition."""
        return [Item.model_validate(item) for item in self.record["plan"]]

    def analysis(self) -> Analysis:
        """The guarantees of the composition; empty if its record has none."""
        return Analysis.model_validate(self.record.get("analysis", {}))

    def channels(self) -> list[Channel]:
        """Its channels; none if its record has none."""
        return [Channel.model_validate(one) for one in self.record.get("channels", ())]

    def templates(self) -> list[Template]:
        """Its VMs created on demand; none if its record has none."""
        return [Template.model_validate(one) for one in self.record.get("templates", ())]

    def parameters(self) -> Iterator[tuple[str, Parameter]]:
        """The parameters of every image; none if the record has none.

        Parameters that the build counts are those of the current system.
        """
        built = parameters.counted(load(self.folder))
        for image, found in self.record.get("parameters", {}).items():
            for one in map(Parameter.model_validate, found):
                yield image, built.get(one.symbol, one) if image == MORTISE else one

    def task_priorities(self) -> Iterator[tuple[str, str, int]]:
        """VM, task and priority of each task whose priority the current system states."""
        for vm in load(self.folder).guests:
            for task in vm.tasks:
                if task.priority is not None:
                    yield vm.name, task.name, task.priority

    def devices(self) -> dict[str, list[str]]:
        """The devices owned by each VM."""
        return self.record.get("devices", {})

    def all(self) -> list[Explanation]:
        """Every library and application of every image."""
        return [
            self.one(symbol, image)
            for image, chosen in self.symbols.items()
            for symbol in sorted(chosen)
            if kind_of(symbol) in ("library", "app")
        ]

    def about(self, asked: str) -> list[Explanation]:
        """One symbol, by any of its names, in every image that contains it, or else its absence
        from all."""
        symbol = self._symbol(asked)
        inside = [image for image, chosen in self.symbols.items() if symbol in chosen]
        return [self.one(symbol, image) for image in inside or self.symbols]

    def one(self, symbol: str, image: str) -> Explanation:
        """One symbol in one image."""
        chosen = self.symbols[image]
        common: dict[str, Any] = {
            "symbol": symbol,
            "name": self._name(symbol),
            "image": image,
            "cost_unit": COST,
            **self._card(symbol, image),
        }
        if symbol not in chosen:
            return Explanation(**common, chosen=False, because=self._why_out(symbol, image))
        path = why(self.graph, self._sources(image), symbol, chosen)
        start = path[0][0] if path else symbol
        item = self._item(start, image)
        return Explanation(
            **common,
            chosen=True,
            because=self._because(symbol, start, item, image, bool(path)),
            words=item and item.get("from"),
            span=item and item.get("span"),
            rule=item and item.get("rule"),
            path=_steps(path),
            found=tuple(self._lookups(start)),
            calls=self._calls(symbol, image),
            pulls_in=tuple(self._pulls_in(symbol, chosen)),
        )

    def _lookups(self, symbol: str) -> Iterator[Lookup]:
        """The evidence for a symbol and for what it provides."""
        edges = self.graph.out_edges(symbol, data=True)
        meant = {symbol} | {b for _, b, data in edges if data["relation"] == "provides"}
        for one in self.record.get("evidence", ()):
            if one["symbol"] in meant:
                own = [(f"{one['symbol']}.help", "describes", one["symbol"])]
                yield Lookup(
                    words=one["words"],
                    path=_steps(one.get("path") or own),
                    score=one["score"],
                    threshold=one.get("threshold", THRESHOLD),
                )

    def _calls(self, symbol: str, image: str) -> tuple[str, ...] | None:
        """The stated system calls of an image's program that a library serves."""
        crate = self.pool.libraries.get(symbol)
        calls = self._stated_calls.get(image)
        if crate is None or calls is None:
            return None
        own = served(crate.path)
        return tuple(call_names()[number] for number in calls if number in own) if own else None

    @cached_property
    def _stated_calls(self) -> dict[str, tuple[int, ...] | None]:
        """The system calls that the system states for each VM."""
        return {vm.name: vm.calls for vm in load(self.folder).vms}

    def _card(self, symbol: str, image: str) -> dict[str, Any]:
        """The data of a library's card for an image of that kind."""
        kind = "mortise" if "IMAGE_MORTISE" in self.symbols[image] else "tenon"
        crate = self.pool.libraries.get(symbol)
        found: dict[str, Any] = {"cost": None}
        if crate is not None:
            found["cost"] = self.pool.estimates.size(kind, crate.id).loaded
        card = self.pool.estimates.cards.get(crate.id) if crate else None
        if card is not None and (part := card.parts.get(kind)):
            found |= {"stack": part.stack, "measured": part.specimen}
            found["instructions"] = dict(card.operations)
        return found

    def _sources(self, image: str) -> list[str]:
        """The symbols named by demands on an image, and the providers of capabilities."""
        demanded = set(self.record["demanded"][image])
        providers = {
            a
            for a, b, data in self.graph.edges(data=True)
            if b in demanded and data["relation"] == "provides" and a in self.symbols[image]
        }
        return sorted(demanded | providers)

    def _symbol(self, asked: str) -> str:
        plain = asked.removeprefix("CONFIG_")
        known = self.pool.tree.symbols
        if plain in known:
            return plain
        entry = self.pool.by_name.get(asked)
        if entry:
            return entry.symbol
        from difflib import get_close_matches

        names = [*self.pool.by_name, *known]
        close = get_close_matches(asked, names, 1, 0.5)
        mend = f"did you mean {close[0]}?" if close else "see ./tenon list libraries"
        raise InputError(f'nothing in the pool is called "{asked}"', mend=mend)

    def _name(self, symbol: str) -> str:
        entry = self.pool.entries.get(symbol)
        return (
            symbol if entry is None else f"apps/{entry.name}" if entry.kind == "app" else entry.name
        )

    def _item(self, symbol: str, image: str) -> dict[str, Any] | None:
        """The demand of the plan that a symbol satisfies, by itself or by a capability."""
        provided = {symbol} | {
            b for _, b, d in self.graph.out_edges(symbol, data=True) if d["relation"] == "provides"
        }
        asked = [i for i in self.record["plan"] if i["kind"] == "capability"]
        mine = [i for i in asked if self.pool.symbol(str(i["value"])) in provided]
        here = [i for i in mine if i["image"] == image]
        return next(iter((*(i for i in here if i["from"]), *here, *mine)), None)

    def _because(
        self, symbol: str, start: str, item: dict[str, Any] | None, image: str, indirect: bool
    ) -> str:
        if item and item["from"]:
            reason = f"“{item['from']}” asks for {item['value']}"
        elif item:
            rules = self.record.get("rules", {})
            reason = f"{item['value']} is there by rule {item['rule']}: {rules.get(item['rule'])}"
        elif start in ("IMAGE_MORTISE", "IMAGE_TENON"):
            reason = f"{image} is that kind of image"
        elif learned := self._learned(symbol, image, True):
            reason = f"without it was found: {learned}"
        else:
            reason = "it is the cheapest way to meet the demands"
        if indirect:
            return f"{reason}; {self._name(start)} needs it"
        return reason

    def _learned(self, symbol: str, image: str, value: bool) -> str | None:
        """The observed failure of a similar image with another value of the symbol."""
        mine = (one for one in self.pool.learned if (one.symbol, one.value) == (symbol, value))
        return next((one.why for one in mine if one.holds_for(self.symbols[image].keys())), None)

    def _pulls_in(self, symbol: str, chosen: dict[str, bool]) -> list[str]:
        edges = self.graph.out_edges(symbol, data=True)
        return sorted(
            {self._name(b) for _, b, d in edges if d["relation"] == "selects" and b in chosen}
        )

    def _why_out(self, symbol: str, image: str) -> str:
        for item in self.record["plan"]:
            if item["kind"] == "forbid" and self.pool.symbol(str(item["value"])) == symbol:
                return f"“{item['from']}” forbids it"
        if learned := self._learned(symbol, image, False):
            return f"with it was found: {learned}"
        needed = self._unmet(symbol, image)
        if needed:
            return f"it depends on {needed}, which {image} is not"
        entry = self.pool.entries.get(symbol)
        if entry and not entry.available:
            return "no library of the pool provides it"
        cost = self._card(symbol, image)["cost"]
        more = f", and it would cost {cost:,} {COST}" if cost else ""
        return f"nothing demands it{more}"

    def _unmet(self, symbol: str, image: str) -> str | None:
        chosen = self.symbols[image]
        found = self.pool.tree.symbols.get(symbol)
        if found is None:
            return None
        needs: Sequence[Any] = sorted(kc.expr_items(found.direct_dep), key=lambda i: i.name or "")
        unmet = [i.name for i in needs if isinstance(i, kc.Symbol) and i.nodes]
        return next((name for name in unmet if name not in chosen), None)


def _steps(edges: Iterable[Sequence[str]]) -> tuple[Step, ...]:
    return tuple(Step(source=a, relation=r, target=b) for a, r, b in edges)
