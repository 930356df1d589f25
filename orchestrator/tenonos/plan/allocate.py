"""Allocation of CPUs and memory to VMs, or the demands that make it infeasible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tenonos.plan import templates
from tenonos.plan.colours import Uncolourable, share_out
from tenonos.plan.defaults import TENON_MEMORY, near, usable
from tenonos.plan.models import Guest, Item, is_bare, shares_cores, vms
from tenonos.system.board import Board
from tenonos.system.limits import BLOCK, LINUX_LEAST, TENON_CORES, VMS

SMP = "sched.smp"
MORTISE = "mortise"
INTERRUPTS = frozenset(("virt.irq.direct", "virt.irq.shared"))
"""The two interrupt modes of a VM, which exclude each other."""
FEWER = ": let VMs share a core, or ask for fewer"
"""Remedy for demands for too many cores."""
WHOLE = "cores-of-the-whole-system"


class Infeasible(Exception):
    """Demands that no allocation satisfies; the message is the reason in one clause."""


@dataclass(frozen=True)
class Share:
    """The allocation of one VM."""

    cpus: tuple[int, ...]
    memory: int
    colours: int | None = None


def allocate(guests: Sequence[Guest], items: Sequence[Item], board: Board) -> dict[str, Share]:
    """Each VM's CPUs, memory and colours. Real-time VMs get the last CPUs, Linux the first."""
    there, made = templates.apart(guests)
    if len(vms(there)) > VMS:
        raise Infeasible(f"{len(vms(there))} VMs, and a system has {VMS} at most")
    own = {guest.name for guest in made}
    cpus = _Cpus(there, [item for item in items if item.image not in own], board).run()
    cpus |= _of_made(made, items, cpus)
    memory = {guest.name: _memory(guest, items) for guest in guests}
    reach = board.image.shared - board.ram.base
    for guest in guests:
        if guest.kind == "tenon" and memory[guest.name] > reach:
            has = f"{guest.name} has {memory[guest.name] >> 20} MiB"
            raise Infeasible(f"{has}, and a real-time VM {reach >> 20} at most")
    if sum(memory.values()) > usable(board):
        total, have = sum(memory.values()) >> 20, usable(board) >> 20
        raise Infeasible(f"{total} MiB for VMs, and {board.name} has room for {have}")
    real_time = sum(memory[guest.name] for guest in guests if guest.kind == "tenon")
    if real_time > near(board):
        total, have = real_time >> 20, near(board) >> 20
        raise Infeasible(f"{total} MiB for real-time VMs, and there are {have} below 4 GiB")
    try:
        colours = share_out(vms(guests), items, memory, near(board), board)
    except Uncolourable as error:
        raise Infeasible(str(error)) from None
    return {
        guest.name: Share(tuple(cpus[guest.name]), memory[guest.name], colours.get(guest.name))
        for guest in guests
    }


def _of_made(
    made: Sequence[Guest], items: Sequence[Item], given: dict[str, list[int]]
) -> dict[str, list[int]]:
    """The cores of VMs created on demand: as stated, or else one of their manager's."""
    found = templates.cpus(made, given)
    for guest in made:
        for item in items:
            if (item.image, item.kind) != (guest.name, "cores") or item.rule is not None:
                continue
            if item.unit != "cpu" and item.value != 1:
                raise Infeasible(f"{guest.name} is created on demand, on one core of its manager")
            if item.unit == "cpu" and item.value not in given[guest.made_by or ""]:
                raise Infeasible(
                    f"{guest.name} is created by {guest.made_by}, which has no such core"
                )
            if item.unit == "cpu":
                found[guest.name] = [int(item.value or 0)]
    return found


def check_timing(guests: Sequence[Guest], items: Sequence[Item]) -> None:
    """Check that no execution time exceeds a deadline or period."""
    for guest in guests:
        low = _least(guest.name, items, ("period", "deadline"))
        work = _most(guest.name, items, "wcet")
        if low and work and work > low:
            raise Infeasible(f"{guest.name} would work {work} ns of every {low}")
        periods = _values(guest.name, items, "period")
        if len(set(periods)) > guest.tasks:
            raise Infeasible(f"{guest.name} would have {len(set(periods))} periods")


def check_bare(guests: Sequence[Guest], items: Sequence[Item]) -> None:
    """Check that a system without a hypervisor needs none."""
    if not is_bare(items):
        return
    if len(guests) > 1 or any(guest.kind != "tenon" for guest in guests):
        raise Infeasible(
            f"without a hypervisor there is one real-time image, not {len(guests)} VMs"
        )
    for item in items:
        if item.kind == "capability" and item.image == MORTISE:
            raise Infeasible(f"{item.value} needs a hypervisor, and there is none")


def check_count(guests: Sequence[Guest], items: Sequence[Item]) -> None:
    """Check the number of VMs against stated counts."""
    for item in items:
        if item.kind == "vms" and item.value != (count := len(vms(guests))):
            raise Infeasible(f"{item.value} VMs are asked for, and {count} named")


