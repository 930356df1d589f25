"""Index of micro-libraries, from the manifests of the pool's crates.

A library is a folder `pool/LAYER/NAME`, `tests/support/NAME`, or an application's, with a
Cargo.toml (with authority, modules that grant an authority to their users, registrations, tables
and boot-only packages in `[package.metadata.tenon]`) and a Kconfig. An application in C has C files
and a Kconfig, and no crate. Applications and libraries outside the pool are read the same way.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from tenonos import catalogue, inputs
from tenonos.catalogue import is_c
from tenonos.errors import InputError
from tenonos.paths import POOL, ROOT, TESTS, shown
from tenonos.pool import renamed
from tenonos.system.units import duration

RANK = {"hw": 0, "core": 1, "mortise": 2, "tenon": 2, "support": 3, "apps": 4}
"""A crate may use its own layer and those of lower rank; mortise and tenon are siblings."""

SUPPORT = TESTS / "support"
"""The folder of libraries for tests only."""

LAYERS = tuple(layer for layer in RANK if layer not in ("support", "apps"))
"""The layers of the pool."""

AUTHORITIES = ("sysreg", "mmio", "raw-memory", "page-tables", "asm")


@dataclass(frozen=True)
class Register:
    """Something a library registers: `item` (a path inside it) goes into table `table`, in place of
    the entry `over` (a Rust path) if one is stated."""

    table: str
    item: str
    over: str | None = None


@dataclass(frozen=True)
class Table:
    """A registration table of a library, with the condition between its entries."""

    name: str
    item: str
    disjoint: str | None
    clash: str


@dataclass(frozen=True)
class End:
    """An end of a channel that an application opens; for an exchange there is one in each
    direction."""

    name: str
    does: str
    """One of `ENDS`."""
    size: int
    """The most bytes of a message."""


ENDS = ("sends", "receives", "exchanges")


@dataclass(frozen=True)
class Library:
    """One crate of the pool."""

    id: str
    path: Path
    package: str
    crate: str
    symbol: str
    layer: str
    description: str
    authority: tuple[str, ...]
    registers: tuple[Register, ...]
    tables: tuple[Table, ...]
    root: str | None
    dependencies: tuple[str, ...]
    """Required packages."""
    features: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """For a required package: the required features."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Optional packages, by the feature for each."""
    grants: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tasks: Mapping[str, int] = field(default_factory=dict)
    """For an application: its periodic tasks, with default periods in ns."""
    any_task: bool = False
    """Whether an application runs any tasks named by its system instead."""
    startup: tuple[str, ...] = ()
    """Packages, its own or of the registry, that run at boot only."""
    sources: tuple[Path, ...] = ()
    """For an application in C: its C files."""
    rights: tuple[str, ...] | None = None
    """For a native task: its rights, in the order of its arguments."""
    ends: tuple[End, ...] = ()
    """For an application: the ends of channels that it opens, by name."""
    drives: tuple[str, ...] = ()
    """For a driver: the kinds of devices that it drives, by their names in boards."""
    small: str = ""
    """For a small crate: the reason why it is separate."""
    statics: bool = False
    """Whether it has static objects that the image defines, by its macro `statics!`."""
    settings: bool = False
    """Whether it has settings that the image defines, by its macro `settings!`."""
    operations: Mapping[str, str] = field(default_factory=dict)
    """Its key operations, with the name of each in the bench: `SUITE/NAME`."""

    @property
    def manifest(self) -> Path:
        """Its manifest: Cargo.toml, or Kconfig for an application in C."""
        return self.path / ("Kconfig" if self.sources else "Cargo.toml")

    @property
    def headers(self) -> Path | None:
        """The folder of its headers for programs in C, if it has any."""
        folder = self.path / "include"
        return folder if not self.sources and folder.is_dir() else None

    @property
    def is_outside(self) -> bool:
        """Whether it is outside the pool and its applications."""
        own = self.path.is_relative_to(POOL) or self.path.parent == SUPPORT
        return not (own or catalogue.is_app_folder(self.path))

    @property
    def is_of_clone(self) -> bool:
        """Whether it is an application of the clone."""
        return catalogue.is_app_folder(self.path)

    def may_use(self, other: "Library") -> bool:
        """Whether the layer order allows a dependency on `other`."""
        return self.layer == other.layer or RANK[other.layer] < RANK[self.layer]


