"""An image: what it is made of, and the crate that is generated for it.

The crate has an empty `[workspace]` of its own, so that neither the pool's
features nor its profile reach it, and is written only where its text changed,
so that cargo finds nothing new in what is not new.
"""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tenonos.errors import InputError
from tenonos.generate import config_rs, tables_rs
from tenonos.paths import POOL, shown
from tenonos.pool.kconfig import Config
from tenonos.pool.library import Index, Library, breaches
from tenonos.setup import rust
from tenonos.system.board import Board, Device

LINKER_SCRIPT = POOL / "hw" / "arch" / "image.ld"
PROTECTION, TABLES_BESIDE = "TENON_THREAD_PROTECTION", 4
"""Whether an image has a map of its own, and the tables of it that its own memory does not need:
those of level 2 for devices, RAM and shared areas, and that of level 3 for the guest header."""
TABLES_OF_ITSELF = 2
"""Those that its own memory needs, within one block."""

NATIVE, MEMCPY = "native", "mortise-memcpy"
"""The root of an image without a kernel; the crate that replaces the toolchain's `memcpy`."""

WRAPPED = ("vfprintf", "fputc", "fputs", "puts", "fwrite")
"""The C library's functions on streams, which know no locks: `tenon/libc` has some around them."""

_LONG_LOOPS = frozenset(
    {"core-log", "core-paging", "core-ring", "hw-serial", "mortise-console"}
)
"""What prints and what maps: most of what Mortise does until a guest begins."""


@dataclass(frozen=True)
class Native:
    """A native task of an image: its program, and the core it has."""

    name: str
    app: Library
    cpu: int

    @property
    def function(self) -> str:
        """What calls it in the image's crate."""
        return f"native_{self.name.replace('-', '_')}"


@dataclass(frozen=True)
class Image:
    """One image to build. `kind` is the kernel it is: `mortise` or `tenon`."""

    name: str
    kind: str
    package: str
    board: Board
    config: Config
    libraries: tuple[Library, ...]
    root: Library
    app: Library | None
    natives: tuple[Native, ...] = ()
    devices: tuple[Device, ...] = ()
    """Those of its own that one of its libraries drives."""

    @property
    def target(self) -> str:
        """What it is compiled for: floating-point registers are used only where they are kept."""
        kept = self.config["TENON_THREAD_FP_HANDLERS"]
        return rust.FLOAT_TARGET if kept else rust.IMAGE_TARGET

    @property
    def optimisation(self) -> str:
        """What the compiler optimises for, as cargo's profile says it."""
        if self.for_size:
            # Of Tenon the least code ("z") is not less, as it has more constants; and a native task
            # without VMs is to be on time as well.
            return '"z"' if self.root.root == "mortise" else '"s"'
        # What level 3 inlines beyond level 2 makes Tenon's paths shorter, but none of Mortise's.
        return "2" if self.kind == "mortise" else "3"

    @property
    def flags(self) -> tuple[str, ...]:
        """Compiler flags of its own: made for size, an address takes one instruction."""
        return ("-Ccode-model=tiny",) if self.for_size else ()

    @property
    def for_size(self) -> bool:
        """Whether all of it is to be small."""
        return bool(self.config.values.get("OPTIMISE_SIZE"))

    @property
    def tables(self) -> int:
        """Translation tables it has beside those its own memory needs."""
        return TABLES_BESIDE if self.config.values.get(PROTECTION) else 0

    @property
    def for_c(self) -> tuple[Library, ...]:
        """The libraries that a program in C calls."""
        return tuple(library for library in self.libraries if library.headers)

    @property
    def base(self) -> int:
        """The address it is linked at and runs at."""
        if self.kind == "mortise":
            return self.board.image.mortise
        return self.board.ram.base + self.board.image.guest_offset


def choose(index: Index, config: Config) -> tuple[Library, ...]:
    """The libraries a configuration chose, checked: layers kept, and all they need chosen too."""
    chosen = tuple(lib for lib in index.libraries if config[lib.symbol])
    for breach in breaches(Index(chosen)):
        raise breach
    for library in chosen:
        for needed in index.pool_dependencies(library):
            if not library.may_use(needed):
                raise breaches(Index((library, needed)))[0]
            if needed not in chosen:
                raise InputError(
                    f"{library.id} needs {needed.id}, and its Kconfig does not select it",
                    where=shown(library.path / "Kconfig"),
                    mend=f"add select {needed.symbol}",
                )
    return chosen


def root_of(libraries: Iterable[Library], kind: str, where: str) -> Library:
    """The library that makes an image of that kind: it has the entry and the statics."""
    for library in libraries:
        if library.root == kind:
            return library
    raise InputError(f"nothing chosen is the root of a {kind} image", where=where)


def write(image: Image, folder: Path, objects: Iterable[Path] = ()) -> None:
    """The crate of `image` in `folder`; `objects` are linked with it."""
    files = {
        "Cargo.toml": _manifest(image, folder),
        "build.rs": _build_script(image, list(objects)),
        "src/main.rs": _main(image),
        "src/config.rs": config_rs.render(image.config, image.board, image.devices),
        "src/tables.rs": tables_rs.render(image.libraries),
    }
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists() or file.read_text() != text:
            file.write_text(text)


