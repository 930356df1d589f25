"""Small images of Rust sources for the analysis of their debug information."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

TARGET = "aarch64-unknown-none-softfloat"


def build(folder: Path, files: dict[str, tuple[str, str]], source: str, *options: str) -> bytes:
    """An image of `source`, with the paths of `files` for its placeholders: path and text by name.

    Skips the test on a host without a compiler for the target.
    """
    if shutil.which("rustc") is None:
        pytest.skip("no rustc")
    paths = {name: folder / path for name, (path, _) in files.items()}
    for name, (_, text) in files.items():
        paths[name].parent.mkdir(parents=True)
        paths[name].write_text(text)
    (folder / "main.rs").write_text(source.format(**paths))
    command = ["rustc", f"--target={TARGET}", "-Cdebuginfo=2", "-Cpanic=abort", *options]
    done = subprocess.run(
        [*command, "--edition=2024", "main.rs", "-o", "image"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode and "may not be installed" in done.stderr:
        pytest.skip("no bare-metal target")
    assert done.returncode == 0, done.stderr
    return (folder / "image").read_bytes()