def read(folder: Path, layer: str | None = None, others: Collection[Path] = ()) -> Library:
    """The library in `folder`; its layer is that of the tree unless given. Of an application in C,
    the files and folders of `others` are no part."""
    if is_c(folder):
        return _c_application(folder, others)
    manifest = folder / "Cargo.toml"
    if not manifest.is_file():
        raise InputError("no Cargo.toml and no C file", where=shown(folder))
    return _library(folder, layer, inputs.text(manifest))


@cache
def _library(folder: Path, layer: str | None, text: str) -> Library:
    """The library in `folder`, cached by the text of its manifest."""
    manifest = folder / "Cargo.toml"
    try:
        values = inputs.toml(text, shown(manifest))
        package = values["package"]["name"]
    except (KeyError, TypeError) as error:
        lacks = "[package]" if str(error) == "'package'" else "name in [package]"
        raise InputError(
            f"not a crate's manifest: it has no {lacks}",
            where=shown(manifest),
            mend='write [package] with name = "…", as ./tenon new makes it',
        ) from None
    meta = values["package"].get("metadata", {}).get("tenon", {})
    _known(meta, manifest)
    layer = layer or meta.get("layer") or folder.parent.name
    app = layer == "apps"
    identity = f"{layer}/{folder.name}"
    return Library(
        id=identity,
        path=folder,
        package=package,
        crate=values.get("lib", {}).get("name", package.replace("-", "_")),
        symbol=("APP_" + _symbol(package)) if app else f"LIB_{_symbol(identity)}",
        layer=layer,
        description=values["package"].get("description", ""),
        authority=tuple(meta.get("authority", ())),
        grants={name: tuple(modules) for name, modules in meta.get("grants", {}).items()},
        registers=tuple(
            Register(r["table"], r["item"], r.get("over")) for r in meta.get("registers", ())
        ),
        tables=tuple(
            Table(name, t["item"], t.get("disjoint"), t.get("clash", "clash"))
            for name, t in meta.get("tables", {}).items()
        ),
        root=meta.get("root"),
        dependencies=tuple(name for name, value in _dependencies(values) if not _optional(value)),
        features={
            name: tuple(value["features"])
            for name, value in _dependencies(values)
            if isinstance(value, dict) and value.get("features")
        },
        options=_options(values),
        tasks={task: duration(period) for task, period in meta.get("tasks", {}).items()},
        any_task=meta.get("any_task", False),
        ends=tuple(_ends(meta)),
        startup=tuple(meta.get("startup", ())),
        rights=tuple(meta["rights"]) if "rights" in meta else None,
        drives=tuple(meta.get("drives", ())),
        small=meta.get("small", ""),
        statics=meta.get("statics", False),
        settings=meta.get("settings", False),
        operations=dict(meta.get("operations", {})),
    )


C_ROOT = "tenon-posix"
"""The package with entry point and C interface of programs in C."""


def _c_application(folder: Path, others: Collection[Path]) -> Library:
    """The application in C in `folder`: its Kconfig names it."""
    kconfig = folder / "Kconfig"
    text = inputs.text(kconfig) if kconfig.is_file() else ""
    symbol = re.search(r"^config\s+(APP_[A-Z0-9_]+)", text, re.MULTILINE)
    prompt = re.search(r'^\s+bool\s+"(.*)"', text, re.MULTILINE)
    if symbol is None or prompt is None:
        raise InputError(
            "no Kconfig with a config APP_NAME beside the C files",
            where=shown(folder),
            mend="see ./tenon new app NAME --lang c",
        )
    sources = [f for f in _visible(folder, "*.c") if not any(map(f.is_relative_to, others))]
    if not sources:
        raise InputError(
            "each C file of the application is one of another VM's",
            where=shown(folder),
            mend="put those of the application into a folder of its own",
        )
    return Library(
        id=f"apps/{folder.name}",
        path=folder,
        package=symbol[1].removeprefix("APP_").lower().replace("_", "-"),
        crate=C_ROOT.replace("-", "_"),
        symbol=symbol[1],
        layer="apps",
        description=prompt[1],
        authority=(),
        registers=(),
        tables=(),
        root=None,
        dependencies=(C_ROOT,),
        sources=tuple(sources),
    )


