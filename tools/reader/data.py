"""Objectives as targets: what the heads of the reader are to say of each token and capability."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from tenonos.plan.reader import heads
from tenonos.plan.reader.numbers import Found, quantities
from tenonos.plan.reader.pieces import Piece
from tools.bench.labelled import Amount, Evidence, Labelled
from tools.bench.objectives import Objective

NOT_DEMANDED = -2
"""A polarity known only not to be `demanded`."""
_OPPOSED = {heads.POLARITIES.index("demanded"), heads.POLARITIES.index("forbidden")}
LONGEST = 96
"""Tokens of an objective that training takes."""


@dataclass
class Target:
    """An objective with its targets, sparse."""

    text: str
    pieces: list[Piece]
    weight: float
    """Of its statements."""
    full: bool
    """Whether it has more than statements."""
    polarities: dict[str, int] = field(default_factory=dict)
    evidence: dict[str, list[int]] = field(default_factory=dict)
    """Tokens of each statement."""
    marks: list[tuple[int, int, int]] = field(default_factory=list)
    """Token, group, mark."""
    counts: list[tuple[int, int, int]] = field(default_factory=list)
    """Token, 0 for VMs or 1 for tasks, count less one."""
    relations: list[tuple[int, int, int, int]] = field(default_factory=list)
    """Relation, from, to, whether it holds."""
    quantities: list[tuple[list[int], int]] = field(default_factory=list)
    """Tokens, role."""


def tokens_of(pieces: Sequence[Piece], start: int, end: int) -> list[int]:
    """The tokens that share characters with [start, end)."""
    return [at for at, piece in enumerate(pieces) if piece.start < end and start < piece.end]


def covered(pieces: Sequence[Piece], piece: Evidence) -> list[int]:
    """The tokens of evidence."""
    return tokens_of(pieces, piece.at, piece.at + len(piece.span))


def of_labelled(found: Labelled, pieces: list[Piece]) -> Target:
    """The targets of a labelled objective."""
    target = Target(found.text, pieces, 1.0, full=True)
    for said in found.capabilities:
        polarity = heads.POLARITIES.index(said.polarity)
        if {target.polarities.get(said.name), polarity} == _OPPOSED:
            polarity = heads.POLARITIES.index(heads.CONTRADICTED)
        target.polarities[said.name] = polarity
        target.evidence.setdefault(said.name, []).extend(covered(pieces, said))
    vms = _marked(target, ((f"vm.{vm.kind}", vm) for vm in found.vms))
    tasks = _marked(target, (("task", task) for task in found.tasks))
    _marked(
        target,
        (
            (f"utility.{span.value}" if span.kind == "utility" else span.kind, span)
            for span in found.spans
            if span.kind != "utility" or span.value
        ),
    )
    for which, (firsts, each) in enumerate(((vms, found.vms), (tasks, found.tasks))):
        for first, one in zip(firsts, each, strict=True):
            if first is not None:
                target.counts.append((first, which, min(one.count, heads.MOST) - 1))
    _names(target, found, vms)
    for first, task in zip(tasks, found.tasks, strict=True):
        _related(target, "task-vm", first, vms, {task.vm})
    _quantities(target, found, vms, tasks)
    return target


def of_objective(found: Objective, pieces: list[Piece]) -> Target:
    """The targets of an objective of which only the capabilities of its answer are known."""
    target = Target(found.text, pieces, 0.5, full=False)
    forbids = found.phrasing == "negation"
    for name in found.must_not:
        target.polarities[name] = heads.POLARITIES.index("forbidden") if forbids else NOT_DEMANDED
    for name in found.must:
        target.polarities[name] = heads.POLARITIES.index("demanded")
    return target


def _marked(target: Target, pieces: Iterable[tuple[str, Evidence]]) -> list[int | None]:
    """The first token of each piece, of which all tokens are marked."""
    firsts: list[int | None] = []
    for kind, piece in pieces:
        found = covered(target.pieces, piece)
        firsts.append(found[0] if found else None)
        for at in found:
            mark = 1 if at == found[0] else 2
            target.marks.append((at, heads.GROUPS.index(kind), mark))
    return firsts


def _names(target: Target, found: Labelled, vms: list[int | None]) -> None:
    """The names and roles of VMs, each at its place nearest to the VM."""
    for index, vm in enumerate(found.vms):
        for kind, words in (("name", vm.name), ("role", vm.role)):
            if not words:
                continue
            at = min(_places(found.text, words), key=lambda place: abs(place - vm.at))
            (first,) = _marked(target, [(kind, Evidence(span=words, at=at))])
            _related(target, f"{kind}-vm", first, vms, {index})


def _places(text: str, words: str) -> Iterator[int]:
    at = text.find(words)
    while at >= 0:
        yield at
        at = text.find(words, at + 1)


def _related(
    target: Target,
    relation: str,
    first: int | None,
    others: list[int | None],
    held: set[int | None],
) -> None:
    """Whether a relation holds, for each possible end; the first token stands for none."""
    if first is None:
        return
    ends = {0: not held or held == {None}}
    for index, other in enumerate(others):
        if other is not None:
            ends[other] = ends.get(other, False) or index in held
    number = heads.RELATIONS.index(relation)
    target.relations.extend((number, first, end, int(held)) for end, held in ends.items())


def _quantities(
    target: Target, found: Labelled, vms: list[int | None], tasks: list[int | None]
) -> None:
    numbers = quantities(found.text)
    taken: set[int] = set()
    for number in numbers:
        amount = next((a for a in found.quantities if _same(number, a)), None)
        if amount is None and any(_near(number, a) for a in found.quantities):
            continue
        tokens = tokens_of(target.pieces, number.start, number.end)
        if not tokens:
            continue
        role = heads.ROLES.index(amount.role if amount else "none")
        target.quantities.append((tokens, role))
        if amount is None or id(amount) in taken:
            continue
        taken.add(id(amount))
        owners = amount.owner or []
        of_tasks: set[int | None] = {o.task for o in owners if o.task is not None}
        of_vms: set[int | None] = {o.vm for o in owners if o.vm is not None}
        _related(target, "quantity-task", tokens[0], tasks, of_tasks)
        _related(target, "quantity-vm", tokens[0], vms, of_vms)


def _near(number: Found, amount: Amount) -> bool:
    return number.start < amount.at + len(amount.span) and amount.at < number.end


def _same(number: Found, amount: Amount) -> bool:
    value = tuple(amount.value) if isinstance(amount.value, list) else amount.value
    return _near(number, amount) and number.value == value
