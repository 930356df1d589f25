"""Periods and deadlines of periodic tasks, checked against what the board can do.

A time below a tick of the counter, or below the cost of a release, cannot be kept by any body; nor
can releases that take more than a whole core together.
"""

from fractions import Fraction

from tenonos.analysis import costs, least
from tenonos.errors import InputError
from tenonos.system.model import System, Vm
from tenonos.system.units import duration_text


def check(system: System) -> None:
    """Refuse periods and deadlines below the least that can be."""
    for vm in system.guests:
        if vm.tasks:
            _tasks(system, vm)


def _tasks(system: System, vm: Vm) -> None:
    board, kernel = system.board, _kernel(system, vm)
    period, deadline = least.period(board, kernel), least.deadline(board, kernel)
    for number, task in enumerate(vm.tasks):
        for key, value, bound in (
            ("period", task.period, period),
            ("deadline", task.deadline, deadline),
        ):
            if value < bound:
                raise InputError(
                    f'{key} {duration_text(value)} of task "{task.name}" is below the least on '
                    f"{board.name}: {least.reasons(board, kernel)}",
                    where=system.at(vm, "task", number, key),
                    mend=f'write {key} = "{duration_text(bound)}" or more',
                )
    total = sum((Fraction(period, task.period) for task in vm.tasks), Fraction(0))
    if total > len(vm.cpus):
        raise InputError(
            f'releases alone take {float(100 * total):.4g} % of a core in VM "{vm.name}"',
            where=system.at(vm, "task", 0, "period"),
            mend="make periods longer, or use fewer tasks",
        )


def _kernel(system: System, vm: Vm) -> costs.Costs:
    """The kernels' costs for a VM: on cores of its own, or beside others."""
    return costs.shared() if any(map(system.is_shared, vm.cpus)) else costs.alone()