def check_interrupts(guests: Sequence[Guest], items: Sequence[Item]) -> None:
    """Check that no VM has both interrupt modes."""
    asked = {str(item.value) for item in items if item.kind == "capability" and item.stated}
    if len(guests) < 2 and asked >= INTERRUPTS:
        raise Infeasible("a VM has its interrupts either directly or from the hypervisor")


def check_company(guests: Sequence[Guest], items: Sequence[Item], board: Board) -> None:
    """Check prohibitions, and that only one board is named."""
    wanted = {f"guest.{guest.kind}" for guest in guests}
    wanted |= {str(item.value) for item in items if item.kind == "capability"}
    for item in items:
        if item.kind == "forbid" and item.value in wanted:
            raise Infeasible(f"{item.value} is both demanded and forbidden")
        if item.kind == "board" and item.value != board.name:
            raise Infeasible(f"{item.value} and {board.name} are two boards")


def _values(image: str | None, items: Sequence[Item], kind: str) -> list[int]:
    return [
        int(i.value) for i in items if (i.image, i.kind) == (image, kind) and i.value is not None
    ]


def _least(image: str | None, items: Sequence[Item], kinds: Sequence[str]) -> int | None:
    return min((v for kind in kinds for v in _values(image, items, kind)), default=None)


def _most(image: str | None, items: Sequence[Item], kind: str) -> int | None:
    return max(_values(image, items, kind), default=None)


