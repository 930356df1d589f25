"""Combination of both readings of an objective: by rules for English, and by the trained reader.

Where the rules know each word, by the pool's own vocabulary, they are surer than the reader, and
their plan stands; what the reader holds against it is an assumption. Where the reader is certain of
a demand that they lack, and finds all their numbers and VMs or nothing that meets the demand, its
plan is taken. So it is where the rules do not know each word: words of the user's trade are no
reason to refuse.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from tenonos.plan import contradictions
from tenonos.plan.claims import AFFIRMED, HELD, SURE, Claims
from tenonos.plan.disks import FILES
from tenonos.plan.english import grammar
from tenonos.plan.exact import stands
from tenonos.plan.models import (
    BYTES,
    NANOSECONDS,
    NATIVE,
    NO_DEMAND,
    TIMING,
    Assumption,
    Item,
    Missing,
    Plan,
)
from tenonos.plan.native_tasks import of, settled
from tenonos.plan.nearby import amended
from tenonos.plan.pool import Pool
from tenonos.plan.reader.reading import Reading, Statement, overlap, span_of

_KINDS = frozenset(["net.ip", FILES, "fs.ram"])
_PROPER = frozenset(["database", "fs.ext4"])
"""What the pool lacks by words that mean nothing else, whatever the reader holds."""
_DISK = re.compile(r"\b(?:disks?|cards?|drives?|FAT|eMMC|SSD|NVMe)\b", re.IGNORECASE)
"""Words of what files are on."""
_CARD = re.compile(r"\b(?:SD|memory|CF|eMMC|USB|card|stick)\b", re.IGNORECASE)
"""Words of flash memory that is a disk."""
_NO_NAME = re.compile(r"^(?:an?|the|one|our)\s+|\b(?:linux|guest|vm|side)\b")
"""Words of a Linux VM that tell it from no other."""
_GUESSES = frozenset(
    [grammar.WHY_PURPOSE, grammar.WHY_ARGUMENT, grammar.WHY_CIRCUMSTANCE, grammar.WHY_MORE]
)
"""The reasons to ignore words that the rules do not know."""
CERTAIN = 0.95
"""The confidence from which the reader's claim is shown against the rules'."""
IGNORED = 0.2
"""The part of an objective above which the rules guess: of such, of authors that were held out, the
reader had 31 of 58 right and the rules 25; of those below it, in the words of the pool, 52 by the
rules and 34."""


def combined(
    rules: Plan,
    reading: Reading,
    pool: Pool,
    lacking: Mapping[str, str],
    answers: Mapping[str, bool] | None = None,
) -> Plan:
    """The plan of an objective by both readings; `lacking` has the texts of capabilities that the
    pool may lack, `answers` are the user's to questions about some."""
    served = _served(rules, pool, lacking)
    left = tuple(_of_pool(said) for said in reading.capabilities if said.name not in served)
    likely = tuple(map(_of_pool, reading.likely))
    reading = amended(reading.model_copy(update={"capabilities": left, "likely": likely}))
    plan = _by_reader(rules, reading, pool, lacking, answers or {})
    certain = any(s.name == NATIVE and s.confidence >= CERTAIN for s in reading.capabilities)
    if certain and (one := _with_native(rules, plan)):
        rules = one
    native = bool(of(plan.guests)) and _misses_native(settled(rules, pool), plan, certain)
    if not rules.missing:
        doubts = [*_doubts(rules, reading)]
        affirmed = [*_affirmed(doubts, answers, pool)]
        update = {"assumptions": doubts, "items": [*rules.items, *affirmed], "instead": plan}
        sure = all(said.confidence >= HELD for said in reading.quantities)
        guessed = _ignored(rules, all_of_it=True) > 0.5 or (sure and _ignored(rules) > IGNORED)
        wrong = _misreads(rules, reading) or _miscounts(rules, reading, plan)
        if (guessed or native or wrong) and not _is_unclear(plan):
            return _instead_of(plan, rules)
        lacks = {missing.capability for missing in plan.missing}
        if doubts and (_covers(plan, rules) or not lacks.isdisjoint(d.instead_of for d in doubts)):
            return _instead_of(plan, rules)
        if not _overlooks(rules, plan):
            return rules.model_copy(update=update)
    return plan


def _of_pool(said: Statement) -> Statement:
    """A statement about FAT or a card, which the reader has learned as lacking, as one about files
    on a disk, which the pool has."""
    card = said.name == "fs.flash" and _CARD.search(said.span)
    return said.model_copy(update={"name": FILES}) if card or said.name == "fs.fat" else said


def _served(rules: Plan, pool: Pool, lacking: Mapping[str, str]) -> frozenset[str]:
    """Capabilities that the pool lacks in general and an application that the objective names has,
    by the keywords of the latter."""
    found = (pool.by_name[name] for name in _named(rules) & pool.by_name.keys())
    words = ", ".join(word for entry in found for word in entry.keywords)
    return frozenset(name for name, text in lacking.items() if stands(name, text, words))


