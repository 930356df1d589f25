"""Images and their generated crates.

A crate has its own empty `[workspace]`, so that features and profile of the pool do not apply, and
files are written only if their text changed, so that cargo does not rebuild.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tenonos.errors import InputError
from tenonos.generate import config_rs, tables_rs
from tenonos.paths import POOL, shown
from tenonos.pool.kconfig import Config
from tenonos.pool.library import Index, Library, breaches
from tenonos.setup import rust
from tenonos.system.board import Board, Device
from tenonos.system.model import FirstProcess

LINKER_SCRIPT = POOL / "hw" / "arch" / "image.ld"
PROTECTION, TABLES_BESIDE = "TENON_THREAD_PROTECTION", 4
"""Symbol of an image's own translation map, and its tables beyond those for its memory: level 2 for
devices, RAM and shared areas, level 3 for the guest header."""
TABLES_OF_ITSELF = 2
"""Tables for its own memory, within one block."""

NATIVE, MEMCPY = "native", "core-memcpy"
"""Root of an image without a kernel; crate that replaces the toolchain's `memcpy`."""

PROCESSES = "LIB_TENON_PROCESS"
"""Symbol of the library of processes."""

FILES = "files.cpio"
"""The archive with the files of an image's processes, in its crate."""

WRAPPED = ("vfprintf", "fputc", "fputs", "puts", "fwrite")
"""The C library's stream functions without locks, which the C interface wraps with locks."""

_LONG_LOOPS = frozenset({"core-log", "core-paging", "core-ring", "hw-serial", "mortise-console"})
"""Crates for output and mapping, most of Mortise's boot path."""


@dataclass(frozen=True)
class Native:
    """A native task of an image: its program, its core, and its period in nanoseconds if stated."""

    name: str
    app: Library
    cpu: int
    period: int | None = None

    @property
    def function(self) -> str:
        """The function that calls it in the image's crate."""
        return f"native_{self.name.replace('-', '_')}"


@dataclass(frozen=True)
class Image:
    """One image to build. `kind` is the kernel it is: `mortise` or `tenon`."""

    name: str
    kind: str
    board: Board
    config: Config
    libraries: tuple[Library, ...]
    root: Library
    app: Library | None
    natives: tuple[Native, ...] = ()
    devices: tuple[Device, ...] = ()
    """Its own devices with a driver among its libraries."""
    files: bytes = b""
    """The archive with the files of its processes."""
    first: FirstProcess = field(default_factory=FirstProcess)
    """The first of its processes."""
    avoids: bool = False
    """Whether the compiler avoids sequences of errata because the image has one otherwise; this
    takes bytes. In Mortise and in images with processes it always does: in so much code there is
    one, and it need not be linked twice."""

    @property
    def package(self) -> str:
        """Its package for cargo, equal in all systems: the same image is then the same bytes."""
        return f"{self.name}-image"

    @property
    def target(self) -> str:
        """The compiler target: with floating-point registers only if they are saved."""
        kept = self.config["TENON_THREAD_FP_HANDLERS"]
        return rust.FLOAT_TARGET if kept else rust.IMAGE_TARGET

    @property
    def optimisation(self) -> str:
        """The optimisation level of cargo's profile."""
        if self.for_size:
            # For Tenon the smallest code ("z") is no smaller in total, as it has more constants; a
            # native task without VMs is also time-critical.
            return '"z"' if self.root.root == "mortise" else '"s"'
        # The additional inlining of level 3 shortens paths of Tenon, but none of Mortise.
        return "2" if self.kind == "mortise" else "3"

    @property
    def flags(self) -> tuple[str, ...]:
        """Additional compiler flags: in an image optimised for size, an address takes one
        instruction; those against errata of the board's CPU."""
        small = ("-Ccode-model=tiny",) if self.for_size else ()
        avoiding = self.avoids or self.kind == "mortise" or bool(self.config.values.get(PROCESSES))
        return (*small, *(self.board.errata.compiler if avoiding else ()))

    @property
    def for_size(self) -> bool:
        """Whether it is optimised for size."""
        return bool(self.config.values.get("OPTIMISE_SIZE"))

    @property
    def tables(self) -> int:
        """Translation tables beyond those for its own memory."""
        return TABLES_BESIDE if self.config.values.get(PROTECTION) else 0

    @property
    def for_c(self) -> tuple[Library, ...]:
        """The libraries with an interface for C."""
        return tuple(library for library in self.libraries if library.headers)

    @property
    def base(self) -> int:
        """The link address."""
        if self.kind == "mortise":
            return self.board.image.mortise
        return self.board.ram.base + self.board.image.guest_offset


def choose(index: Index, config: Config) -> tuple[Library, ...]:
    """The chosen libraries of a configuration, checked for layer order and dependencies."""
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
    """The root library of an image of that kind, with entry and statics."""
    for library in libraries:
        if library.root == kind:
            return library
    raise InputError(f"nothing chosen is the root of a {kind} image", where=where)


