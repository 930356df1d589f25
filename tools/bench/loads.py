"""Loads of Linux during measurements on a core that it lent."""

from __future__ import annotations

from collections.abc import Sequence

LOADS = {
    "idle": "sleep 1000",
    "io": "while :; do dd if=/bin/busybox of=/tmp/io.$cpu bs=4k; sync; cat /tmp/io.$cpu; done",
    "build": "while :; do head -c 65536 /bin/busybox | sed s/a/b/ | gzip | sha256sum; done",
}
"""Loads as lines of Linux's init for each CPU: none, files, or many short processes."""


def beside(load: str, cpus: Sequence[int], line: str) -> str:
    """A line of Linux's init, with the load on each of `cpus`."""
    every = " ".join(map(str, cpus))
    return (
        f"for cpu in {every}; do ({LOADS[load]}) >/dev/null 2>&1 & done\n"
        f"loads=$(jobs -p)\n{line}\n"
        "kill -9 $loads; wait\n"
    )
