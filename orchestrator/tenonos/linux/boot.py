"""Kernel and initramfs of a Linux VM."""

from __future__ import annotations

import os
from pathlib import Path

from tenonos.errors import InputError
from tenonos.linux import file_kind, root_disk, tools
from tenonos.linux.modules import modules
from tenonos.linux.overlay import files_of, overlay
from tenonos.linux.userland import programs
from tenonos.paths import shown
from tenonos.setup import debian
from tenonos.setup import initramfs as base
from tenonos.setup.initramfs import Entry, applets, archive, folders
from tenonos.system import networks
from tenonos.system.model import System, Vm

KERNEL, INITRAMFS = debian.CLOUD, "busybox"
"""The names of Debian's cloud kernel and of the generated initramfs."""

START = "etc/start"
"""The file of a user that the generated init runs before its shell."""
INIT = "/init"
"""The program that the kernel starts first, unless its command line names another by `rdinit=`."""


def kernel(system: System, vm: Vm) -> Path:
    """Its kernel's file."""
    if vm.debian_kernel:
        return debian.kernel(str(vm.kernel))
    return _file(system, vm, "kernel", f"{KERNEL}, or the package of another kernel of Debian's")


def initramfs(system: System, vm: Vm) -> bytes:
    """Its initramfs: a given file or folder, or busybox with the archives of the system."""
    if vm.root == "disk":
        return root_disk.make(vm.packages, str(vm.kernel)).initramfs.read_bytes()
    if vm.initramfs != INITRAMFS:
        folder = system.folder / str(vm.initramfs)
        if folder.is_dir():
            _first_process(system, vm, folder)
            return overlay(folder)
        content = _file(system, vm, "initramfs", f"a folder or {INITRAMFS}").read_bytes()
        _unpackable(system, vm, content)
        return content
    ours = has_tools(system, vm)
    parts = [
        _modules(system, vm, ours=ours),
        programs(vm.packages),
        _programs(vm) if ours else b"",
        _files(system, vm),
        _own(system, vm),
    ]
    return base.build(*parts, hosts=networks.hosts(system, vm))


def _unpackable(system: System, vm: Vm, content: bytes) -> None:
    """Refuse a file that Linux does not unpack. With a memory disk as its root it may be any."""
    if "root=/dev/ram" in (vm.cmdline or ""):
        return
    if refusal := file_kind.no_initramfs(content):
        what, mend = refusal
        raise InputError(
            f'initramfs "{vm.initramfs}" {what}, and Linux unpacks cpio archives',
            where=system.at(vm, "initramfs"),
            mend=mend,
        )


def _first_process(system: System, vm: Vm, folder: Path) -> None:
    """Refuse a root file system without the program that the kernel starts first."""
    words = (vm.cmdline or "").split()
    named = [word.removeprefix("rdinit=") for word in words if word.startswith("rdinit=")]
    name = [INIT, *named][-1]
    path = folder / name.lstrip("/")
    if not path.is_symlink() and not (path.is_file() and os.access(path, os.X_OK)):
        raise InputError(
            f'folder "{vm.initramfs}" has no executable file {name}',
            where=system.at(vm, "initramfs"),
            mend="it is the program that Linux starts first; name another by rdinit= in cmdline",
        )


def _modules(system: System, vm: Vm, *, ours: bool) -> bytes:
    if not vm.debian_kernel:
        return b""
    kernel = str(vm.kernel)
    own = [tools.module(kernel)] if ours else []
    return modules(vm.modules, system.at(vm, "modules"), own, kernel)


def _programs(vm: Vm) -> bytes:
    names = ["tenonctl", *(["hyplet-timer", "tenon-detach"] if vm.detach else [])]
    return _archived([tools.program(name) for name in names])


def _archived(found: list[Entry]) -> bytes:
    return archive([*folders([entry.name for entry in found]), *found]) if found else b""


def has_tools(system: System, vm: Vm) -> bool:
    """Whether it gets the module and `tenonctl`: with Debian's kernel, and a use for them."""
    ends = {name for channel in system.channels for name in (channel.origin, channel.to)}
    ends |= {vlib.server for vlib in system.vlibs}
    busy = vm.manages is not None or vm.detach != () or vm.name in ends
    return vm.debian_kernel and busy


def _file(system: System, vm: Vm, key: str, known: str) -> Path:
    path = system.folder / str(getattr(vm, key))
    if not path.is_file():
        raise InputError(
            f'no {key} "{getattr(vm, key)}"',
            where=system.at(vm, key),
            mend=f"give a file, or {known}",
        )
    if not path.stat().st_size:
        raise InputError(
            f'{key} "{getattr(vm, key)}" is empty',
            where=system.at(vm, key),
            mend=f"write the file, or give {known}",
        )
    return path


def _files(system: System, vm: Vm) -> bytes:
    """The folder that is laid over the initramfs."""
    if not vm.files:
        return b""
    folder = files_of(system, vm)
    start = folder / START
    if start.is_file() and not os.access(start, os.X_OK):
        raise InputError(
            f'{START} in folder "{vm.files}" is not executable, and would not run',
            where=system.at(vm, "files"),
            mend=f"chmod +x {shown(start)}",
        )
    return overlay(folder)


def _own(system: System, vm: Vm) -> bytes:
    """The programs built from C files of the system, linked statically."""
    require_programs(system, vm)
    return _archived([tools.own(system.folder / name) for name in vm.programs])


def require_programs(system: System, vm: Vm) -> None:
    """Refuse a program without a source, and one that the shell would not run."""
    for name in vm.programs:
        source = system.folder / name
        if not source.is_file() or source.suffix != ".c":
            raise InputError(
                f'no C file "{name}"',
                where=system.at(vm, "programs"),
                mend="each is one file in C, from which /bin has a program of its name",
            )
        if source.stem in applets(debian.busybox().read_bytes()):
            raise InputError(
                f'program "{name}" has the name of a busybox command, which the shell runs instead',
                where=system.at(vm, "programs"),
                mend="rename the file",
            )
