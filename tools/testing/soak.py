"""The soak: releases over hours of virtual time, each one judged by `tests/guests/soak`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tenonos import build, system
from tenonos.errors import WorkError
from tools.bench.machine import Place, listen

WHOLE = "end of soak"
SHORT = "soak hertz=10 releases=1000 "
"""The line a short run ends with: 100 s of virtual time."""

LIMIT = 1800.0
"""Host seconds a whole run may take: 1.5 million wake-ups."""

_LINE = re.compile(r"soak ((?:\w+=\S+ )+late_ns=\d+\.\.\d+)")


@dataclass(frozen=True)
class Soaked:
    """How one rate stands after so many releases."""

    hertz: int
    releases: int
    lost: int
    early: int
    left_out: int
    drift_ns: int
    late_ns: tuple[int, int]

    @property
    def is_well(self) -> bool:
        """Whether each release was served once, none early, and the last as late as the first."""
        return not (self.lost or self.early or self.left_out or self.drift_ns)

    @property
    def line(self) -> str:
        """It in words."""
        least, most = self.late_ns
        return (
            f"{self.hertz} Hz, {self.releases / self.hertz:,.0f} s: {self.releases:,} releases, "
            f"{self.lost} lost, {self.early} early, {self.left_out} left out, drift "
            f"{self.drift_ns} ns, served {least} to {most} ns after the release"
        )


def run(last: str = WHOLE, limit: float = LIMIT) -> list[Soaked]:
    """Soak until that line; the last checkpoint of each rate."""
    built = build.build(system.load("soak"))
    lines = listen(Place(built, "soak"), last, limit)
    # The emulator may have gone on before it was ended.
    end = next((index for index, line in enumerate(lines, 1) if last in line), None)
    soaked = read(lines[:end])
    if {rate.hertz for rate in soaked} != {10, 1000}:
        raise WorkError("the soak said nothing of one of its rates")
    return soaked


def read(lines: list[str]) -> list[Soaked]:
    """The last of what the lines say of each rate."""
    rates: dict[int, Soaked] = {}
    for line in lines:
        if match := _LINE.fullmatch(line.strip()):
            said = dict(pair.split("=") for pair in match[1].split())
            least, most = said.pop("late_ns").split("..")
            numbers = {key: int(value) for key, value in said.items()}
            rates[numbers["hertz"]] = Soaked(**numbers, late_ns=(int(least), int(most)))
    return [rates[hertz] for hertz in sorted(rates, reverse=True)]
