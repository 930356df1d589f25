"""A system, read and checked: what is to be built, packed and run."""

from dataclasses import dataclass, field
from pathlib import Path

from tenonos.errors import InputError
from tenonos.system.board import Board
from tenonos.system.lines import Path as KeyPath
from tenonos.system.lines import nearest


@dataclass(frozen=True)
class Task:
    """A periodic task of a Tenon VM; times in nanoseconds."""

    name: str
    period: int
    deadline: int


@dataclass(frozen=True)
class Vm:
    """A VM; `index` is its place in the file. Sizes are bytes, `cpus` physical CPU numbers."""

    index: int
    name: str
    kind: str
    cpus: tuple[int, ...]
    memory: int
    memory_at: int | None
    image_limit: int | None
    interrupts: str
    on_fault: str
    restart_limit: int
    wfi: str
    devices: tuple[str, ...]
    app: str | None
    config: Path | None
    tasks: tuple[Task, ...]
    kernel: str | None
    initramfs: str | None
    cmdline: str | None

    @property
    def console(self) -> str:
        """How its output leaves: Linux has a virtual PL011, Tenon a ring in shared memory."""
        return "pl011" if self.kind == "linux" else "ring"


@dataclass(frozen=True)
class System:
    """A composition: the board, the VMs, and where each statement stood."""

    name: str
    board: Board
    mode: str
    console: str | None
    vms: tuple[Vm, ...]
    file: Path
    shown: str
    lines: dict[KeyPath, int] = field(repr=False)

    @property
    def folder(self) -> Path:
        """Where `system.toml` and the fragments are."""
        return self.file.parent

    @property
    def mortise_config(self) -> Path:
        """Mortise's fragment; it need not exist."""
        return self.folder / "mortise.config"

    def vm(self, name: str) -> Vm:
        """The VM called `name`."""
        for vm in self.vms:
            if vm.name == name:
                return vm
        raise InputError(
            f'no VM "{name}" in {self.name}',
            mend=f"there are {', '.join(v.name for v in self.vms)}",
        )

    def where(self, *path: str | int) -> str:
        """`file:line` of a key, or of the closest thing around it."""
        return f"{self.shown}:{nearest(self.lines, path)}"
