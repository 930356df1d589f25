"""Parameters: numbers and alternatives of an image, each with the rule for its value.

In a composed image, some follow from demands (a tick, floating point), others from the plan
(`infer`), its addresses and cores from the board and the other VMs (`allocate`, `colours`); the
rest are defaults of libraries. `counted` has those that the build counts in the current system.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import kconfiglib as kc

from tenonos.build.images import space
from tenonos.plan import defaults
from tenonos.plan.amend import config_lines
from tenonos.plan.infer import Inferred
from tenonos.plan.models import Channel, Composition, Model, Plan
from tenonos.plan.pool import CORES
from tenonos.pool.kconfig import PREFIX, Assignment, Config, Tree
from tenonos.system.board import Board
from tenonos.system.model import System

COUNTED = {
    "MORTISE_VMS": "vms-there-can-be",
    "MORTISE_CORES": "cores-up-to-the-last-in-use",
    "MORTISE_PAGE_TABLES": "maps-of-cores-and-vms",
    "MORTISE_VIRTUAL_DEVICES": "nobody-has-virtual-devices",
    "MORTISE_LOG_RINGS": "rings-if-a-vm-has-one",
}
RULES = {
    **defaults.RULES,
    "cores-of-the-vm": "as many cores as its VM has",
    "demanded": "the demands leave no other",
    "default-of-the-library": "its library's default",
    "period-of-the-plan": "the period of the plan, which no hypervisor tells it",
    "tick-of-the-plan": "the tick that was asked for",
    "periods-are-whole-ticks": "the slowest tick from 1 kHz on of which each period is a multiple",
    "deepest-of-the-program": "the deepest way through the program by its card, a quarter more, and"
    " what interrupts add, in whole pages; its library's default if that is more",
    "no-more-than-the-deepest": "as for the deepest way, even if that is less than usual: of the"
    " memory less than a block may be used",
    "half-of-the-memory-is-heap": "half of the memory it was given; the rest is image and stacks",
    "messages-while-nobody-reads": "what is written while the reader is not there: Linux for 10 ms,"
    " a task for two of its periods; 16 at least",
    "colours-by-need": "the colours shared evenly, as far as the memory of each can be reached",
    "vms-there-can-be": "as many VMs as the system has at a time",
    "cores-up-to-the-last-in-use": "up to the last core that a VM has",
    "maps-of-cores-and-vms": "frames for the map of each core, and of what each VM has",
    "nobody-has-virtual-devices": "every VM takes its interrupts directly",
    "rings-if-a-vm-has-one": "there are if a VM writes to a ring in its memory",
}

_IDENTITY = ("IMAGE", "BOARD")
"""Choices that identify the image and are no parameters."""
_LINUX = {True: "no-virtual-gic-of-that-kind", False: "linux-has-a-virtual-gic"}
_DIRECT = {
    True: "real-time-takes-interrupts-directly",
    False: "a-shared-core-shares-interrupts",
}


class Parameter(Model):
    """One parameter of one image."""

    symbol: str
    value: str
    rule: str | None = None
    words: str | None = None
    """The words of the demand, if no rule gave the value."""

    @property
    def because(self) -> str:
        """The reason for its value."""
        return f"“{self.words}”" if self.words else RULES[self.rule or "demanded"]


Place = tuple[str, Parameter]
"""A VM and one of its parameters."""


def of(tree: Tree, config: Config, inferred: Sequence[Inferred] = ()) -> Iterator[Parameter]:
    """The parameters of an image, sorted."""
    given = config_lines(config.minimal).items()
    lines = [Assignment(name.removeprefix(PREFIX), value) for name, value in given]
    tree.evaluate(lines, strict=False)
    # A symbol set to its default is not distinguished from an unset one.
    told = dict.fromkeys((line.symbol for line in lines), "demanded")
    told |= {CORES: "cores-of-the-vm"} | {number.symbol: number.rule for number in inferred}
    for name, symbol in sorted(tree.symbols.items()):
        choice = symbol.choice
        chosen = choice is not None and choice.name not in _IDENTITY and symbol.tri_value == 2
        if symbol.visibility and (chosen or symbol.orig_type in (kc.INT, kc.HEX)):
            rule = told.get(name, "default-of-the-library")
            yield Parameter(symbol=name, value=symbol.str_value, rule=rule)


def places(
    answer: Composition, plan: Plan, board: Board, colours: Mapping[str, int | None]
) -> Iterator[Place]:
    """The placement of each VM: cores, interrupt mode, colours, channels it reads."""
    for guest in plan.guests:
        name, cpus = guest.name, answer.images[guest.name].cpus
        said = next(iter(plan.of(name, "cores")), None)
        given = {"rule": said.rule, "words": None if said.rule else said.source} if said else {}
        listed = ",".join(map(str, cpus))
        yield name, Parameter(symbol="cpus", value=listed, **given)
        direct = defaults.is_direct(guest, board)
        rule = (_LINUX if guest.kind == "linux" else _DIRECT)[direct]
        value = "direct" if direct else "list registers"
        yield name, Parameter(symbol="interrupts", value=value, rule=rule)
        if colours.get(name):
            count = str(colours[name])
            yield name, Parameter(symbol="colours", value=count, rule="colours-by-need")
    for channel in answer.channels:
        yield channel.to, _depth(channel)


def _depth(channel: Channel) -> Parameter:
    name, value = f"slots of {channel.name}", str(channel.slots)
    return Parameter(symbol=name, value=value, rule="messages-while-nobody-reads")


def counted(system: System) -> dict[str, Parameter]:
    """The numbers that the build counts in the current system, by symbol of Mortise's image."""
    if system.mode == "bare":
        return {}
    images = space(system)
    given = {line.symbol for line in images.given("mortise")}
    values = images.evaluate("mortise").values
    return {
        symbol: Parameter(symbol=symbol, value=_shown(values[symbol]), rule=rule)
        for symbol, rule in COUNTED.items()
        if symbol in given and symbol in values
    }


def _shown(value: object) -> str:
    return ("n", "y")[value] if isinstance(value, bool) else str(value)
