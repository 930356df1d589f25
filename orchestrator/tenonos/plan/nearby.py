"""A trained reading, amended by what stands near its claims.

The reader relates pieces of a text by likeness, and is least sure where several are of a kind. A
term of scheduling beside a time decides its role; what a clause names belongs together; a letter
or a function word names nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import takewhile
from typing import TypeVar

from tenonos.plan.english.text import GROUPS, NUMBERS
from tenonos.plan.models import LINUX
from tenonos.plan.phrase import CLAUSE
from tenonos.plan.reader.reading import Amount, Claim, Owner, Reading, Task, Vm, overlap, span_of
from tenonos.plan.reader.translation import WORDS

_C = TypeVar("_C", bound=Claim)
_COUNTED = TypeVar("_COUNTED", Task, Vm)
_TIMES = frozenset(["period", "deadline", "jitter", "wcet", "latency"])
_TERMS = {
    "deadline": "deadline",
    "jitter": "jitter",
    "worst case": "wcet",
    "worst-case": "wcet",
    "wcet": "wcet",
    "execution": "wcet",
    "computing": "wcet",
    "computation": "wcet",
    "temps de calcul": "wcet",
    "cómputo": "wcet",
    "rechenzeit": "wcet",
    "period": "period",
    "échéance": "deadline",
    "plazo": "deadline",
    "frist": "deadline",
    "gigue": "jitter",
    "fluctuación": "jitter",
    "exécution": "wcet",
    "ejecución": "wcet",
}
"""Terms of scheduling, with the role of a time beside them."""
_ANY = "|".join(_TERMS)
_BEFORE = re.compile(rf"\b({_ANY})\b[^\d]*$", re.IGNORECASE)
_BEFORE_COLON = re.compile(rf"\b({_ANY})\b[^\d.;:()]*:\s*$", re.IGNORECASE)
_DONE = re.compile(
    r"\b(?:done|ready|over|through|finish\w*|complet\w+) (?:by|in|within|after|before)\W*$",
    re.IGNORECASE,
)
"""Words of a deadline before its time."""
_WORKS = re.compile(
    r"\b(?:takes?|needs?|costs?|uses?|consumes?|lasts?|(?:runs?|works?|executes?) for)"
    r"(?: (?:up to|at most|about|some))?\s*$",
    re.IGNORECASE,
)
"""Words of an execution time before it, of a task with another time as its period."""
_OF_WORK = re.compile(r"\s+of (?:\w+ )?(?:work|computation|computing|calculation)\b", re.IGNORECASE)
"""Words of an execution time after it."""
_SHARE = re.compile(r"\s+(?:out )?(?:of|in)\s+(?:each |every |any )?")
"""What stands between a budget and the time in which it is given again."""
_PAIR = re.compile(r"\s*(?:and|,|or|/)\s*")
"""What stands between the times of a list."""
_IMAGE = re.compile(r"\b(?:image|imagen|abbild)\b[^\d.;]{0,20}$", re.IGNORECASE)
_OF_IMAGE = re.compile(r"\s+(?:(?:of|for|de|d[’']|the|l[’'])\s*)*(?:image|imagen|abbild)\b", re.I)
"""Words of a program's file beside its size."""
_STORE = re.compile(
    r"\b(?:(channel|queue|ring|buffer|mailbox)|(disk|ssd|drive))s?\b"
    r"(?: (?:of|with|has|holds?|holding|is|room|space|for|share|the|ssd|disk|up to|at most))*\s*$",
    re.IGNORECASE,
)
"""Words of what has a size of its own, before that size."""
_AFTER = re.compile(
    rf"\s+(?:\w+ ){{0,4}}?({_ANY})\b"
    r"(?!\s*(?:of|at|is|under|below|beyond|within|up to|at most|<)?\s*[\d.]+ ?(?![\d.]| ?k?Hz))",
    re.IGNORECASE,
)
"""A term after a time that is none of the next one's."""
_RUNS = re.compile(r"\s+(?:under|is|has|runs|running|with)?\s*")
"""What stands between a VM and the system in it."""
_NOUN = r"(?:vms?|guests?|machines?|partitions?|gäste?|gast|invités?|huésped(?:es)?|máquinas?)"
_VM = re.compile(rf"\b{_NOUN}\b", re.IGNORECASE)
_NAMED = re.compile(rf"\s*\w*\s*{_NOUN}\b", re.IGNORECASE)
_TOTAL = re.compile(rf"\w+ (?:linux )?{_NOUN}", re.IGNORECASE)
"""Words of nothing but a number of VMs."""
_ONE = re.compile(r"(?:the )?(?:one|other|first|second)", re.IGNORECASE)
_NO_NAME = re.compile(rf"\b{_NOUN}\b|[^\w-]", re.IGNORECASE)
_THE = re.compile(r"\b(?:the|that) $", re.IGNORECASE)
_WORDS = re.compile(r"\s+(?:[\w-]+\s+)*")
_PLURAL = re.compile(r"((?:[\w-]+ ){1,4})(?:guests|vms|machines)$", re.IGNORECASE)
"""The words before those of several VMs."""
_EACH = re.compile(r"([\w -]+),? each (?:in|with|has|having|gets|on) (?:a |its |one )?$", re.I)
"""The words of what has a VM each."""
_END = re.compile(r"[.!?](?:\s|$)")
_SAME = re.compile(
    r"\b(?:the|that|this|its) (?:same )?(?:vm|guest|machine|partition)$", re.IGNORECASE
)
"""Words of a VM that was named before."""
_MORE = re.compile(
    r"\b(?:another|(?:a|the) (?:second|third)|the other)(?: one)?"
    r"(?: (?:vm|guest|machine|partition))?"
    r"(?=\s*(?:[,.;:]|$|(?:for|with|runs?|has|does|at|is)\b))",
    re.IGNORECASE,
)
"""Words of a VM beside one that was named before, with or without a word for it."""
_LIST = re.compile(r"\b(?:and|or|nor)\b|[,&+/]")
SURE = 0.8
"""The confidence of a VM beside which a less certain one of its clause is another word for it."""
_FUNCTION = frozenset(
    "a an the its our this that these one each and or plus in on of to with".split()
)
_OF_TIMES = frozenset("at for case worst budgeted time times".split()) | _TERMS.keys() | _FUNCTION
"""Words that name no task."""


