"""Source lines of code, without blank lines, comments and tests.

Every count of lines in the project follows this rule. Rust and assembly are lexed far enough to
tell comments from strings; items under `#[cfg(test)]` and files of tests do not count.
"""

import re
from collections.abc import Iterator
from pathlib import Path

_SKIPPED = {"tests", "benches", "examples", "target", "fuzz"}
_TOKEN = re.compile(
    r"""
    (?P<line>//[^\n]*)
  | (?P<block>/\*)
  | (?P<raw>b?r(?P<hashes>\#*)".*?"(?P=hashes))
  | (?P<string>b?"(?:[^"\\]|\\.)*")
  | (?P<char>b?'(?:[^'\\\n]|\\[^\n]{1,10}?)')
    """,
    re.VERBOSE | re.DOTALL,
)
_TEST = re.compile(r"#\[cfg\((?:all\()?test\b[^\]]*\]")


def count(folder: Path) -> int:
    """Source lines of the crate in `folder`."""
    return sum(lines(file.read_text()) for file in sources(folder))


def sources(folder: Path) -> Iterator[Path]:
    """The source files to count."""
    for file in sorted(folder.rglob("*")):
        parts = file.relative_to(folder).parts
        tests = file.stem == "tests" or file.stem.endswith("_tests")
        if file.suffix in (".rs", ".S", ".s") and not tests and not _SKIPPED.intersection(parts):
            yield file


def lines(text: str) -> int:
    """Source lines of one file's text."""
    return sum(1 for line in _without_tests(code(text)).splitlines() if line.strip())


def code(text: str) -> str:
    """The text without comments, and with strings reduced to placeholders."""
    kept, at = [], 0
    while match := _TOKEN.search(text, at):
        kept.append(text[at : match.start()])
        at = match.end()
        if match["block"]:
            at = _block_end(text, at)
            kept.append("\n" * text.count("\n", match.start(), at))
        elif match["string"] or match["raw"]:
            # A line of a string is a line of code; braces in it are not.
            kept.append(re.sub(r"[^\n]", "s", match[0]))
        elif match["char"]:
            kept.append("c")
    return "".join([*kept, text[at:]])


def _block_end(text: str, at: int) -> int:
    """The position after a block comment; block comments nest in Rust."""
    depth = 1
    while depth and (match := re.compile(r"/\*|\*/").search(text, at)):
        depth += 1 if match[0] == "/*" else -1
        at = match.end()
    return at if not depth else len(text)


def _without_tests(text: str) -> str:
    """The text without items under `#[cfg(test)]`."""
    while match := _TEST.search(text):
        end = re.compile(r"[;{]").search(text, match.end())
        stop = len(text) if end is None else end.end()
        if end is not None and end[0] == "{":
            depth, stop = 1, end.end()
            while depth and stop < len(text):
                depth += {"{": 1, "}": -1}.get(text[stop], 0)
                stop += 1
            stop += text[stop : stop + 1] == ";"
        text = text[: match.start()] + text[stop:]
    return text
