"""Commands of gdb in `./tenon run --gdb`.

The symbols of one image are loaded at a time, as images are linked for the same addresses: those
of the VM that stopped or that the user selected. So breakpoints are at addresses, which have no
meaning in other images, and each decides at a hit whether the core executes its VM.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import gdb

from tenonos.debugger import text
from tenonos.debugger.core_file import whole_pages
from tenonos.debugger.cores import CoreState, Execution, execution
from tenonos.debugger.model import MORTISE, DebuggedSystem, DebuggedVm, DebuggerError
from tenonos.debugger.probing import probe
from tenonos.debugger.segments import writable
from tenonos.debugger.threads import Layout, Read, Thread, chosen, named, read_threads, registers

STACK_FOR_PLACE = 16 << 10
STACK = 64 << 10
DATA = 8 << 20
MEMORY = 16 << 20
"""The most that is read: of a stack for a place, of a stack for a backtrace, of an image's data, of
all."""


class Debugger:
    """State of the debugger: the system, the image whose symbols are loaded, the last stop."""

    def __init__(self, system: DebuggedSystem) -> None:
        self.system = system
        self.loaded: str | None = None
        self.selected = next((vm.name for vm in system.vms if vm.elf), system.vms[0].name)
        self.stopped: int | None = None
        """The number of gdb's thread that stopped last."""
        self.files = {vm.name: vm.elf for vm in system.vms} | {MORTISE: system.mortise}
        self._layouts: dict[str, Layout] = {}
        self._symbols: dict[str, dict[int, str]] = {}

    def load(self, image: str) -> None:
        """Load the symbols of an image in place of those that are loaded."""
        if self.loaded != image:
            file = self.files.get(image)
            # Other breakpoints than ours may have no place in this image, which gdb states.
            gdb.execute(
                "symbol-file" if file is None else f"symbol-file {text.quoted(file)}", False, True
            )
            self.loaded = image

    def select(self, image: str) -> None:
        """Select an image for the commands without a VM, and load its symbols."""
        self.load(image)
        self.selected = image

    def tenon(self, name: str) -> DebuggedVm:
        """A VM that is a Tenon."""
        if name == MORTISE and self.system.mortise:
            raise DebuggerError("mortise is no VM: it has no threads")
        vm = self.system.vm(name)
        if vm.kind != "tenon" or not vm.elf:
            raise DebuggerError(f"{name} is no Tenon: its threads are not known")
        return vm

    def layout(self, vm: DebuggedVm) -> Layout:
        """The layout of an image's threads, read once."""
        if vm.name not in self._layouts:
            self._layouts[vm.name] = Layout.parse(probe(vm.elf or "", "layout"))
        return self._layouts[vm.name]

    def symbols(self, vm: DebuggedVm, threads: list[Thread]) -> dict[int, str]:
        """The symbols that are names of threads, each read once."""
        known = self._symbols.setdefault(vm.name, {})
        wanted = {thread.symbol for thread in threads if thread.symbol} - known.keys()
        if wanted:
            found = probe(vm.elf or "", "symbols", [sorted(wanted)])
            known |= {int(address): name for address, name in found.items()}
        return known

    def execution(self, core: gdb.InferiorThread) -> Execution:
        """What a core executes."""
        with _on(core):
            return execution(self.system, _state())

    def stop(self, event: gdb.StopEvent) -> None:
        """Follow a stop: the symbols become those of what the core executes."""
        core = gdb.selected_thread()
        if core is None:
            return
        self.stopped = core.num
        now = execution(self.system, _state())
        # The event has all breakpoints of the address, also those that did not stop.
        ours = (b for b in getattr(event, "breakpoints", ()) if isinstance(b, VmBreakpoint))
        hit = [breakpoint for breakpoint in ours if breakpoint.holds]
        if now.image is None or (self.loaded == now.image and not hit):
            return
        self.select(now.image)
        what = "".join(f", breakpoint {breakpoint.number}" for breakpoint in hit)
        print(f"\n{now.text}, core {_number(core)}{what}")
        if hit:
            _leave_inlined(hit[0].place)
        gdb.execute("frame")

    def follow(self) -> None:
        """Select the core that stopped last, and what it executes."""
        core = next((c for c in _cores() if c.num == self.stopped), None)
        if core is None:
            raise DebuggerError("no core has stopped yet; continue first")
        core.switch()
        now = execution(self.system, _state())
        if now.image is not None:
            self.select(now.image)
        print(f"{now.text}, core {_number(core)}")
        gdb.execute("frame")


