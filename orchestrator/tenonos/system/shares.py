"""CPU reservations of VMs on shared cores: checks and schedulability analysis.

The analysis is that of the guarantees in `pool/core/sched`: response times for fixed priorities,
where a VM may use two budgets back to back, and the demand bound of a core for deadlines. The cost
of VM switches is not included.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction

from tenonos.errors import InputError
from tenonos.system.model import System, Vm
from tenonos.system.schema import GuestSpec
from tenonos.system.units import duration_text

BUDGET_LEAST, PERIOD_MOST = 10_000, 4_000_000_000
"""Nanoseconds, as `core_manifest::Schedule` has them."""

_KEYS = ("priority", "schedule", "budget", "period", "exhausted")
MOST_URGENT = 63

FOREGROUND = 33
"""The priority of the longest period with `rate-monotonic`: above the default of Tenon VMs."""

_STEPS = 10_000
"""The most points in time to examine; a set that needs more counts as infeasible."""


def ranks(specs: Iterable[GuestSpec]) -> dict[int, int]:
    """Rate-monotonic priorities of periods: the shorter, the higher."""
    rated = {spec.period for spec in specs if spec.schedule == "rate-monotonic" and spec.period}
    return {period: FOREGROUND + rank for rank, period in enumerate(sorted(rated, reverse=True))}


def check(system: System) -> None:
    """Refuse meaningless reservations, and reservations that cannot be guaranteed."""
    for vm in system.guests:
        _means_something(system, vm)
    if system.mode == "dynamic":
        for cpu in range(system.board.cpus):
            _core(system, cpu)


def _means_something(system: System, vm: Vm) -> None:
    written = [key for key in _KEYS if (vm.table, vm.index, key) in system.lines]
    if not written:
        return
    first = system.at(vm, written[0])
    if system.mode == "static":
        raise InputError(
            f"{written[0]} is for cores that VMs share, and in a static system they do not",
            where=first,
            mend='remove it, or write mode = "dynamic"',
        )
    if not any(system.is_shared(cpu) for cpu in vm.cpus):
        raise InputError(
            f'{written[0]} is for cores that VMs share, and "{vm.name}" has its own for itself',
            where=first,
            mend="remove it",
        )
    share = vm.share
    if share.budget is None or share.period is None:
        for key in ("budget", "period", "exhausted", "schedule"):
            if key in written and (key != "schedule" or share.by_deadline or share.by_rate):
                lacks = "a period" if share.budget else "a budget"
                raise InputError(
                    f'{key} of VM "{vm.name}" needs {lacks} too',
                    where=system.at(vm, key),
                    mend='for example budget = "2ms" and period = "10ms"',
                )
        return
    _in_range(system, vm)
    if share.by_rate and "priority" in written:
        raise InputError(
            f'priority of VM "{vm.name}" follows from its period with schedule = "rate-monotonic"',
            where=system.at(vm, "priority"),
            mend='remove it, or write schedule = "fixed"',
        )
    if share.priority == 0 and (share.by_deadline or share.background):
        key = "schedule" if share.by_deadline else "exhausted"
        raise InputError(
            f'VM "{vm.name}" is in the background, where {key} means nothing',
            where=system.at(vm, key if key in written else "budget"),
            mend="give it a priority from 1 to 63",
        )


def _in_range(system: System, vm: Vm) -> None:
    """Refuse a budget and a period that no core can have, whatever else runs there."""
    ((budget, period),) = _shapes([vm])
    if period > PERIOD_MOST:
        raise InputError(
            f'period {duration_text(period)} of VM "{vm.name}" is above 4s',
            where=system.at(vm, "period"),
            mend='write period = "4s" or less',
        )
    if budget < BUDGET_LEAST:
        raise InputError(
            f'budget {duration_text(budget)} of VM "{vm.name}" is below 10us',
            where=system.at(vm, "budget"),
            mend='write budget = "10us" or more',
        )
    if budget > period:
        most = duration_text(_largest(system, vm) or period)
        raise InputError(
            f'budget of VM "{vm.name}", {duration_text(budget)}, is longer than its period, '
            f"{duration_text(period)}",
            where=system.at(vm, "budget"),
            mend=f'write budget = "{most}" or less',
        )


def _core(system: System, cpu: int) -> None:
    """Check that every reservation on a core is guaranteed, whatever other VMs do."""
    vms = [vm for vm in system.takers(cpu) if vm.share.priority > 0]
    promised = [vm for vm in vms if vm.share.budget]
    total = sum((_part(vm) for vm in promised), Fraction(0))
    if total > 1:
        parts = ", ".join(f'"{vm.name}" {float(100 * _part(vm)):.4g} %' for vm in promised)
        most = _largest(system, promised[-1])
        less = f'write budget = "{duration_text(most)}" or less, or ' if most else ""
        raise InputError(
            f"VMs on CPU {cpu} reserve {float(100 * total):.4g} % of it: {parts}",
            where=system.at(promised[-1], "budget"),
            mend=f"{less}reserve less for the other{'s' if len(promised) > 2 else ''}",
        )
    makers = [vm for vm in system.vms if vm.manages and vm.manages.files]
    for vm in promised:
        for maker in makers:
            assert maker.manages is not None
            if cpu in maker.manages.cpus and maker.manages.priority >= vm.share.priority:
                raise InputError(
                    f'"{vm.name}" cannot be guaranteed its budget on CPU {cpu}: VMs that '
                    f'"{maker.name}" creates may have an equal or higher priority',
                    where=system.at(maker, "manages", "priority"),
                    mend=f"at most {vm.share.priority - 1}",
                )
        peers, above = _rivals(vm, vms)
        rivals = [*peers, *above]
        for each in rivals:
            equal = each.share.priority == vm.share.priority
            if equal and each.share.by_deadline != vm.share.by_deadline:
                raise InputError(
                    f'"{vm.name}" and "{each.name}" have one priority on CPU {cpu}, '
                    "and only one of them a deadline",
                    where=system.at(vm, "priority"),
                    mend="use two priorities, or one schedule",
                )
        greedy = next((each for each in rivals if not each.share.budget), None)
        if greedy is not None:
            raise InputError(
                f'"{vm.name}" cannot be guaranteed its budget on CPU {cpu}: '
                f'"{greedy.name}" has an equal or higher priority and no budget',
                where=system.at(vm, "budget"),
                mend=f'give "{greedy.name}" a budget, or "{vm.name}" a priority above '
                f"{greedy.share.priority}",
            )
        if not _fits(vm, peers, above):
            raise _refused(system, cpu, vm, peers, above)


def _rivals(vm: Vm, vms: Iterable[Vm]) -> tuple[list[Vm], list[Vm]]:
    """The VMs of a core that share a deadline-ordered priority with `vm`, and those that may run
    first."""
    rivals = [each for each in vms if each is not vm and _precedes(each, vm)]
    equal = [each for each in rivals if each.share.priority == vm.share.priority]
    peers = equal if vm.share.by_deadline else []
    return peers, [each for each in rivals if each not in peers]


def _fits(vm: Vm, peers: Sequence[Vm], above: Sequence[Vm]) -> bool:
    return _demand_fits([vm, *peers], above) if vm.share.by_deadline else _responds(vm, above)


def _refused(
    system: System, cpu: int, vm: Vm, peers: Sequence[Vm], above: Sequence[Vm]
) -> InputError:
    """The refusal of a budget: what is asked, what can be had, what takes the rest."""
    ((budget, period),) = _shapes([vm])
    most = _most(vm, peers, above)
    had = f"at most {duration_text(most)}" if most else "no budget"
    names = [f'"{each.name}"' for each in above]
    each = "each" if len(above) > 1 else "it"
    listed = " and ".join(
        f"{name} ({_of(*shape)})" for name, shape in zip(names, _shapes(above), strict=True)
    )
    # With deadlines the demand in longer intervals than a period can be the limit.
    taken = duration_text(min(_taken(above, period), period))
    most_taken = "" if vm.share.by_deadline else f", {taken} of such a period"
    changes = [f'write budget = "{duration_text(most)}" or less'] if most else []
    if not vm.share.by_rate:
        urgent = max(each.share.priority for each in above)
        changes += [f'give "{vm.name}" a priority above {urgent}'] if urgent < MOST_URGENT else []
    changes.append(f"or reduce the budget of {' or '.join(names)}")
    return InputError(
        f'"{vm.name}" asks for {_of(budget, period)} on CPU {cpu}, and {had} can be guaranteed: '
        f"{listed} can run first, and {each} may use one budget at the end of its own period and "
        f"the next at once{most_taken}",
        where=system.at(vm, "budget"),
        mend=", ".join(changes).removeprefix("or "),
    )


def _most(vm: Vm, peers: Sequence[Vm], above: Sequence[Vm]) -> int:
    """The largest budget of a VM that can be guaranteed, in units of the least; 0 if none can."""
    return _greatest(vm, lambda smaller: _fits(smaller, peers, above))


def _largest(system: System, vm: Vm) -> int:
    """The largest budget of a VM with which every reservation on its cores is guaranteed, in units
    of the least; 0 if there is none."""
    cores = [system.takers(cpu) for cpu in vm.cpus if system.is_shared(cpu)]

    def fit(smaller: Vm) -> bool:
        return all(_all_fit([smaller if each is vm else each for each in vms]) for vms in cores)

    return _greatest(vm, fit)


def _greatest(vm: Vm, fit: Callable[[Vm], bool]) -> int:
    """The largest budget of a VM that fits, in units of the least, of those up to its own."""
    ((budget, period),) = _shapes([vm])
    low, high = 0, min(budget, period) // BUDGET_LEAST
    while low < high:
        middle = (low + high + 1) // 2
        if fit(replace(vm, share=replace(vm.share, budget=middle * BUDGET_LEAST))):
            low = middle
        else:
            high = middle - 1
    return low * BUDGET_LEAST


def _all_fit(takers: Iterable[Vm]) -> bool:
    """Whether every reservation on a core is guaranteed."""
    vms = [vm for vm in takers if vm.share.priority > 0]
    promised = [vm for vm in vms if vm.share.budget]
    if sum((_part(vm) for vm in promised), Fraction(0)) > 1:
        return False
    for vm in promised:
        peers, above = _rivals(vm, vms)
        if not all(each.share.budget for each in (*peers, *above)):
            return False
        if not _fits(vm, peers, above):
            return False
    return True


def _of(budget: int, period: int) -> str:
    return f"{duration_text(budget)} in each {duration_text(period)}"


def _part(vm: Vm) -> Fraction:
    return Fraction(vm.share.budget or 0, vm.share.period or 1)


def _precedes(other: Vm, vm: Vm) -> bool:
    return other.share.priority >= vm.share.priority


def _taken(others: Sequence[Vm], time: int, more: int = 0) -> int:
    """The most that `others` can use of any interval `time`; of any longer one, with `more` = 1."""
    total = 0
    for budget, period in _shapes(others):
        late = time + period - budget
        total += budget * (late // period + 1 if more else -(-late // period))
    return total


def _shapes(vms: Sequence[Vm]) -> list[tuple[int, int]]:
    return [(vm.share.budget or 0, vm.share.period or 1) for vm in vms]


def _responds(vm: Vm, others: Sequence[Vm]) -> bool:
    """Whether the budget is received within the period: least fixed point of the response time."""
    ((budget, period),) = _shapes([vm])
    response = budget
    while response <= period:
        longer = budget + _taken(others, response)
        if longer == response:
            return True
        response = longer
    return False


def _demand_fits(level: Sequence[Vm], above: Sequence[Vm]) -> bool:
    """Whether the demand with deadlines in any interval fits, beside higher priorities."""
    own = sum((_part(vm) for vm in level), Fraction(0))
    free = 1 - own - sum((_part(vm) for vm in above), Fraction(0))
    if not above:
        return free >= 0
    if free <= 0:
        return False
    shapes = _shapes(above)
    # The interference from above is at most its utilisation of the time, plus this.
    burst = sum(Fraction(b * (p - b), p) + b for b, p in shapes)
    first = min(period for _, period in _shapes(level))
    end = burst / free
    if first > end:
        return True
    # It grows only after the times at which a budget can begin.
    times = {first}
    for budget, period in shapes:
        count = int((end - budget) / period) + 2
        if count > _STEPS:
            return False
        times |= {t for k in range(count) if (t := k * period + budget) >= first}
    return all(own * t + _taken(above, t, more=1) <= t for t in times)
