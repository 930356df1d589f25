"""Defaults for values that an objective leaves open, each by a named rule.

The name of the rule is in the field `rule` of `plan`.
"""

from __future__ import annotations

from tenonos.plan import channels
from tenonos.plan.models import (
    CHANNEL,
    PARTITION,
    PROCESSES,
    Guest,
    Item,
    Plan,
    is_bare,
    shares_cores,
    vms,
)
from tenonos.plan.pool import Pool
from tenonos.system.board import Board
from tenonos.system.limits import LINUX_LEAST

TASK_PERIOD = 1_000_000
TENON_MEMORY = 16 << 20
LINUX_MEMORY = 512 << 20
BESIDE = 96 << 20
"""Room for the system image and shared areas."""

RULES = {
    "board-of-the-command-line": "the board named by --board",
    "default-board": "the board on which the tests run",
    "no-utility-stated": "no criterion is stated: balance",
    "period-of-the-application": "the period that the application declares",
    "1-khz-for-a-task": "no period is stated, and the application declares none",
    "a-linux-that-does-it": "a Linux VM manages other VMs",
    "a-vm-for-each-application": "no single application has all capabilities",
    "lightest-application": "no application is named: the least cost that meets the demands",
    "deadline-is-the-period": "the deadline is implicit: the period",
    "jitter-within-the-deadline": "a jitter bound without a value is the deadline",
    "a-core-of-its-own": "a real-time VM or native task has its cores to itself",
    "linux-gets-the-other-cores": "Linux has the cores of no real-time VM",
    "one-core-for-one-vm": "the only VM has one core",
    "16-mib-for-a-tenon-vm": "enough for an application and its stacks",
    "room-for-the-program": "the program is in the image and in its memory",
    "512-mib-for-linux": "enough for the kernel and user space of a distribution",
    "memory-shared-evenly": "the remaining RAM, in equal parts for each Linux VM",
    "every-vm-is-a-partition": "each VM has CPUs and memory of its own",
    "real-time-takes-interrupts-directly": "interrupts reach the VM without an exit",
    "a-shared-core-shares-interrupts": "VMs on a shared core have virtual interrupts",
    "one-core-for-all": "VMs that share a core have one core together",
    "cores-are-shared": "a real-time VM runs on the last core, other VMs on all cores",
    "linux-has-a-virtual-gic": "a distribution's kernel needs a complete interrupt controller",
    "processes-have-random-numbers": "programs make keys, and their addresses vary",
    "linux-has-seeds": "without one each system call of Linux takes longer, and there is no KASLR",
    "no-virtual-gic-of-that-kind": "each VM uses its CPU interfaces of the board's GICv2",
    "channels-between-vms": "VMs exchange messages through shared memory",
    "ends-of-the-application": "a channel of the application, to the VM with the other end",
    "a-core-of-its-maker": "on the last core of its creator, at a higher priority",
    "affirmed-when-asked": "the user said so when asked",
    "what-is-demanded-needs-the-network": "it is not possible without the IP stack",
    "alone-with-the-card-of-the-machine": "a network without other VMs is that of the machine, and"
    " so its image runs without a hypervisor",
    "a-linux-on-the-network": "a network of VMs has two members at least",
    "linux-has-the-file-system": "files on a disk are Linux's, on a disk of its own",
    "alone-with-the-disk-of-the-machine": "files without other VMs are on the disk of the machine,"
    " and so their image runs without a hypervisor",
    "what-is-demanded-needs-the-disk": "it is not possible without the disk",
    "at-most": "an upper bound",
    "alone-forbids-guests": "alone: no other guest system",
    "cores-of-the-whole-system": "the number of cores is that of the board",
    "several-cores-for-a-scheduler-of-several": "several cores: the stated number, otherwise two",
}


def complete(
    plan: Plan, board: Board, pool: Pool, apps: dict[str, str], asked: bool = False
) -> Plan:
    """The plan with every default filled in, given the application of each real-time VM.

    `asked` says whether the board was named on the command line.
    """
    work = _Defaults(plan, board, pool, apps, asked)
    work.run()
    return plan.model_copy(update={"items": work.items})


def is_direct(guest: Guest, board: Board) -> bool:
    """Whether a VM has direct interrupts: all have on a board without a virtual GIC."""
    alone = guest.kind == "tenon" or board.gic.direct_only
    return alone and guest.interrupts == "direct"


