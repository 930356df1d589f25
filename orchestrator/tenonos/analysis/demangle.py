"""Rust's symbols as the source has them."""

from __future__ import annotations

import re

_ESCAPES = {"LT": "<", "GT": ">", "u20": " ", "RF": "&", "u7b": "{", "u7d": "}", "C": ","}


def demangled(symbol: str) -> str:
    """A symbol's path as the source has it: `motor::control::STEP`; plain names stay."""
    if symbol.startswith("_ZN"):
        parts = _lengths(symbol[3:])
        if parts and re.fullmatch(r"h[0-9a-f]{16}", parts[-1]):
            parts.pop()
        return "::".join(map(_unescaped, parts)) or symbol
    if symbol.startswith("_R"):
        # Disambiguators (`s1_`, `Cs…_`) hold digits that are no lengths.
        plain = re.sub(r"(?<=[A-Za-z])s[0-9A-Za-z]*_(?=\d)", "", symbol)
        return "::".join(re.sub(r"^_", "", part) for part in _lengths(plain)) or symbol
    return symbol


def _lengths(text: str) -> list[str]:
    """The identifiers of a mangled path, each with its length in front."""
    parts, at = [], 0
    while match := re.compile(r"\D*?(\d+)").match(text, at):
        length = int(match[1])
        parts.append(text[match.end() : match.end() + length])
        at = match.end() + length
        if text[at : at + 1] == "E":
            break
    return parts


def _unescaped(part: str) -> str:
    part = re.sub(r"\$(\w+?)\$", lambda match: _ESCAPES.get(match[1], match[0]), part)
    return part.removeprefix("_").replace("..", "::")