def amended(reading: Reading) -> Reading:
    """The reading without claims that name nothing, with the owners and roles of its clauses."""
    vms = _kept(reading.vms, lambda vm: _is_vm(vm, reading) and _other(vm, reading) is None)
    tasks = _kept(reading.tasks, lambda task: not _names_nothing(task, _OF_TIMES))
    own = [vm for at, vm in enumerate(reading.vms) if at in vms]
    own += _more(own, reading)
    for at, vm in enumerate(reading.vms):
        for same in (_before(vm, reading), _whole(vm, reading)):
            if at not in vms and same in vms:
                vms[at] = vms[same]
    reading = reading.model_copy(
        update={
            "vms": tuple(vm.model_copy(update={"count": _rest(vm, reading)}) for vm in own),
            "tasks": tuple(
                _counted(task, reading.text).model_copy(
                    update={"vm": vms.get(task.vm) if task.vm is not None else None}
                )
                for at, task in enumerate(reading.tasks)
                if at in tasks
            ),
            "quantities": tuple(_moved(each, vms, tasks) for each in reading.quantities),
        }
    )
    reading = reading.model_copy(
        update={"tasks": tuple(_placed(t, reading) for t in reading.tasks)}
    )
    reading = reading.model_copy(
        update={"quantities": tuple(_owned(each, reading) for each in reading.quantities)}
    )
    reading = reading.model_copy(update={"quantities": tuple(_shared(reading))})
    return reading.model_copy(update={"quantities": tuple(_paired(reading))})


def _shared(reading: Reading) -> Iterator[Amount]:
    """The numbers, of which `4 ms of every 20 ms` are a budget and its period; a list before it has
    budgets too."""
    every, budgets = reading.quantities, set[int]()
    for at in reversed(range(len(every) - 1)):
        one, other = every[at], every[at + 1]
        between = reading.text[span_of(one)[1] : other.at]
        listed = at + 1 in budgets and _PAIR.fullmatch(between)
        if {one.role, other.role} <= _TIMES and (listed or _SHARE.fullmatch(between)):
            budgets.add(at)
    for at, amount in enumerate(every):
        yield amount.model_copy(update={"role": "budget"}) if at in budgets else amount


def _kept(claims: Sequence[_C], fits: Callable[[_C], bool]) -> dict[int, int]:
    """The new index of each claim that fits."""
    kept = [at for at, claim in enumerate(claims) if fits(claim)]
    return {old: new for new, old in enumerate(kept)}


def _is_vm(vm: Vm, reading: Reading) -> bool:
    """Whether a claim is of a VM of its own, and no other word for one of the same clause."""
    if not _rest(vm, reading) or (vm.kind == "linux" and _is_excluded(vm, reading)):
        return False
    if vm.kind != "tenon":
        return vm.kind != "native" or not _names_nothing(vm)
    near = [other for other in _among(reading.text, vm, reading.vms) if other is not vm]
    _, end = span_of(vm)
    runs = any(
        other.kind == "linux" and _RUNS.fullmatch(reading.text[end : other.at]) for other in near
    )
    surer = any(
        other.kind == "tenon" and other.confidence > SURE and not _listed(reading.text, vm, other)
        for other in near
    )
    surer = surer or any(
        other.kind in ("tenon", "native") and other.confidence > SURE and _has_noun(other, reading)
        for other in reading.vms
    )
    again = surer and vm.confidence < SURE and not _has_noun(vm, reading)
    return not (_names_nothing(vm) or runs or again)


