"""Errata of CPUs, and the workaround of TenonOS for each.

`boards/errata.toml` lists the errata of each CPU by its `compatible` string; a board has those of
its `cpu`. A workaround is a flag of the compiler or the linker, a scan of each linked image, a
library that images of the board contain, or what firmware and guests do.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from tenonos import inputs
from tenonos.errors import InputError
from tenonos.paths import ROOT

FILE = "boards/errata.toml"

Scan = Literal["multiply-accumulate", "page-address", "address-translation"]
"""The sequences that `analysis.errata` looks for."""


class Erratum(BaseModel):
    """One erratum, or several of one cause and one workaround."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str
    means: str
    """The workaround, as a phrase."""
    scan: Scan | None = None
    """A sequence that no image may have."""
    only: Literal["mortise"] | None = None
    """The kind of image that the scan is for, if not for all."""
    compiler: str | None = None
    c_compiler: str | None = None
    linker: str | None = None
    library: str | None = None
    """Kconfig symbol of the library with the workaround."""
    firmware: bool = False
    """Whether the workaround is firmware's, which a board without PSCI lacks."""


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    errata: dict[str, Erratum]
    cpus: dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class Errata:
    """The errata of one CPU, by number."""

    cpu: str
    known: bool
    """Whether the table has the CPU."""
    each: dict[str, Erratum]

    @property
    def compiler(self) -> tuple[str, ...]:
        """Flags of the Rust compiler."""
        return tuple(e.compiler for e in self.each.values() if e.compiler)

    @property
    def c_compiler(self) -> tuple[str, ...]:
        """Flags of the C compiler."""
        return tuple(e.c_compiler for e in self.each.values() if e.c_compiler)

    @property
    def linker(self) -> tuple[str, ...]:
        """Flags of the linker."""
        return tuple(e.linker for e in self.each.values() if e.linker)

    def libraries(self, *, firmware: bool) -> tuple[str, ...]:
        """Symbols of the libraries with workarounds; `firmware`: whether there is any."""
        wanted = [e.library for e in self.each.values() if firmware or not e.firmware]
        return tuple(dict.fromkeys(symbol for symbol in wanted if symbol))


def of(cpu: str) -> Errata:
    """The errata of a CPU, by the first of its `compatible` strings."""
    table = _table()
    numbers = table.cpus.get(cpu, ())
    return Errata(cpu, cpu in table.cpus, {number: table.errata[number] for number in numbers})


@cache
def _table() -> _Table:
    try:
        table = _Table.model_validate(inputs.toml(inputs.text(ROOT / FILE), FILE))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in first["loc"])
        raise InputError(f"{key}: {first['msg']}", where=FILE) from None
    for cpu, numbers in table.cpus.items():
        for number in numbers:
            if number not in table.errata:
                raise InputError(
                    f"{cpu} has erratum {number}, which has no table",
                    where=FILE,
                    mend=f"add [errata.{number}]",
                )
    return table
