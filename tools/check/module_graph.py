"""Module graph of a Rust crate: its modules, their imports of each other, types and inherent impls.

No parser: items and paths are found in source with blanked comments and literals. Modules in
files of their own are nodes; a module written within another one belongs to that one. Tests are
left out. A re-export (`pub use`) is no import: a path through it leads to what it names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tools.check import rust_text

_ATTRIBUTES = r"(?P<attributes>(?:#\[[^\]]*\]\s*)*)"
_VISIBLE = r"(?P<visible>pub(?:\([^)]*\))?\s+)?"
_TEST = re.compile(r"#\[cfg\((?:all\(|any\()?\s*(?:test|loom|fuzzing)\b")
_MODULE = re.compile(_ATTRIBUTES + _VISIBLE + r"mod\s+(?P<name>\w+)\s*(?P<end>[;{])")
_ITEM = re.compile(r"\b(?:struct|enum|union|trait|type|fn|const|static|macro_rules!)\s+(\w+)")
_TYPE = re.compile(r"\b(?:struct|enum|union)\s+(\w+)")
_USE = re.compile(_VISIBLE + r"\buse\s+(?P<tree>[^;]+);")
_PATH = re.compile(r"\b(?:crate|super|self)(?:\s*::\s*\w+)+|\b[a-z_]\w*(?:\s*::\s*\w+)+")
_IMPL = re.compile(r"^[ \t]*(?:unsafe\s+)?impl\b(?P<head>[^{;]*)\{", re.MULTILINE)


@dataclass
class Module:
    """One file of a crate."""

    path: tuple[str, ...]
    file: Path
    text: str
    """Its source without comments, literals and tests."""
    children: dict[str, Module] = field(default_factory=dict)
    exports: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Re-exported name -> the path that it stands for, as written."""
    globs: list[tuple[str, ...]] = field(default_factory=list)
    """Paths of which all names are re-exported."""
    items: set[str] = field(default_factory=set)

    @property
    def name(self) -> str:
        """Its path in the crate."""
        return "::".join(self.path) or "crate"


@dataclass(frozen=True)
class InherentImpl:
    """An `impl` block without a trait."""

    module: Module
    line: int
    type: str


