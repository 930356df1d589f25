"""The root disk of a Linux VM: a Debian with systemd, made of packages by their names.

The packages are resolved and checked by apt, and unpacked here (`unpacked`). A virtual machine with
Debian's kernel and busybox makes the file system, and lets dpkg configure the packages in it, as
the second stage of debootstrap does: so no root rights and no tools for file systems are needed
here. The initramfs is the one that Debian's initramfs-tools makes in that system, with the modules
of its kernel's package. Both files are kept for a list of packages and a kernel.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tenonos import paths, ui
from tenonos.errors import WorkError
from tenonos.linux import unpacked
from tenonos.linux.modules import modules
from tenonos.linux.userland import programs
from tenonos.locks import exclusive
from tenonos.settings import SETTINGS
from tenonos.setup import debian, initramfs
from tenonos.setup.initramfs import PROGRAM, Entry, archive, folders

BASE = (
    *("?essential", "apt", "systemd-sysv", "udev", "dbus", "libpam-systemd", "e2fsprogs"),
    *("initramfs-tools", "kmod", "linux-base", "netbase", "iproute2", "iputils-ping", "procps"),
)
"""Packages of each root disk, as apt takes them."""

MEBIBYTE = 1 << 20
ROOM = 1024 * MEBIBYTE
"""Space on the disk beside the packages."""

_INSTALL, _CONFIGURE = (Path(__file__).with_name(f"{name}.sh") for name in ("install", "configure"))
_DONE = re.compile(rb"root-disk: initramfs (\d+)")
_LIMIT = 7200
"""Seconds after which the virtual machine is given up."""

_FILES = {
    "etc/fstab": "LABEL=root / ext4 defaults,errors=remount-ro 0 1\n",
    "etc/hostname": "debian\n",
    "etc/hosts": "127.0.0.1 localhost debian\n",
    # The console goes through programs that read lines.
    "root/.inputrc": "set enable-bracketed-paste off\n",
    "etc/systemd/network/80-dhcp.network": "[Match]\nType=ether\n\n[Network]\nDHCP=yes\n",
}
"""Files beside the packages."""

_UNITS = {
    "serial-getty@.service.d/tenon.conf": (
        "[Service]\nExecStart=\nExecStart=-/sbin/agetty --autologin root --noclear "
        "--keep-baud 115200 %I $TERM\n"
    ),
    "tenon-ready.service": (
        "[Unit]\nDescription=Report of the end of the boot\n\n[Service]\nType=exec\n"
        "StandardOutput=tty\nTTYPath=/dev/console\n"
        """ExecStart=/bin/sh -c 'echo; echo "systemd $(systemctl is-system-running --wait)"; """
        """echo "tenon-ready cpus=$(nproc)"'\n\n[Install]\nWantedBy=multi-user.target\n"""
    ),
}
"""Units: the console is a shell of root's, as in the initramfs, and says when Linux is up."""


@dataclass(frozen=True)
class Root:
    """A root disk, and the initramfs that mounts it."""

    disk: Path
    initramfs: Path


def make(packages: Sequence[str], kernel: str = debian.CLOUD) -> Root:
    """The root disk with these packages beside `BASE`, made if there is none yet."""
    image = debian.fetched_kernel(kernel)
    sources = [Path(__file__), Path(unpacked.__file__), _INSTALL, _CONFIGURE]
    recipe = [*sorted(set(packages)), image.package, image.version]
    recipe += [source.read_text() for source in sources]
    digest = hashlib.sha256("\0".join(recipe).encode()).hexdigest()[:16]
    folder = paths.CACHE / "roots" / digest
    root = Root(folder / "disk.img", folder / "initramfs")
    with exclusive(paths.ensure(folder.parent)):
        if not root.initramfs.exists():
            if SETTINGS.offline:
                raise WorkError("the root disk is not made yet", mend="run once without --offline")
            how = f"it takes minutes; {paths.shown(_log())} grows; Ctrl-C ends it"
            with ui.step("Making a root disk of Debian's packages", how):
                _make(root, packages, kernel)
    return root


