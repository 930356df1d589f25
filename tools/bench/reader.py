"""Figures of the trained reader and of the rules alone on the same labelled objectives.

`PYTHONPATH=orchestrator python -m tools.bench.reader [PART|AUTHOR [WEIGHTS]]` prints them; the part
is `test` if none is named. They are counts, and show no objective: the misses of the test part are
not to be examined.
"""

from __future__ import annotations

import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tenonos.errors import InputError
from tenonos.plan.models import Plan
from tenonos.plan.pool import Pool
from tenonos.plan.reader.reading import Reading
from tools.bench.labelled import PARTS, Labelled, part

ACTED = ("demanded", "forbidden", "alternative")
"""The polarities that change a system."""
SLICES = 5
"""Intervals of confidence."""


@dataclass
class Score:
    """Right answers of all, and the parts of a precision and a recall."""

    right: int = 0
    total: int = 0

    def add(self, right: bool) -> None:
        """Count one answer."""
        self.right += right
        self.total += 1

    def __str__(self) -> str:
        if not self.total:
            return "–"
        return f"{100 * self.right / self.total:.0f} % of {self.total}"


@dataclass
class Match:
    """Found and wanted things, and those that agree."""

    both: int = 0
    found: int = 0
    wanted: int = 0

    def add(self, found: Counter[Any], wanted: Counter[Any]) -> None:
        """Count the things of one objective."""
        self.both += (found & wanted).total()
        self.found += found.total()
        self.wanted += wanted.total()

    def __str__(self) -> str:
        if not self.wanted or not self.found:
            return f"{self.both} of {self.wanted}"
        precision, recall = self.both / self.found, self.both / self.wanted
        return f"precision {100 * precision:.0f} %, recall {100 * recall:.0f} % of {self.wanted}"


@dataclass
class Figures:
    """The figures of one reader."""

    capabilities: dict[str, Score] = field(default_factory=lambda: defaultdict(Score))
    """Objectives of which all demanded, forbidden and alternative ones are right, by class, by
    language, in total."""
    vms: dict[str, Score] = field(default_factory=lambda: defaultdict(Score))
    """Objectives with the right number of VMs of each kind, of those that state any."""
    statements: Match = field(default_factory=Match)
    parts: dict[str, Match] = field(default_factory=lambda: defaultdict(Match))
    sure: list[Score] = field(default_factory=lambda: [Score() for _ in range(SLICES)])
    """Statements of the reader that are right, by its confidence."""
    seconds: list[float] = field(default_factory=list)


def keys(found: Labelled) -> tuple[str, ...]:
    """The groups in which an objective is counted."""
    return ("all", f"class {found.phrasing}", f"language {found.lang}")


def said(capabilities: Iterable[Any]) -> Counter[tuple[str, str]]:
    """What acts on a system, of labels or of a reading."""
    return Counter({(s.name, s.polarity) for s in capabilities if s.polarity in ACTED})


def kinds(vms: Iterable[Any]) -> Counter[str]:
    """The number of VMs of each kind."""
    found: Counter[str] = Counter()
    for vm in vms:
        found[vm.kind] += vm.count
    return found


def of_reader(read: Callable[[str], Reading], asked: Sequence[Labelled]) -> Figures:
    """The figures of a trained reader."""
    figures = Figures()
    for wanted in asked:
        begun = time.perf_counter()
        found = read(wanted.text)
        figures.seconds.append(time.perf_counter() - begun)
        counted(figures, wanted, said(found.capabilities), kinds(found.vms))
        right = said(wanted.capabilities)
        for claim in found.capabilities:
            if claim.polarity in ACTED:
                at = min(int(claim.confidence * SLICES), SLICES - 1)
                figures.sure[at].add((claim.name, claim.polarity) in right)
        for name, mine, theirs in things(found, wanted):
            figures.parts[name].add(mine, theirs)
    return figures


def of_planner(plan: Callable[[str], Plan], asked: Sequence[Labelled]) -> Figures:
    """The figures of today's planner; a refusal of an unknown word does not count against it."""
    figures = Figures()
    for wanted in asked:
        begun = time.perf_counter()
        found = plan(wanted.text)
        figures.seconds.append(time.perf_counter() - begun)
        names = {
            (str(item.value), "demanded" if item.kind == "capability" else "forbidden")
            for item in found.items
            if item.stated and item.kind in ("capability", "forbid")
        }
        names |= {(m.capability, "demanded") for m in found.missing if m.capability}
        counted(figures, wanted, Counter(names), Counter(guest.kind for guest in found.guests))
        refused = any(m.capability is None for m in found.missing)
        figures.parts["refused for a word"].add(Counter(["it"] * refused), Counter(["it"]))
        amounts = Counter(
            (str(item.kind), item.value)
            for item in found.items
            if item.stated and item.unit in ("ns", "bytes", "cores")
        )
        figures.parts["quantities: role and value"].add(amounts, of_amounts(wanted.quantities))
    return figures


def counted(
    figures: Figures, wanted: Labelled, names: Counter[tuple[str, str]], vms: Counter[str]
) -> None:
    """Count capabilities and VMs of one answer."""
    right = said(wanted.capabilities)
    figures.statements.add(names, right)
    for key in keys(wanted):
        figures.capabilities[key].add(names == right)
        if wanted.vms:
            figures.vms[key].add(vms == kinds(wanted.vms))


def of_amounts(amounts: Iterable[Any]) -> Counter[tuple[str, Any]]:
    """Roles and values of quantities."""
    return Counter(
        (a.role, tuple(a.value) if isinstance(a.value, list) else a.value) for a in amounts
    )