class Crate:
    """The modules of the crate with its source in a folder."""

    def __init__(self, top: Path) -> None:
        self.root = Module((), top, "")
        self.modules: list[Module] = []
        self._load(self.root, top.parent)

    def _load(self, module: Module, folder: Path) -> None:
        plain = rust_text.code(module.file.read_text())
        children = []
        for match in reversed(list(_MODULE.finditer(plain))):
            inside = match["end"] == "{"
            test = _TEST.search(match["attributes"]) or match["name"] in ("tests", "model")
            if inside and not test:
                continue
            end = rust_text.block_end(plain, match.end() - 1) if inside else match.end()
            gone = re.sub(r"[^\n]", " ", plain[match.start() : end])
            plain = plain[: match.start()] + gone + plain[end:]
            if not inside and not test:
                children.append(match["name"])
        module.text = plain
        module.items = set(_ITEM.findall(plain))
        self.modules.append(module)
        for name in reversed(children):
            for file in (folder / f"{name}.rs", folder / name / "mod.rs"):
                if file.exists():
                    module.children[name] = Module((*module.path, name), file, "")
                    self._load(module.children[name], folder / name)
                    break
        for use in _USE.finditer(plain):
            if use["visible"]:
                for path, alias in _leaves(use["tree"]):
                    if alias == "*":
                        module.globs.append(path)
                    else:
                        module.exports[alias] = path

    def owner(self, start: Module, path: tuple[str, ...], depth: int = 0) -> Module | None:
        """The module that defines what a path names, seen from `start`; None outside the crate."""
        at: Module = start
        rest = list(path)
        if rest and rest[0] == "crate":
            at, rest = self.root, rest[1:]
        elif rest and rest[0] == "self":
            rest = rest[1:]
        elif rest and rest[0] == "super":
            while rest and rest[0] == "super":
                at, rest = self._parent(at), rest[1:]
        elif rest and rest[0] not in at.children and rest[0] not in at.exports:
            return None
        for index, segment in enumerate(rest):
            if segment in at.children:
                at = at.children[segment]
            elif segment in at.exports and depth < 8:
                more = tuple(rest[index + 1 :])
                return self.owner(at, at.exports[segment] + more, depth + 1)
            elif segment in at.items:
                return at
            else:
                return self._through_glob(at, segment, depth) or at
        return at

    def _through_glob(self, at: Module, name: str, depth: int) -> Module | None:
        for path in at.globs if depth < 8 else ():
            found = self.owner(at, path, depth + 1)
            if found is not None and found is not at and name in found.items | found.exports.keys():
                return self.owner(found, ("self", name), depth + 1)
        return None

    def _parent(self, module: Module) -> Module:
        at = self.root
        for name in module.path[:-1]:
            at = at.children[name]
        return at

    def imports(self) -> dict[str, set[str]]:
        """Module -> the other modules of the crate from which it names items."""
        found: dict[str, set[str]] = {module.name: set() for module in self.modules}
        for module in self.modules:
            for path in _named(module.text):
                owner = self.owner(module, path)
                if owner is not None and owner is not module:
                    found[module.name].add(owner.name)
        return found

    def homes(self) -> dict[str, list[Module]]:
        """Type -> the modules that define one of this name."""
        found: dict[str, list[Module]] = {}
        for module in self.modules:
            for name in _TYPE.findall(module.text):
                found.setdefault(name, []).append(module)
        return found

    def inherent_impls(self) -> Iterator[InherentImpl]:
        """Each inherent `impl` block."""
        for module in self.modules:
            for match in _IMPL.finditer(module.text):
                head = _without_generics(match["head"])
                if not re.search(r"\bfor\b", head) and (
                    name := re.search(r"(\w+)\s*(?:where|$)", head)
                ):
                    line = module.text.count("\n", 0, match.start()) + 1
                    yield InherentImpl(module, line, name[1])


def _without_generics(text: str) -> str:
    """The head of an impl without what stands in angle brackets and behind `where`."""
    kept, depth = [], 0
    for at, letter in enumerate(text):
        if letter == ">" and text[at - 1] != "-":
            depth -= 1
        elif letter == "<":
            depth += 1
        elif not depth:
            kept.append(letter)
    return re.split(r"\bwhere\b", "".join(kept))[0].strip()


def _leaves(tree: str, base: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """(path, local name) of each leaf of a use tree; the name is `*` for a glob."""
    tree = tree.strip()
    head, brace, inner = tree.partition("{")
    prefix = (*base, *(part.strip() for part in head.split("::") if part.strip()))
    if not brace:
        *path, last = prefix or ("",)
        name, _, alias = last.partition(" as ")
        if name == "*":
            yield tuple(path), "*"
        elif name == "self":
            yield tuple(path), alias.strip() or path[-1]
        elif name:
            yield (*path, name.strip()), alias.strip() or name.strip()
        return
    depth, start = 0, 0
    body = inner[: inner.rindex("}")]
    for at, letter in enumerate(body + ","):
        depth += (letter == "{") - (letter == "}")
        if letter == "," and not depth:
            yield from _leaves(body[start:at], prefix)
            start = at + 1


def _named(text: str) -> Iterator[tuple[str, ...]]:
    """Each path that a module names, but those that it re-exports."""
    for use in _USE.finditer(text):
        if not use["visible"]:
            for path, alias in _leaves(use["tree"]):
                yield (*path, "*") if alias == "*" else path
    for match in _PATH.finditer(_USE.sub(" ", text)):
        yield tuple(part.strip() for part in match[0].split("::"))


def loops(imports: dict[str, set[str]]) -> list[list[str]]:
    """The strongly connected components of more than one module, the largest first."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(imports[node]):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            at = stack.index(node)
            component = stack[at:]
            del stack[at:]
            if len(component) > 1:
                found.append(sorted(component))

    for node in imports:
        if node not in index:
            visit(node)
    return sorted(found, key=lambda loop: (-len(loop), loop))