def _log() -> Path:
    """The file with the output of the virtual machine."""
    return paths.BUILD / "root-disk.log"


def _make(root: Root, packages: Sequence[str], kernel: str) -> None:
    paths.ensure(root.disk.parent)
    with TemporaryDirectory(dir=root.disk.parent) as temporary:
        work = Path(temporary)
        found = [*_fetch(packages, work), *debian.kernel_packages(kernel)]
        payload, disk, result = work / "payload", work / "disk", work / "result"
        files = {name: (0o644, text) for name, text in _FILES.items()}
        files |= {f"etc/systemd/system/{name}": (0o644, text) for name, text in _UNITS.items()}
        files["configure"] = (0o755, _CONFIGURE.read_text())
        unpacked.write(payload, found, files)
        for file, size in ((disk, 2 * payload.stat().st_size + ROOM), (result, 256 * MEBIBYTE)):
            with file.open("wb") as empty:
                empty.truncate(size // MEBIBYTE * MEBIBYTE)
        (work / "initramfs").write_bytes(_installer())
        size = _configure(work, (disk, payload, result))
        with result.open("rb") as file:
            content = file.read(size)
        shutil.move(disk, root.disk)
        paths.replace_file(root.initramfs, content)


def _fetch(packages: Sequence[str], work: Path) -> list[Path]:
    """The packages and all that they depend on, in the release's newest versions."""
    apt = debian.private_apt()
    for name in packages:
        try:
            apt.show(name)
        except WorkError:
            raise WorkError(f"Debian has no package {name} for {apt.architecture}") from None
    target = paths.ensure(work / "packages" / "partial").parent
    apt.run(
        *("apt-get", "-q", "-y", "--download-only", "--no-install-recommends"),
        *("-o", f"Dir::Cache::archives={target}", "install", *BASE, *packages),
    )
    return sorted(target.glob("*.deb"))


def _installer() -> bytes:
    """The initramfs of the virtual machine that makes the file system."""
    script = Entry("etc/start", PROGRAM, _INSTALL.read_bytes())
    return initramfs.build(
        modules(["virtio_mmio", "virtio_blk", "ext4"], ""),
        programs(["e2fsprogs"]),
        archive([*folders([script.name]), script]),
    )


def _configure(work: Path, disks: Sequence[Path]) -> int:
    """Run the virtual machine; the size of the initramfs on its last disk."""
    command = [
        *("qemu-system-aarch64", "-M", "virt,gic-version=3", "-cpu", "cortex-a53"),
        *("-smp", "2", "-m", "1G", "-nodefaults", "-nic", "none", "-display", "none"),
        *("-rtc", "base=2020-01-01T00:00:00", "-no-reboot", "-serial", "stdio"),
        *("-kernel", str(debian.kernel()), "-initrd", str(work / "initramfs")),
        *("-append", "console=ttyAMA0 rdinit=/init quiet"),
    ]
    for number, disk in enumerate(disks):
        command += ["-drive", f"file={disk},format=raw,if=none,id=d{number},cache=unsafe"]
        command += ["-device", f"virtio-blk-device,drive=d{number},bus=virtio-mmio-bus.{number}"]
    log = _log()
    paths.ensure(log.parent)
    mend = f"{paths.shown(log)} has all that it said"
    with log.open("wb") as output:
        try:
            subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                check=False,
                timeout=_LIMIT,
            )
        except FileNotFoundError:
            raise WorkError(f"{command[0]} is not installed", mend="see ./tenon doctor") from None
        except subprocess.TimeoutExpired:
            what = f"the packages were not configured within {_LIMIT} s"
            raise WorkError(what, mend=mend) from None
    said = log.read_bytes()
    if match := _DONE.search(said):
        return int(match[1])
    lines = [line.strip() for line in said.decode(errors="replace").split("\n") if line.strip()]
    failed = [line for line in lines if re.search("rror|fail|not found", line)]
    first = (failed or lines[-1:] or ["nothing was said"])[0]
    raise WorkError(f"the packages could not be configured: {first}", mend=mend)