def things(found: Reading, wanted: Labelled) -> Iterator[tuple[str, Counter[Any], Counter[Any]]]:
    """The other claims of a reading and of the labels, by what they are."""
    yield "evidence of statements", *_letters(found.capabilities, wanted.capabilities)
    for kind in ("name", "role"):
        mine = Counter(words for vm in found.vms if (words := getattr(vm, kind)))
        yield f"VMs: {kind}", mine, Counter(w for vm in wanted.vms if (w := getattr(vm, kind)))
    yield "VMs: evidence", *_letters(found.vms, wanted.vms)
    yield "tasks: number", *_tasks(found, wanted)
    yield "tasks: evidence", *_letters(found.tasks, wanted.tasks)
    mine, theirs = of_amounts(found.quantities), of_amounts(wanted.quantities)
    yield "quantities: role and value", mine, theirs
    yield (
        "quantities: with owner",
        Counter(_owned(amount, found, wanted) for amount in found.quantities),
        Counter(_owned(amount, wanted, wanted) for amount in wanted.quantities),
    )
    for kind in ("application", "background", "other-system", "instruction", "board", "conflict"):
        of_kind = ([s for s in each if s.kind == kind] for each in (found.spans, wanted.spans))
        yield f"spans: {kind}", *_letters(*of_kind)
    mine = Counter({s.value for s in found.spans if s.kind == "utility"})
    yield "utility", mine, Counter({s.value for s in wanted.spans if s.kind == "utility"})


def _letters(mine: Iterable[Any], theirs: Iterable[Any]) -> tuple[Counter[Any], Counter[Any]]:
    """The positions that pieces cover; of statements, for each capability apart."""
    found, wanted = (
        Counter(
            {
                (getattr(piece, "name", None) if hasattr(piece, "polarity") else "", place)
                for piece in pieces
                for place in range(piece.at, piece.at + len(piece.span))
            }
        )
        for pieces in (mine, theirs)
    )
    return found, wanted


def _tasks(found: Reading, wanted: Labelled) -> tuple[Counter[str], Counter[str]]:
    """The numbers of tasks by the kind of their VM."""
    mine: Counter[str] = Counter()
    theirs: Counter[str] = Counter()
    for of, count in ((found, mine), (wanted, theirs)):
        for task in of.tasks:
            count[of.vms[task.vm].kind if task.vm is not None else ""] += task.count
    return mine, theirs


def _owned(amount: Any, of: Any, wanted: Labelled) -> tuple[Any, ...]:
    """A quantity with its owners, by the labelled piece that each shares characters with."""
    owners = frozenset(
        _wanted("task", of.tasks[owner.task], wanted.tasks)
        if owner.task is not None
        else _wanted("vm", of.vms[owner.vm], wanted.vms)
        for owner in amount.owner or ()
    )
    value = tuple(amount.value) if isinstance(amount.value, list) else amount.value
    return amount.role, value, owners


def _wanted(kind: str, piece: Any, labels: Sequence[Any]) -> tuple[str, int]:
    """The labelled piece that a piece shares characters with: its kind and index, or no index."""
    for index, other in enumerate(labels):
        if piece.at < other.at + len(other.span) and other.at < piece.at + len(piece.span):
            return kind, index
    return kind, -1


def lines(figures: dict[str, Figures]) -> Iterator[str]:
    """The figures of readers beside each other, as a table."""
    yield "| figure | " + " | ".join(figures) + " |"
    yield "|---|" + "---:|" * len(figures)
    first = next(iter(figures.values()))
    for title in ("capabilities", "vms"):
        for key in sorted(first.__dict__[title], key=lambda k: (k != "all", k)):
            cells = [str(each.__dict__[title][key]) for each in figures.values()]
            yield _row(f"{'capabilities' if title == 'capabilities' else 'VMs'}: {key}", cells)
    yield _row("statements", [str(each.statements) for each in figures.values()])
    for name in dict.fromkeys(name for each in figures.values() for name in each.parts):
        cells = [str(each.parts[name]) if name in each.parts else "" for each in figures.values()]
        yield _row(name, cells)
    for at in range(SLICES):
        low, high = at / SLICES, (at + 1) / SLICES
        cells = [str(each.sure[at]) for each in figures.values()]
        yield _row(f"right at confidence {low:.1f} to {high:.1f}", cells)
    cells = [f"{1000 * sorted(f.seconds)[len(f.seconds) // 2]:.0f}" for f in figures.values()]
    yield _row("median, ms", cells)


def _row(name: str, cells: Sequence[str]) -> str:
    return f"| {name} | {' | '.join(cells)} |"


def main(arguments: Sequence[str]) -> int:
    """Print the figures of a part, or of one author."""
    from tenonos.plan.english.readings import read
    from tenonos.plan.reader import load
    from tenonos.system import board

    name = arguments[0] if arguments else "test"
    asked = [f for each in PARTS for f in part(each) if name in (each, f.author)]
    if not asked:
        raise InputError(f"no part or author {name}")
    pool = Pool()
    file = Path(arguments[1]) if len(arguments) > 1 else load.WEIGHTS
    reader = load.reader(pool, file)
    cpus = board.load("qemu-virt").cpus
    found = {
        "reader": of_reader(reader.read, asked),
        "planner": of_planner(lambda text: read(text, pool.retriever, cpus), asked),
    }
    print("\n".join(lines(found)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
