"""A trained reading, amended by what stands near its claims.

The reader relates pieces of a text by likeness, and is least sure where several are of a kind. A
term of scheduling beside a time decides its role; what a clause names belongs together; a letter
or a function word names nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import TypeVar

from tenonos.plan.reader.reading import Amount, Claim, Owner, Reading, Task, Vm, span_of

_C = TypeVar("_C", bound=Claim)
_CLAUSE = re.compile(r"[,;:.!?]\s|[;\n()]")
_TIMES = frozenset(["period", "deadline", "jitter", "wcet", "latency"])
_TERMS = {
    "deadline": "deadline",
    "jitter": "jitter",
    "worst case": "wcet",
    "worst-case": "wcet",
    "wcet": "wcet",
    "execution": "wcet",
    "period": "period",
}
"""Terms of scheduling, with the role of a time beside them."""
_ANY = "|".join(_TERMS)
_BEFORE = re.compile(rf"\b({_ANY})\b[^\d]*$", re.IGNORECASE)
_BEFORE_COLON = re.compile(rf"\b({_ANY})\b[^\d.;:()]*:\s*$", re.IGNORECASE)
_AFTER = re.compile(rf"\s+(?:\w+ ){{0,4}}?({_ANY})\b", re.IGNORECASE)
_RUNS = re.compile(r"\s+(?:under|is|has|runs|running|with)?\s*")
"""What stands between a VM and the system in it."""
_VM = re.compile(r"\b(?:vms?|guests?|machines?|partitions?)\b", re.IGNORECASE)
_LIST = re.compile(r"\b(?:and|or|nor)\b|[,&+/]")
SURE = 0.8
"""The confidence of a VM beside which a less certain one of its clause is another word for it."""
_FUNCTION = frozenset("a an the its our this that these one each and or in on of to with".split())


def amended(reading: Reading) -> Reading:
    """The reading without claims that name nothing, with the owners and roles of its clauses."""
    vms = _kept(reading.vms, lambda vm: _is_vm(vm, reading))
    tasks = _kept(reading.tasks, lambda task: not _names_nothing(task))
    reading = reading.model_copy(
        update={
            "vms": tuple(vm for at, vm in enumerate(reading.vms) if at in vms),
            "tasks": tuple(
                task.model_copy(update={"vm": vms.get(task.vm) if task.vm is not None else None})
                for at, task in enumerate(reading.tasks)
                if at in tasks
            ),
            "quantities": tuple(_moved(each, vms, tasks) for each in reading.quantities),
        }
    )
    reading = reading.model_copy(
        update={"tasks": tuple(_placed(t, reading) for t in reading.tasks)}
    )
    return reading.model_copy(
        update={"quantities": tuple(_owned(each, reading) for each in reading.quantities)}
    )


def _kept(claims: Sequence[_C], fits: Callable[[_C], bool]) -> dict[int, int]:
    """The new index of each claim that fits."""
    kept = [at for at, claim in enumerate(claims) if fits(claim)]
    return {old: new for new, old in enumerate(kept)}


def _is_vm(vm: Vm, reading: Reading) -> bool:
    """Whether a claim is of a VM of its own, and no other word for one of the same clause."""
    if vm.kind != "tenon":
        return True
    near = [other for other in _among(reading.text, vm, reading.vms) if other is not vm]
    _, end = span_of(vm)
    runs = any(
        other.kind == "linux" and _RUNS.fullmatch(reading.text[end : other.at]) for other in near
    )
    surer = any(
        other.kind == "tenon" and other.confidence > SURE and not _listed(reading.text, vm, other)
        for other in near
    )
    again = surer and vm.confidence < SURE and not _VM.search(vm.span)
    return not (_names_nothing(vm) or runs or again)


def _listed(text: str, one: Claim, other: Claim) -> bool:
    """Whether two claims are parts of one enumeration."""
    first, last = sorted((one, other), key=lambda claim: claim.at)
    return bool(_LIST.search(text, span_of(first)[1], last.at))


def _names_nothing(claim: Claim) -> bool:
    words = claim.span.strip().lower()
    return len(words) < 2 or words in _FUNCTION


def _moved(amount: Amount, vms: dict[int, int], tasks: dict[int, int]) -> Amount:
    found = [
        Owner(vm=vms.get(one.vm) if one.vm is not None else None)
        if one.task is None
        else Owner(task=tasks.get(one.task))
        for one in amount.owner
    ]
    kept = tuple(one for one in found if one.vm is not None or one.task is not None)
    return amount.model_copy(update={"owner": kept})


def _placed(task: Task, reading: Reading) -> Task:
    """A task in the VM that its clause names, if that is one."""
    near = _among(reading.text, task, [vm for vm in reading.vms if vm.kind != "linux"])
    return task.model_copy(update={"vm": reading.vms.index(near[0])}) if len(near) == 1 else task


def _owned(amount: Amount, reading: Reading) -> Amount:
    """A number with its role, and of several owners those of its clause."""
    term = _term(reading.text, amount)
    sure = max(amount.confidence, SURE) if term else amount.confidence
    owners = [one for one in amount.owner if _stands_by(amount, one, reading)]
    own = tuple(owners) if len(amount.owner) > 1 and owners else amount.owner
    return amount.model_copy(update={"owner": own, "role": term or amount.role, "confidence": sure})


def _stands_by(amount: Amount, owner: Owner, reading: Reading) -> bool:
    claim: Claim | None = None
    if owner.task is not None:
        claim = reading.tasks[owner.task]
    elif owner.vm is not None:
        claim = reading.vms[owner.vm]
    return claim is not None and bool(_among(reading.text, amount, [claim]))


def _term(text: str, amount: Amount) -> str | None:
    """The role of a time by a term beside it, if there is one."""
    if amount.role not in _TIMES:
        return None
    first, last = _clause(text, amount.at)
    begin, end = span_of(amount)
    before, after = text[first:begin], text[end:last]
    found = _BEFORE.search(before) or _BEFORE_COLON.search(text[:begin])
    found = found or _AFTER.match(after)
    return _TERMS[found[1].lower()] if found else None


def _among(text: str, claim: Claim, others: Collection[_C]) -> list[_C]:
    """Those of other claims that stand in the clause of one."""
    first, last = _clause(text, claim.at)
    return [other for other in others if first <= other.at < last]


def _clause(text: str, at: int) -> tuple[int, int]:
    """The part of a text between punctuation marks that has the character at `at`."""
    ends = [match.end() for match in _CLAUSE.finditer(text) if match.end() <= at]
    after = _CLAUSE.search(text, at)
    return (ends[-1] if ends else 0), (after.start() if after else len(text))