def _misses_native(rules: Plan, plan: Plan, certain: bool) -> bool:
    """Whether the rules know no native task where the reader has one, or fewer guests beside it."""
    if of(rules.guests):
        return len(rules.guests) < len(plan.guests)
    return certain or any(item.value == NATIVE for item in rules.items)


def _with_native(rules: Plan, plan: Plan) -> Plan | None:
    """The rules' plan with the reader's native task in place of its only real-time VM; none if one
    of the plans has others, or the rules read the task too."""
    kinds = [
        [guest.kind for guest in each.guests if guest.kind != "linux"] for each in (rules, plan)
    ]
    if kinds != [["tenon"], ["native"]] or any(item.value == NATIVE for item in rules.items):
        return None
    own = next(guest.name for guest in rules.guests if guest.kind == "tenon")
    items = [i.model_copy(update={"image": own}) for i in plan.items if i.value == NATIVE]
    said = " ".join(item.source or "" for item in items)
    ignored = [words for words in rules.ignored if (words.source or "") not in said]
    return rules.model_copy(update={"items": [*rules.items, *items], "ignored": ignored})


def _is_unclear(plan: Plan) -> bool:
    """Whether the reader found no demand."""
    return any(missing.capability is None for missing in plan.missing)


def _ignored(rules: Plan, *, all_of_it: bool = False) -> float:
    """The part of the objective that the rules ignored without knowing its words, as they do with
    those of a trade; with `all_of_it` also what they know to be no demand."""
    left = [w for w in rules.ignored if all_of_it or w.why in _GUESSES]
    return sum(len(words.source or "") for words in left) / len(rules.objective)


def _misreads(rules: Plan, reading: Reading) -> bool:
    """Whether the reader is certain that a time is a period where the rules read another time, or
    the other way round."""
    kinds = {item.span: item.kind for item in rules.items if item.span and item.kind in TIMING}
    return any(
        said.confidence >= CERTAIN
        and kind != said.role
        and "period" in (kind, said.role)
        and overlap(span, span_of(said))
        for said in reading.quantities
        for span, kind in kinds.items()
    )


def _miscounts(rules: Plan, reading: Reading, plan: Plan) -> bool:
    """Whether the reader is sure of another number of real-time VMs and native tasks, and the rules
    do not know all words."""
    own, other = (sum(guest.kind != "linux" for guest in each.guests) for each in (plan, rules))
    sure = bool(reading.vms) and all(vm.confidence >= SURE for vm in reading.vms)
    return sure and own != other and _ignored(rules) > IGNORED / 4


def _covers(plan: Plan, rules: Plan) -> bool:
    """Whether the reader's plan has all times and sizes of the rules', and as many VMs, so that
    only the meaning of the words is in dispute, and each application that the objective names. A VM
    that is not named follows from a demand."""
    mine, theirs = (
        {(i.kind, i.value) for i in each.items if i.stated and i.unit in (NANOSECONDS, BYTES)}
        for each in (plan, rules)
    )
    own, other = (Counter(guest.kind for guest in each.guests) for each in (plan, rules))
    timed = own["tenon"] + own["native"]
    enough = max(timed, 1) >= other["tenon"] and own["linux"] >= other["linux"]
    return theirs <= mine and enough and not _is_unclear(plan) and not _named(rules) - _named(plan)


def _named(plan: Plan) -> set[str]:
    """The applications of the pool that the objective names by their own words."""
    values = {str(item.value) for item in plan.items if item.stated}
    return {value for value in values if value.startswith("apps/")}


def _instead_of(plan: Plan, rules: Plan) -> Plan:
    """The reader's plan; what the rules read and it has not is told."""
    known = {(item.kind, item.value) for item in plan.items}
    told = [
        Assumption(
            source=item.source or "",
            span=item.span or (0, 0),
            taken_as=NO_DEMAND,
            instead_of=str(item.value if item.kind == "capability" else item),
            confidence=CERTAIN,
        )
        for item in rules.items
        if item.stated and item.kind != "application" and (item.kind, item.value) not in known
    ]
    return plan.model_copy(update={"assumptions": [*plan.assumptions, *told]})


def _overlooks(rules: Plan, plan: Plan) -> bool:
    """Whether the rules have no real-time VM, and the reader has."""
    found = [any(guest.kind == "tenon" for guest in each.guests) for each in (rules, plan)]
    return found == [False, True] and bool(rules.guests)


