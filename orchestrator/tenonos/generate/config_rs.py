"""The `config` module of an image crate: every Kconfig symbol and the board as typed constants."""

from collections.abc import Iterable, Iterator, Mapping

from tenonos.pool.kconfig import Config, Hex, Value
from tenonos.system.board import Board, Device


def render(config: Config, board: Board, devices: Iterable[Device] = ()) -> str:
    """The text of `config.rs`; `devices` are those the image owns."""
    lines = ["//! The configuration of this image as constants. Generated; do not edit.", ""]
    lines += _constants(config.values, "")
    lines += ["", f"/// {board.title}.", "pub mod board {"]
    lines += _constants(board.constants(), "    ", hexadecimal=True)
    lines += _devices(devices)
    return "\n".join([*lines, "}", ""])


def _constants(
    values: Mapping[str, Value], indent: str, *, hexadecimal: bool = False
) -> Iterator[str]:
    for name, value in sorted(values.items()):
        kind, text = _literal(value, hexadecimal)
        yield f"{indent}#[allow(missing_docs, dead_code)]"
        yield f"{indent}pub const {name}: {kind} = {text};"


def _devices(devices: Iterable[Device]) -> Iterator[str]:
    """Kind, address and size of each device."""
    listed = ", ".join(f'("{d.kind}", {d.base:#x}, {d.size:#x})' for d in devices)
    yield "    #[allow(missing_docs, dead_code)]"
    yield f"    pub const DEVICES: &[(&str, usize, usize)] = &[{listed}];"


def _literal(value: Value, hexadecimal: bool) -> tuple[str, str]:
    match value:
        case bool():
            return "bool", str(value).lower()
        case Hex():
            return "u64", f"{value:#x}"
        case int():
            return "usize", f"{value:#x}" if hexadecimal and value > 9999 else str(value)
        case _:
            escaped = "".join(_escape(c) for c in value)
            return "&str", f'"{escaped}"'


def _escape(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    return character if character.isprintable() else f"\\u{{{ord(character):x}}}"
