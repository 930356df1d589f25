"""The Rust toolchain: rustup's with its bare-metal targets, or the distribution's.

A distribution ships `core` for its own architecture only, but also its source, so images build it
(`-Zbuild-std`, which RUSTC_BOOTSTRAP=1 enables in a stable compiler). All calls of cargo take
program, environment and flags from here.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tenonos import paths
from tenonos.errors import WorkError
from tenonos.settings import SETTINGS

IMAGE_TARGET = "aarch64-unknown-none-softfloat"
"""The target of both kernels, without FP registers: those belong to guests and threads."""
FLOAT_TARGET = "aarch64-unknown-none"
"""The target of a Tenon image with floating point, which saves FP registers."""
TARGETS = (FLOAT_TARGET, IMAGE_TARGET)

_MEND = "see ./tenon doctor"


@dataclass(frozen=True)
class Toolchain:
    """One way to build for the host and for the targets."""

    version: tuple[int, ...]
    sysroot: Path
    builds_core: bool
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def image_flags(self) -> list[str]:
        """The flags a cargo call for a bare-metal target needs besides --target."""
        return ["-Zbuild-std=core,alloc"] if self.builds_core else []

    @property
    def image_environment(self) -> dict[str, str]:
        """The variables a cargo call for a bare-metal target needs, over `environment`."""
        if not self.builds_core:
            return {}
        wanted = {"RUSTC_BOOTSTRAP": "1"}
        own = any(self.sysroot.glob("lib/rustlib/*/bin/rust-lld"))
        if not own and not shutil.which("rust-lld", path=self.environment.get("PATH")):
            for target in TARGETS:
                name = target.upper().replace("-", "_")
                wanted[f"CARGO_TARGET_{name}_LINKER"] = "ld.lld"
        return wanted

    @property
    def release(self) -> str:
        """The version as Rust writes it."""
        return ".".join(map(str, self.version))

    @property
    def shown(self) -> str:
        """The version, and the source of `core` for the targets."""
        source = "core built with each image" if self.builds_core else "targets by rustup"
        return f"{self.release} ({source})"


def minimum() -> tuple[int, ...]:
    """The oldest supported Rust: `rust-version` of the workspace."""
    manifest = tomllib.loads((paths.ROOT / "Cargo.toml").read_text())
    return _numbers(manifest["workspace"]["package"]["rust-version"])


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", text)[:3])


def search_path() -> str:
    """PATH, with the folder rustup installs to in case no profile added it."""
    home = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    return os.pathsep.join([os.environ.get("PATH", os.defpath), str(home / "bin")])


def _environment() -> dict[str, str]:
    environment = {"PATH": search_path()}
    if "CARGO_HOME" not in os.environ and not (Path.home() / ".cargo").exists():
        environment["CARGO_HOME"] = str(paths.DOT / "cargo")
    return environment


def _ask(program: str, *arguments: str, **environment: str) -> str | None:
    """The output of a tool, or None if it is missing or fails."""
    found = shutil.which(program, path=search_path())
    if not found:
        return None
    done = subprocess.run(
        [found, *arguments],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip() if done.returncode == 0 else None


def _examine(environment: dict[str, str]) -> Toolchain | None:
    version = _ask("rustc", "--version", **environment)
    sysroot = _ask("rustc", "--print", "sysroot", **environment)
    if version is None or sysroot is None:
        return None
    rustlib = Path(sysroot) / "lib/rustlib"
    targets_there = all((rustlib / target / "lib").is_dir() for target in TARGETS)
    return Toolchain(_numbers(version), Path(sysroot), not targets_there, environment)


@cache
def toolchain() -> Toolchain:
    """The toolchain to use: the user's choice if new enough, else rustup's stable."""
    environment = _environment()
    newest: Toolchain | None = None
    for choice in ({}, {"RUSTUP_TOOLCHAIN": "stable"}):
        found = _examine(environment | choice)
        if found and found.version >= minimum():
            if found.builds_core and not (found.sysroot / "lib/rustlib/src/rust/library").is_dir():
                names = " ".join(TARGETS)
                raise WorkError("Rust lacks the bare-metal targets", mend=f"add {names}, {_MEND}")
            return found
        newest = newest or found
        if not shutil.which("rustup", path=search_path()):
            break
    wanted = ".".join(map(str, minimum()))
    what = f"Rust is {newest.shown}, {wanted} is needed" if newest else "there is no Rust"
    raise WorkError(what, mend=_MEND)


def cargo(*arguments: str, image: bool = False) -> tuple[list[str], dict[str, str]]:
    """A cargo call as (argv, whole environment).

    With `image`, what a bare-metal target needs is added; the call still names
    `--target`. --offline, --locked and -j follow the user's options.
    """
    tools = toolchain()
    program = shutil.which("cargo", path=search_path())
    if program is None:
        raise WorkError("there is no cargo", mend=_MEND)
    subcommand, *rest = arguments
    flags = list(tools.image_flags) if image else []
    flags += ["--offline"] * SETTINGS.offline + ["--locked"] * SETTINGS.locked
    if SETTINGS.jobs:
        flags += ["-j", str(SETTINGS.jobs)]
    environment = os.environ | tools.environment | (tools.image_environment if image else {})
    return [program, subcommand, *flags, *rest], environment
