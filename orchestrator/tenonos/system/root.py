"""Root file systems on a disk: checks."""

from tenonos.errors import InputError
from tenonos.system.model import System, Vm


def check(system: System) -> None:
    """Check that a VM with its root on a disk can have one, and no keys of an initramfs."""
    for vm in system.vms:
        if vm.root == "disk":
            _one(system, vm)


def _one(system: System, vm: Vm) -> None:
    where = system.at(vm, "root")
    if vm.kind != "linux" or not vm.debian_kernel:
        raise InputError(
            f'VM "{vm.name}" has no kernel of Debian\'s, and its root is a disk with the modules '
            "of one",
            where=where,
            mend='leave kernel out, or add a [[disk]] and cmdline = "... root=/dev/vda"',
        )
    if vm.root_device(system.board) is None:
        devices = system.board.devices
        usable = [name for name in devices if devices[name].transports is not None]
        raise InputError(
            f'VM "{vm.name}" owns no device behind which its root could be',
            where=where,
            mend=f'write devices = ["{usable[0]}"]' if usable else "use a board of the emulator's",
        )
    if vm.initramfs != "busybox":
        raise InputError(
            f'VM "{vm.name}" has a file as its initramfs, and its root needs the one made for it',
            where=system.at(vm, "initramfs"),
            mend="leave initramfs out",
        )
    for key in ("modules", "files", "programs", "detach", "manages"):
        if getattr(vm, key):
            raise InputError(
                f'{key} needs an initramfs that stays, and the root of VM "{vm.name}" is a disk',
                where=system.at(vm, key),
                mend="leave it out: the disk has all modules of its kernel"
                if key == "modules"
                else 'leave it out, or leave root = "disk" out',
            )
    ends = [
        (channel.name, end) for channel in system.channels for end in (channel.origin, channel.to)
    ]
    ends += [(vlib.name, vlib.server) for vlib in system.vlibs]
    for name, end in ends:
        if end == vm.name:
            raise InputError(
                f'VM "{vm.name}" is an end of "{name}", for which its disk has no module',
                where=where,
                mend='leave root = "disk" out',
            )
