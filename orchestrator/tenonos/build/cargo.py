"""The cargo driver: one generated crate to one ELF, and one line when that fails.

Images with the same compiler flags share a target directory, so that common crates are compiled
once, and all of them a store of linked ELFs, so that systems with the same image link it once.
Versions of registry crates are those of the workspace's Cargo.lock: each generated crate starts
from a copy of it, and additions by cargo are refused with `--locked`.
"""

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from tenonos import digests, ui
from tenonos.analysis import waiting
from tenonos.analysis.graph import Graph
from tenonos.analysis.stacks import Stacks
from tenonos.build import scan, sources
from tenonos.errors import InputError, WorkError
from tenonos.generate.image import LINKER_SCRIPT, Image
from tenonos.locks import exclusive
from tenonos.paths import LOG, ROOT, TARGET, ensure, replace_file, shown
from tenonos.settings import SETTINGS
from tenonos.setup import rust

LOCK = "Cargo.lock"

STORE = TARGET / "images"
"""Linked ELFs by the hash of all their inputs."""

STAMP = "built"
"""The file in an image's folder with the hash of the inputs that its ELF was built from."""

WRAPPER = tuple(Path(__file__).parent / name for name in ("rustc-wrapper", "rustc_wrapper.py"))
"""The program that cargo executes in place of the compiler, and its code."""

KEPT = 200
"""Images in the store; the one that was used longest ago is removed first."""


def compile_image(
    image: Image, folder: Path, anew: bool = False, objects: Sequence[Path] = ()
) -> Path:
    """The linked ELF of the crate in `folder` with `objects`; returned at once if no input has
    changed. With `anew` it is linked though the store has it."""
    elf, stamp = folder / f"{image.name}.elf", folder / STAMP
    _seed_lock(folder)
    state = fingerprint(image, folder, objects)
    if elf.exists() and stamp.exists() and stamp.read_text() == state:
        ui.detail(f"{image.name}: nothing to do")
        return elf
    stamp.unlink(missing_ok=True)
    content = None if anew or SETTINGS.locked else _stored(state)
    unchanged = True
    if content is None:
        text = f"Building {image.name} ({len(image.libraries)} libraries)"
        with ui.activity(text, ends=True) as tell:
            content = _without_errata(image, folder, tell)
        graph = Graph(content)
        waiting.check(graph, image.name)
        warnings = list(Stacks(graph).short())
        for line in warnings:
            ui.message(line, "yellow")
        # Of inputs that changed meanwhile it is unknown which of them were compiled.
        unchanged = fingerprint(image, folder, objects) == state
        if unchanged and not warnings:
            _store(state, content)
    _check_lock(folder)
    replace_file(elf, content)
    if unchanged:
        replace_file(stamp, state.encode())
    return elf


def _stored(state: str) -> bytes | None:
    """The ELF of these inputs, if it is in the store."""
    file = STORE / state
    try:
        content = file.read_bytes()
        os.utime(file)
    except FileNotFoundError:
        return None
    return content


def _store(state: str, content: bytes) -> None:
    replace_file(ensure(STORE) / state, content)
    used = {}
    for other in STORE.iterdir():
        # Another build may remove files at the same time.
        with suppress(FileNotFoundError):
            used[other] = other.stat().st_mtime_ns
    for other in sorted(used, key=used.__getitem__)[:-KEPT]:
        other.unlink(missing_ok=True)


def _without_errata(image: Image, folder: Path, tell: Callable[[str], None]) -> bytes:
    """The linked ELF without sequences of the board's errata. What the compiler can avoid it avoids
    only where there is some, so that other images are the same as without it."""
    content = _linked(image, folder, tell)
    found = scan.found(image, content)
    avoiding = replace(image, avoids=True)
    if found and avoiding.flags != image.flags:
        ui.detail(f"{image.name}: {scan.told(found)}; compiled once more without")
        content = _linked(avoiding, folder, tell)
        found = scan.found(image, content)
    if found:
        raise WorkError(
            f"{image.name}: {scan.told(found)}",
            mend="put an instruction between, such as nop, or change the order of two",
        )
    return content


