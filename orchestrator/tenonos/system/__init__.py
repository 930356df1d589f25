"""Systems: reading, checks, memory layout, device trees and headers.

`load` is the entry point; a system that it returns is consistent on its board.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

from tenonos import catalogue, inputs
from tenonos.errors import InputError
from tenonos.paths import ROOT, command
from tenonos.paths import shown as _shown
from tenonos.system import board as boards
from tenonos.system import machine, shares
from tenonos.system.calls import call_numbers
from tenonos.system.check import check
from tenonos.system.lines import Path as KeyPath
from tenonos.system.lines import nearest
from tenonos.system.model import (
    Card,
    Channel,
    Disk,
    Foreign,
    Manages,
    Native,
    Network,
    Port,
    Region,
    Regulation,
    Reserve,
    Share,
    System,
    Task,
    Template,
    Vlib,
    Vm,
)
from tenonos.system.schema import (
    GuestSpec,
    ManagesSpec,
    NetworkSpec,
    PortSpec,
    ReserveSpec,
    SystemSpec,
    TaskSpec,
    TemplateSpec,
    VmSpec,
    parse,
)

__all__ = [
    "Channel",
    "Manages",
    "Reserve",
    "Share",
    "System",
    "Task",
    "Template",
    "Vlib",
    "Vm",
    "find",
    "from_spec",
    "load",
    "names",
]


def names() -> list[str]:
    """The names of the systems of this tree, examples first."""
    return list(catalogue.systems())


def find(asked: str | Path | None = None) -> Path:
    """The `system.toml` meant by a file, a folder or the name of a system of this tree.

    The default is that of the current folder.
    """
    folder = Path(asked) if asked is not None else Path.cwd()
    known = catalogue.systems()
    named = known.get(str(folder), folder)
    for candidate in (folder, folder / "system.toml", named / "system.toml"):
        if candidate.is_file():
            return candidate.resolve()
    if asked is None:
        raise InputError(
            "no system named",
            mend=f"name one of {_examples()}, or a folder with a system.toml",
        )
    raise InputError(
        f'no system "{asked}"',
        mend=catalogue.unknown(asked, known, catalogue.RENAMED_SYSTEMS)
        or f"known are {_examples()}, or give a folder with a system.toml",
    )


def _examples() -> str:
    """The systems a message names: the examples, and how to list the others."""
    examples = [
        name for name, folder in catalogue.systems().items() if catalogue.is_example(folder)
    ]
    return f"{', '.join(examples)} and those of {command()} list systems"


def load(asked: str | Path | None = None) -> System:
    """The system meant by `asked` (see `find`), checked."""
    file = find(asked)
    shown = _shown(file)
    spec, lines = parse(inputs.text(file, shown), shown)
    return from_spec(spec, file, shown, lines)


def from_spec(spec: SystemSpec, file: Path, shown: str, lines: dict[KeyPath, int]) -> System:
    """A checked system from what was written (or composed) for `file`."""
    _version(spec.pool, f"{shown}:{nearest(lines, ('pool',))}")
    own = _boards(spec.boards, file.parent, f"{shown}:{nearest(lines, ('boards',))}")
    board = boards.load(spec.board, f"{shown}:{nearest(lines, ('board',))}", own)
    if spec.machine is not None:
        board = machine.sized(
            board, spec.machine, lambda key: f"{shown}:{nearest(lines, ('machine', key))}"
        )
    ranks = shares.ranks([*spec.vm, *spec.template])
    system = System(
        name=spec.name,
        board=board,
        mode=spec.mode,
        console=spec.console,
        vms=tuple(_vm(index, vm, file.parent, board, ranks) for index, vm in enumerate(spec.vm)),
        file=file,
        shown=shown,
        lines=lines,
        reserve=None if spec.reserve is None else _reserve(spec.reserve),
        templates=tuple(
            _template(i, each, file.parent, ranks) for i, each in enumerate(spec.template)
        ),
        channels=tuple(
            Channel(index, each.name, each.origin, each.to, each.slots, each.size)
            for index, each in enumerate(spec.channel)
        ),
        vlibs=tuple(
            Vlib(index, each.name, each.master, each.server, each.size, each.time == "virtual")
            for index, each in enumerate(spec.vlib)
        ),
        regulation=None if spec.regulation is None else Regulation(**dict(spec.regulation)),
        disks=tuple(
            Disk(
                index,
                each.name,
                each.device,
                each.vm,
                each.on,
                None if each.file is None else file.parent / each.file,
                each.size,
                each.at,
                each.partition,
                each.read_only,
                each.keep,
                each.format,
            )
            for index, each in enumerate(spec.disk)
        ),
        networks=tuple(_network(index, each) for index, each in enumerate(spec.network)),
        cards=tuple(Card(each.device, each.model) for each in spec.card),
        natives=tuple(
            Native(index, each.name, each.app, each.cpus[0], tuple(each.rights), each.period)
            for index, each in enumerate(spec.native)
        ),
        libraries=tuple((file.parent / each).resolve() for each in spec.libraries),
    )
    check(system)
    return system


def _network(index: int, spec: NetworkSpec) -> Network:
    keys = {each.vm: (number, each) for number, each in reversed([*enumerate(spec.port)])}
    ports = []
    for vm in spec.vms:
        number, each = keys.get(vm, (None, PortSpec(vm=vm)))
        mac = None if each.mac is None else bytes.fromhex(each.mac.replace(":", ""))
        ports.append(Port(vm, number, each.address, mac, each.rate, each.isolated))
    keyed = tuple(each.vm for each in spec.port)
    forward = tuple(spec.forward)
    return Network(index, spec.name, spec.device, tuple(ports), keyed, forward)


def _vm(
    index: int, spec: VmSpec, folder: Path, board: boards.Board, ranks: Mapping[int, int]
) -> Vm:
    tenon, linux = spec.kind == "tenon", spec.kind == "linux"
    config = folder / (spec.config or f"{spec.name}.config")
    return Vm(
        index=index,
        name=spec.name,
        kind=spec.kind,
        cpus=tuple(spec.cpus),
        memory=spec.memory,
        memory_at=spec.memory_at,
        image_limit=spec.image_limit,
        ram_limit=spec.ram_limit,
        interrupts=spec.interrupts or ("direct" if tenon or board.gic.direct_only else "shared"),
        on_fault=spec.on_fault,
        restart_limit=spec.restart_limit,
        wfi=spec.wfi,
        devices=tuple(spec.devices),
        app=spec.app,
        config=config if tenon or spec.config else None,
        tasks=_tasks(spec.task),
        kernel=(spec.kernel or "debian-cloud") if linux else spec.kernel,
        initramfs=(spec.initramfs or "busybox") if linux else spec.initramfs,
        cmdline=spec.cmdline,
        root=spec.root,
        share=_share(spec, 32 if tenon else 0, ranks),
        packages=tuple(spec.packages),
        modules=tuple(spec.modules),
        files=spec.files,
        programs=tuple(spec.programs),
        program=spec.program,
        arguments=tuple(spec.arguments),
        environment=tuple(spec.environment),
        calls=None if spec.calls is None else call_numbers(spec.calls, f'VM "{spec.name}"'),
        ready=(spec.ready or _ready(spec)) if linux else spec.ready,
        manages=None if spec.manages is None else _manages(spec.manages),
        colours=spec.colours,
        detach=() if spec.detach is None else tuple(spec.detach.cpus),
        in_place=spec.in_place,
        input=spec.input,
        foreign=_foreign(spec, board) if spec.kind == "image" else None,
    )


def _ready(spec: VmSpec) -> str:
    """Text of the line that is printed when Linux is up: of the generated init, or, as another one
    need not print any, the kernel's line about it."""
    words = (spec.cmdline or "").split()
    foreign = any(word.startswith("rdinit=") and word != "rdinit=/init" for word in words)
    foreign |= spec.root == "initramfs" and spec.initramfs not in (None, "busybox")
    return "as init process" if foreign else "tenon-ready"