def _manifest(image: Image, folder: Path) -> str:
    crates = [lib for lib in image.libraries if not lib.sources]
    lines = [
        "# Generated by `./tenon build`; do not edit.",
        "[package]",
        f'name = "{image.package}"',
        'version = "0.0.0"',
        'edition = "2024"',
        "publish = false",
        "",
        "[dependencies]",
        *(_dependency(lib, crates, folder) for lib in crates),
        "",
    ]
    named = {name for lib in crates if lib.is_outside for name in lib.dependencies}
    if wanted := [lib for lib in crates if lib.package in named]:
        # What is one's own names the pool's crates by version: here they are.
        lines += [
            "[patch.crates-io]",
            *(f"{lib.package} = {{ path = {_path(lib.path, folder)} }}" for lib in wanted),
            "",
        ]
    lines += [
        "[profile.release]",
        f"opt-level = {image.optimisation}",
        'lto = "fat"',
        "codegen-units = 1",
        'panic = "abort"',
        "debug = 2",
        "",
        *_for_size(image),
        "[workspace]",
        "",
    ]
    return "\n".join(lines)


def _dependency(library: Library, chosen: Iterable[Library], folder: Path) -> str:
    """The line that names a library: of what it has options for, it has what was chosen."""
    packages = {other.package for other in chosen}
    has = sorted(f'"{f}"' for f, package in library.options.items() if package in packages)
    options = f", default-features = false, features = [{', '.join(has)}]"
    return (
        f"{library.package} = {{ path = {_path(library.path, folder)}"
        f"{options if library.options else ''} }}"
    )


def _for_size(image: Image) -> Iterator[str]:
    """What runs once, as the image starts, is made for size in every image; of one that is made for
    size, what has the loops that its start takes longest for is not made for the least."""
    if image.for_size:
        packages = _LONG_LOOPS & {lib.package for lib in image.libraries}
    else:
        packages = {name for lib in image.libraries for name in lib.startup}
    for package in sorted(packages):
        yield from (f"[profile.release.package.{package}]", 'opt-level = "s"', "")


def _path(target: Path, start: Path) -> str:
    return f'"{Path(os.path.relpath(target, start)).as_posix()}"'


def _build_script(image: Image, objects: list[Path]) -> str:
    arguments = [
        f"-T{LINKER_SCRIPT}",
        f"--defsym=IMAGE_BASE={image.base:#x}",
        f"--defsym=IMAGE_OFFSET={image.base - image.board.ram.base:#x}",
        f"--defsym=TABLES={image.tables}",
        "--build-id=none",
        "-zmax-page-size=4096",
        *(f"--wrap={name}" for name in WRAPPED if objects),
        *map(str, objects),
    ]
    changing = [LINKER_SCRIPT, *objects]
    return "\n".join(
        [
            "//! The linker's arguments. Generated by `./tenon build`; do not edit.",
            "",
            "fn main() {",
            *(f'    println!("cargo::rerun-if-changed={file}");' for file in changing),
            *(f'    println!("cargo::rustc-link-arg-bins={argument}");' for argument in arguments),
            "}",
            "",
        ]
    )


def _main(image: Image) -> str:
    fields = ["config: crate::config", "tables: crate::tables"]
    used: list[str] = []
    if image.root.root == NATIVE:
        fields.append(f'level: "{"el2" if image.kind == "mortise" else "el1"}"')
        # The memory functions replace the toolchain's only where their crate is named.
        used = [f"use {lib.crate} as _;" for lib in image.libraries if lib.package == MEMCPY]
    process: list[str] = []
    if image.app is not None and image.app.sources:
        process = ["", f"{image.app.crate}::process! {{ config: crate::config }}"]
        # Of what C alone calls, nothing is linked unless somebody names it.
        process += ["", *(f"use {library.crate} as _;" for library in image.for_c)]
    if image.app is not None and not image.natives:
        fields.append(f"main: {image.app.crate}::main")
    return "\n".join(
        [
            f"//! The image `{image.name}`. Generated by `./tenon build`; do not edit.",
            "#![no_std]",
            "#![no_main]",
            "",
            "mod config;",
            "mod tables;",
            "",
            *used,
            f"{image.root.crate}::image! {{",
            *(f"    {field}," for field in fields),
            "}",
            *process,
            *_natives(image),
            "",
        ]
    )


def _natives(image: Image) -> Iterator[str]:
    """The native tasks, each called with the rights its manifest names."""
    if not any(lib.package == "core-bare" for lib in image.libraries):
        return
    for native in image.natives:
        rights = ", ".join(f"grant.{right}()" for right in native.app.rights or ())
        yield from (
            "",
            f"fn {native.function}(grant: &core_bare::Grant) {{",
            f"    {native.app.crate}::main({rights})",
            "}",
        )
    yield from (
        "",
        "/// The native tasks of this image.",
        "#[unsafe(no_mangle)]",
        "pub static NATIVE_TASKS: core_bare::Tasks = core_bare::Tasks(&[",
        *(
            f'    core_bare::Task {{ name: "{native.name}", cpu: {native.cpu},'
            f" main: {native.function} }},"
            for native in image.natives
        ),
        "]);",
    )
