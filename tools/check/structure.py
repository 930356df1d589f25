"""Rules about the structure of a crate: loops of modules, homes of impls, size."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tenonos.pool.library import Library
from tools.check.module_graph import Crate, loops
from tools.check.rule import Breach, Context, Rule

LONGEST_LOOP = 3
SMALLEST, LARGEST = 150, 3000
LAYERS = ("hw", "core", "mortise", "tenon")


def _crates(context: Context) -> Iterator[tuple[Library, Crate]]:
    for library in context.index.libraries:
        top = library.path / "src/lib.rs"
        if top.exists() and library.layer in LAYERS:
            yield library, Crate(top)


def module_loops(context: Context) -> Iterator[Breach]:
    """Modules that import each other in a loop of more than three."""
    for library, crate in _crates(context):
        for loop in loops(crate.imports()):
            if len(loop) > LONGEST_LOOP:
                where = context.shown(library.path / "src/lib.rs")
                what = f"{len(loop)} modules import each other: {', '.join(loop)}"
                mend = "move what several of them use below them"
                yield Breach("module-loops", where, what, mend)


def impl_home(context: Context) -> Iterator[Breach]:
    """Inherent impls outside the module tree of their type."""
    for _, crate in _crates(context):
        homes = crate.homes()
        for block in crate.inherent_impls():
            trees = [home.path for home in homes.get(block.type, ())]
            if trees and not any(block.module.path[: len(tree)] == tree for tree in trees):
                home = "::".join(trees[0]) or "crate"
                what = f"an impl of {block.type}, which {home} defines"
                mend = f"move it below {home}, or make it a function or trait of this module"
                where = context.shown(block.module.file, block.line)
                yield Breach("impl-home", where, what, mend)


def crate_size(context: Context) -> Iterator[Breach]:
    """Crates that are too large to be read, or too small to be one."""
    for library, crate in _crates(context):
        count = sum(len(_without_inline_tests(module.file.read_text())) for module in crate.modules)
        where = context.shown(library.manifest)
        if count > LARGEST:
            what = f"{count} lines without tests"
            yield Breach("crate-size", where, what, f"split it: at most {LARGEST}")
        elif count < SMALLEST and not library.small:
            what = f"{count} lines without tests"
            mend = "merge it into another one, or say in [package.metadata.tenon] small = why not"
            yield Breach("crate-size", where, what, mend)


def _without_inline_tests(text: str) -> list[str]:
    return re.split(r"^#\[cfg\(test\)\]\nmod \w+ \{", text, flags=re.MULTILINE)[0].splitlines()


RULES = (
    Rule(
        "module-loops",
        f"No more than {LONGEST_LOOP} modules of a crate import each other in a loop.",
        "Modules in a loop can only be read, tested and moved together.",
        module_loops,
    ),
    Rule(
        "impl-home",
        "Inherent impls stand in the module tree of their type.",
        "What a type can do is found where the type is.",
        impl_home,
    ),
    Rule(
        "crate-size",
        f"A crate of the pool has {SMALLEST} to {LARGEST} lines without its tests.",
        "A larger one hides its design; a smaller one must say why it stands alone.",
        crate_size,
    ),
)
