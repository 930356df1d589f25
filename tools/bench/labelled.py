"""Labelled objectives of `bench/objectives/labelled`: their schema, validation and counts."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from tenonos import paths
from tenonos.errors import InputError
from tenonos.plan.models import Model
from tenonos.plan.reader.reading import Owner, Polarity, Role, VmKind
from tools.bench.objectives import objectives

FOLDER = paths.ROOT / "bench" / "objectives" / "labelled"
PARTS = ("training", "test")
ENOUGH = 80
"""Objectives wanted for each capability and each class."""

Class = Literal[
    "plain",
    "paraphrase",
    "numbers",
    "several",
    "long",
    "terse",
    "domain",
    "negation",
    "mention",
    "conflict",
    "missing",
    "smuggled",
]
CLASSES: tuple[Class, ...] = Class.__args__  # type: ignore[attr-defined]
Unit = Literal["ns", "bytes", "bytes/s", "cpu"]


class Evidence(Model):
    """A piece of the text and its position in code points."""

    span: str
    at: int


class Statement(Evidence):
    """What is said of a capability."""

    name: str
    polarity: Polarity


class Guest(Evidence):
    """A VM of the objective, or several alike."""

    kind: VmKind
    count: int
    name: str | None
    role: str | None


class Task(Evidence):
    """A task that the user will write; `vm` is an index."""

    vm: int | None
    count: int


class Amount(Evidence):
    """A number with its role; without an owner it is of the whole system."""

    role: Role
    value: int | list[int]
    unit: Unit | None
    owner: list[Owner] | None


class Span(Evidence):
    """A piece that is no capability, quantity, VM or task."""

    kind: Literal[
        "application",
        "background",
        "other-system",
        "instruction",
        "utility",
        "board",
        "conflict",
    ]
    value: Literal["footprint", "latency", "balance", "power", "security"] | None = None


class Labelled(Model):
    """An objective with its meaning; the README beside the files defines each field."""

    id: str
    author: str
    # `class` is a keyword of Python, and the name in the files.
    phrasing: Class
    lang: str
    text: str
    capabilities: list[Statement]
    vms: list[Guest]
    tasks: list[Task]
    quantities: list[Amount]
    spans: list[Span]

    def names(self) -> set[str]:
        """The capabilities of which something is said."""
        return {said.name for said in self.capabilities}

    def faults(self, known: frozenset[str]) -> Iterator[str]:
        """The errors of the labels; `known` has the names of capabilities."""
        marked: list[Evidence] = [
            *self.capabilities,
            *self.vms,
            *self.tasks,
            *self.quantities,
            *self.spans,
        ]
        for piece in marked:
            if not piece.span or piece.span != piece.span.strip():
                yield f"an empty or blank-edged span: {piece.span!r}"
            if piece.at < 0 or not self.text.startswith(piece.span, piece.at):
                yield f"not in the text at {piece.at}: {piece.span!r}"
        yield from (f"no capability: {name}" for name in sorted(self.names() - known))
        for guest in self.vms:
            for words in (guest.name, guest.role):
                if words is not None and words not in self.text:
                    yield f"not in the text: {words!r}"
        for task in self.tasks:
            if task.vm is not None and not 0 <= task.vm < len(self.vms):
                yield f"no VM {task.vm}"
        for amount in self.quantities:
            yield from self._of_owners(amount)
        kinds = Counter(span.kind for span in self.spans)
        if self.phrasing == "smuggled" and not kinds["instruction"]:
            yield "smuggled, without an instruction"
        if self.phrasing == "conflict" and kinds["conflict"] < 2:
            yield "a conflict with fewer than two pieces"
        if self.phrasing == "negation" and not self._has("forbidden"):
            yield "a negation that forbids nothing"

    def _has(self, polarity: str) -> bool:
        return any(said.polarity == polarity for said in self.capabilities)

    def _of_owners(self, amount: Amount) -> Iterator[str]:
        for owner in amount.owner or ():
            if (owner.task is None) == (owner.vm is None):
                yield "an owner is a task or a VM"
            elif owner.task is not None and not 0 <= owner.task < len(self.tasks):
                yield f"no task {owner.task}"
            elif owner.vm is not None and not 0 <= owner.vm < len(self.vms):
                yield f"no VM {owner.vm}"


def lacking(folder: Path = FOLDER) -> dict[str, str]:
    """Names for what the pool may lack, with their meanings."""
    found: dict[str, str] = tomllib.loads((folder / "lacking.toml").read_text())["lacking"]
    return found


def known(folder: Path = FOLDER) -> frozenset[str]:
    """The names of capabilities: the pool's, and those that it may lack."""
    return frozenset(pool_capabilities()) | frozenset(lacking(folder))


