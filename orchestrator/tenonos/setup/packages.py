"""Tools that TenonOS uses, and their purpose.

`bootstrap.sh` installs the required ones (a test compares the two lists); `doctor` shows
all of them. Figures that depend on the version of a tool are listed with it.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass

from tenonos.setup import rust


@dataclass(frozen=True)
class Tool:
    """A program, its Debian package, and its purpose."""

    name: str
    program: str
    package: str
    purpose: str
    figures: str = ""
    required: bool = True
    minimum: tuple[int, ...] = ()
    arguments: tuple[str, ...] = ("--version",)

    def version(self) -> str | None:
        """The version that it reports; None if it is missing."""
        path = shutil.which(self.program, path=rust.search_path())
        if path is None:
            return None
        try:
            done = subprocess.run(
                [path, *self.arguments], capture_output=True, text=True, timeout=20, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        if done.returncode:
            return None
        found = re.search(r"\d+(\.\d+)+", done.stdout + done.stderr)
        return found[0] if found else "unknown"


TOOLS = (
    Tool(
        "QEMU",
        "qemu-system-aarch64",
        "qemu-system-arm",
        "runs systems",
        "instruction counts, latencies",
        minimum=(7, 2),
    ),
    Tool("Rust", "rustc", "rustc-web", "builds images", "image size, instruction counts"),
    Tool("Cargo", "cargo", "cargo-web", "builds images"),
    Tool("C compiler", "cc", "gcc", "links what runs here"),
    Tool(
        "cross compiler",
        "aarch64-linux-gnu-gcc",
        "gcc-aarch64-linux-gnu",
        "compiles applications in C",
        "their size",
    ),
    Tool("make", "make", "make", "builds the module for Linux"),
    Tool(
        "ld.lld",
        "ld.lld",
        "lld",
        "links, if Rust is Debian's",
        "image size",
        required=False,
    ),
    Tool("dpkg-deb", "dpkg-deb", "dpkg", "unpacks Debian's arm64 files"),
    Tool("apt", "apt-get", "apt", "fetches Debian's arm64 files"),
    Tool("git", "git", "git", "says what was measured"),
    Tool("rustfmt", "rustfmt", "rustfmt-web", "./tenon check", required=False),
    Tool("Clippy", "cargo-clippy", "rust-web-clippy", "./tenon check", required=False),
    Tool("GDB", "gdb-multiarch", "gdb-multiarch", "./tenon run --gdb", required=False),
    Tool("Chromium", "chromium", "chromium", "./tenon test, of pages", required=False),
    Tool("debootstrap", "debootstrap", "debootstrap", "./tenon test bootstrap", required=False),
)


def numbers(version: str) -> tuple[int, ...]:
    """A version as numbers, for comparisons."""
    return tuple(int(part) for part in re.findall(r"\d+", version))
