"""Rules about language: words for things, heads of modules, subjects of commits."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from tools.check.rule import Breach, Context, Rule, Skipped
from tools.check.sources import NO_NOUN

DENSITY = 0.3
"""Comment lines with a word for persons, of 100, that a folder may have: some do mean persons."""

PLACES = ("pool", "examples", "linux", "orchestrator", "tools", "tests", "bench")

LONGEST_SUBJECT = 65
SINCE = "238c65a681585f96736e07c8ae457153f775d1fd"
"""The last commit before the rule for subjects."""

_PERSONS = re.compile(
    r"\b(?:who|whom|whose|some(?:body|one)|(?:no|any|every)body)\b", re.IGNORECASE
)
_SUBJECT = re.compile(r"[a-z0-9][a-z0-9_./-]*(?:, [a-z0-9_./-]+)*: (?P<verb>[a-z]+)\b.*[^.]")
_NO_IMPERATIVE = re.compile(r"(?!embed|feed|need|seed|shed|speed|bring|ring|string)\w+(?:ed|ing)")

_RIDDLE = re.compile(
    rf"(?:{NO_NOUN}|What|Who|Whom|Whose|How|When|Where|Whether|Why|That|These|Those|There|If|To|As|"
    r"Says?|Tells?|Keeps?)\b"
)
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9-]*")
_SPAN = re.compile(r"`[^`]+`")
_NAME = re.compile(r"\b(?:[A-Z]{2,}[A-Za-z0-9]*|[A-Z]?[a-z]+[A-Z0-9][A-Za-z0-9]*|[A-Z]+[0-9]+)\b")
"""An abbreviation or identifier: PSCI, GICv3, EL2, MaxSAT."""


def comments(file: Path) -> Iterator[tuple[int, str]]:
    """(line, text) of each comment line, documentation strings of Python included."""
    lines = file.read_text(errors="replace").splitlines()
    if file.suffix == ".py":
        inside = _documentation("\n".join(lines))
        for number, line in enumerate(lines, 1):
            if line.strip() and (number in inside or re.search(r"(?:^|\s)#", line)):
                yield number, line.strip()
        return
    block = False
    for number, line in enumerate(lines, 1):
        text = line.strip()
        begins = re.search(r"//|/\*" if file.suffix != ".toml" else "#", text)
        if text and (block or begins):
            yield number, text
        if file.suffix in (".c", ".h", ".S"):
            block = (block or "/*" in text) and "*/" not in text.rpartition("/*")[2]


def _documentation(text: str) -> set[int]:
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return set()
    found: set[int] = set()
    for node in ast.walk(tree):
        constant = node.value if isinstance(node, ast.Expr) else None
        if isinstance(constant, ast.Constant) and isinstance(constant.value, str):
            found.update(range(constant.lineno, (constant.end_lineno or constant.lineno) + 1))
    return found


def field_words(context: Context) -> Iterator[Breach]:
    """Words for persons in comments, in each folder that has too many of them."""
    for place in PLACES:
        folder = context.root / place
        total, found = 0, []
        for file in context.files:
            if file.is_relative_to(folder) and file.suffix in (".rs", ".py", ".c", ".h", ".S"):
                for number, text in comments(file):
                    total += 1
                    if match := _PERSONS.search(text):
                        found.append((file, number, match[0]))
        if len(found) * 100 > DENSITY * total:
            for file, number, word in found:
                mend = "name the thing: which, that, or its own noun"
                what = f'"{word}" in a comment'
                yield Breach("field-words", context.shown(file, number), what, mend)


@cache
def terms(page: Path) -> frozenset[str]:
    """The words of the glossary's terms, in lower case."""
    found: set[str] = set()
    for row in re.findall(r"^\| ([^|]+) \|", page.read_text(), re.MULTILINE):
        for term in re.sub(r"\([^)]*\)", "", row).split(","):
            found.update(_WORD.findall(term.lower()))
    return frozenset(found - {"term", "of", "a", "the"})


def has_term(sentence: str, known: Iterable[str]) -> bool:
    """Whether a sentence names a term, an abbreviation, or an item in a code span."""
    if _SPAN.search(sentence) or _NAME.search(sentence):
        return True
    words = set(_WORD.findall(sentence.lower()))
    singular = {word[:-1] for word in words if word.endswith("s")}
    singular |= {word[:-2] for word in words if word.endswith("es")}
    singular |= {word[:-3] + "y" for word in words if word.endswith("ies")}
    singular |= {part for word in words for part in word.split("-")}
    return not set(known).isdisjoint(words | singular)


def _first_sentence(file: Path) -> tuple[int, str] | None:
    first, text = 0, []
    for number, line in enumerate(file.read_text().splitlines(), 1):
        if not line.startswith("//!"):
            if text or (line.strip() and not line.startswith(("//", "#!"))):
                break
            continue
        words = line[3:].strip()
        if not words and text:
            break
        first = first or number
        text.append(words)
    if not text:
        return None
    return first, re.split(r"(?<=[.:;])\s", " ".join(text))[0]


def module_heads(context: Context) -> Iterator[Breach]:
    """Modules without a noun phrase of the field at the start of their documentation."""
    page = context.root / "docs/glossary.md"
    known = terms(page) if page.exists() else frozenset()
    for library in context.index.libraries:
        for file in sorted((library.path / "src").rglob("*.rs")):
            first = _first_sentence(file)
            if first is None:
                continue
            number, sentence = first
            where = context.shown(file, number)
            if match := _RIDDLE.match(sentence):
                what = f'the module opens with "{match[0]}"'
                yield Breach("module-heads", where, what, "open with a noun phrase")
            elif not has_term(sentence, known):
                what = f'"{sentence}" names no term of docs/glossary.md and no item'
                yield Breach("module-heads", where, what, "say what it is in terms of the field")


def subject_breach(subject: str) -> str | None:
    """What is wrong with a commit's subject."""
    if len(subject) > LONGEST_SUBJECT:
        return f"{len(subject)} characters"
    match = _SUBJECT.fullmatch(subject)
    if match is None:
        return "not `area: imperative`"
    if _NO_IMPERATIVE.fullmatch(match["verb"]):
        return f'"{match["verb"]}" is no imperative'
    return None


def commit_subject(context: Context) -> Iterator[Breach]:
    """Commits with a subject of another form."""
    command = ["git", "-C", str(context.root), "log", "--no-merges", "--format=%h %s"]
    done = subprocess.run([*command, f"{SINCE}..HEAD"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Skipped(f"the history back to {SINCE[:8]} is not here")
    for line in done.stdout.splitlines():
        commit, _, subject = line.partition(" ")
        if what := subject_breach(subject):
            mend = f"reword it: `area: imperative`, at most {LONGEST_SUBJECT} characters"
            yield Breach("commit-subject", commit, f'{what}: "{subject}"', mend)


RULES = (
    Rule(
        "field-words",
        f"Fewer than {DENSITY} of 100 comment lines speak of things as persons.",
        "A reader of the Arm ARM knows terms, not who has what.",
        field_words,
    ),
    Rule(
        "module-heads",
        "A module opens with a noun phrase that has a term of the glossary or an item's name.",
        "A module is found by what it is, not by a riddle.",
        module_heads,
    ),
    Rule(
        "commit-subject",
        f"A commit's subject is `area: imperative`, at most {LONGEST_SUBJECT} characters.",
        "A history is searched by area and read by line.",
        commit_subject,
    ),
)
