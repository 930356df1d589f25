"""The `tables` module of an image crate: what the chosen libraries register, as static slices.

There is no central list: a library declares its registrations in its Cargo.toml, and the owner of a
table declares the condition between any two entries. It is asserted at compile time, pair by pair,
so that an error names both libraries.
"""

from collections.abc import Iterable, Iterator
from itertools import combinations

from tenonos.errors import InputError
from tenonos.paths import shown
from tenonos.pool.library import Library, Table


def render(chosen: Iterable[Library]) -> str:
    """The text of `tables.rs`."""
    libraries = list(chosen)
    tables = {table.name: table for library in libraries for table in library.tables}
    lines = ["//! What the libraries of this image register. Generated; do not edit.", ""]
    for table in sorted(tables.values(), key=lambda table: table.name):
        lines += [*_table(table, _entries(libraries, table)), ""]
    _orphans(libraries, tables)
    return "\n".join(lines)


Entry = tuple[str, str]
"""A library's id and the Rust path of its entry."""


def _entries(libraries: Iterable[Library], table: Table) -> list[Entry]:
    """The entries, without those that another one takes the place of."""
    registered = [
        (library, register)
        for library in libraries
        for register in library.registers
        if register.table == table.name
    ]
    covered = {register.over for _, register in registered}
    entries = [(library.id, f"{library.crate}::{entry.item}") for library, entry in registered]
    return [(library, path) for library, path in entries if path not in covered]


def _table(table: Table, entries: list[Entry]) -> Iterator[str]:
    name = table.name.upper().replace("-", "_")
    yield f"/// The registrations in table `{table.name}`."
    yield f"pub static {name}: &[&{table.item}] = &["
    yield from (f"    &{path}," for _, path in entries)
    yield "];"
    if table.disjoint is None:
        return
    for (first, one), (second, other) in combinations(entries, 2):
        yield "const _: () = assert!("
        yield f"    {table.disjoint}(&{one}, &{other}),"
        yield f'    "{table.name}: {first} and {second} {table.clash}"'
        yield ");"


def _orphans(libraries: Iterable[Library], tables: dict[str, Table]) -> None:
    for library in libraries:
        for register in library.registers:
            if register.table not in tables:
                raise InputError(
                    f'{library.id} registers in "{register.table}", a table nothing chosen owns',
                    where=shown(library.manifest),
                    mend="select the library that does",
                )
