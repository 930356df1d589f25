"""The C compiler's driver: an application in C to the objects its image is linked with.

The compiler is Debian's cross compiler, used freestanding: the headers are those of the chosen
libraries with a C interface, then picolibc's, then the compiler's own. After any change all files
of an application are compiled again: they are few.
"""

import hashlib
import os
import re
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from tenonos import digests, ui
from tenonos.build import sources
from tenonos.errors import WorkError
from tenonos.generate.image import Image
from tenonos.paths import DOT, LOG, ROOT, ensure, replace_file, shown

COMPILER = "aarch64-linux-gnu-gcc"
PICOLIBC = Path("/usr/lib/picolibc/aarch64-linux-gnu")

ABSENT = frozenset(
    {
        *("arpa", "cpio.h", "dirent.h", "elf.h", "glob.h", "grp.h", "pwd.h", "release", "rpc"),
        *("semihost.h", "spawn.h", "termios.h", "threads.h", "utime.h", "utmp.h", "wordexp.h"),
        *("sys/auxv.h", "sys/dir.h", "sys/dirent.h", "sys/file.h", "sys/resource.h"),
        *("sys/timeb.h", "sys/utime.h", "sys/wait.h"),
    }
)
"""Headers of the C library for functions without an implementation: processes, users, folders."""

FLAGS = (
    *("-O2", "-g", "-Wall", "-ffunction-sections", "-fdata-sections"),
    # A static image at a fixed address.
    *("-fno-pic", "-fno-pie", "-ftls-model=local-exec"),
    # A frame larger than the guard page of a stack touches each page of it, so that an overflow
    # faults in the guard page and never jumps it (pool/tenon/map has guards of 4 KiB).
    *("-fstack-clash-protection", "--param=stack-clash-protection-guard-size=12"),
    # These would call functions that are not implemented.
    *("-mno-outline-atomics", "-fno-stack-protector", "-fno-asynchronous-unwind-tables"),
    *("-U__linux__", "-U__linux", "-Ulinux", "-U__gnu_linux__", "-D__tenon__"),
)


def objects(image: Image, folder: Path) -> list[Path]:
    """The objects of an application in C, to be linked into its image; none for one in Rust."""
    if image.app is None or not image.app.sources:
        return []
    app = image.app.path
    made = {file: folder / f"{file.relative_to(app)}.o" for file in image.app.sources}
    headers = [library.path / "include" for library in image.for_c]
    command = [*compiler(), *image.board.errata.c_compiler, *includes(app, headers)]
    command += [*_prefix_maps(app), f"-I{app}"]
    inputs, stamp = [app, *headers], folder / "built"
    state, known = _fingerprint(command, inputs), [file.with_suffix(".d") for file in made.values()]
    complete = all(file.exists() for file in (stamp, *known, *made.values()))
    if not complete or stamp.read_text() != _with_included(state, known):
        # An interrupted or failed compilation leaves objects of several states.
        stamp.unlink(missing_ok=True)
        with ui.step(f"Compiling {image.app.package} ({len(made)} C files)"):
            for source, target in made.items():
                ensure(target.parent)
                listed = ["-MD", "-MF", str(target.with_suffix(".d"))]
                each = [*command, *listed, "-c", str(source), "-o", str(target)]
                _compile(each, image.app.package)
        # Of files that changed meanwhile it is unknown which of them were compiled.
        if _fingerprint(command, inputs) == state:
            replace_file(stamp, _with_included(state, known).encode())
    libraries = [PICOLIBC / "lib/libc.a", PICOLIBC / "lib/libm.a", _of_compiler("libgcc.a")]
    return [*made.values(), *libraries]


def _prefix_maps(app: Path) -> list[str]:
    """Options that name the clone `.` in an object. GCC compares text, so that `/clone` would match
    in `/clone-apps`; of several maps the last one counts."""
    maps = {ROOT: "."} if app.is_relative_to(ROOT) else {ROOT: ".", app: str(app)}
    return [f"-ffile-prefix-map={old}={new}" for old, new in maps.items()]


def compiler() -> list[str]:
    """The compiler with the flags of every C file."""
    return [COMPILER, *FLAGS]


def includes(app: Path, headers: Iterable[Path]) -> list[str]:
    """The include path: the application's headers, those in `headers`, the C library's."""
    own = app / "include"
    own_compiler = _of_compiler("include")
    system = [*headers, _library_headers(), own_compiler]
    return [
        "-nostdinc",
        *([f"-I{own}"] if own.is_dir() else []),
        *(part for folder in system for part in ("-isystem", str(folder))),
    ]


@cache
def _of_compiler(name: str) -> Path:
    """A file of the compiler's own."""
    if not (PICOLIBC / "include").is_dir():
        raise WorkError("there is no picolibc", mend="install picolibc-aarch64-linux-gnu")
    try:
        done = subprocess.run(
            [COMPILER, f"-print-file-name={name}"], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        raise WorkError(
            "there is no C compiler for the target", mend="install gcc-aarch64-linux-gnu"
        ) from None
    return Path(done.stdout.strip())


@cache
def _library_headers() -> Path:
    """The C library's headers, without those of unimplemented functions."""
    folder = DOT / "picolibc"
    for header in sorted((PICOLIBC / "include").rglob("*.h")):
        name = header.relative_to(PICOLIBC / "include")
        link = folder / name
        if str(name) in ABSENT or name.parts[0] in ABSENT:
            link.unlink(missing_ok=True)
        elif not link.exists():
            ensure(link.parent)
            link.symlink_to(header)
    return folder


def _compile(command: list[str], name: str) -> None:
    plain = os.environ | {"LC_ALL": "C"}
    done = subprocess.run(command, cwd=ROOT, env=plain, capture_output=True, text=True, check=False)
    if done.returncode:
        log = ensure(LOG) / f"build-{name}-c.log"
        log.write_text(done.stderr)
        error = re.search(
            r"^(?P<file>[^:\n]+):(?P<line>\d+):(?:\d+:)? (?:fatal )?error: (?P<what>.*)$",
            done.stderr,
            re.MULTILINE,
        )
        if error is None:
            raise WorkError(f"{name}: the C compiler failed", mend=f"see {shown(log)}")
        raise WorkError(
            f"{name}: {error['what']}",
            where=f"{shown(Path(error['file']))}:{error['line']}",
            mend=f"all of it is in {shown(log)}",
        )
    ui.detail(done.stderr)


def _fingerprint(command: Iterable[str], folders: Iterable[Path]) -> str:
    """A hash of all inputs of the objects below `folders`."""
    version = subprocess.run([COMPILER, "-dumpfullversion"], capture_output=True, check=True)
    digest = hashlib.sha256(repr((list(command), version.stdout)).encode())
    digests.add(digest, (file for folder in folders for file in sources.files(folder)))
    return digest.hexdigest()


def _with_included(state: str, listed: Iterable[Path]) -> str:
    """A hash of `state` and of all files that the objects were compiled from, as the compiler has
    `listed` them: some may be in other folders."""
    digest = hashlib.sha256(state.encode())
    for file in listed:
        text = file.read_text(errors="surrogateescape").replace("\\\n", " ").partition(": ")[2]
        names = (re.sub(r"\\(.)", r"\1", name) for name in re.findall(r"(?:\\.|\S)+", text))
        found = [ROOT / name.replace("$$", "$") for name in names]
        if not all(map(Path.is_file, found)):
            return ""
        digests.add(digest, found)
    return digest.hexdigest()
