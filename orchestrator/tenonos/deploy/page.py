"""Page of a deployment: its files, where each goes on this board, and the board's own page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tenonos.deploy import boot_files
from tenonos.deploy.contents import Contents, unique
from tenonos.system.model import System
from tenonos.system.units import size_text

if TYPE_CHECKING:
    from tenonos.build import Built
    from tenonos.system.board import Board

_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")

RASPBERRY = """\
1. Format a card with one FAT32 partition, or take a card with Raspberry Pi OS.
2. Copy the board's firmware to it: `start4.elf`, `fixup4.dat`, `bcm2711-rpi-4-b.dtb` and \
`overlays/disable-bt.dtbo`, from the folder `boot` of <https://github.com/raspberrypi/firmware>. \
A card with Raspberry Pi OS has them. They are not in this folder, as their licence is their own.
3. Copy all files of `boot/` beside them, and replace `config.txt`.
4. Connect a serial adapter of 3.3 V: pin 6 of the header is ground, pin 8 transmits, pin 10 \
receives; 115,200 baud, 8N1.
5. Start the board. The firmware loads the image and enters it at EL2.

TF-A is optional: the firmware's own stub starts the cores by its spin table. TF-A adds PSCI and \
the workarounds against speculation. It comes from \
<https://git.trustedfirmware.org/TF-A/trusted-firmware-a>; `make CROSS_COMPILE=aarch64-linux-gnu- \
PLAT=rpi4 bl31` makes `bl31.bin`, which goes beside the firmware, with `armstub=bl31.bin` in \
`config.txt`. For TF-A, first remove `spin_table` from the board's `board.toml` and build the \
system again.
"""

U_BOOT = """\
1. Copy all files of `boot/` to the first partition of the card, which U-Boot can read (FAT or \
ext4).
2. Start the board. A U-Boot with the usual boot command finds `boot.scr` and executes it; at the \
prompt of another one type the two lines of `boot.cmd`.

U-Boot, and TF-A beneath it, are those of the board's vendor; they are not in this folder. They \
must enter the image at EL2.
"""

QEMU = """\
The board is emulated: `sh boot/run.sh` starts QEMU with all consoles on this terminal; Ctrl-A X \
ends it.{disks}
"""

DISKS = """ Its disks, networks and cards are not in this folder: `./tenon run` makes them."""

OWN = """\
Copy the files of `boot/` to where the board's firmware looks for them: they are `{image}` and \
those that the board's folder has in its own `boot/`.
"""


def text(built: Built, found: Contents, files: Sequence[str]) -> str:
    """The page."""
    system = built.system
    return "\n".join(
        (
            f"# {system.name} for {system.board.title}\n",
            f"Made by `tenon build {system.name} -o DIR`, version {found.version}. "
            "`sha256sum -c SHA256SUMS` checks the files.\n",
            "## Files\n",
            *_table(("file", "what it is"), _files(system, files)),
            "## Start\n",
            _start(system, files),
            "## What runs\n",
            *_table(("VM", "kind", "CPUs", "memory"), _vms(system)),
            "## What it is made of\n",
            *_table(("name", "version", "licence", "in"), _parts(found)),
            "## The board\n",
            _board(system.board),
        )
    )


def _table(heads: Sequence[str], rows: Iterator[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    yield from (f"| {' | '.join(row)} |" for row in rows)
    yield ""


def _files(system: System, files: Sequence[str]) -> Iterator[tuple[str, str]]:
    known = {
        f"boot/{boot_files.IMAGE}": "the image: all of the system in one file, which the firmware "
        f"loads at {system.board.image.mortise:#x} and enters at EL2",
        f"boot/{boot_files.CONFIG_TXT}": "settings of the board's firmware",
        f"boot/{boot_files.BOOT_CMD}": "the commands for U-Boot",
        f"boot/{boot_files.BOOT_SCR}": "the same as a script, which U-Boot executes by itself",
        f"boot/{boot_files.RUN}": "the command that starts QEMU",
        "SHA256SUMS": "hashes of all files",
        "sbom.cdx.json": "libraries, packages and tools, with versions and hashes (CycloneDX 1.6)",
    }
    for name in sorted(files):
        what = known.get(name)
        if what is None and name.startswith("elf/"):
            what = "with symbols, for a debugger; not for the board"
        if what is None and name.startswith("vm/"):
            what = "to make this VM at run time, by `tenonctl create`"
        yield f"`{name}`", what or "of the board's folder"


def _start(system: System, files: Sequence[str]) -> str:
    board = system.board
    if (board.folder / "boot").is_dir():
        return OWN.format(image=boot_files.IMAGE)
    if board.qemu is not None:
        return QEMU.format(disks=DISKS if any(system.attached) else "")
    return RASPBERRY if boot_files.is_raspberry(board) else U_BOOT


def _vms(system: System) -> Iterator[tuple[str, ...]]:
    for vm in system.guests:
        yield vm.name, vm.kind, ", ".join(map(str, vm.cpus)), size_text(vm.memory)


def _parts(found: Contents) -> Iterator[tuple[str, ...]]:
    for part in unique(part for parts in found.images.values() for part in parts):
        owners = [image for image, parts in found.images.items() if part in parts]
        yield part.name, part.version or "-", part.licence or "-", ", ".join(owners)


def _board(board: Board) -> str:
    """The board's own page, without its title and links."""
    file = board.folder / "README.md"
    if not file.is_file():
        return board.title + "\n"
    own = re.sub(r"^# .*\n+", "", file.read_text(encoding="utf-8"))
    return _LINK.sub(r"\1", own)