def pool_capabilities() -> list[str]:
    """The capabilities of the pool's table, by its symbols."""
    table = (paths.POOL / "Kconfig.capabilities").read_text()
    return [named(symbol) for symbol in re.findall(r"^config CAP_(\w+)", table, re.MULTILINE)]


def named(symbol: str) -> str:
    """The name of a capability: `VIRT_IRQ_DIRECT` is `virt.irq.direct`."""
    return symbol.lower().replace("_", ".").replace("cache.colouring", "cache-colouring")


def part(name: str, folder: Path = FOLDER) -> list[Labelled]:
    """The objectives of one part, by author."""
    return [found for file in sorted((folder / name).glob("*.jsonl")) for found in _of_file(file)]


def _of_file(file: Path) -> Iterator[Labelled]:
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            entry = json.loads(line)
            entry["phrasing"] = entry.pop("class")
            found = Labelled(**entry)
        except (ValueError, KeyError, ValidationError) as error:
            raise InputError(str(error).splitlines()[0], f"{paths.shown(file)}:{number}") from None
        if found.author != file.stem:
            raise InputError(f"author {found.author}", f"{paths.shown(file)}:{number}")
        yield found


def faults(sets: Sequence[Labelled], names: frozenset[str], others: Iterable[str]) -> Iterator[str]:
    """The errors of all objectives; `others` are texts that they must not repeat."""
    ids = Counter(found.id for found in sets)
    yield from (f"{name}: {count} times" for name, count in ids.items() if count > 1)
    texts = {gist(text): "bench/objectives" for text in others}
    for found in sets:
        yield from (f"{found.id}: {fault}" for fault in found.faults(names))
        first = texts.setdefault(gist(found.text), found.id)
        if first != found.id:
            yield f"{found.id}: the text of {first}"


def gist(text: str) -> str:
    """A text without case, punctuation and the values of numbers, to find repetitions."""
    return " ".join(re.findall(r"[^\W\d]+", re.sub(r"\d+", "n", text.lower())))


def short(sets: Sequence[Labelled], enough: int = ENOUGH) -> dict[str, int]:
    """Capabilities and classes with fewer objectives than `enough`, with their counts."""
    capabilities = Counter(name for found in sets for name in found.names())
    classes = Counter(found.phrasing for found in sets)
    counts = {name: capabilities[name] for name in pool_capabilities()}
    counts |= {name: classes[name] for name in CLASSES}
    return {name: count for name, count in counts.items() if count < enough}


def main() -> int:
    """Validate all sets, and print the counts."""
    sets = {name: part(name) for name in PARTS}
    every = [found for each in sets.values() for found in each]
    wrong = list(faults(every, known(), (found.text for found in objectives())))
    for fault in wrong:
        print(fault)
    for name, each in sets.items():
        authors = Counter(found.author for found in each)
        print(name, len(each), ", ".join(f"{author} {n}" for author, n in authors.items()))
    languages = Counter(found.lang for found in every)
    print("languages", ", ".join(f"{lang} {n}" for lang, n in languages.most_common()))
    lacks = sorted(short(every).items(), key=lambda pair: pair[1])
    print(f"below {ENOUGH}:", ", ".join(f"{name} {n}" for name, n in lacks) or "none")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
