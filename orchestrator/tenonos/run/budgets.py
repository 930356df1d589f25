"""The use of budgets: those of VMs on shared cores, and those of servers in Tenon images.

Mortise counts in the status page of each VM, which the VM cannot write. A Tenon image counts the
use of its servers' budgets in a table in its own memory: a guest can state anything there, about
itself only. All values are bounded here.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tenonos.run.formats import BUDGET_SIZE, BUDGETS_AT, NAME_SIZE, State
from tenonos.run.result import BudgetResult, UsedTime

if TYPE_CHECKING:
    from tenonos.build import Built
    from tenonos.run.session import Session
    from tenonos.run.target import WatchedVm

MORTISE_COUNTERS = "LIB_MORTISE_BUDGET_COUNTERS"
SERVER_COUNTERS = "TENON_THREAD_SERVER_COUNTERS"
"""The options with which the images count."""

SERVER_RECORDS = "TENON_SERVER_RECORDS"
"""The symbol of the table in a Tenon image."""
SERVERS = 16
SERVER_RECORD_SIZE = NAME_SIZE + BUDGET_SIZE

_COUNTERS = struct.Struct("<6Q")
WORDS = _COUNTERS.size // 8


@dataclass(frozen=True)
class WatchedBudget:
    """The place of the counters of one budget in physical memory."""

    vm: str
    counters: int
    cpu: int | None = None
    """The CPU of a VM's budget; None for that of a server."""
    name: int = 0
    """The place of a server's name."""

    @property
    def words(self) -> tuple[int, ...]:
        """The places of the words that are read with each sample of a deterministic run."""
        return tuple(self.counters + 8 * word for word in range(WORDS))


def watched(built: Built, vms: Sequence[WatchedVm], alone: str | None) -> list[WatchedBudget]:
    """The budgets that the images of a system count; `alone` is the image without Mortise."""
    found: list[WatchedBudget] = []
    images = {image.name: image.config for image in built.images}
    mortise = images.get("mortise")
    for vm in vms:
        if (
            mortise is not None
            and mortise[MORTISE_COUNTERS]
            and built.system.vm(vm.name).share.budget
        ):
            page = vm.status + BUDGETS_AT
            found += [
                WatchedBudget(vm.name, page + vcpu * BUDGET_SIZE, cpu)
                for vcpu, cpu in enumerate(vm.cpus)
            ]
    for name in [alone] if alone is not None else [vm.name for vm in vms]:
        if name in images and images[name][SERVER_COUNTERS]:
            found += _servers(built, name)
    return found


def _servers(built: Built, image: str) -> Iterator[WatchedBudget]:
    from tenonos.run import symbols

    if not symbols.has(built, image, SERVER_RECORDS):
        # No code of the image attaches a server.
        return
    table = symbols.address(built, image, SERVER_RECORDS)
    for index in range(SERVERS):
        name = table + index * SERVER_RECORD_SIZE
        yield WatchedBudget(image, name + NAME_SIZE, name=name)


def results(session: Session, words: Callable[[], int] | None) -> list[BudgetResult] | None:
    """The use of all budgets; `words` gives the words of a deterministic run's last sample."""
    target = session.target
    found: list[BudgetResult] = []
    for budget in target.budgets:
        if words is not None:
            values = tuple(words() for _ in range(WORDS))
        else:
            values = _COUNTERS.unpack(session.memory.read(budget.counters, _COUNTERS.size))
        server = None
        if budget.cpu is None:
            name = session.memory.read(budget.name, NAME_SIZE)
            server = name.split(b"\0", 1)[0].decode("utf-8", "replace")
        one = _result(budget.vm, budget.cpu, server, values, target.counter_hz)
        if one is not None:
            found.append(one)
    found += _dynamic(session)
    return found or None


def _dynamic(session: Session) -> Iterator[BudgetResult]:
    """The budgets of VMs that were made at run time, by their status pages.

    Until the first vCPU is admitted, the page has the counters of the VM before it.
    """
    for name, late in session.late.seen.items():
        if late.status.state is State.CREATED:
            continue
        for cpu, values in zip(late.status.cpus, late.status.budgets, strict=False):
            one = _result(name, cpu, None, values, session.target.counter_hz)
            if one is not None:
                yield one


def _result(
    vm: str, cpu: int | None, server: str | None, values: Sequence[int], hertz: int
) -> BudgetResult | None:
    """The use of a budget from its counters; None if there is no budget, or no such one."""
    budget, period, exhausted, partial, used, most = values
    if not 0 < budget <= period or most > budget or used > partial * most:
        return None
    periods = exhausted + partial
    used += exhausted * budget
    most = budget if exhausted else most
    ns = [round(ticks * 1_000_000_000 / hertz) for ticks in (budget, period, most)]
    mean = round(used * 1_000_000_000 / hertz / periods) if periods else 0
    return BudgetResult(
        vm=vm,
        cpu=cpu,
        server=server,
        budget_ns=ns[0],
        period_ns=ns[1],
        periods=periods,
        exhausted=exhausted,
        used_per_period_ns=UsedTime(mean=mean, max=ns[2]),
    )