def _visible(folder: Path, pattern: str) -> list[Path]:
    """The files below `folder` without hidden ones."""
    files = sorted(folder.rglob(pattern))
    return [f for f in files if not any(p.startswith(".") for p in f.relative_to(folder).parts)]


def _symbol(text: str) -> str:
    return text.upper().replace("-", "_").replace("/", "_")


_KEYS = {
    *("authority", "grants", "registers", "tables", "root", "tasks", "startup", "operations"),
    *("rights", "layer", "drives", "any_task", "small", "statics", "settings"),
    *ENDS,
}


def _ends(meta: Mapping[str, Any]) -> Iterator[End]:
    for does in ENDS:
        yield from (End(name, does, size) for name, size in meta.get(does, {}).items())


def _known(meta: Mapping[str, Any], manifest: Path) -> None:
    for key in meta.keys() - _KEYS:
        where = shown(manifest)
        raise InputError(f'unknown key "{key}" in [package.metadata.tenon]', where=where)
    for name in (*meta.get("authority", ()), *meta.get("grants", {})):
        if name not in AUTHORITIES:
            raise InputError(
                f'unknown authority "{name}"',
                where=shown(manifest),
                mend=f"known are {', '.join(AUTHORITIES)}",
            )
    if meta.get("drives") and "mmio" not in meta.get("authority", ()):
        raise InputError(
            "a driver of a device needs access to its registers",
            where=shown(manifest),
            mend='add "mmio" to authority in [package.metadata.tenon]',
        )