def _linked(image: Image, folder: Path, tell: Callable[[str], None]) -> bytes:
    """The ELF that cargo links."""
    # Cargo and the compiler see the crate in one place, whichever system it is of: equal images are
    # equal bytes. As the files are new there, cargo compiles them and runs the build script.
    crate = TARGET / "crates" / image.package
    with exclusive(TARGET / "locks" / image.package):
        shutil.rmtree(crate, ignore_errors=True)
        target = _target_folder(image)
        sources.forget(target, image.package)
        sources.forget_replaced(image, target, WRAPPER)
        for file in (*_generated(folder), folder / LOCK):
            place = crate / file.relative_to(folder)
            shutil.copyfile(file, ensure(place.parent) / place.name)
        content = _run(image, folder, crate, tell).read_bytes()
        shutil.copyfile(crate / LOCK, folder / LOCK)
        return content


def _generated(folder: Path) -> list[Path]:
    """The generated files of a crate, and its configuration of cargo if it has one."""
    files = [*sorted(folder.glob("*.rs")), *sorted(folder.glob("src/*.rs"))]
    files += [*folder.glob(".cargo/config.toml"), *folder.glob("*.cpio")]
    return [folder / "Cargo.toml", *files]


def _run(image: Image, folder: Path, crate: Path, tell: Callable[[str], None]) -> Path:
    # The lock of a generated crate is never the workspace's own, so cargo's --locked is not used;
    # _check_lock checks the same.
    locked, SETTINGS.locked = SETTINGS.locked, False
    try:
        command, environment = rust.cargo(
            "build",
            "--release",
            "--message-format=json",
            f"--manifest-path={crate / 'Cargo.toml'}",
            f"--target={image.target}",
            f"--target-dir={_target_folder(image)}",
            image=True,
        )
    finally:
        SETTINGS.locked = locked
    environment = environment | {
        "RUSTFLAGS": _flags(image),
        "RUSTC_WRAPPER": str(WRAPPER[0]),
        "TENON_PYTHON": sys.executable,
    }
    for name in ("CARGO_BUILD_TARGET", "CARGO_ENCODED_RUSTFLAGS"):
        environment.pop(name, None)
    messages, compiled = [], 0
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            command, env=environment, cwd=crate, stdout=subprocess.PIPE, stderr=errors, text=True
        )
        with process, ExitStack() as stack:
            # Where the build ends early, so does cargo; kill() of an ended process does nothing.
            stack.callback(process.kill)
            for message in _messages(process.stdout or ()):
                messages.append(message)
                if message.get("reason") == "compiler-artifact" and not message["fresh"]:
                    compiled += 1
                    tell(f"crates compiled: {compiled}")
            process.wait()
        if process.returncode:
            errors.seek(0)
            raise _failure(image, folder, messages, errors.read(), process.returncode)
    for message in messages:
        if message.get("reason") == "compiler-message":
            ui.detail(message["message"]["rendered"] or "")
        target = message.get("target", {})
        if message.get("executable") and target.get("name") == image.package:
            return Path(message["executable"])
    raise WorkError(f"cargo built no image {image.name}")


def _target_folder(image: Image) -> Path:
    """The target directory of all images with these compiler flags. In a common one, cargo compiles
    every crate anew when the flags differ from those of the build before."""
    names = "".join(flag.removeprefix("-C") for flag in image.flags)
    return TARGET / "flags" / (re.sub(r"[^a-z0-9]+", "-", names).strip("-") or "none")


def _flags(image: Image) -> str:
    """Compiler flags of an image. Paths of this machine, which panics would report, are
    remapped."""
    environment = os.environ | rust.toolchain().environment
    home = environment.get("CARGO_HOME", str(Path.home() / ".cargo"))
    source = rust.toolchain().sysroot / "lib/rustlib/src/rust"
    # The last matching prefix takes effect.
    paths = {str(ROOT): ".", home: "/cargo", str(source): "/rustc/source"}
    remapped = (f"--remap-path-prefix={path}={name}" for path, name in paths.items())
    return " ".join([*remapped, *image.flags])