def _foreign(spec: VmSpec, board: boards.Board) -> Foreign:
    seen_at = board.ram.base if spec.memory_seen_at is None else spec.memory_seen_at
    return Foreign(
        image=spec.image,
        load=spec.load,
        entry=spec.entry,
        device_tree=spec.device_tree,
        device_tree_at=spec.device_tree_at,
        seen_at=seen_at,
        regions=tuple(Region(region.at, region.size) for region in spec.region),
    )


def _template(index: int, spec: TemplateSpec, folder: Path, ranks: Mapping[int, int]) -> Template:
    vm = Vm(
        index=index,
        name=spec.name,
        kind="tenon",
        cpus=tuple(spec.cpus),
        memory=spec.memory,
        memory_at=None,
        image_limit=spec.image_limit,
        ram_limit=spec.ram_limit,
        interrupts="shared",
        on_fault="stop",
        restart_limit=1,
        wfi="trap",
        devices=(),
        app=spec.app,
        config=folder / (spec.config or f"{spec.name}.config"),
        tasks=_tasks(spec.task),
        kernel=None,
        initramfs=None,
        cmdline=None,
        share=_share(spec, 32, ranks),
        table="template",
    )
    return Template(vm, spec.start_on)


def _tasks(specs: Iterable[TaskSpec]) -> tuple[Task, ...]:
    return tuple(
        Task(task.name, task.period, task.deadline or task.period, task.priority) for task in specs
    )


def _share(spec: GuestSpec, priority: int, ranks: Mapping[int, int]) -> Share:
    by_rate = spec.schedule == "rate-monotonic"
    if by_rate and spec.period is not None:
        priority = ranks[spec.period]
    exhausted = spec.exhausted or ("background" if by_rate else "wait")
    return Share(
        priority=priority if spec.priority is None else spec.priority,
        by_deadline=spec.schedule == "edf",
        budget=spec.budget,
        period=spec.period,
        background=exhausted == "background",
        by_rate=by_rate,
    )


def _reserve(spec: ReserveSpec) -> Reserve:
    return Reserve(spec.memory, tuple(spec.cpus), spec.vms)


def _manages(spec: ManagesSpec) -> Manages:
    return Manages(tuple(spec.vms), spec.memory or 0, tuple(spec.cpus), spec.priority)


def _boards(folders: Iterable[str], base: Path, where: str) -> dict[str, Path]:
    """The folders of the user's own boards, by name."""
    found: dict[str, Path] = {}
    for each in folders:
        folder = (base / each).resolve()
        if not (folder / "board.toml").is_file():
            mend = f"give the folder of a board.toml, as {command()} new board makes one"
            raise InputError(f'no board in "{each}"', where=where, mend=mend)
        if folder.name in boards.names() or folder.name in found:
            taken = "a board of the clone" if folder.name in boards.names() else "named twice"
            raise InputError(
                f'"{folder.name}" is {taken}', where=where, mend="rename the folder and its board"
            )
        found[folder.name] = folder
    return found


def _version(wanted: str, where: str) -> None:
    """Refuse a project outside the tree that was written for another version of the pool."""
    have = inputs.toml(inputs.text(ROOT / "Cargo.toml"), "Cargo.toml")["workspace"]["package"][
        "version"
    ]
    if have != wanted and not have.startswith(wanted + "."):
        raise InputError(
            f"written for pool {wanted}, and this is pool {have}",
            where=where,
            mend=f'write pool = "{have}"',
        )
