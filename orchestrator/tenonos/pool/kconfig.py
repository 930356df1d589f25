"""The configuration space: one Kconfig tree, evaluated once per image.

A `Tree` is loaded once and evaluated any number of times. Nothing is taken from the environment,
and no setting is dropped silently: a line of a fragment with an unknown symbol or without effect is
an `InputError` with file and line.
"""

import io
import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import kconfiglib

from tenonos import inputs
from tenonos.errors import InputError
from tenonos.paths import ROOT, shown
from tenonos.pool import renamed

PREFIX = "CONFIG_"


class Hex(int):
    """The value of a `hex` symbol: a number that is an address or a mask, not a count."""


Value = bool | int | str

_ASSIGNED = re.compile(r"\s*CONFIG_([A-Za-z0-9_]+)\s*=\s*(.*?)\s*$")
_UNSET = re.compile(r"\s*#\s*CONFIG_([A-Za-z0-9_]+) is not set\s*$")
_ENVIRONMENT = ("srctree", "CONFIG_", "KCONFIG_WARN_UNDEF", "KCONFIG_STRICT", "KCONFIG_FUNCTIONS")


@dataclass(frozen=True)
class Assignment:
    """One value for a symbol (without `CONFIG_`), in Kconfig's notation, with its place."""

    symbol: str
    value: str
    where: str | None = None


@dataclass(frozen=True)
class Config:
    """One evaluated configuration: every symbol's typed value."""

    values: dict[str, Value]
    minimal: str

    def __getitem__(self, symbol: str) -> Value:
        """The value of a symbol; a bool that does not exist is off."""
        return self.values.get(symbol, False)

    @cached_property
    def enabled(self) -> frozenset[str]:
        """The bools that are y."""
        return frozenset(name for name, value in self.values.items() if value is True)

    @property
    def libraries(self) -> list[str]:
        """The symbols of the chosen libraries and application, sorted."""
        return sorted(name for name in self.enabled if name.startswith(("LIB_", "APP_")))

    @property
    def capabilities(self) -> list[str]:
        """The capabilities of the image, by their names in objectives (`time.tickless`)."""
        return sorted(capability(name) for name in self.enabled if name.startswith("CAP_"))


_DASHED = {"CAP_VIRT_CACHE_COLOURING": "virt.cache-colouring"}


def capability(symbol: str) -> str:
    """The name of a capability's symbol: `CAP_NET_IP` is `net.ip`."""
    return _DASHED.get(symbol) or symbol.removeprefix("CAP_").lower().replace("_", ".")


def symbol_of(name: str) -> str:
    """The symbol of a capability: `net.ip` is `CAP_NET_IP`."""
    return "CAP_" + name.upper().replace(".", "_").replace("-", "_")