class _Defaults:
    def __init__(
        self, plan: Plan, board: Board, pool: Pool, apps: dict[str, str], asked: bool
    ) -> None:
        self.plan = plan
        self.board = board
        self.pool = pool
        self.apps = apps
        self.asked = asked
        self.items = list(plan.items)
        self.tenons = [g.name for g in plan.guests if g.kind == "tenon"]
        self.linuxes = [g.name for g in plan.guests if g.kind == "linux"]

    def run(self) -> None:
        rule = "board-of-the-command-line" if self.asked else "default-board"
        self._unless(None, "board", self.board.name, rule)
        self._unless(None, "utility", "balance", "no-utility-stated")
        for guest in self.plan.guests:
            # With several tasks, the deadline of each is its period.
            if guest.kind == "tenon" and guest.tasks == 1:
                self._timing(guest.name)
        self._capabilities()
        self._memory()

    def _has(self, image: str | None, kind: str) -> Item | None:
        return next((i for i in self.items if i.image == image and i.kind == kind), None)

    def _unless(
        self, image: str | None, kind: str, value: int | str, rule: str, unit: str | None = None
    ) -> None:
        if self._has(image, kind) is None:
            self._add(image, kind, value, rule, unit)

    def _add(
        self, image: str | None, kind: str, value: int | str, rule: str, unit: str | None = None
    ) -> None:
        self.items.append(
            Item.model_validate(
                {"kind": kind, "value": value, "unit": unit, "image": image, "rule": rule}
            )
        )

    def _timing(self, name: str) -> None:
        tasks = self.pool.tasks(self.apps.get(name, ""))
        if tasks and self._has(name, "period") is None:
            self._add(name, "period", next(iter(tasks.values())), "period-of-the-application", "ns")
        if self.pool.has_any_task(self.apps.get(name, "")):
            self._unless(name, "period", TASK_PERIOD, "1-khz-for-a-task", "ns")
        period = self._has(name, "period")
        if period is None:
            return
        self._number(name, "deadline", period.value, "deadline-is-the-period")
        self._unless(name, "deadline", period.value or 0, "deadline-is-the-period", "ns")
        deadline = self._has(name, "deadline")
        self._number(name, "jitter", deadline and deadline.value, "jitter-within-the-deadline")

    def _number(self, image: str, kind: str, value: int | str | None, rule: str) -> None:
        """The value of a bound stated without a number; a second mention is merged."""
        alike = [i for i in self.items if (i.image, i.kind) == (image, kind)]
        stated = [i for i in alike if i.value is not None]
        for item in alike:
            if item.value is None:
                place = self.items.index(item)
                same = stated[0].value if stated else value
                update = {"value": same, "rule": item.rule or rule}
                self.items[place] = item.model_copy(update=update)

    def _capabilities(self) -> None:
        if is_bare(self.items) or (self.plan.guests and not vms(self.plan.guests)):
            return
        self._need("mortise", PARTITION, "every-vm-is-a-partition")
        if any(g.kind == "tenon" and g.interrupts == "direct" for g in self.plan.guests):
            self._need("mortise", "virt.irq.direct", "real-time-takes-interrupts-directly")
        if channels.wanted_by_any(self.pool, self.plan.guests, self.items):
            self._need("mortise", CHANNEL, "channels-between-vms")
        if any(i.kind == "capability" and i.value in PROCESSES for i in self.items):
            self._need("mortise", "virt.entropy", "processes-have-random-numbers")
        if self.linuxes:
            self._need("mortise", "virt.entropy", "linux-has-seeds")
            if self.board.gic.direct_only:
                self._need("mortise", "virt.irq.direct", "no-virtual-gic-of-that-kind")
            else:
                self._need("mortise", "virt.irq.shared", "linux-has-a-virtual-gic")
        if shares_cores(self.items):
            self._need("mortise", "virt.irq.shared", "a-shared-core-shares-interrupts")

    def _need(self, image: str, capability: str, rule: str) -> None:
        known = any(
            (i.image, i.kind, i.value) == (image, "capability", capability) for i in self.items
        )
        if not known:
            self._add(image, "capability", capability, rule)

    def _memory(self) -> None:
        for name in self.tenons:
            item = self._has(name, "ram")
            if item is None:
                self._add(name, "ram", TENON_MEMORY, "16-mib-for-a-tenon-vm", "bytes")
        open_ones = [name for name in self.linuxes if self._has(name, "ram") is None]
        if not open_ones:
            return
        given = sum(int(i.value or 0) for i in self.items if i.kind == "ram" and i.image)
        share = max(usable(self.board) - given, 0) // len(open_ones)
        size = LINUX_MEMORY
        while size > share and size > LINUX_LEAST:
            size //= 2
        rule = "512-mib-for-linux" if size == LINUX_MEMORY else "memory-shared-evenly"
        for name in open_ones:
            self._add(name, "ram", size, rule, "bytes")


def usable(board: Board) -> int:
    """RAM for VMs: above Mortise, without the space of the system image and shared areas."""
    return board.ram_end - board.image.mortise - BESIDE


def near(board: Board) -> int:
    """RAM for VMs that is in the kernels' own maps, as that of a real-time VM is."""
    return board.near_end - board.image.mortise - BESIDE
