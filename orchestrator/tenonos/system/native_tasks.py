"""Native tasks, `[[native]]`: checks."""

from tenonos.analysis import least
from tenonos.errors import InputError
from tenonos.system.model import Native, System
from tenonos.system.units import duration_text

TIME = "time"
RIGHTS = (TIME, "console")
"""The rights of native tasks: `pool/core/bare`."""


def check(system: System) -> None:
    """Check that each has its own core and known rights."""
    if not system.vms and not system.natives:
        raise InputError(
            "the system has nothing to run",
            where=system.where("name"),
            mend="add a [[vm]] or a [[native]] table",
        )
    names = {vm.name for vm in system.guests} | {"mortise"}
    taken = {cpu: vm.name for vm in system.guests for cpu in (*vm.cpus, *vm.detach)}
    if system.reserve is not None:
        taken |= dict.fromkeys(system.reserve.cpus, "the reserve")
    for native in system.natives:
        where = system.where("native", native.index, "name")
        if native.name in names:
            raise InputError(
                f'"{native.name}" is already the name of a VM or task',
                where=where,
                mend="rename it",
            )
        names.add(native.name)
        where = system.where("native", native.index, "cpus")
        if not 0 <= native.cpu < system.board.cpus:
            raise InputError(
                f"there is no CPU {native.cpu}: {system.board.name} has {system.board.cpus}",
                where=where,
                mend=f"use 0 to {system.board.cpus - 1}",
            )
        if native.cpu in taken:
            raise InputError(
                f'CPU {native.cpu} is given to "{taken[native.cpu]}" already',
                where=where,
                mend="a native task has a CPU to itself",
            )
        taken[native.cpu] = native.name
        for right in native.rights:
            if right not in RIGHTS:
                raise InputError(
                    f'unknown right "{right}" of native task "{native.name}"',
                    where=system.where("native", native.index, "rights"),
                    mend=f"use {' and '.join(RIGHTS)}",
                )
        _period(system, native)
    if not system.vms:
        _alone(system)


def _period(system: System, native: Native) -> None:
    """Refuse a period that no task keeps."""
    bound = least.native_period(system.board)
    if native.period is not None and native.period < bound:
        raise InputError(
            f'period {duration_text(native.period)} of native task "{native.name}" is below the '
            f"least on {system.board.name}: a tick of its counter takes {least.tick(system.board)} "
            f"ns, a release {least.NATIVE_RELEASE} instructions",
            where=system.where("native", native.index, "period"),
            mend=f'write period = "{duration_text(bound)}" or more',
        )


def _alone(system: System) -> None:
    """Check a system without VMs: one task, on the first core."""
    for native in system.natives[1:]:
        raise InputError(
            "without a VM there is one native task",
            where=system.where("native", native.index),
            mend="remove one, or add a [[vm]] table",
        )
    if system.natives[0].cpu != 0:
        raise InputError(
            "without a VM the native task is on CPU 0",
            where=system.where("native", 0, "cpus"),
            mend="write cpus = [0]",
        )
    for key in ("reserve", "template", "channel", "vlib", "regulation", "disk", "network"):
        if any(path[:1] == (key,) for path in system.lines):
            raise InputError(
                f"{key} is for systems with VMs", where=system.where(key), mend="remove it"
            )