class VmBreakpoint(gdb.Breakpoint):
    """A breakpoint in one image: at the same address in another one it does not stop."""

    def __init__(
        self, debugger: Debugger, image: str, address: int, place: str, condition: str
    ) -> None:
        super().__init__(f"*{address:#x}")
        self.place, self.hits, self.holds = place, 0, False
        self.silent = True  # `Debugger.stop` shows the place, with the symbols of the image
        self._debugger, self.image, self.condition_in_image = debugger, image, condition

    def stop(self) -> bool:
        """Whether this core executes the image, and the condition holds there."""
        inside = execution(self._debugger.system, _state()).image == self.image
        self.holds = inside and (not self.condition_in_image or self._condition_holds())
        self.hits += self.holds
        return self.holds

    def _condition_holds(self) -> bool:
        self._debugger.load(self.image)
        _leave_inlined(self.place)
        try:
            return bool(gdb.parse_and_eval(self.condition_in_image))
        except gdb.error as error:
            what = f"breakpoint {self.number}: condition {self.condition_in_image}"
            print(f"{what}: {text.line(error)}")
            return True


class _Command(gdb.Command):
    """A command whose errors are one line."""

    def __init__(self, name: str, debugger: Debugger) -> None:
        super().__init__(name, gdb.COMMAND_USER)
        self.debugger = debugger

    def invoke(self, argument: str, _from_tty: bool) -> None:
        """Execute the command."""
        if gdb.selected_inferior().pid == 0:
            raise gdb.GdbError("the machine does not run")
        try:
            self.run(argument.strip())
        except (DebuggerError, gdb.error, OSError, ValueError) as error:
            raise gdb.GdbError(text.line(error)) from None

    def run(self, argument: str) -> None:
        """Do what the command does."""
        raise NotImplementedError


class ListOrSelect(_Command):
    """List the VMs, or select one: its symbols and a core.

    tenon-vm [NAME [FILE]]
    The list has what each core executes. FILE has symbols of a VM without an image of Tenon, such
    as the vmlinux of a Linux.
    Example: tenon-vm motor"""

    def run(self, argument: str) -> None:
        """List the VMs, or select one."""
        words = gdb.string_to_argv(argument)
        if not words:
            self._list()
            return
        name = words[0]
        if name not in self.debugger.system.names:
            self.debugger.system.vm(name)
        if len(words) > 1:
            file = Path(words[1]).expanduser()
            if not file.is_file():
                raise DebuggerError(f"no file {file}")
            self.debugger.files[name] = str(file)
            self.debugger.loaded = None
        self.debugger.select(name)
        print(self._core(name))
        gdb.execute("frame")

    def _core(self, name: str) -> str:
        """Select a core of an image, best one that executes it; what was selected."""
        vm = None if name == MORTISE else self.debugger.system.vm(name)
        executed = {core.num: self.debugger.execution(core) for core in _cores()}
        own = [c for c in _cores() if vm is None or _number(c) in vm.cores]
        order = [c for c in own if executed[c.num].image == name] or own
        if not order:
            raise DebuggerError(f"{name} has no core")
        order[0].switch()
        now = executed[order[0].num]
        is_in = "" if now.image == name else f", which executes {now.text}"
        return f"{name}, core {_number(order[0])}{is_in}"

    def _list(self) -> None:
        debugger = self.debugger
        executed = {_number(core): debugger.execution(core) for core in _cores()}
        rows = [["", "VM", "cores", "executes on", "image"]]
        for name in debugger.system.names:
            on = [core for core, now in executed.items() if now.image == name]
            own = list(executed) if name == MORTISE else debugger.system.vm(name).cores
            mark = "*" if name == debugger.selected else ""
            image = debugger.files.get(name) or "no symbols"
            rows.append([mark, name, text.cores(own), text.cores(on), image])
        print(text.table(rows))
        for core, now in executed.items():
            print(f"core {core} executes {now.text}")


class Break(_Command):
    """Set a breakpoint in one VM, or in mortise.

    tenon-break VM LOCATION [if CONDITION]
    Other VMs do not stop at the same address. Delete it with delete.
    Example: tenon-break motor control_loop if error > 10"""

    def run(self, argument: str) -> None:
        """Set the breakpoint."""
        if not argument:
            self._list()
            return
        name, _, rest = argument.partition(" ")
        location, condition = text.split_condition(rest)
        if not name or not location:
            raise DebuggerError("give a VM and a location: tenon-break VM LOCATION [if CONDITION]")
        if name not in self.debugger.system.names:
            self.debugger.system.vm(name)
        self.debugger.select(name)
        for address in _resolved(location, condition):
            VmBreakpoint(self.debugger, name, address, location, condition)

    def _list(self) -> None:
        rows = [["number", "VM", "location", "condition", "hits"]]
        for one in gdb.breakpoints():
            if isinstance(one, VmBreakpoint):
                cells = (one.number, one.image, one.place, one.condition_in_image or "-", one.hits)
                rows.append([str(cell) for cell in cells])
        print(text.table(rows) if len(rows) > 1 else "no breakpoint")


