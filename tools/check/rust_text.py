"""Rust source without comments and strings, and the unsafe lines in it.

No parser: counting needs braces and keywords only, and those can be told from text once
comments, strings and character literals are blanked out. Lines keep their numbers.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"""
    //[^\n]*                                  # line comment
    | /\*                                     # block comment, nesting: see below
    | b?r(?P<hashes>\#*)"(?:.*?)"(?P=hashes)  # raw string
    | b?"(?:\\.|[^"\\])*"                     # string
    | b?'(?:\\(?:.|x[0-9a-fA-F]{2}|u\{[^}]*\})|[^'\\\n])'  # character, not a lifetime
    """,
    re.VERBOSE | re.DOTALL,
)
_UNSAFE = re.compile(r"\bunsafe\b(?!\()")
"""The keyword; `#[unsafe(...)]` marks an attribute, not code."""

_ASSEMBLY = re.compile(r"\b(?:global_asm|naked_asm|asm)!")


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _block_comment_end(text: str, start: int) -> int:
    depth, at = 1, start + 2
    while depth and at < len(text):
        if text.startswith("/*", at):
            depth, at = depth + 1, at + 2
        elif text.startswith("*/", at):
            depth, at = depth - 1, at + 2
        else:
            at += 1
    return at


def code(text: str) -> str:
    """The source with comments and literals blanked."""
    parts: list[str] = []
    at = 0
    while match := _TOKEN.search(text, at):
        end = match.end()
        if match[0] == "/*":
            end = _block_comment_end(text, match.start())
        parts += [text[at : match.start()], _blank(text[match.start() : end])]
        at = end
    return "".join([*parts, text[at:]])


def block_end(text: str, start: int) -> int:
    """The position behind the brace that closes the first one from `start` on, in plain code."""
    return _extent(text, start) + 1


def _extent(text: str, start: int) -> int:
    """The end of the item or block an `unsafe` opens: its closing brace, or a semicolon."""
    depth = 0
    for at in range(start, len(text)):
        if text[at] == "{":
            depth += 1
        elif text[at] == "}":
            depth -= 1
            if depth <= 0:
                return at
        elif text[at] in ";" and depth == 0:
            return at
    return len(text)


def _lines(text: str, start: int, end: int) -> range:
    first = text.count("\n", 0, start) + 1
    return range(first, first + text.count("\n", start, end) + 1)


def unsafe_lines(text: str) -> set[int]:
    """The numbers of the lines inside unsafe blocks, functions and implementations."""
    plain = code(text)
    found: set[int] = set()
    for match in _UNSAFE.finditer(plain):
        found.update(_lines(plain, match.start(), _extent(plain, match.end())))
    return found


def assembly_lines(text: str) -> list[int]:
    """The numbers of the lines where inline assembly begins."""
    plain = code(text)
    return [plain.count("\n", 0, match.start()) + 1 for match in _ASSEMBLY.finditer(plain)]


def source_lines(text: str) -> int:
    """The number of lines that hold code."""
    return sum(1 for line in code(text).splitlines() if line.strip())
