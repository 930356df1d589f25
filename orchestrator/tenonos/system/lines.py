"""The place of every key of a TOML text, for messages that name file and line.

`tomllib` does not keep the places of values. `locate` reads the text again for its structure only:
table headers and the keys that open a line.
"""

import re
from collections.abc import Mapping

Path = tuple[str | int, ...]

_HEADER = re.compile(r"^\s*(\[\[?)([^\]#]+)\]\]?\s*(?:#.*)?$")
_KEY = re.compile(
    r"""^\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*[A-Za-z0-9_-]+)*)\s*=(.*)$"""
)
_PART = re.compile(r"""[A-Za-z0-9_-]+|"[^"]*"|'[^']*'""")
_TRIPLE = ('"""', "'''")


def locate(text: str) -> dict[Path, int]:
    """The line (from 1) of each table and key, by its path: `("vm", 0, "cpus")`."""
    found: dict[Path, int] = {(): 1}
    arrays: dict[Path, int] = {}
    table: Path = ()
    depth, quote = 0, ""
    for number, line in enumerate(text.split("\n"), 1):
        if depth or quote:
            depth, quote = _scan(line, depth, quote)
            continue
        if header := _HEADER.match(line):
            table = _enter(arrays, _parts(header[2]), array=header[1] == "[[")
            found.setdefault(table, number)
        elif key := _KEY.match(line):
            found[table + tuple(_parts(key[1]))] = number
            depth, quote = _scan(key[2], 0, "")
    return found


def nearest(lines: Mapping[Path, int], path: Path) -> int:
    """The line of `path`, or of its closest parent."""
    while path not in lines:
        path = path[:-1]
    return lines[path]


def _parts(dotted: str) -> list[str]:
    return [part.strip("\"'") for part in _PART.findall(dotted)]


def _enter(arrays: dict[Path, int], parts: list[str], *, array: bool) -> Path:
    """The path of a table header: an array of tables is at its last element."""
    path: Path = ()
    for position, part in enumerate(parts):
        path += (part,)
        if array and position == len(parts) - 1:
            arrays[path] = arrays.get(path, -1) + 1
        if path in arrays:
            path += (arrays[path],)
    return path


def _scan(text: str, depth: int, quote: str) -> tuple[int, str]:
    """Bracket depth and open triple quote after `text`."""
    at = 0
    while at < len(text):
        if quote:
            end = text.find(quote, at)
            if end < 0:
                return depth, quote if len(quote) == 3 else ""
            at, quote = end + len(quote), ""
        elif text[at : at + 3] in _TRIPLE:
            quote, at = text[at : at + 3], at + 3
        elif text[at] in "\"'":
            quote, at = text[at], at + 1
        elif text[at] == "#":
            break
        else:
            depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(text[at], 0)
            at += 1
    return depth, quote if len(quote) == 3 else ""
