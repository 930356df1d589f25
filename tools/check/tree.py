"""Rules about the pool's structure: layers, Kconfig beside Cargo, authority."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tenonos.pool import library as pool
from tenonos.pool.library import Library
from tools.check import rust_text
from tools.check.rule import Breach, Context, Rule

_USES = re.compile(r"^\s*(?:select|depends on)\s+(?P<rest>.*)$")
_SYMBOL = re.compile(r"\b(?:LIB|APP)_[A-Z0-9_]+\b")
_FORBID = re.compile(r"#!\[forbid\(\s*unsafe_code\b")


def layer_order(context: Context) -> Iterator[Breach]:
    """Dependencies that reach above their layer, or from one kernel to the other."""
    for error in pool.breaches(context.index):
        yield Breach("layer-order", error.where or "?", error.what, error.mend or "")


def kconfig_uses(text: str, symbol: str) -> dict[str, int]:
    """The libraries that `config symbol` selects or depends on, with their lines."""
    found: dict[str, int] = {}
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(r"\s*(?:menu)?config\s", line):
            inside = line.split()[1] == symbol
        match = _USES.match(line)
        if inside and match:
            for name in _SYMBOL.findall(match["rest"].split(" if ")[0]):
                found.setdefault(name, number)
    return found


def kconfig_mirror(context: Context) -> Iterator[Breach]:
    """Libraries with different dependencies in Kconfig and Cargo.toml."""
    rule = "kconfig-mirror"
    for library in context.index.libraries:
        kconfig = library.path / "Kconfig"
        if not kconfig.exists():
            where = context.shown(library.manifest)
            yield Breach(rule, where, "no Kconfig beside it", f"add one with {library.symbol}")
            continue
        text = kconfig.read_text()
        if not re.search(rf"^\s*(?:menu)?config\s+{library.symbol}\s*$", text, re.MULTILINE):
            yield Breach(rule, context.shown(kconfig), f"no config {library.symbol}", "add it")
            continue
        wanted = {other.symbol: other for other in context.index.pool_dependencies(library)}
        stated = kconfig_uses(text, library.symbol)
        for symbol in sorted(wanted.keys() - stated.keys()):
            what = f"Cargo.toml uses {wanted[symbol].package}, Kconfig does not say so"
            yield Breach(rule, context.shown(kconfig), what, f"add: select {symbol}")
        for symbol in sorted(stated.keys() - wanted.keys()):
            other = context.index.by_symbol.get(symbol)
            if other and not (library.path / "Cargo.toml").exists():
                # An application in C says nowhere else what it wants beyond POSIX.
                continue
            what = f"Kconfig uses {symbol}, Cargo.toml does not"
            mend = f"depend on {other.package} or drop the line" if other else "no such library"
            yield Breach(rule, context.shown(kconfig, stated[symbol]), what, mend)


def rust_files(library: Library) -> list[Path]:
    """A library's own source: not its tests, benches or examples."""
    return sorted((library.path / "src").rglob("*.rs"))


def _root_file(library: Library) -> Path | None:
    for name in ("src/lib.rs", "src/main.rs"):
        if (library.path / name).exists():
            return library.path / name
    return None


def _granted(context: Context) -> dict[str, tuple[str, Library]]:
    """Module path -> the authority it grants and the library that owns it."""
    return {
        f"{owner.crate}::{module}": (authority, owner)
        for owner in context.index.libraries
        for authority, modules in owner.grants.items()
        for module in modules
    }


def authority(context: Context) -> Iterator[Breach]:
    """Unsafe code, assembly or granting modules without the declared authority."""
    rule = "authority"
    granted = _granted(context)
    for library in context.index.libraries:
        top = _root_file(library)
        if top is None:
            continue
        forbids = _FORBID.search(rust_text.code(top.read_text())) is not None
        if not library.authority and not forbids:
            what = f"{library.id} has no authority and does not forbid unsafe code"
            yield Breach(rule, context.shown(top, 1), what, "add #![forbid(unsafe_code)]")
        for file in rust_files(library):
            text = file.read_text()
            if library.authority:
                lines: list[int] = []
            else:
                lines = sorted(rust_text.unsafe_lines(text))[:1]
            for line in lines:
                what = f"unsafe code in {library.id}, which declares no authority"
                mend = "declare it in Cargo.toml and give the reason in #![expect(unsafe_code)]"
                yield Breach(rule, context.shown(file, line), what, mend)
            if "asm" not in library.authority:
                for line in rust_text.assembly_lines(text)[:1]:
                    what = f'assembly in {library.id} without the authority "asm"'
                    yield Breach(rule, context.shown(file, line), what, "declare it or move it")
            yield from _uses_granted(context, library, file, text, granted)


def _uses_granted(
    context: Context,
    library: Library,
    file: Path,
    text: str,
    granted: dict[str, tuple[str, Library]],
) -> Iterator[Breach]:
    for number, line in enumerate(rust_text.code(text).splitlines(), 1):
        for module, (name, owner) in granted.items():
            if owner is library or name in library.authority:
                continue
            crate, _, inner = module.partition("::")
            direct = re.search(rf"\b{crate}\s*::\s*{inner}\b", line)
            grouped = re.search(rf"\b{crate}\s*::\s*\{{[^}}]*\b{inner}\b", line)
            if direct or grouped:
                what = f'{library.id} names {module} without the authority "{name}"'
                mend = "declare it in [package.metadata.tenon], or do without"
                yield Breach("authority", context.shown(file, number), what, mend)


def unsafe_count(context: Context) -> dict[str, tuple[int, int]]:
    """Per library: lines of code, and how many of them are unsafe."""
    counts = {}
    for library in context.index.libraries:
        texts = [file.read_text() for file in rust_files(library)]
        counts[library.id] = (
            sum(rust_text.source_lines(text) for text in texts),
            sum(len(rust_text.unsafe_lines(text)) for text in texts),
        )
    return counts


RULES = (
    Rule(
        "layer-order",
        "A crate uses its own layer and those below; mortise and tenon never each other.",
        "What serves both kernels must not know which one it is in.",
        layer_order,
    ),
    Rule(
        "kconfig-mirror",
        "Every pool crate in Cargo.toml is selected in Kconfig, and the other way round.",
        "The solver reads Kconfig and cargo links Cargo.toml: they must tell the same story.",
        kconfig_mirror,
    ),
    Rule(
        "authority",
        "Unsafe code, assembly and hardware modules only in crates that declare the authority.",
        "What can break the machine stays small enough to be read; the rest cannot name it.",
        authority,
    ),
)