def _messages(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    for line in lines:
        if line.startswith("{"):
            yield json.loads(line)


def _failure(
    image: Image, folder: Path, messages: Iterable[dict[str, Any]], rest: str, status: int
) -> WorkError:
    """The first error as one line; all of them in a log file. `status`: as `Popen.returncode`."""
    errors = [
        message["message"]
        for message in messages
        if message.get("reason") == "compiler-message" and message["message"]["level"] == "error"
    ]
    log = ensure(LOG) / f"build-{folder.parent.name}-{image.name}.log"
    log.write_text("".join(error.get("rendered") or "" for error in errors) + rest)
    mend = f"all of it is in {shown(log)}"
    if not errors:
        reasons = [line for line in rest.splitlines() if line.startswith("error")]
        what = reasons[0].removeprefix("error: ") if reasons else f"cargo {_ended(status)}"
        return WorkError(f"{image.name}: {what}", mend=mend)
    return WorkError(*_first(image, errors[0]), mend)


def _ended(status: int) -> str:
    """How a process ended that gave no reason."""
    if status >= 0:
        return f"ended with status {status}"
    try:
        return f"was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"was ended by signal {-status}"


def _first(image: Image, error: dict[str, Any]) -> tuple[str, str | None]:
    """Text and place of a compiler error; a failed assertion of ours is shown alone."""
    asserted = re.search(
        r"evaluation (?:panicked|of constant value failed): (.*)", error["message"]
    )
    if not asserted and error.get("code") and error["code"]["code"] == "E0080":
        asserted = re.search(
            r"the evaluated program panicked at '([^']*)'", error["rendered"] or ""
        )
    if asserted:
        return f"{image.name}: {asserted[1]}", None
    linked = re.search(r"lld: error: (.*)(?:\n\s*>>> referenced by (.*))?", error["rendered"] or "")
    if linked:
        return f"{image.name}: {linked[1]}", linked[2] and _referring(linked[2])
    spans = [span for span in error["spans"] if span["is_primary"]]
    if not spans:
        return f"{image.name}: {error['message'].splitlines()[0]}", None
    file = Path(spans[0]["file_name"])
    place = ROOT / file if not file.is_absolute() and (ROOT / file).exists() else file
    where = f"{shown(place)}:{spans[0]['line_start']}"
    return f"{image.name}: {error['message'].splitlines()[0]}", where


def _referring(said: str) -> str:
    """The place of a reference, as lld states it: `main.c:2 (/path/main.c:2)` or `x.o:(name)`."""
    found = re.search(r"\((?P<path>/[^)]+):(?P<line>\d+)\)$", said)
    return f"{shown(Path(found['path']))}:{found['line']}" if found else said.split(" ")[0]


def _seed_lock(folder: Path) -> None:
    """Copy the workspace's lock file, again whenever it changes."""
    source, seed, lock = ROOT / LOCK, folder / "workspace.lock", folder / LOCK
    if not seed.exists() or not lock.exists() or seed.read_bytes() != source.read_bytes():
        shutil.copyfile(source, seed)
        shutil.copyfile(source, lock)


def _check_lock(folder: Path) -> None:
    if not SETTINGS.locked:
        return
    new = _registry(folder / LOCK) - _registry(ROOT / LOCK)
    if new:
        names = ", ".join(f"{name} {version}" for name, version in sorted(new))
        raise InputError(f"not in {LOCK}: {names}", where="--locked", mend="build without it once")


def _registry(file: Path) -> set[tuple[str, str]]:
    packages = tomllib.loads(file.read_text()).get("package", [])
    return {(p["name"], p["version"]) for p in packages if "source" in p}


def fingerprint(image: Image, folder: Path, objects: Iterable[Path] = ()) -> str:
    """A hash of all inputs of the image, wherever its crate is; `objects` are among them."""
    toolchain = rust.toolchain()
    made_by = (
        *(toolchain.version, toolchain.sysroot, toolchain.builds_core),
        *(_flags(image), _flags(replace(image, avoids=True)), image.board.errata),
    )
    digest = hashlib.sha256(repr((image.name, *made_by)).encode())
    digests.add(digest, _generated(folder), folder)
    files = [LINKER_SCRIPT, ROOT / "Cargo.toml", ROOT / LOCK, *WRAPPER, *objects]
    for place in sources.folders(image):
        files += sources.files(place)
    digests.add(digest, files)
    return digest.hexdigest()
