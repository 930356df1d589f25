"""Compositions of labelled objectives: right by the images that are made, not by what was read.

`PYTHONPATH=orchestrator python -m tools.bench.composed [PART|AUTHOR [EACH]]` prints them for the
rules alone and for rules and reader together; of EACH objectives one is taken. They are counts, and
show no objective: the misses of the test part are not to be examined.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

from tenonos.errors import InputError
from tenonos.plan.compose import compose
from tenonos.plan.models import Composition
from tenonos.plan.planner import Offline
from tenonos.plan.pool import Pool
from tenonos.plan.reader.reading import Reading
from tools.bench.labelled import PARTS, Labelled, part
from tools.bench.reader import Score, keys, kinds

NUMBERS = ("period", "deadline", "jitter", "wcet", "ram", "image")
"""Roles of quantities that are kinds of a plan."""
COMPOSED, REFUSED, WRONG, TOLD = "right", "refused", "wrong, told", "wrong, not told"


class Rules(Offline):
    """The planner without the trained reader."""

    def reading(self, objective: str, pool: Pool) -> Reading | None:
        """None."""
        return None


def faults(wanted: Labelled, answer: Composition, known: Collection[str]) -> Iterator[str]:
    """The errors of an answer; `known` are the capabilities that the pool provides."""
    said: dict[str, list[str]] = defaultdict(list)
    for each in wanted.capabilities:
        said[each.polarity].append(each.name)
    lacking = [name for name in said["demanded"] if name not in known]
    if wanted.phrasing == "conflict" or lacking:
        refused = answer.missing or (answer.conflict and not lacking)
        if not refused:
            yield "composed what cannot be"
        return
    if not answer.accepted:
        yield "refused"
        return
    there = {
        name
        for image in answer.images.values()
        for name in image.capabilities
        if image.kind != "mortise" or name.startswith(("virt.", "ipc."))
    }
    yield from (f"no {name}" for name in said["demanded"] if name not in there)
    yield from (f"{name} is there" for name in said["forbidden"] if name in there)
    if said["alternative"] and not there & {*said["alternative"]}:
        yield f"none of {', '.join(said['alternative'])}"
    counts = kinds(wanted.vms)
    if counts and not counts["native"] and not counts["other"]:
        for kind, count in (
            ("tenon", counts["tenon"] + counts["processes"]),
            ("linux", counts["linux"]),
        ):
            found = sum(image.kind == kind for image in answer.images.values())
            # Tasks without a named VM need one at least; how many is open.
            is_open = kind == "tenon" and not count and any(t.vm is None for t in wanted.tasks)
            if found != count and not (is_open and found):
                yield f"{found} {kind} for {count}"
    plan = {(item.kind, item.value) for item in answer.plan}
    for amount in wanted.quantities:
        if amount.role in NUMBERS and (amount.role, amount.value) not in plan:
            yield f"no {amount.role} {amount.value}"


def scores(
    asked: Sequence[Labelled], pool: Pool, using: Offline
) -> tuple[dict[str, Score], dict[str, int]]:
    """The right answers by class and language, and the number of each kind of answer."""
    known = {e.name for e in pool.entries.values() if e.kind == "capability" and e.available}
    found: dict[str, Score] = defaultdict(Score)
    ends = dict.fromkeys((COMPOSED, REFUSED, WRONG, TOLD), 0)
    for wanted in asked:
        answer = compose(wanted.text, pool=pool, using=using)
        wrong = [*faults(wanted, answer, known)]
        for key in keys(wanted):
            found[key].add(not wrong)
        told = WRONG if answer.assumptions else TOLD
        ends[COMPOSED if not wrong else told if answer.accepted else REFUSED] += 1
    return found, ends


def lines(asked: Sequence[Labelled], pool: Pool) -> Iterator[str]:
    """A table of both planners."""
    columns = [scores(asked, pool, using) for using in (Rules(), Offline())]
    yield "| composed rightly | rules alone | rules and reader |"
    yield "|---|---:|---:|"
    for key in sorted(columns[0][0]):
        yield f"| {key} | {columns[0][0][key]} | {columns[1][0][key]} |"
    for end in columns[0][1]:
        yield f"| {end} | {columns[0][1][end]} | {columns[1][1][end]} |"


def main(arguments: Sequence[str]) -> int:
    """Print the table of a part, or of one author."""
    from tenonos.plan.reader import load

    name = arguments[0] if arguments else "test"
    each = int(arguments[1]) if len(arguments) > 1 else 1
    asked = [f for p in PARTS for f in part(p) if name in (p, f.author)][::each]
    if not asked:
        raise InputError(f"no part or author {name}")
    load.provide()
    for line in lines(asked, Pool()):
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