def _dependencies(values: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    """The dependencies of a crate, without those of its tests."""
    tables = [values.get("dependencies", {})]
    tables += [target.get("dependencies", {}) for target in values.get("target", {}).values()]
    for table in tables:
        for name, value in table.items():
            yield (value.get("package", name) if isinstance(value, dict) else name), value


def _optional(value: Any) -> bool:
    """Whether a dependency is optional."""
    return isinstance(value, dict) and bool(value.get("optional"))


def _options(values: Mapping[str, Any]) -> dict[str, str]:
    """The optional packages by feature: each has a feature of its own."""
    optional = {name for name, value in _dependencies(values) if _optional(value)}
    return {
        feature: parts[0].removeprefix("dep:")
        for feature, parts in values.get("features", {}).items()
        if len(parts) == 1 and parts[0].removeprefix("dep:") in optional
    }


@dataclass(frozen=True)
class Index:
    """All libraries, with those added from outside the pool."""

    libraries: tuple[Library, ...]

    @cached_property
    def by_package(self) -> dict[str, Library]:
        """Libraries by cargo package name."""
        return {library.package: library for library in self.libraries}

    @cached_property
    def by_symbol(self) -> dict[str, Library]:
        """Libraries by Kconfig symbol, without `CONFIG_`."""
        return {library.symbol: library for library in self.libraries}

    @cached_property
    def by_id(self) -> dict[str, Library]:
        """Libraries by `layer/name`."""
        return {library.id: library for library in self.libraries}

    def pool_dependencies(self, library: Library) -> list[Library]:
        """The libraries of the pool that `library` needs directly, or by a feature it names."""
        names = dict.fromkeys(library.dependencies)
        for package, features in library.features.items():
            options = self.by_package[package].options if package in self.by_package else {}
            names |= dict.fromkeys(options[feature] for feature in features if feature in options)
        return [self.by_package[name] for name in names if name in self.by_package]

    def pool_options(self, library: Library) -> list[Library]:
        """The optional dependencies of `library` in the pool."""
        named = library.options.values()
        return [self.by_package[name] for name in named if name in self.by_package]

    def table(self, name: str) -> tuple[Library, Table] | None:
        """The owner of a registration table, and the table."""
        for library in self.libraries:
            for table in library.tables:
                if table.name == name:
                    return library, table
        return None

    def with_app(self, folder: Path, others: Collection[Path] = ()) -> "Index":
        """This index with the application in `folder` (see `read`), unless it is included already.
        One of the user's own replaces an application of the clone that has its name."""
        if any(library.path == folder for library in self.libraries):
            return self
        added = read(folder, "apps", others)
        self._require_usable(added)
        kept = [each for each in self.libraries if not (_same(each, added) and each.is_of_clone)]
        return Index(tuple(kept))._with(added)

    def with_library(self, folder: Path) -> "Index":
        """This index with the user's library in `folder`, which declares its layer."""
        added = read(folder)
        if added.layer not in LAYERS:
            raise InputError(
                "a library outside the pool must declare its layer",
                where=shown(added.manifest),
                mend=f"add layer = to [package.metadata.tenon], one of {', '.join(LAYERS)}",
            )
        self._require_usable(added)
        return self._with(added)

    def _with(self, added: Library) -> "Index":
        """This index with one more crate, which must have unique names and use today's."""
        for package in (*added.dependencies, *added.options.values()):
            if package in renamed.PACKAGES and package not in self.by_package:
                raise InputError(
                    f"{package} is {renamed.PACKAGES[package]} now", where=_line(added, package)
                )
        taken = next((each for each in self.libraries if _same(each, added)), None)
        if taken is not None:
            here = f"the folder {shown(taken.path)}" if taken.is_outside else "the pool"
            raise InputError(
                f'{here} has a package "{taken.package}" too, {taken.id}',
                where=shown(added.manifest),
                mend="give this one another name",
            )
        return Index((*self.libraries, added))

    def _require_usable(self, added: Library) -> None:
        """Refuse a name that cargo or rustc would mix up."""
        if what := self.unusable(added.package):
            raise InputError(
                f'"{added.package}" is {what}',
                where=shown(added.manifest),
                mend="give this one another name",
            )

    def unusable(self, package: str) -> str | None:
        """What the name of a crate of the user's is already, where cargo or rustc would mix it up
        with that: of a crate that the pool takes from outside, of one of Rust's, a keyword."""
        name = package.replace("-", "_")
        if name in _KEYWORDS:
            return "a keyword of Rust"
        if name in _BUILT_IN:
            return "a crate of Rust's or of this project's"
        used = {each for library in self.libraries for each in library.dependencies}
        if package in used and package not in self.by_package:
            return "a crate that the pool uses"
        return None


_BUILT_IN = frozenset(
    ("alloc", "compiler_builtins", "core", "mortise", "proc_macro", "std", "tenon", "test")
)
"""Names by which generated code and that of applications reach crates of Rust and Tenon's API."""
_KEYWORDS = frozenset(
    (
        *("abstract", "as", "async", "await", "become", "box", "break", "const", "continue"),
        *("crate", "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen"),
        *("if", "impl", "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override"),
        *("priv", "pub", "ref", "return", "self", "static", "struct", "super", "trait", "true"),
        *("try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while"),
        "yield",
    )
)
"""Words that are no names in Rust 2024."""


def _same(one: Library, other: Library) -> bool:
    """Whether two crates have one name, as packages or as symbols."""
    return one.package == other.package or one.symbol == other.symbol


def index(root: Path = ROOT) -> Index:
    """The libraries of the tree, in the order of their layers and names."""
    pool = root / POOL.relative_to(ROOT)
    manifests = (file for layer in LAYERS for file in (pool / layer).glob("*/Cargo.toml"))
    libraries = [read(file.parent) for file in manifests]
    support = (root / SUPPORT.relative_to(ROOT)).glob("*/Cargo.toml")
    libraries += [read(file.parent) for file in support]
    libraries += [read(folder, "apps") for folder in catalogue.apps(root).values()]
    return Index(tuple(sorted(libraries, key=lambda lib: (RANK[lib.layer], lib.layer, lib.id))))


def breaches(index: Index) -> list[InputError]:
    """Every dependency on a higher layer, or from one kernel on the other."""
    return [
        InputError(
            f"{library.id} reaches above its layer: it depends on {other.id}",
            where=_line(library, other.package),
            mend=f"{library.layer} may use {_below(library.layer)}",
        )
        for library in index.libraries
        for other in index.pool_dependencies(library)
        if not library.may_use(other)
    ]


def _below(layer: str) -> str:
    names = [name for name in RANK if name == layer or RANK[name] < RANK[layer]]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _line(library: Library, package: str) -> str:
    """`file:line` of the dependency of `library` on `package`."""
    for number, line in enumerate(inputs.text(library.manifest).splitlines(), 1):
        if line.strip().startswith((package, f'"{package}"')) or f'package = "{package}"' in line:
            return f"{shown(library.manifest)}:{number}"
    return shown(library.manifest)
