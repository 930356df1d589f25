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
    "demanded": "required by the demands",
    "default-of-the-library": "the default of the library",
    "period-of-the-plan": "the period of the plan; without a hypervisor the image states it itself",
    "tick-of-the-plan": "the tick that the objective states",
    "periods-are-whole-ticks": "the longest tick up to 1 ms of which each period is a multiple",
    "deepest-of-the-program": "the deepest call path of the program by its card, a quarter more,"
    " and the frames of interrupts, in whole pages; at least the default of the library",
    "no-more-than-the-deepest": "as for the deepest call path, even below the default: less than a"
    " block of the memory may be used",
    "half-of-the-memory-is-heap": "half of the VM's memory; the rest is for image and stacks",
    "messages-while-nobody-reads": "the messages written while the reader does not run: 10 ms"
    " for Linux, two periods for a task; at least 16",
    "colours-by-need": "equal numbers of colours, as far as the memory of each VM allows",
    "vms-there-can-be": "the number of VMs that the system has at a time",
    "cores-up-to-the-last-in-use": "cores up to the last one that a VM uses",
    "maps-of-cores-and-vms": "frames for the map of each core and for the memory of each VM",
    "nobody-has-virtual-devices": "each VM has direct interrupts",
    "rings-if-a-vm-has-one": "present if a VM logs to a ring in its memory",
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
    rules = dict.fromkeys((line.symbol for line in lines), "demanded")
    rules |= {CORES: "cores-of-the-vm"} | {number.symbol: number.rule for number in inferred}
    for name, symbol in sorted(tree.symbols.items()):
        choice = symbol.choice
        chosen = choice is not None and choice.name not in _IDENTITY and symbol.tri_value == 2
        if symbol.visibility and (chosen or symbol.orig_type in (kc.INT, kc.HEX)):
            rule = rules.get(name, "default-of-the-library")
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
        if guest.kind == "native":
            continue
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