def _memory(guest: Guest, items: Sequence[Item]) -> int:
    """A VM's memory in blocks of stage 2: a bound is rounded down, an amount up.

    A real-time VM has one block at least. A smaller bound limits its use of that block: see
    `bounds`.
    """
    rams = [i for i in items if i.image == guest.name and i.kind == "ram" and i.value]
    amounts = {int(i.value or 0) for i in rams if i.rule != "at-most"}
    most = min((int(i.value or 0) for i in rams if i.rule == "at-most"), default=None)
    blocks = {-(-amount // BLOCK) * BLOCK for amount in amounts}
    if len(blocks) > 1:
        raise Infeasible(f"{guest.name} is given {len(blocks)} amounts of memory")
    if most is not None and max(amounts, default=0) > most:
        raise Infeasible(f"{guest.name} is given more memory than it may have")
    if guest.kind == "native":
        return 0
    bound = TENON_MEMORY if most is None else most // BLOCK * BLOCK
    if guest.kind == "tenon":
        return next(iter(blocks), max(min(bound, TENON_MEMORY), BLOCK))
    size = next(iter(blocks), 0 if most is None else bound)
    if size < LINUX_LEAST:
        raise Infeasible(f"{guest.name} needs {LINUX_LEAST >> 20} MiB at least")
    return size


class _Cpus:
    def __init__(self, guests: Sequence[Guest], items: Sequence[Item], board: Board) -> None:
        self.guests = list(guests)
        self.items = items
        self.board = board
        self.natives = [g for g in guests if g.kind == "native"]
        self.tenons = [*(g for g in guests if g.kind == "tenon"), *self.natives]
        self.linuxes = [g for g in guests if g.kind == "linux"]

    def run(self) -> dict[str, list[int]]:
        total = self._total()
        if total > self.board.cpus:
            raise Infeasible(f"{total} cores, and {self.board.name} has {self.board.cpus}{FEWER}")
        wanted = {g.name: self._wanted(g) for g in self.guests}
        for guest in self.tenons:
            if (count := wanted[guest.name] or 1) > TENON_CORES:
                each = f"{count} cores for {guest.name}"
                raise Infeasible(f"{each}, and a real-time VM has {TENON_CORES} at most")
        if shares_cores(self.items):
            return self._together(wanted)
        counts = {g.name: wanted[g.name] or 1 for g in self.tenons}
        left = total - sum(counts.values())
        open_ones = [g.name for g in self.linuxes if wanted[g.name] is None]
        for guest in self.linuxes:
            if (count := wanted[guest.name]) is not None:
                counts[guest.name] = count
                left -= count
        for place, name in enumerate(open_ones):
            counts[name] = left // len(open_ones) + (place < left % len(open_ones))
        if left < 0 or any(count < 1 for count in counts.values()):
            wanted_in_all = sum(max(count, 1) for count in counts.values())
            there = f"{self.board.name} has" if total == self.board.cpus else "there are"
            each = ", ".join(f"{name} {max(count, 1)}" for name, count in counts.items())
            raise Infeasible(f"{wanted_in_all} cores for VMs ({each}), and {there} {total}{FEWER}")
        return self._place(counts, total)

    def _together(self, wanted: dict[str, int | None]) -> dict[str, list[int]]:
        """The cores of VMs that share them: one unless more are demanded, all from the first on.

        A real-time VM gets the last of them, where Linux runs least.
        """
        stated = [i for i in self.items if i.kind == "cores" and i.image is None]
        pins = {g.name: self._pinned(g) for g in self.guests}
        most = max([1, *(count for count in wanted.values() if count)])
        highest = max((cpu + 1 for cpus in pins.values() for cpu in cpus), default=1)
        total = self._total() - len(self.natives) if stated else max(most, highest)
        most = max(most, highest)
        if most > min(total, self.board.cpus):
            there = min(total, self.board.cpus)
            raise Infeasible(f"{most} cores, and there are {there}: ask for fewer")
        placed = {}
        alone = {guest.name: total + at for at, guest in enumerate(self.natives)}
        if total + len(alone) > self.board.cpus:
            raise Infeasible(f"{total + len(alone)} cores, and there are {self.board.cpus}{FEWER}")
        for guest in self.guests:
            if guest.name in alone:
                span = range(alone[guest.name], alone[guest.name] + 1)
            elif guest.kind == "linux":
                span = range(wanted[guest.name] or total)
            else:
                span = range(total - (wanted[guest.name] or 1), total)
            placed[guest.name] = pins[guest.name] or list(span)
        return placed

    def _pinned(self, guest: Guest) -> list[int]:
        items = [i for i in self.items if (i.image, i.kind) == (guest.name, "cores")]
        cpus = sorted({int(i.value or 0) for i in items if i.unit == "cpu"})
        if cpus and cpus[-1] >= self.board.cpus:
            last = self.board.cpus - 1
            raise Infeasible(f"core {cpus[-1]}, and {self.board.name} counts 0 to {last}")
        return cpus

    def _total(self) -> int:
        stated = [i for i in self.items if i.kind == "cores" and i.image is None]
        values = {int(i.value) for i in stated if i.value is not None}
        if len(values) > 1:
            raise Infeasible(f"{' and '.join(map(str, sorted(values)))} cores in all")
        if values:
            return values.pop()
        if self.linuxes or self._pins():
            return self.board.cpus
        return sum(self._wanted(g) or 1 for g in self.tenons)

    def _wanted(self, guest: Guest) -> int | None:
        items = [i for i in self.items if i.image == guest.name and i.kind == "cores"]
        counts = {int(i.value) for i in items if i.unit == "cores" and i.value is not None}
        if len(counts) > 1:
            raise Infeasible(
                f"{guest.name} is given {' and '.join(map(str, sorted(counts)))} cores"
            )
        pins = len({i.value for i in items if i.unit == "cpu"})
        if pins and counts and pins != next(iter(counts)):
            raise Infeasible(f"{guest.name} is given {pins} named cores of {next(iter(counts))}")
        return next(iter(counts), None) or pins or self._alone(guest) or self._for_smp(guest)

    def _alone(self, guest: Guest) -> int | None:
        """Cores of a real-time VM alone in the system: the stated number; a native task has one."""
        if guest.kind == "native":
            return 1
        stated = [i for i in self.items if i.kind == "cores" and i.image is None]
        counted = [int(i.value or 0) for i in stated if i.rule != WHOLE]
        return counted[0] if counted and self.guests == [guest] == self.tenons else None

    def _for_smp(self, guest: Guest) -> int | None:
        """Cores of a VM with an SMP scheduler and no stated number: all, or two."""
        asked = any(
            (i.image, i.kind, i.value) == (guest.name, "capability", SMP) for i in self.items
        )
        if not asked:
            return None
        whole = [i.value for i in self.items if i.kind == "cores" and i.image is None]
        return int(whole[0] or 0) if whole and len(self.guests) == 1 else 2

    def _pins(self) -> dict[int, str]:
        taken: dict[int, str] = {}
        for item in self.items:
            if item.kind == "cores" and item.unit == "cpu" and item.image:
                cpu = int(item.value or 0)
                if cpu >= self.board.cpus:
                    last = self.board.cpus - 1
                    raise Infeasible(f"core {cpu}, and {self.board.name} counts 0 to {last}")
                if taken.setdefault(cpu, item.image) != item.image:
                    raise Infeasible(f"core {cpu} is given twice")
        return taken

    def _place(self, counts: dict[str, int], total: int) -> dict[str, list[int]]:
        pins = self._pins()
        free = [cpu for cpu in range(total) if cpu not in pins]
        placed = {name: [c for c, owner in pins.items() if owner == name] for name in counts}
        self._fill(self.linuxes, counts, placed, free)
        if self.linuxes:
            open_ones = sum(counts[g.name] - len(placed[g.name]) for g in self.tenons)
            free = free[len(free) - open_ones :] if open_ones <= len(free) else free
        self._fill(self.tenons, counts, placed, free)
        return {name: sorted(cpus) for name, cpus in placed.items()}

    @staticmethod
    def _fill(
        guests: Sequence[Guest],
        counts: dict[str, int],
        placed: dict[str, list[int]],
        free: list[int],
    ) -> None:
        for guest in guests:
            while len(placed[guest.name]) < counts[guest.name]:
                if not free:
                    raise Infeasible("the named cores leave too few for the others")
                placed[guest.name].append(free.pop(0))