def _is_excluded(vm: Vm, reading: Reading) -> bool:
    """Whether the words of a Linux VM say more surely that there is none."""
    said = [each for each in reading.capabilities if each.name == LINUX]
    return all(each.polarity == "forbidden" for each in said) and any(
        each.confidence > vm.confidence and overlap(span_of(each), span_of(vm)) for each in said
    )


def _rest(vm: Vm, reading: Reading) -> int:
    """The number of VMs of a claim beside those that it introduces, where it states a total: "two
    VMs: a pump and Linux", "two guests, one for the pump and one for the fan"."""
    text, count = reading.text, _counted(vm, reading.text).count
    end = span_of(vm)[1]
    after = [o for o in reading.vms if o.at >= end and (vm.kind != "linux" or o.kind == "linux")]
    if count < 2 or not after or not _TOTAL.fullmatch(vm.span):
        return count
    stop = _END.search(text, end)
    near = [other for other in after if stop is None or other.at < stop.start()]
    between = text[end : after[0].at]
    named = sum(_counted(other, text).count for other in near)
    if near and (":" in between or all(_ONE.fullmatch(other.span) for other in near)):
        return max(count - named, 0)
    if named == count and between.strip() == ",":
        return 0
    whole = sum(_counted(other, text).count for other in after) == count
    return 0 if not near and whole else count


def _has_noun(vm: Vm, reading: Reading) -> bool:
    """Whether a claim has the word VM or another for it, or stands before one."""
    _, end = span_of(vm)
    return bool(_VM.search(vm.span) or _NAMED.match(reading.text, end))


def _before(vm: Vm, reading: Reading) -> int | None:
    """The earlier VM that one is which is named again: `the guest`, or by the same name."""
    if vm.kind != "tenon":
        return None
    earlier = [at for at, one in enumerate(reading.vms) if one.at < vm.at and one.kind == "tenon"]
    name = vm.span.lower()
    alike = [at for at in earlier if reading.vms[at].span.lower() == name]
    if alike and len(name) > 3 and not (_VM.search(name) or _MORE.search(name)):
        return alike[0]
    if _THE.search(reading.text[: vm.at]) or name.startswith("the "):
        own = _content(vm)
        named = [at for at in earlier if own and own <= _content(reading.vms[at])]
        if len(named) == 1:
            return named[0]
    if not _SAME.search(reading.text[: span_of(vm)[1]]):
        return None
    known = [at for at in earlier if _before(reading.vms[at], reading) is None]
    return known[-1] if known else None


def _content(vm: Vm) -> set[str]:
    """The words of a claim that tell its VM from others."""
    words = _NO_NAME.sub(" ", vm.span.lower()).split()
    return {word for word in words if word not in _FUNCTION}


def _whole(vm: Vm, reading: Reading) -> int | None:
    """The later claim that has the noun of this one: `tank` and `guest` of a tank farm guest."""
    end = span_of(vm)[1]
    for at, other in enumerate(() if _VM.search(vm.span) else reading.vms):
        if (vm.kind, other.at > vm.at) == (other.kind, True) and _VM.search(other.span):
            between = reading.text[end : other.at]
            words = between.split()
            if _WORDS.fullmatch(between) and len(words) < 3 and _FUNCTION.isdisjoint(words):
                return at
    return None


def _other(vm: Vm, reading: Reading) -> int | None:
    """The claim of the same VM that stands for both."""
    earlier = _before(vm, reading)
    return _whole(vm, reading) if earlier is None else earlier


def _more(vms: Sequence[Vm], reading: Reading) -> Iterator[Vm]:
    """VMs that are named by their order alone, each of the kind of the one before it."""
    for found in _MORE.finditer(reading.text):
        taken = any(vm.at < found.end() and found.start() < span_of(vm)[1] for vm in reading.vms)
        earlier = [vm for vm in vms if vm.at < found.start()]
        if taken or not earlier or earlier[-1].count > 1 or not _has_noun(earlier[-1], reading):
            continue
        yield earlier[-1].model_copy(
            update={"span": found[0], "at": found.start(), "name": None, "role": None}
        )


def _counted(claim: _COUNTED, text: str) -> _COUNTED:
    """A claim with the count that its words begin with."""
    own = re.match(r"(\w+)\s+\w", claim.span)
    before = re.search(r"(\w+)\s+$", text[: claim.at])
    words = [found[1] for found in (own, before) if found]
    if isinstance(claim, Vm):
        if several := _PLURAL.search(text[: span_of(claim)[1]]):
            named = reversed(several[1].lower().split())
            words += takewhile(lambda word: word not in _FUNCTION - {"of"}, named)
        if each := _EACH.search(text[: claim.at]):
            words += reversed(each[1].split())
    counts = (_number(word) for word in words)
    count = next((count for count in counts if count), None)
    return claim.model_copy(update={"count": count}) if count else claim