class Threads(_Command):
    """List the threads of a Tenon: number, name, priority, state and place.

    tenon-threads [VM]
    Without VM it is the selected one.
    Example: tenon-threads motor"""

    def run(self, argument: str) -> None:
        """List the threads."""
        vm = self.debugger.tenon(argument or self.debugger.selected)
        layout, threads = _threads(self.debugger, vm)
        if not threads:
            print(f"{vm.name} has no thread yet")
            return
        values, stacks, shown = [], [], []
        on = {_number(core) for core in _cores() if self.debugger.execution(core).vm is vm}
        with _physical(vm) as read:
            for thread in threads:
                found = _registers(self.debugger, vm, layout, thread, read)
                if found is not None:
                    shown.append(thread)
                    values.append(found)
                    stacks.append((found[31], min(STACK_FOR_PLACE, vm.room(found[31]))))
            memory = _read(read, stacks)
        awaited = sorted({thread.awaited for thread in threads if thread.awaited})
        answer = probe(vm.elf or "", "places", [awaited], values or [[0] * 34], memory)
        names = {int(address): name for address, name in answer["names"].items()}
        places = {t.number: answer["places"].get(str(i), "") for i, t in enumerate(shown, 1)}
        rows = [["number", "name", "priority", "state", "place"]]
        for thread in threads:
            priority = str(thread.priority)
            if thread.priority != thread.base_priority:
                priority += f" (base {thread.base_priority})"
            state = thread.state(names, threads, vm.cores, on)
            place = places.get(thread.number) or "-"
            rows.append([str(thread.number), thread.name, priority, state, place])
        print(text.table(rows))


class Backtrace(_Command):
    """Show the backtrace of a thread that does not run.

    tenon-backtrace [VM] THREAD [full]
    THREAD is a number or a name of tenon-threads. Without VM it is of the selected one; full shows
    local variables.
    Example: tenon-backtrace logger"""

    def run(self, argument: str) -> None:
        """Show the backtrace."""
        words = gdb.string_to_argv(argument)
        full = "full" if len(words) > 1 and words[-1] == "full" else ""
        words = words[: len(words) - bool(full)]
        if len(words) not in (1, 2):
            raise DebuggerError("give a thread: tenon-backtrace [VM] THREAD [full]")
        vm = self.debugger.tenon(words[0] if len(words) == 2 else self.debugger.selected)
        layout, threads = _threads(self.debugger, vm)
        thread = chosen(threads, words[-1], vm.name)
        if thread.core is not None:
            core = vm.cores[thread.core] if thread.core < len(vm.cores) else thread.core
            raise DebuggerError(
                f"{thread.name} runs on core {core}: tenon-vm {vm.name}, then backtrace"
            )
        with _physical(vm) as read:
            values = registers(read, layout, thread)
            stack = (values[31], min(STACK, vm.room(values[31])))
            memory = _read(read, [stack, *writable(vm.elf or "", DATA)])
        print(probe(vm.elf or "", "backtrace", [full], [values], memory))

    def _running(self, vm: DebuggedVm, thread: Thread) -> str:
        """Why a thread that runs is not for this command."""
        number = thread.runs_on(vm.cores)
        core = next((core for core in _cores() if _number(core) == number), None)
        if core is not None and self.debugger.execution(core).image == vm.name:
            return f"{thread.name} runs on core {number}: tenon-vm {vm.name}, then backtrace"
        return (
            f"{thread.name} ran on core {number} until Mortise took over, which has its registers"
        )


class Follow(_Command):
    """Select the core that stopped last, and the symbols of what it executes.

    tenon-follow
    Use it after tenon-vm or thread has selected another core.
    Example: tenon-follow"""

    def run(self, _argument: str) -> None:
        """Follow."""
        self.debugger.follow()


def _leave_inlined(place: str) -> None:
    """Select the function whose first instruction a breakpoint is at, not those inlined there,
    except for one that the breakpoint names.
    """
    frame = gdb.newest_frame()
    with contextlib.suppress(gdb.error, RuntimeError):
        while frame.type() == gdb.INLINE_FRAME and not text.is_function(place, frame.name()):
            block = frame.block()
            while block.function is None:
                block = block.superblock
            if block.start != frame.pc():
                break
            frame = frame.older()
        frame.select()


