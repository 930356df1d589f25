"""Instructions of the key operations that libraries declare, from the rows of the bench.

A library declares them in `[package.metadata.tenon.operations]`: `start = "timer/start"` names a
row as SUITE/NAME. Tenon's are measured without Mortise and with every option at its default,
Mortise's in its static mode. The median of a row counts; of several rows the highest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from tenonos import build, system
from tenonos.errors import InputError
from tenonos.paths import shown
from tenonos.pool.library import Library
from tools.bench import exits
from tools.bench.row import Row
from tools.bench.suites import BARE, counted

PLAIN = "bench-bare"
"""The system with the bench application alone."""


def measured(
    libraries: Iterable[Library], tell: Callable[[str], None]
) -> Mapping[str, dict[str, int]]:
    """The instructions of each declared operation, by library."""
    tell(f"{PLAIN}, {BARE}")
    rows: list[Row] = [*counted(build.build(system.load(PLAIN)), BARE), *exits.rows(tell)]
    return {library.id: of(library, rows) for library in libraries if library.operations}


def of(library: Library, rows: Iterable[Row]) -> dict[str, int]:
    """The operations of one library."""
    found: dict[str, int] = {}
    for row in rows:
        for operation, name in library.operations.items():
            if name == f"{row.suite}/{row.name}":
                found[operation] = max(found.get(operation, 0), round(row.median))
    if missing := library.operations.keys() - found.keys():
        raise InputError(
            f"the bench has no row {library.operations[min(missing)]}",
            where=shown(library.manifest),
            mend="./tenon bench --json - lists them",
        )
    return found
