"""Systems: `system.toml` read, checked, laid out in memory and turned into device trees.

`load` is the one way in; what it returns is consistent on its board.
"""

import tomllib
from pathlib import Path

from tenonos.errors import InputError
from tenonos.paths import ROOT
from tenonos.paths import shown as _shown
from tenonos.system import board as boards
from tenonos.system.check import check
from tenonos.system.lines import Path as KeyPath
from tenonos.system.lines import nearest
from tenonos.system.model import System, Task, Vm
from tenonos.system.schema import SystemSpec, VmSpec, parse

__all__ = ["System", "Task", "Vm", "find", "from_spec", "load", "names"]


def names() -> list[str]:
    """The systems of this tree."""
    return sorted(path.parent.name for path in (ROOT / "systems").glob("*/system.toml"))


def find(asked: str | Path | None = None) -> Path:
    """The `system.toml` meant by a file, a folder or a name under `systems/`.

    By default that of the folder one is in.
    """
    folder = Path(asked) if asked is not None else Path.cwd()
    for candidate in (folder, folder / "system.toml", ROOT / "systems" / folder / "system.toml"):
        if candidate.is_file():
            return candidate.resolve()
    if asked is None:
        raise InputError(
            "no system named",
            mend=f"name one of {', '.join(names())}, or a folder with a system.toml",
        )
    raise InputError(
        f'no system "{asked}"',
        mend=f"known are {', '.join(names())}, or give a folder with a system.toml",
    )


def load(asked: str | Path | None = None) -> System:
    """The system meant by `asked` (see `find`), checked."""
    file = find(asked)
    shown = _shown(file)
    spec, lines = parse(file.read_text(), shown)
    return from_spec(spec, file, shown, lines)


def from_spec(spec: SystemSpec, file: Path, shown: str, lines: dict[KeyPath, int]) -> System:
    """A checked system from what was written (or composed) for `file`."""
    _version(spec.pool, f"{shown}:{nearest(lines, ('pool',))}")
    system = System(
        name=spec.name,
        board=boards.load(spec.board, f"{shown}:{nearest(lines, ('board',))}"),
        mode=spec.mode,
        console=spec.console,
        vms=tuple(_vm(index, vm, file.parent) for index, vm in enumerate(spec.vm)),
        file=file,
        shown=shown,
        lines=lines,
    )
    check(system)
    return system


def _vm(index: int, spec: VmSpec, folder: Path) -> Vm:
    linux = spec.kind == "linux"
    config = folder / (spec.config or f"{spec.name}.config")
    return Vm(
        index=index,
        name=spec.name,
        kind=spec.kind,
        cpus=tuple(spec.cpus),
        memory=spec.memory,
        memory_at=spec.memory_at,
        image_limit=spec.image_limit,
        interrupts=spec.interrupts or ("shared" if linux else "direct"),
        on_fault=spec.on_fault,
        restart_limit=spec.restart_limit,
        wfi=spec.wfi,
        devices=tuple(spec.devices),
        app=spec.app,
        config=None if linux and spec.config is None else config,
        tasks=tuple(
            Task(task.name, task.period, task.deadline or task.period) for task in spec.task
        ),
        kernel=(spec.kernel or "debian-cloud") if linux else spec.kernel,
        initramfs=(spec.initramfs or "busybox") if linux else spec.initramfs,
        cmdline=spec.cmdline,
    )


def _version(wanted: str, where: str) -> None:
    """A project of one's own says which pool it was written for."""
    have = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    if have != wanted and not have.startswith(wanted + "."):
        raise InputError(
            f"written for pool {wanted}, and this is pool {have}",
            where=where,
            mend=f'write pool = "{have}"',
        )