class Tree:
    """The Kconfig tree of the pool, with the Kconfig files of outside applications added."""

    def __init__(self, kconf: kconfiglib.Kconfig) -> None:
        self.kconf = kconf

    @property
    def warnings(self) -> list[str]:
        """The warnings of kconfiglib about the Kconfig files."""
        return list(self.kconf.warnings)

    @property
    def symbols(self) -> dict[str, kconfiglib.Symbol]:
        """Every defined symbol by its name, without `CONFIG_`."""
        return {symbol.name: symbol for symbol in self.kconf.unique_defined_syms}

    def evaluate(self, assignments: Iterable[Assignment], *, strict: bool = True) -> Config:
        """The configuration with these demands; later ones win. Strict: each must take effect."""
        demands: dict[str, Assignment] = {}
        for assignment in assignments:
            self._check(assignment)
            demands[assignment.symbol] = assignment
        self.kconf.unset_values()
        for assignment in demands.values():
            self.kconf.syms[assignment.symbol].set_value(_bare(assignment.value))
        if strict:
            for assignment in demands.values():
                self._effective(assignment)
        values = {symbol.name: _typed(symbol) for symbol in self.symbols.values()}
        return Config(values, self.minimal())

    def providers(self, capability: str) -> list[str]:
        """The symbols that select a capability, sorted."""
        items = kconfiglib.expr_items(self.kconf.syms[capability].rev_dep)
        names = (item.name for item in items if isinstance(item, kconfiglib.Symbol))
        return sorted(name for name in names if name.startswith(("LIB_", "APP_")))

    def _check(self, assignment: Assignment) -> None:
        symbol = self.symbols.get(assignment.symbol)
        if symbol is None:
            known = renamed.SYMBOLS.get(assignment.symbol)
            close = [known] if known else get_close_matches(assignment.symbol, self.symbols, 1, 0.6)
            raise InputError(
                f"unknown {PREFIX}{assignment.symbol}",
                where=assignment.where,
                mend=f"did you mean {PREFIX}{close[0]}?" if close else "see ./tenon config",
            )
        if problem := _malformed(symbol, assignment.value):
            raise InputError(
                f"{PREFIX}{symbol.name}={assignment.value}: {problem}", where=assignment.where
            )

    def _effective(self, assignment: Assignment) -> None:
        symbol = self.kconf.syms[assignment.symbol]
        if _same(symbol, symbol.str_value, _bare(assignment.value)):
            return
        why, mend = self._why(symbol)
        raise InputError(
            f"{PREFIX}{symbol.name}={assignment.value} has no effect: {why}",
            where=assignment.where,
            mend=mend,
        )

    def _why(self, symbol: kconfiglib.Symbol) -> tuple[str, str]:
        """The reason why `symbol` does not take the given value, and the remedy."""
        if not any(node.prompt for node in symbol.nodes):
            return "it is derived from what is chosen", "leave it out"
        if symbol.choice is not None:
            return "another one of its choice is chosen", "leave one of them out"
        if kconfiglib.expr_value(symbol.direct_dep) == 0:
            needed = kconfiglib.expr_str(symbol.direct_dep)
            mend = "choose that, here or by select in the Kconfig of the application"
            return f"it depends on {needed}", mend
        if symbol.type is kconfiglib.BOOL:
            selectors = [
                item.name
                for item in kconfiglib.expr_items(symbol.rev_dep)
                if isinstance(item, kconfiglib.Symbol) and item.str_value == "y"
            ]
            needing = " and ".join(sorted(selectors)) or "something"
            return f"{needing} needs it", "leave it out, or what needs it"
        return f"its range leaves {symbol.str_value}", "write a value of the range"

    def holds(self, assignment: Assignment, config: Config) -> bool:
        """Whether a demand is met in an evaluated configuration."""
        symbol, value = self.symbols[assignment.symbol], config[assignment.symbol]
        got = "ny"[value] if isinstance(value, bool) else str(value)
        if isinstance(value, Hex):
            got = hex(value)
        return _same(symbol, got, _bare(assignment.value))

    def minimal(self) -> str:
        """The current configuration as a minimal list of lines."""
        with TemporaryDirectory() as folder:
            file = Path(folder) / "config"
            self.kconf.write_min_config(str(file), header="")
            return file.read_text()


class _Without(kconfiglib.Kconfig):
    """A tree in which some files count as empty."""

    def __init__(self, top: Path, without: Collection[Path]) -> None:
        self._without = without
        super().__init__(str(top), warn_to_stderr=False, suppress_traceback=False)

    def _open(self, filename: str, mode: str) -> Any:
        return io.StringIO() if Path(filename) in self._without else super()._open(filename, mode)


def load(
    extra: Sequence[Path] = (),
    root: Path = ROOT,
    boards: Sequence[Path] = (),
    without: Collection[Path] = (),
) -> Tree:
    """The tree of `pool/Kconfig`, of each Kconfig file in `extra`, and of `boards` outside the
    clone, which are of the choice of boards; the files `without` are left out."""
    told = {file: inputs.text(file) for file in (*extra, *boards)}
    with isolated(root), TemporaryDirectory() as folder:
        top = root / "pool" / "Kconfig"
        if extra or boards:
            file = Path(folder) / "Kconfig"
            choices = [f'choice BOARD\nsource "{path}"\nendchoice\n' for path in boards]
            sources = [f'source "{path}"\n' for path in (top, *extra)]
            file.write_text("".join([*sources, *choices]))
            top = file
        try:
            kconf = _Without(top, without)
        except (kconfiglib.KconfigError, OSError) as error:
            raise _unparsed(error, told) from None
    for file, text in told.items():
        for number, line in enumerate(text.splitlines(), 1):
            for name in re.findall(r"\w+", line.partition("#")[0]):
                if name in renamed.SYMBOLS:
                    what = f"{name} is {renamed.SYMBOLS[name]} now"
                    raise InputError(what, where=f"{shown(file)}:{number}")
    _check_defined(kconf, told)
    return Tree(kconf)


def _unparsed(error: Exception, told: Collection[Path]) -> InputError:
    """The error of kconfiglib about a file; one of the user's own has a place and a remedy."""
    text = first_line(error)
    places = {str(file): shown(file) for file in told}
    match = re.match(r"(?P<file>.+?):(?P<line>\d+): error: (?P<what>.*)", text)
    if match is None or match["file"] not in places:
        return InputError(text)
    return InputError(
        f"not valid Kconfig: {match['what']}",
        where=f"{places[match['file']]}:{match['line']}",
        mend="write it as the one that ./tenon new makes",
    )


