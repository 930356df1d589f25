"""Demangling of Rust symbols, legacy and v0, by rustc-demangle."""

from __future__ import annotations

import pyderust


def demangled(symbol: str) -> str:
    """The source path of a symbol, `motor::control::STEP`; any other name is returned unchanged."""
    try:
        return pyderust.demangle(symbol)
    except pyderust.DemangleError:
        return symbol