def write(image: Image, folder: Path, objects: Iterable[Path] = ()) -> None:
    """The crate of `image` in `folder`; `objects` are linked with it."""
    files = {
        "Cargo.toml": _manifest(image),
        "build.rs": _build_script(image, list(objects)),
        "src/main.rs": _main(image),
        "src/config.rs": config_rs.render(image.config, image.board, image.devices),
        "src/tables.rs": tables_rs.render(image.libraries),
    }
    contents = {name: text.encode() for name, text in files.items()}
    if any(library.statics for library in image.libraries):
        contents[FILES] = image.files
    for name, content in contents.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists() or file.read_bytes() != content:
            file.write_bytes(content)


def _manifest(image: Image) -> str:
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
        *(_dependency(lib, crates) for lib in crates),
        "",
    ]
    named = {name for lib in crates if lib.is_outside for name in lib.dependencies}
    if wanted := [lib for lib in crates if lib.package in named]:
        # Libraries outside the tree name the pool's crates by version: patch their paths in.
        lines += [
            "[patch.crates-io]",
            *(f"{lib.package} = {{ path = {_path(lib.path)} }}" for lib in wanted),
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


def _dependency(library: Library, chosen: Iterable[Library]) -> str:
    """The dependency on a library, with the features for other chosen libraries."""
    packages = {other.package for other in chosen}
    has = sorted(f'"{f}"' for f, package in library.options.items() if package in packages)
    options = f", default-features = false, features = [{', '.join(has)}]"
    return (
        f"{library.package} = {{ path = {_path(library.path)}"
        f"{options if library.options else ''} }}"
    )


def _for_size(image: Image) -> Iterator[str]:
    """Profile overrides: boot-only packages are optimised for size in every image; in an image
    optimised for size, packages with the longest loops of its boot are not."""
    if image.for_size:
        packages = _LONG_LOOPS & {lib.package for lib in image.libraries}
    else:
        packages = {name for lib in image.libraries for name in lib.startup}
    for package in sorted(packages):
        yield from (f"[profile.release.package.{package}]", 'opt-level = "s"', "")


def _path(folder: Path) -> str:
    """A path as a string of TOML."""
    return json.dumps(str(folder), ensure_ascii=False)


def _build_script(image: Image, objects: list[Path]) -> str:
    arguments = [
        f"-T{LINKER_SCRIPT}",
        f"--defsym=IMAGE_BASE={image.base:#x}",
        f"--defsym=IMAGE_OFFSET={image.base - image.board.ram.base:#x}",
        f"--defsym=TABLES={image.tables}",
        "--build-id=none",
        "-zmax-page-size=4096",
        *image.board.errata.linker,
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
        # Functions called only from C are not linked unless named.
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
            *_statics(image),
            *_settings(image),
            *_natives(image),
            "",
        ]
    )


def _statics(image: Image) -> Iterator[str]:
    """The static objects of libraries that have such."""
    for library in image.libraries:
        if library.statics:
            yield from (
                "",
                f"{library.crate}::statics! {{",
                "    config: crate::config,",
                "    tables: crate::tables,",
                "    root: {",
                "        // Programs are mapped from their pages in the archive.",
                "        #[repr(C, align(4096))]",
                "        struct Pages<T: ?Sized>(T);",
                f'        const ROOT: &Pages<[u8]> = &Pages(*include_bytes!("../{FILES}"));',
                "        &ROOT.0",
                "    },",
                f"    program: {_text(image.first.program)},",
                f"    arguments: {_texts(image.first.arguments)},",
                f"    environment: {_texts(image.first.environment)},",
                f"    calls: {_numbers(image.first.calls)},",
                "}",
            )


def _settings(image: Image) -> Iterator[str]:
    """The settings of libraries that have such."""
    for library in image.libraries:
        if library.settings:
            yield from ("", f"{library.crate}::settings! {{ config: crate::config }}")


def _text(value: str) -> str:
    """A string of Rust."""
    plain = (c if c.isprintable() and c not in '"\\' else f"\\u{{{ord(c):x}}}" for c in value)
    return f'"{"".join(plain)}"'


def _numbers(values: Iterable[int] | None) -> str:
    """An optional slice of numbers of Rust."""
    return "None" if values is None else f"Some(&[{', '.join(map(str, values))}])"


def _texts(values: Iterable[str]) -> str:
    """A slice of strings of Rust."""
    return f"&[{', '.join(map(_text, values))}]"


def _natives(image: Image) -> Iterator[str]:
    """The native tasks, each called with the rights in its manifest."""
    if not any(lib.package == "core-bare" for lib in image.libraries):
        return
    for native in image.natives:
        rights = ", ".join(_right(right, native.period) for right in native.app.rights or ())
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


def _right(right: str, period: int | None) -> str:
    """A right as an argument of a native task; that of time has the stated period."""
    stated = f".with_period({period})" if right == "time" and period else ""
    return f"grant.{right}(){stated}"
