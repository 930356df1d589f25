"""What a core executes, by its registers."""

from __future__ import annotations

from dataclasses import dataclass

from tenonos.debugger.model import MORTISE, DebuggedSystem, DebuggedVm

_AARCH32 = 1 << 4
_EL2 = 2
_VMID_SHIFT = 48


@dataclass(frozen=True)
class CoreState:
    """Registers of a core: `CPSR` as gdb shows PSTATE, `VTTBR_EL2`, the program counter."""

    cpsr: int
    vttbr: int
    pc: int

    @property
    def level(self) -> int:
        """The exception level; AArch32 state is that of a guest."""
        return 0 if self.cpsr & _AARCH32 else self.cpsr >> 2 & 3


@dataclass(frozen=True)
class Execution:
    """What a core executes: an image, and the VM whose context is in its registers."""

    image: str | None
    """The name of the VM, or Mortise; none before the boot and in a VM without a name."""
    vm: DebuggedVm | None
    text: str
    """For the user."""

    @property
    def inside(self) -> bool:
        """Whether it executes the VM itself: the core then reads memory as the VM does."""
        return self.vm is not None and self.image == self.vm.name


def execution(system: DebuggedSystem, state: CoreState) -> Execution:
    """What a core in this state executes."""
    if system.mortise is None:
        alone = system.vms[0]
        return Execution(alone.name, alone, alone.name)
    vmid = state.vttbr >> _VMID_SHIFT
    vm = next((vm for vm in system.vms if vm.vmid == vmid), None)
    if state.level < _EL2:
        if vm is not None:
            return Execution(vm.name, vm, vm.name)
        if vmid:
            return Execution(None, None, f"a VM of a manager, VMID {vmid}")
        return Execution(None, None, "nothing: it is off" if state.pc == 0 else "firmware")
    if not system.text[0] <= state.pc < system.text[1]:
        return Execution(None, None, "nothing: it is off" if state.pc == 0 else "firmware")
    context = f", for {vm.name}" if vm is not None else ""
    return Execution(MORTISE, vm, MORTISE + context)