def _number(word: str) -> int | None:
    """A number of several, in words of any of the reader's languages."""
    plain = WORDS.get(word.lower(), word.lower())
    value = int(plain) if plain.isdecimal() and not word.isdecimal() else NUMBERS.get(plain, 0)
    value = value or GROUPS.get(plain, 0)
    return value if 2 <= value <= 8 else None


def _listed(text: str, one: Claim, other: Claim) -> bool:
    """Whether two claims are parts of one enumeration."""
    first, last = sorted((one, other), key=lambda claim: claim.at)
    return bool(_LIST.search(text, span_of(first)[1], last.at))


def _names_nothing(claim: Claim, words: Collection[str] = _FUNCTION) -> bool:
    name = claim.span.strip().lower()
    return len(name) < 2 or all(word in words or word.isdecimal() for word in name.split())


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
    term = _term(reading.text, amount) or _store(reading.text, amount) or _work(amount, reading)
    sure = max(amount.confidence, SURE) if term else amount.confidence
    owners = [one for one in amount.owner if _stands_by(amount, one, reading)]
    own = tuple(owners) if len(amount.owner) > 1 and owners else amount.owner
    own = own or tuple(_alone(amount, reading))
    return amount.model_copy(update={"owner": own, "role": term or amount.role, "confidence": sure})


def _stands_by(amount: Amount, owner: Owner, reading: Reading) -> bool:
    claim: Claim | None = None
    if owner.task is not None:
        claim = reading.tasks[owner.task]
    elif owner.vm is not None:
        claim = reading.vms[owner.vm]
    return claim is not None and bool(_among(reading.text, amount, [claim]))


def _alone(amount: Amount, reading: Reading) -> Iterator[Owner]:
    """The only task of the clause of a time, or the only VM of that of a size or cores."""
    if amount.role in _TIMES:
        tasks = _among(reading.text, amount, reading.tasks)
        if len(tasks) == 1:
            yield Owner(task=reading.tasks.index(tasks[0]))
    elif amount.role in ("ram", "cpu", "cores"):
        vms = _among(reading.text, amount, reading.vms)
        if len(vms) == 1:
            yield Owner(vm=reading.vms.index(vms[0]))


def _paired(reading: Reading) -> Iterator[Amount]:
    """The numbers; in a list, as many as owners, each has one of them in their order."""
    every = reading.quantities
    for at, amount in enumerate(every):
        first, last = at, at + 1
        while first and _follows(every[first - 1], every[first], reading.text):
            first -= 1
        while last < len(every) and _follows(every[last - 1], every[last], reading.text):
            last += 1
        if len(amount.owner) == last - first > 1:
            yield amount.model_copy(update={"owner": amount.owner[at - first : at - first + 1]})
        else:
            yield amount


def _follows(one: Amount, other: Amount, text: str) -> bool:
    """Whether two numbers of a role and of the same owners are next to each other in a list."""
    between = text[span_of(one)[1] : other.at]
    alike = (one.role, one.owner) == (other.role, other.owner)
    return alike and bool(_PAIR.fullmatch(between))


def _store(text: str, amount: Amount) -> str | None:
    """The role of a size that is none of a VM: of a channel, a disk or a program's file."""
    if amount.role not in ("ram", "image", "disk", "size"):
        return None
    first, _ = _clause(text, amount.at)
    found = _STORE.search(text[first : amount.at])
    if found:
        return "size" if found[1] else "disk"
    of_image = _IMAGE.search(text[: amount.at]) or _OF_IMAGE.match(text, span_of(amount)[1])
    return "image" if of_image and amount.role in ("ram", "image") else None


def _work(amount: Amount, reading: Reading) -> str | None:
    """The role of a time that is no period, of a task with another one."""
    first, _ = _clause(reading.text, amount.at)
    before = reading.text[first : amount.at]
    if amount.role not in _TIMES:
        return None
    if _OF_WORK.match(reading.text, span_of(amount)[1]):
        return "wcet"
    if _DONE.search(before):
        return "deadline"
    others = (o for o in reading.quantities if o is not amount and o.role == "period")
    timed = any(set(o.owner) & set(amount.owner) for o in others)
    return "wcet" if timed and _WORKS.search(before) else None


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
    ends = [match.end() for match in CLAUSE.finditer(text) if match.end() <= at]
    after = CLAUSE.search(text, at)
    return (ends[-1] if ends else 0), (after.start() if after else len(text))