def _check_defined(kconf: kconfiglib.Kconfig, files: Collection[Path]) -> None:
    """Refuse a symbol of these files that selects one, or depends on one, that no file defines:
    kconfiglib takes that for n."""
    names = {str(file): file for file in files}
    nodes = (node for symbol in kconf.unique_defined_syms for node in symbol.nodes)
    for node in (node for node in nodes if node.filename in names):
        for name in _undefined(node):
            close = get_close_matches(name, [each.name for each in kconf.unique_defined_syms], 1)
            raise InputError(
                f"{node.item.name} needs {name}, which is no symbol",
                where=f"{shown(names[node.filename])}:{node.linenr}",
                mend=f"did you mean {close[0]}?" if close else "see ./tenon list libraries",
            )


def _undefined(node: kconfiglib.MenuNode) -> Iterator[str]:
    """The symbols that a node selects, implies or depends on, and that no file defines."""
    selected = (target for target, _ in (*node.orig_selects, *node.orig_implies))
    for item in (*selected, *kconfiglib.expr_items(node.dep)):
        if isinstance(item, kconfiglib.Symbol) and not (item.nodes or item.is_constant):
            yield item.name


def fragment(file: Path) -> list[Assignment]:
    """The assignments of a fragment; a file that does not exist has none."""
    return assignments(inputs.text(file), shown(file)) if file.exists() else []


def assignments(text: str, name: str) -> list[Assignment]:
    """The assignments of a fragment's text; `name` is its name in errors."""
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        where = f"{name}:{number}"
        if match := _ASSIGNED.match(line):
            found.append(Assignment(match[1], match[2], where))
        elif match := _UNSET.match(line):
            found.append(Assignment(match[1], "n", where))
        elif line.strip() and not line.lstrip().startswith("#"):
            raise InputError(
                f'"{line.strip()}" is not an assignment',
                where=where,
                mend="write CONFIG_NAME=value",
            )
    return found


def define(text: str) -> Assignment:
    """An assignment from the command line: `-D CONFIG_X=y`."""
    match = _ASSIGNED.match(text)
    if not match:
        raise InputError(
            f'"{text}" is not an assignment', where="-D", mend="write -D CONFIG_NAME=value"
        )
    return Assignment(match[1], match[2], "-D")


@contextmanager
def isolated(root: Path) -> Iterator[None]:
    """Set the environment that kconfiglib reads, and restore it at the end."""
    saved = {name: os.environ.pop(name, None) for name in _ENVIRONMENT}
    os.environ.update(srctree=str(root))
    try:
        yield
    finally:
        for name, value in saved.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _typed(symbol: kconfiglib.Symbol) -> Value:
    """A symbol's value; zero for a number with unmet dependencies.

    Code that tests a switch also compiles with the switch off, so every name has a value.
    """
    text = symbol.str_value
    match symbol.orig_type:
        case kconfiglib.BOOL | kconfiglib.TRISTATE:
            return text == "y"
        case kconfiglib.INT:
            return int(text or 0)
        case kconfiglib.HEX:
            return Hex(text or "0", 16)
        case _:
            return text


def _bare(value: str) -> str:
    """A value without the quotes of a string."""
    quoted = len(value) >= 2 and value[0] == value[-1] == '"'
    return re.sub(r"\\(.)", r"\1", value[1:-1]) if quoted else value


def _malformed(symbol: kconfiglib.Symbol, value: str) -> str | None:
    """The error in the form of a value, if there is one."""
    match symbol.orig_type:
        case kconfiglib.BOOL:
            return None if value in ("y", "n") else "it is a bool; write y or n"
        case kconfiglib.INT:
            if not re.fullmatch(r"-?\d+", value):
                return "it is a whole number"
            return _outside(symbol, int(value), 10)
        case kconfiglib.HEX:
            if not re.fullmatch(r"0x[0-9a-fA-F]+", value):
                return "it is a hexadecimal number; write 0x..."
            return _outside(symbol, int(value, 16), 16)
        case _:
            return (
                None if re.fullmatch(r'"(?:[^"\\]|\\.)*"', value) else 'it is a text; write "..."'
            )


def _outside(symbol: kconfiglib.Symbol, value: int, base: int) -> str | None:
    """Whether every range of the symbol excludes a number (a conditional range may not apply)."""
    spans = [
        (int(low.str_value, base), int(high.str_value, base)) for low, high, _ in symbol.ranges
    ]
    if spans and not any(low <= value <= high for low, high in spans):
        low, high = spans[0]
        return f"it is from {low:#x} to {high:#x}" if base == 16 else f"it is from {low} to {high}"
    return None


def _same(symbol: kconfiglib.Symbol, got: str, wanted: str) -> bool:
    if symbol.orig_type in (kconfiglib.INT, kconfiglib.HEX):
        base = 16 if symbol.orig_type is kconfiglib.HEX else 10
        return bool(got) and int(got, base) == int(wanted, base)
    return got == wanted


def first_line(error: Exception) -> str:
    """The first line of kconfiglib's error, without the current place."""
    text = str(error).strip().splitlines()[0]
    return text.replace(f"{ROOT}/", "")