def _by_reader(
    rules: Plan,
    reading: Reading,
    pool: Pool,
    lacking: Mapping[str, str],
    answers: Mapping[str, bool],
) -> Plan:
    agreed = {str(i.value) for i in rules.items if i.stated and i.kind in ("capability", "forbid")}
    agreed |= {str(missing.capability) for missing in rules.missing}
    linuxes = _linuxes(rules, reading)
    exact = [*_exact(rules, reading, lacking)]
    plan = Claims(reading, pool, frozenset(agreed), lacking, linuxes, answers, exact).plan()
    known = {missing.capability for missing in plan.missing}
    lacks = [m for m in _lacking(rules, reading, lacking) if m.capability not in known]
    named = [m for m in plan.missing if m.capability or not lacks]
    both = contradictions.of_rules(rules.items, reading, pool)
    update = {
        "missing": list(dict.fromkeys([*named, *lacks])),
        "contradictory": [*plan.contradictory, *both],
    }
    return plan.model_copy(update=update)


def _linuxes(rules: Plan, reading: Reading) -> int:
    """The number of Linux VMs by the rules, or the larger one that the reader is certain of: of one
    that is named with its count, or of several, each told from the others by its words."""
    counted = sum(guest.kind == "linux" for guest in rules.guests)
    sure = [vm for vm in reading.vms if vm.kind == "linux" and vm.confidence >= CERTAIN]
    most = max((vm.count for vm in sure), default=0)
    if most > 1:
        return max(counted, most)
    told = {_NO_NAME.sub(" ", vm.span.lower()).strip() for vm in sure}
    return max(counted, len(told)) if "" not in told else counted


def _lacking(rules: Plan, reading: Reading, lacking: Mapping[str, str]) -> Iterator[Missing]:
    """What the pool lacks by the words that the rules read as a demand: by a name of systems, or
    if the reader holds something of the same kind for possible."""
    spoken = {said.name: said.polarity for said in reading.capabilities}
    likely = {s.name for s in (*reading.capabilities, *reading.likely) if s.polarity == "demanded"}
    kinds = {name.partition(".")[0] for name in likely if name in lacking or name in _KINDS}
    for missing in rules.missing:
        for name, text in lacking.items():
            said = spoken.get(name, "demanded")
            if said == "demanded" and stands(name, text, missing.source or ""):
                yield Missing(capability=name, source=missing.source)
        if missing.capability in _PROPER:
            yield missing
        elif missing.capability and missing.capability not in spoken:
            kind = missing.capability.partition(".")[0]
            if kind in kinds and kind in ("net", "fs"):
                yield missing


def _doubts(rules: Plan, reading: Reading) -> Iterator[Assumption]:
    """What the reader is certain of, and the plan of the rules has not."""
    planned = {(i.value, i.kind) for i in rules.items} | {
        (m.capability, "capability") for m in rules.missing
    }
    kinds = {"demanded": "capability", "forbidden": "forbid"}
    for said in reading.capabilities:
        if said.confidence < CERTAIN or said.polarity not in kinds:
            continue
        if (said.name, kinds[said.polarity]) not in planned and rules.guests:
            of = said.name if said.polarity == "demanded" else f"{said.name} forbidden"
            yield _assumption(said, NO_DEMAND, of)


def _affirmed(
    doubts: list[Assumption], answers: Mapping[str, bool] | None, pool: Pool
) -> Iterator[Item]:
    """The demands that the user affirmed when asked."""
    for doubt in doubts:
        name = doubt.instead_of
        if (answers or {}).get(name) and name in pool.by_name:
            yield Item.model_validate(
                {
                    "kind": "capability",
                    "value": name,
                    "source": doubt.source,
                    "span": doubt.span,
                    "rule": AFFIRMED,
                }
            )


def _assumption(said: Statement, taken_as: str, instead_of: str) -> Assumption:
    confidence = round(1 - said.confidence, 3)
    return Assumption(
        source=said.span,
        span=span_of(said),
        taken_as=taken_as,
        instead_of=instead_of,
        confidence=confidence,
    )


def _is_disk(item: Item) -> bool:
    """Whether a demand is one for files by the name of what they are on."""
    files = (item.kind, item.value) == ("capability", FILES)
    return files and bool(_DISK.search(item.source or ""))


def _exact(rules: Plan, reading: Reading, lacking: Mapping[str, str]) -> Iterator[Item]:
    """Demands that the rules read by set phrases, a board and a utility, and by proper names of
    what the pool might lack, as HTTP; a number of VMs where the reader has none."""
    there: set[str] = set()
    for item in rules.items:
        if item.stated and item.kind in ("board", "utility") and item.kind not in there:
            there.add(item.kind)
            yield item.model_copy(update={"image": None})
        elif item.kind == "vms" and not (reading.vms or reading.tasks):
            yield item
        elif (_is_disk(item) and not any(said.name == FILES for said in reading.capabilities)) or (
            item.kind == "capability"
            and (text := lacking.get(str(item.value)))
            and stands(str(item.value), text, item.source or "")
        ):
            yield item.model_copy(update={"image": None})
