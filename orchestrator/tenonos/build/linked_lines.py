"""Source lines that are linked in an image: those of the functions that have code in it.

Debug information names file and line of each function, inlined ones too; the function's lines
extend to its closing brace. Of assembly, the lines of every section with a label in the image
count. Types, constants and imports make no code and do not count.
"""

import re
from collections import Counter
from functools import cache
from pathlib import Path

from tenonos import paths
from tenonos.build.attribution import Ownership
from tenonos.build.sloc import code

_OWN = re.compile(
    r".*(?:^|/)((?:pool/[^/]+|examples/apps|tests/guests|tests/support|bench/apps)/[^/]+/.+)"
)
"""The last match counts: a parent folder may have the same name."""
_ASSEMBLY = re.compile(r'^\s*(?:concat!\()?"(.*)', re.MULTILINE)
_SECTION = re.compile(r"\s*\.section\b")
_LABEL = re.compile(r"\s*([A-Za-z_]\w*):")


def linked_by_library(ownership: Ownership) -> Counter[str]:
    """Linked source lines of each library, by layer and name."""
    found: set[tuple[Path, int]] = set()
    for name, line in ownership.origins:
        if (match := _OWN.search(name)) and (file := paths.ROOT / match[1]).is_file():
            found |= {(file, each) for each in _function(file, line)}
    for file, labels in ownership.labelled.items():
        found |= {(file, each) for each in _assembly(file, frozenset(labels))}
    return Counter(_library(file) for file, _ in found)


def _library(file: Path) -> str:
    match = _OWN.search(file.as_posix())
    if not match:
        return "/".join(file.parts[-2:])
    _, layer, name, *_ = match[1].split("/")
    return f"{'apps' if layer == 'guests' else layer}/{name}"


@cache
def _text(file: Path) -> str:
    return code(file.read_text())


@cache
def _function(file: Path, line: int) -> frozenset[int]:
    """The line numbers of the function that begins in a line."""
    text = _text(file)
    start = 0
    for _ in range(line - 1):
        start = text.find("\n", start) + 1
    end = _end(text, start)
    spanned = text[start:end].split("\n")
    return frozenset(line + n for n, each in enumerate(spanned) if each.strip())


def _end(text: str, start: int) -> int:
    """The position after the brace that closes the item at `start`, or after its semicolon."""
    depth, body = 0, False
    for at in range(start, len(text)):
        letter = text[at]
        if letter == "{" and depth == 0 and text[start:at].rstrip()[-1:] not in ("<", ","):
            body = True
        if letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
            if depth <= 0 and body:
                return at + 1
        elif letter == ";" and depth == 0:
            return at + 1
    return len(text)


def _assembly(file: Path, labels: frozenset[str]) -> list[int]:
    """The line numbers of the sections of assembly with one of these labels, and of the lines
    before the first section, which all share."""
    text = file.read_text()
    if file.suffix in (".S", ".s"):
        lines = [(n, line) for n, line in enumerate(_text(file).split("\n"), 1) if line.strip()]
    else:
        found = _ASSEMBLY.finditer(text)
        lines = [(text.count("\n", 0, each.end()) + 1, each[1]) for each in found]
    sections: list[tuple[list[int], set[str]]] = [([], set(labels))]
    for number, line in lines:
        if _SECTION.match(line):
            sections.append(([], set()))
        numbers, own = sections[-1]
        numbers.append(number)
        if match := _LABEL.match(line):
            own.add(match[1])
    return [number for numbers, own in sections if own & labels for number in numbers]
