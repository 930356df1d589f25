"""Boot files of a board, beside the image: what its firmware reads, or the emulator's command.

Files in `boot/` of a board's folder come first, so that a board of one's own brings its own.
"""

from __future__ import annotations

import shlex
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

from tenonos.errors import InputError
from tenonos.run import qemu, target
from tenonos.system.bare import BARE
from tenonos.system.board import Board
from tenonos.system.model import System

IMAGE = "system.img"
"""The name of the image on each board."""

CONFIG_TXT, RUN = "config.txt", "run.sh"
"""The files for the Raspberry Pi's firmware and for the emulator."""

BOOT_CMD, BOOT_SCR = "boot.cmd", "boot.scr"
"""The commands for U-Boot, and the script of them that it looks for on a card."""

_HEADER = struct.Struct(">7I4B32s")
"""U-Boot's legacy image (include/image.h): magic, CRC of the header, time, size, load address,
entry, CRC of the data; system, architecture, type, compression; name."""
_MAGIC, _LINUX, _ARM64, _SCRIPT = 0x27051956, 5, 22, 6


def of(system: System) -> dict[str, str | bytes]:
    """The boot files of the system's board, by name."""
    board = system.board
    own = dict(_own(board.folder / "boot"))
    if own:
        return own
    if board.qemu is not None:
        return {RUN: _emulated(system)}
    if is_raspberry(board):
        return {CONFIG_TXT: _config_txt(board)}
    commands = _boot_cmd(board)
    return {BOOT_CMD: commands, BOOT_SCR: script(commands.encode())}


def is_raspberry(board: Board) -> bool:
    """Whether the board starts by the firmware of a Raspberry Pi: its stub has a spin table."""
    return board.spin_table != 0 or board.name.startswith("raspberry-pi")


def _own(folder: Path) -> Iterator[tuple[str, bytes]]:
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            name = file.relative_to(folder).as_posix()
            if name == IMAGE:
                raise InputError(
                    f"{IMAGE} is the name of the image", where=str(file), mend="rename this file"
                )
            yield name, file.read_bytes()


def _config_txt(board: Board) -> str:
    lines = (
        *("arm_64bit=1", "enable_uart=1", "uart_2ndstage=1", "dtoverlay=disable-bt"),
        *(f"kernel={IMAGE}", f"kernel_address={board.image.mortise:#x}"),
    )
    return "".join(f"{line}\n" for line in lines)


def _boot_cmd(board: Board) -> str:
    at = f"{board.image.mortise:#x}"
    return f"load mmc 0:1 {at} {IMAGE}\nbooti {at} - ${{fdtcontroladdr}}\n"


def script(commands: bytes) -> bytes:
    """U-Boot's form of a script, as `mkimage -A arm64 -T script` makes it, without a time."""
    # A list of the scripts' lengths, which a zero ends.
    data = struct.pack(">2I", len(commands), 0) + commands
    kind = (_LINUX, _ARM64, _SCRIPT, 0)
    fields = (0, len(data), 0, 0, zlib.crc32(data), *kind, b"TenonOS")
    head = _HEADER.pack(_MAGIC, 0, *fields)
    return _HEADER.pack(_MAGIC, zlib.crc32(head), *fields) + data


def _emulated(system: System) -> str:
    """A script that starts the emulator. Disks and networks are backends of `./tenon run`, with
    files of the machine that builds."""
    board, emulator = system.board, system.board.emulator
    machine = target.machine_of(system)
    cpus = board.cpus
    if system.mode == BARE:
        kept = (each for each in machine.split(",") if each != "virtualization=on")
        machine, cpus = ",".join(kept), len(system.vms[0].cpus)
    words = (
        *("-machine", machine, "-cpu", emulator.cpu, "-smp", str(cpus)),
        *("-m", f"{board.ram.size >> 20}M", *emulator.arguments),
        *("-serial", "mon:stdio", "-no-reboot", "-kernel", IMAGE),
    )
    command = shlex.join((qemu.BINARY, *words))
    return (
        "#!/bin/sh\n"
        "# Starts the image in QEMU; Ctrl-A X ends it.\n"
        f'cd "$(dirname "$0")" && exec {command} "$@"\n'
    )