@contextmanager
def _on(core: gdb.InferiorThread) -> Iterator[None]:
    """Select a core meanwhile."""
    before, frame = gdb.selected_thread(), None
    with contextlib.suppress(gdb.error):
        frame = gdb.selected_frame()
    core.switch()
    try:
        yield
    finally:
        if before is not None and before.is_valid():
            before.switch()
        if frame is not None and frame.is_valid():
            frame.select()


@contextmanager
def _physical(vm: DebuggedVm) -> Iterator[Read]:
    """Read the RAM of a VM by its addresses, whatever the cores execute."""
    inferior = gdb.selected_inferior()

    def read(address: int, size: int) -> bytes:
        pieces = vm.pieces(address, size)
        return b"".join(inferior.read_memory(*piece).tobytes() for piece in pieces)

    if '"OK"' not in _physical_mode(True):
        raise DebuggerError("this emulator does not read physical memory for a debugger")
    try:
        yield read
    finally:
        _physical_mode(False)


def _physical_mode(on: bool) -> str:
    """Have the emulator read physical memory or not; its answer."""
    return gdb.execute(f"maintenance packet Qqemu.PhyMemMode:{on:d}", False, True)


def _cores() -> list[gdb.InferiorThread]:
    """The cores, which are threads for gdb, by number."""
    return sorted(gdb.selected_inferior().threads(), key=_number)


def _number(core: gdb.InferiorThread) -> int:
    """The number of a core: the emulator numbers its threads from 1."""
    return max(core.ptid[1], core.ptid[2]) - 1


def _state() -> CoreState:
    """The state of the selected core."""
    frame = gdb.newest_frame()
    return CoreState(_register(frame, "cpsr"), _register(frame, "VTTBR_EL2"), frame.pc())


def _register(frame: gdb.Frame, name: str) -> int:
    """A register of a core; zero if the machine does not have it."""
    try:
        return int(frame.read_register(name)) & (1 << 64) - 1
    except ValueError:
        return 0


def _threads(debugger: Debugger, vm: DebuggedVm) -> tuple[Layout, list[Thread]]:
    """The threads of a VM, and the layout of its image."""
    layout = debugger.layout(vm)
    with _physical(vm) as read:
        threads = read_threads(read, layout)
    return layout, named(threads, debugger.symbols(vm, threads))


def _registers(
    debugger: Debugger, vm: DebuggedVm, layout: Layout, thread: Thread, read: Read
) -> list[int] | None:
    """The registers of a thread, as far as they are known; none if its place is not."""
    if thread.core is None:
        try:
            return registers(read, layout, thread)
        except DebuggerError:
            return None
    number = thread.runs_on(vm.cores)
    core = next((core for core in _cores() if _number(core) == number), None)
    if core is None:
        return None
    with _on(core):
        now = execution(debugger.system, _state())
        frame = gdb.newest_frame()
        if now.image == vm.name:
            names = [*(f"x{index}" for index in range(31)), "sp", "pc", "cpsr"]
            return [_register(frame, name) for name in names]
        if now.vm is vm:
            # Mortise has stored the VM's other registers.
            return [*[0] * 32, _register(frame, "ELR_EL2"), 0]
    return None


def _read(read: Read, ranges: list[tuple[int, int]]) -> list[tuple[int, bytes]]:
    """The memory of ranges of addresses in RAM."""
    return [(start, read(start, size)) for start, size in whole_pages(ranges, MEMORY)]


def _resolved(location: str, condition: str) -> list[int]:
    """The addresses of a location by the loaded symbols; an error if the condition has none."""
    gdb.decode_line(location)
    trial = gdb.Breakpoint(location, internal=True)
    try:
        if condition:
            trial.condition = condition
        return text.placed(gdb.execute(f"maintenance info breakpoints {trial.number}", False, True))
    finally:
        trial.delete()


def load(file: str) -> None:
    """Define the commands for the system that a file describes."""
    debugger = Debugger(DebuggedSystem.from_json(Path(file).read_text()))
    ListOrSelect("tenon-vm", debugger)
    Break("tenon-break", debugger)
    Threads("tenon-threads", debugger)
    Backtrace("tenon-backtrace", debugger)
    Follow("tenon-follow", debugger)
    gdb.events.stop.connect(debugger.stop)
    debugger.select(debugger.selected)
    others = ", ".join(name for name in debugger.system.names if name != debugger.selected)
    more = f" (of {others}: tenon-vm NAME)" if others else ""
    print(f"symbols of {debugger.selected}{more}; tenon-break VM LOCATION stops in one VM")
