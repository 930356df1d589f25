"""Size of the emulated machine, where the board leaves it to the system: `[machine]`."""

from collections.abc import Callable

from tenonos.errors import InputError
from tenonos.system import board as boards
from tenonos.system.board import Board
from tenonos.system.limits import BLOCK
from tenonos.system.schema import MachineSpec
from tenonos.system.units import size_text


def sized(board: Board, spec: MachineSpec, where: Callable[[str], str]) -> Board:
    """The board in the size that a system states; `where` gives `file:line` of a key."""
    most = board.most
    if most is None:
        free = " and ".join(name for name in boards.played() if boards.load(name).most)
        raise InputError(
            f"{board.name} has {board.cpus} cores and {size_text(board.ram.size)} of RAM, "
            "which a system cannot change",
            where=where("cores" if spec.cores else "ram"),
            mend=f"leave [machine] out; {free} have a free size",
        )
    cores = spec.cores or board.cpus
    if cores > most.cpus:
        raise InputError(
            f"{board.name} with {cores} cores",
            where=where("cores"),
            mend=f"it can have {most.cpus} at most",
        )
    ram = spec.ram or board.ram.size
    if ram > most.ram:
        raise InputError(
            f"{board.name} with {size_text(ram)} of RAM",
            where=where("ram"),
            mend=f"it can have {size_text(most.ram)} at most",
        )
    least = board.image.mortise - board.ram.base + BLOCK
    if ram % BLOCK or ram <= least:
        raise InputError(
            f"{size_text(ram)} of RAM is not a multiple of 2 MiB above {size_text(least)}",
            where=where("ram"),
            mend=f'for example ram = "{size_text(most.ram)}"',
        )
    return board.sized(cores, ram)
