"""Input files of commands: text and TOML of the user, with one-line errors.

A file is not what its name says until it is read: it may be a folder, another encoding, or made to
exhaust the reader. Everything wrong with it is an `InputError` with file and line.
"""

from __future__ import annotations

import errno
import tomllib
from pathlib import Path
from typing import Any

from tenonos.errors import InputError
from tenonos.paths import shown

LARGEST = 1 << 20
"""The most bytes of a text file."""
TOML_LARGEST, TOML_WIDEST = 128 << 10, 8 << 10
"""The most bytes of a TOML file, and the most characters of one of its lines: the time to read it
grows with the square of a key's length."""
_UTF8 = "save it as UTF-8"
_READABLE = {
    errno.ENOENT: "write its path from the current folder",
    errno.EISDIR: "give a file",
    errno.EACCES: "let your user read it",
}
_TOML = {
    "Cannot overwrite a value": (
        "it is there already",
        "keep one of the lines; a second table of a kind is [[NAME]]",
    ),
    "Cannot declare": ("the table is there already", "join both, or write [[NAME]] for several"),
    "Expected '=' after a key": ("a line without =", "write KEY = VALUE"),
    "Expected ']": ("a table without its closing bracket", "write [NAME] or [[NAME]]"),
    "Expected newline": ("more on the line than one value", "write text in quotes"),
    "Illegal character '\\n'": ("a text without its closing quote", "end it with a quote"),
    "Unterminated string": ("a text without its closing quote", "end it with a quote"),
    'Expected "\'"': ("a text without its closing quote", "end it with a quote"),
    "Invalid statement": ("no key and no table", "write KEY = VALUE, [NAME] or [[NAME]]"),
    "Invalid value": ("no value", 'write "text", a number, true or [a list]'),
    "Unclosed array": ("a list without its closing bracket", "end it with ]"),
    "Unescaped '\\'": ("a single backslash in a text", "write two"),
}
"""What is wrong and the remedy, by the begin of the message of `tomllib`."""


def text(file: Path, where: str | None = None, largest: int = LARGEST) -> str:
    """The text of a file, without a byte order mark; `where` is its name in messages."""
    where = where or shown(file)
    try:
        with file.open("rb") as stream:
            content = stream.read(largest + 1)
    except OSError as error:
        mend = _READABLE.get(error.errno or 0, "see what it is by ls -l")
        raise InputError(f"cannot read it: {error.strerror}", where, mend) from None
    if len(content) > largest:
        raise InputError(f"it has more than {largest:,} bytes", where, "give a smaller file")
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError("it is UTF-16", f"{where}:1", _UTF8)
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        what = f"byte {content[error.start]:#04x} is not UTF-8"
        raise InputError(what, f"{where}:{line}", _UTF8) from None


def toml(content: str, where: str) -> dict[str, Any]:
    """The values of a TOML text."""
    if len(content) > TOML_LARGEST:
        what = f"it has {len(content):,} characters, and {TOML_LARGEST:,} are read"
        raise InputError(what, where, "give a smaller file")
    for number, line in enumerate(content.split("\n"), 1):
        if len(line) > TOML_WIDEST:
            what = f"this line has {len(line):,} characters, and {TOML_WIDEST:,} are read"
            raise InputError(what, f"{where}:{number}", "break it")
    try:
        return tomllib.loads(content)
    except tomllib.TOMLDecodeError as error:
        what, _, place = str(error).partition(" (at line ")
        line = place.split(",")[0] or str(len(content.split("\n")))
        known = (found for begin, found in _TOML.items() if what.startswith(begin))
        what, mend = next(known, (f"{what[:1].lower()}{what[1:]}", "correct it by toml.io"))
        raise InputError(f"not valid TOML: {what}", f"{where}:{line}", mend) from None
    except RecursionError:
        what = "not valid TOML for a system: tables or lists are nested too deeply"
        raise InputError(what, f"{where}:{_deepest(content)}", "nest less") from None
    except ValueError as error:  # a number of more digits than Python converts
        what = f"not valid TOML: {str(error).partition(';')[0]}"
        raise InputError(what, where, "write a smaller number") from None


def _deepest(content: str) -> int:
    """The line with the most opening brackets."""
    depths = [line.count("[") + line.count("{") for line in content.split("\n")]
    return depths.index(max(depths)) + 1
