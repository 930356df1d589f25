"""The initramfs of the Linux VM: one static busybox and an init script, as a newc cpio.

Additional content of a VM follows as separate archives, which the kernel unpacks in order: kernel
modules, Debian's packages, the system's files.

Written in plain Python so that it needs no root (device nodes!) and no cpio; inode
numbers, times and owners are fixed, so the same input gives the same bytes. Format:
Documentation/driver-api/early-userspace/buffer-format.rst of the Linux tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

DIRECTORY = 0o040755
FILE = 0o100644
PROGRAM = 0o100755
LINK = 0o120777
CHARACTER = 0o020600

INIT = """\
#!/bin/busybox sh
# The first process: mounts what a shell needs, says that Linux is up, keeps a shell.
# busybox's own applets are found without links (FEATURE_SH_STANDALONE).
export PATH=/bin:/sbin HOME=/root TERM=vt100
/bin/busybox mkdir -p /proc /sys /dev /root /tmp
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sysfs /sys
/bin/busybox mount -t devtmpfs devtmpfs /dev
/bin/busybox mkdir -p /dev/shm
/bin/busybox --install -s /bin
echo 4 > /proc/sys/kernel/printk
cd /root
if [ -f /etc/modules ]; then
    while read -r module; do insmod "$module"; done < /etc/modules
fi
# From 6.2 on Linux tests its cryptographic algorithms after the boot, for 0.4 s of a core; up to
# then it did so before it started this script. Nothing that is measured is to run beside it.
read -r _ _ release _ < /proc/version
case $release in
[0-5].* | 6.[01].*) ;;
*)
    rounds=500
    while [ $rounds -gt 0 ] && grep -q 'selftest.*unknown' /proc/crypto; do
        sleep 0.01
        rounds=$((rounds - 1))
    done
    ;;
esac
[ ! -x /etc/start ] || /etc/start
console=$(cat /sys/class/tty/console/active 2>/dev/null)
echo "tenon-ready cpus=$(grep -c ^processor /proc/cpuinfo)"
while :; do
    # A session of its own with the console as its controlling terminal, for job control.
    setsid sh -c "exec sh -i </dev/${console##* } >/dev/${console##* } 2>&1"
done
"""
"""The init script, which prints `tenon-ready cpus=N` before its shell; deterministic runs wait for
it. It comes when the kernel has settled."""


@dataclass(frozen=True)
class Entry:
    """One entry of the archive."""

    name: str
    mode: int
    content: bytes = b""
    device: tuple[int, int] = (0, 0)


def _padded(content: bytes) -> bytes:
    return content + bytes(-len(content) % 4)


def _record(entry: Entry, inode: int) -> bytes:
    name = entry.name.encode() + b"\0"
    links = 2 if entry.mode & 0o170000 == 0o040000 else 1
    fields = (
        inode,
        entry.mode,
        *(0, 0),  # owner, group
        links,
        0,  # modification time
        len(entry.content),
        *(0, 0),  # device the archive was made on
        *entry.device,
        len(name),
        0,  # checksum, unused in newc
    )
    header = b"070701" + b"".join(b"%08X" % field for field in fields)
    return _padded(header + name) + _padded(entry.content)


PAGE = 4096
LARGE = 16 * PAGE
"""Bytes from which on a program is worth a place at a multiple of a page."""


def _filling(at: int, entry: Entry) -> bytes:
    """An entry that processes do not see, behind which the content of another one is at a page."""
    if len(entry.content) < LARGE or not entry.content.startswith(b"\x7fELF"):
        return b""
    head = len(_record(replace(entry, content=b""), 0))
    least = len(_record(Entry(".", FILE), 0))
    size = -(at + head + least) % PAGE
    return _record(Entry(".", FILE, bytes(size)), 0)


def archive(entries: list[Entry], *, pages: bool = False) -> bytes:
    """The entries, in their order, as one newc archive; large programs at pages if `pages`."""
    records: list[bytes] = []
    size = 0
    for inode, entry in enumerate(entries, 1):
        records.append((_filling(size, entry) if pages else b"") + _record(entry, inode))
        size += len(records[-1])
    # The kernel looks for the next archive at 512 bytes only after a trailer.
    content = b"".join([*records, _record(Entry("TRAILER!!!", 0), 0)])
    return content + bytes(-len(content) % 512)


def folders(names: Iterable[str]) -> list[Entry]:
    """The parent folders of these names, outer ones first."""
    parents = {str(parent) for name in names for parent in Path(name).parents}
    return [Entry(name, DIRECTORY) for name in sorted(parents - {"."})]


_START = "[ ! -x /etc/start ]"
"""Where the commands for network cards are put in."""


def init(hosts: Mapping[str, str]) -> str:
    """The init script, which gives network cards, by their Ethernet addresses, IPv4 addresses."""
    if not hosts:
        return INIT
    cases = [
        f"    {mac}) ip addr add {address} dev ${{card##*/}}; ip link set ${{card##*/}} up ;;\n"
        for mac, address in hosts.items()
    ]
    loop = "".join(
        (
            "for card in /sys/class/net/*; do\n",
            "    case $(cat $card/address) in\n",
            *cases,
            "    esac\n",
            "done\n",
        )
    )
    return INIT.replace(_START, loop + _START)


def entries(
    busybox: bytes,
    extra: Mapping[str, bytes] | None = None,
    hosts: Mapping[str, str] | None = None,
) -> list[Entry]:
    """The entries: busybox, its init with the addresses of `hosts`, and executable extra files by
    path."""
    files = {"init": init(hosts or {}).encode(), "bin/busybox": busybox}
    files |= {name.strip("/"): content for name, content in (extra or {}).items()}
    empty = [f"{name}/-" for name in ("sbin", "dev", "etc", "proc", "root", "sys", "tmp")]
    return [
        *folders([*files, *empty]),
        # Needed before devtmpfs is mounted: the kernel opens it for init's output.
        Entry("dev/console", CHARACTER, device=(5, 1)),
        Entry("bin/sh", LINK, b"busybox"),
        *(Entry(name, PROGRAM, content) for name, content in sorted(files.items())),
    ]


def applets(busybox: bytes) -> frozenset[str]:
    """The commands that busybox has: its table of sorted names, each of which ends with a zero."""
    table = busybox.partition(b"\0[\0[[\0")[2].partition(b"\0\0")[0]
    return frozenset(name.decode(errors="replace") for name in table.split(b"\0") if name)


def build(*parts: bytes, hosts: Mapping[str, str] | None = None) -> bytes:
    """The initramfs with Debian's arm64 busybox, and further archives over it; `hosts` are the IPv4
    addresses of network cards by their Ethernet addresses."""
    from tenonos.setup import debian

    base = archive(entries(debian.busybox().read_bytes(), hosts=hosts))
    return b"".join([base, *parts])
