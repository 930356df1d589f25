"""The images a system needs, each with its evaluated configuration.

Values given by the system (kind of image, board, application) are assigned first, then the image's
fragment, then `-D` from the command line.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from tenonos import catalogue, ui
from tenonos.analysis import costs, least
from tenonos.build import channel_ends
from tenonos.errors import InputError
from tenonos.generate.image import NATIVE, Image, Native, choose, root_of
from tenonos.linux.file_tree import file_tree
from tenonos.paths import command, shown
from tenonos.pool import library
from tenonos.pool.kconfig import Assignment, Config, Tree, capability, define, fragment, load
from tenonos.pool.library import Index, Library
from tenonos.system import disks, errata, networks, translation_tables
from tenonos.system.bare import BARE
from tenonos.system.board import PCIE, Device
from tenonos.system.devices import DMA
from tenonos.system.model import FirstProcess, System, Vm
from tenonos.system.model import Native as SystemNative
from tenonos.system.native_tasks import TIME

PERIOD = "TENON_PERIODIC_PERIOD_NS"
PAGE_TABLES = 80
"""Default number of frames for translation tables in Mortise: pool/mortise/partition."""


@dataclass(frozen=True)
class Space:
    """The configuration space of a system: index and Kconfig tree, with its own applications."""

    system: System
    index: Index
    tree: Tree
    apps: dict[str, Library]
    """The program of each Tenon VM, and of each native task."""

    def given(self, image: str) -> list[Assignment]:
        """The values given by the system for an image: kind, board, purpose, cores."""
        root, shown = self.root(image), self.system.shown
        if image == "mortise":
            natives = {self.apps[native.name].symbol for native in self.system.natives}
            names = ["IMAGE_MORTISE", *sorted(natives)]
        else:
            kind = "IMAGE_TENON" if root == "tenon" else "IMAGE_PLAIN"
            names = [kind, self.apps[image].symbol]
        given = [Assignment(name, "y", shown) for name in (*names, self.system.board.symbol)]
        if image == "mortise":
            # Without VMs there is no hypervisor: partitioning, the default, is left out.
            kernels = [lib for lib in self.index.libraries if lib.root == "mortise"]
            given += [
                Assignment(lib.symbol, "y" if lib.root == root else "n", shown) for lib in kernels
            ]
        if root == NATIVE:
            without = [lib for lib in self.index.libraries if lib.root == root]
            given += [Assignment(lib.symbol, "y", shown) for lib in without]
        given += self._against_errata(root)
        if root == "mortise":
            given += self._demanded()
        elif root == "tenon":
            vm = self.system.vm(image)
            where = self.system.at(vm, "cpus")
            given.append(Assignment("TENON_THREAD_CORES", str(len(vm.cpus)), where))
            if vm.console == "pl011" and self.system.mode != BARE:
                given.append(Assignment("TENON_THREAD_VIRTUAL_SERIAL", "y", where))
            if self.system.mode == BARE:
                end = self.system.board.ram.base + vm.memory
                given.append(Assignment("TENON_THREAD_MEMORY_END", str(end), where))
            given += self._task_priorities(vm)
            given += self._addresses(vm)
            if vm.strace:
                given.append(Assignment("LIB_TENON_STRACE", "y", "--strace"))
        return given

    def _task_priorities(self, vm: Vm) -> Iterator[Assignment]:
        """The reading of the priorities of a VM's tasks, if its system states them."""
        for number, task in enumerate(vm.tasks):
            if task.priority is not None:
                where = self.system.at(vm, "task", number, "priority")
                yield Assignment("TENON_PERIODIC_PRIORITIES", "y", where)
                return

    def _addresses(self, vm: Vm) -> Iterator[Assignment]:
        """The address of a VM's card in a network."""
        for address in networks.hosts(self.system, vm).values():
            where = self.system.at(vm, "name")
            yield Assignment("TENON_INET_ADDRESS", f'"{address}"', where)

    def _against_errata(self, root: str) -> Iterator[Assignment]:
        """The libraries with workarounds for the board's CPU, those of Mortise only for itself."""
        board = self.system.board
        for symbol in board.errata.libraries(firmware=not board.spin_table):
            if root == "mortise" or not symbol.startswith("LIB_MORTISE_"):
                yield Assignment(symbol, "y", errata.FILE)

    def root(self, image: str) -> str:
        """The root library of an image: a kernel, or the bare runtime of a native task."""
        if image == "mortise":
            return "mortise" if self.system.vms else NATIVE
        return "tenon" if self.apps[image].rights is None else NATIVE

    def _demanded(self) -> list[Assignment]:
        """Settings of Mortise that follow from the system's mode and tables."""
        demanded = []
        for need in needs(self.system):
            providers = mortise_providers(self.tree, need.symbol)
            demanded += [Assignment(name, "y", need.where) for name in providers[:1]]
        reserve, channels = self.system.reserve, len(self.system.channels)
        late = reserve.vms if reserve else 0
        slots = len(self.system.vms) + late
        demanded.append(Assignment("MORTISE_VMS", str(slots), self.system.where("mode")))
        shared = channels + len(self.system.vlibs)
        counted_frames = False
        if self.system.mode == "static":
            # The frames of these are not counted beforehand.
            many = shared or self.system.virtual_disks or _with_cards(self.system)
            many = many or self.system.virtual_networks
            many = many or any(vm.detach or vm.colours for vm in self.system.vms)
            counted_frames = not many
            demanded += self._spared(alone=not many)
        counted = next((vm for vm in self.system.guests if vm.share.budget), None)
        if counted is not None:
            where = self.system.at(counted, "budget")
            demanded.append(Assignment("LIB_MORTISE_BUDGET_COUNTERS", "y", where))
        larger = 0 if counted_frames else translation_tables.beyond_default(self.system)
        if late or shared or larger:
            # In addition: a map for each VM, and two pages at each end.
            frames = PAGE_TABLES + 8 * late + 4 * shared + larger
            key = "reserve" if late else "channel" if channels else "vlib" if shared else "machine"
            where = self.system.where(key)
            demanded.append(Assignment("MORTISE_PAGE_TABLES", str(frames), where))
        return demanded

    def _spared(self, *, alone: bool) -> Iterator[Assignment]:
        """Features that Mortise leaves out for VMs on fixed cores; `alone`: without channels
        between them."""
        vms, where = self.system.vms, self.system.where("mode")
        cores = {0, *(cpu for vm in vms for cpu in vm.cpus)}
        cores |= {native.cpu for native in self.system.natives}
        yield Assignment("MORTISE_CORES", str(max(cores) + 1), where)
        if all(vm.interrupts == "direct" and vm.console != "pl011" for vm in vms):
            yield Assignment("MORTISE_VIRTUAL_DEVICES", "n", where)
        ringed = any(vm.console == "ring" for vm in vms)
        yield Assignment("MORTISE_LOG_RINGS", "y" if ringed else "n", where)
        if alone:
            yield Assignment(
                "MORTISE_PAGE_TABLES", str(translation_tables.most(self.system, cores)), where
            )

    def fragment_file(self, image: str) -> Path | None:
        """The configuration fragment of an image."""
        if image == "mortise":
            return self.system.mortise_config
        return self.system.vm(image).config

    def evaluate(self, image: str, demands: Sequence[Assignment] = ()) -> Config:
        """An image's configuration: every line of its fragment holds, `demands` as far as
        possible."""
        file = self.fragment_file(image)
        lines = [*self.given(image), *(fragment(file) if file else ())]
        config = self.tree.evaluate(lines)
        return self.tree.evaluate([*lines, *demands], strict=False) if demands else config


def space(system: System) -> Space:
    """The configuration space of `system`."""
    index = library.index()
    for folder in system.libraries:
        if not (folder / "Cargo.toml").is_file():
            raise InputError(
                f'no library "{folder.name}"',
                where=system.where("libraries"),
                mend="give the folder of a crate with its Kconfig, from here",
            )
        index = index.with_library(folder)
    apps: dict[str, Library] = {}
    programs = list(_programs(system))
    guests = {*_of_guests(system), *(folder for _, folder, _ in programs)}
    for name, folder, where in programs:
        others = [path for path in guests if not folder.is_relative_to(path)]
        index = _with_app(index, folder, where, apps, others)
        apps[name] = next(lib for lib in index.libraries if lib.path == folder)
    for native in system.natives:
        _granted(system, native, apps[native.name])
    kept = {lib.path for lib in index.libraries}
    replaced = [path / "Kconfig" for path in catalogue.apps().values() if path not in kept]
    outside = [lib.path / "Kconfig" for lib in index.libraries if lib.is_outside]
    board = [system.board.folder / "Kconfig"] if system.board.is_outside else []
    return Space(system, index, load(outside, boards=board, without=replaced), apps)


def _programs(system: System) -> Iterator[tuple[str, Path, str]]:
    """The folder of the program of each Tenon VM and native task, with the place of its name."""
    for vm in system.guests:
        if vm.kind == "tenon":
            yield vm.name, app_folder(system, vm), system.at(vm, "app")
    for native in system.natives:
        where = system.where("native", native.index, "app")
        yield native.name, program(system, native.app, where), where


def _of_guests(system: System) -> Iterator[Path]:
    """The files and folders with what runs in Linux VMs and in processes, C files among them."""
    for vm in system.guests:
        for name in (*vm.programs, vm.files, vm.initramfs):
            if name is not None:
                yield (system.folder / name).resolve()


def _with_app(
    index: Index, folder: Path, where: str, apps: Mapping[str, Library], others: Collection[Path]
) -> Index:
    """The index with an application, which may replace one of its name in the clone. A system with
    both is refused, as a name is one package in it."""
    added = library.read(folder, "apps", others)
    for name, app in apps.items():
        if app.path == folder or (app.is_of_clone and added.is_of_clone):
            continue
        clash = {app.package, *app.dependencies} & {added.package, *added.dependencies}
        if taken := sorted(clash & {app.package, added.package}):
            raise InputError(
                f'"{taken[0]}" names two applications of this system: that of "{name}" is in '
                f"{shown(app.path)}, and this one in {shown(folder)}",
                where=where,
                mend="give your own another name, in its Cargo.toml or Kconfig",
            )
    return index.with_app(folder, others)


def images(system: System, defines: Sequence[str] = ()) -> list[Image]:
    """Mortise's image, if the system has one, then one for each Tenon VM and each template."""
    choices = space(system)
    for line in (*_chosen(system), *channel_ends.missing(system, choices.apps)):
        ui.message(line, "yellow")
    demands = [define(text) for text in defines]
    made = []
    if system.mode != BARE:
        mortise = choices.evaluate("mortise", demands)
        if system.vms:
            _capable(system, choices.tree, mortise)
        made.append(_image(choices, "mortise", mortise, system.shown))
    for vm in system.guests:
        if vm.kind == "tenon":
            config = choices.evaluate(vm.name, demands)
            _periodic(system, vm, config)
            made.append(_image(choices, vm.name, config, system.at(vm, "app")))
    for demand in demands:
        _effective(choices.tree, demand, [image.config for image in made])
    return made


def _periodic(system: System, vm: Vm, config: Config) -> None:
    """Refuse a configured period below the least that can be; 0 is none."""
    configured = int(config.values.get(PERIOD) or 0)
    bound = least.period(system.board, costs.alone())
    if 0 < configured < bound:
        reasons = least.reasons(system.board, costs.alone())
        raise InputError(
            f'period {configured}ns of VM "{vm.name}" is below the least on {system.board.name}: '
            f"{reasons}",
            where=system.at(vm, "config"),
            mend=f"write CONFIG_{PERIOD}={bound} or more",
        )


def app_folder(system: System, vm: Vm) -> Path:
    """The folder of a Tenon VM's application: beside the system, or in the clone."""
    assert vm.app is not None
    return program(system, vm.app, system.at(vm, "app"))


def program(system: System, name: str, where: str) -> Path:
    """The folder of the application of that name; `where` is the place of the name.

    A folder beside the system comes before an application of the clone: what runs is what stands
    there, and a later version of the clone may have an application of any name.
    """
    known = catalogue.apps()
    for folder in (system.folder / name, known.get(name)):
        if folder is not None and catalogue.is_app(folder):
            return folder.resolve()
    folder = system.folder / name
    if folder.is_dir():
        raise InputError(
            f"folder {shown(folder)} has no application: no Cargo.toml and no C file",
            where=where,
            mend="write one there, or name another folder or an application of the clone",
        )
    close = " or ".join(f'"{each}"' for each in get_close_matches(name, known, 3))
    guess = f"did you mean {close}? " if close else ""
    raise InputError(
        f'no application "{name}"',
        where=where,
        mend=catalogue.unknown(name, known, catalogue.RENAMED_APPS)
        or f"{guess}give the folder of one, or a name that {command()} list libraries shows",
    )


def _chosen(system: System) -> Iterator[str]:
    """A line for each program that is beside the system, and has a name of one in the clone."""
    known = catalogue.apps()
    for _, folder, where in _programs(system):
        beside = folder == (system.folder / folder.name).resolve()
        if beside and folder.name in known and not catalogue.is_app_folder(folder):
            yield f'{where}: "{folder.name}" is the application in {folder}, not the clone\'s'


def _granted(system: System, native: SystemNative, app: Library) -> None:
    """Check that a native task is granted what it requires, and is written as one."""
    if app.rights is None:
        raise InputError(
            f'application "{native.app}" is not a native task',
            where=system.where("native", native.index, "app"),
            mend="give it a [[vm]], or say in its Cargo.toml which rights it takes",
        )
    for right in app.rights:
        if right not in native.rights:
            raise InputError(
                f'native task "{native.name}" takes the right "{right}"',
                where=system.where("native", native.index, "rights"),
                mend=f"write rights = {json.dumps(list(app.rights))}",
            )
    if native.period and TIME not in app.rights:
        raise InputError(
            f'native task "{native.name}" has a period, and its program takes no right "{TIME}"',
            where=system.where("native", native.index, "period"),
            mend="remove the period",
        )


def _natives(choices: Space, name: str) -> Iterator[Native]:
    """The native tasks of an image; one that is a VM runs on the VM's first core."""
    if name == "mortise":
        for native in choices.system.natives:
            yield Native(native.name, choices.apps[native.name], native.cpu, native.period)
    elif choices.apps[name].rights is not None:
        tasks = choices.system.vm(name).tasks
        yield Native(name, choices.apps[name], 0, tasks[0].period if tasks else None)


def _image(choices: Space, name: str, config: Config, where: str) -> Image:
    kind = "mortise" if name == "mortise" else "tenon"
    libraries = choose(choices.index, config)
    return Image(
        name=name,
        kind=kind,
        board=choices.system.board,
        config=config,
        libraries=libraries,
        root=root_of(libraries, choices.root(name), where),
        app=choices.apps.get(name),
        natives=tuple(_natives(choices, name)),
        devices=tuple(_devices(choices.system, name, libraries)),
        files=_files(choices.system, name, libraries),
        first=FirstProcess() if name == "mortise" else choices.system.vm(name).first,
    )


def _files(system: System, name: str, libraries: Sequence[Library]) -> bytes:
    """The archive with the files of an image's processes."""
    if name == "mortise":
        return b""
    vm = system.vm(name)
    if any(library.statics for library in libraries):
        return file_tree(system, vm)
    if vm.strace:
        raise InputError(f'VM "{name}" has no processes', where="--strace", mend="leave it out")
    for key in _OF_PROCESSES:
        if getattr(vm, key):
            raise InputError(
                f'VM "{name}" has {key} and no processes',
                where=system.at(vm, key),
                mend="choose CONFIG_LIB_TENON_LINUX_ABI=y in its config, or an application with it",
            )
    return b""


def _devices(system: System, name: str, libraries: Sequence[Library]) -> Iterator[Device]:
    """The devices of an image that one of its libraries drives; without Mortise it owns all."""
    if name == "mortise":
        return
    board = system.board.devices
    driven = {kind for library in libraries for kind in library.drives}
    names = _all(system) if system.mode == BARE else _owned(system, name)
    yield from (board[each] for each in names if board[each].kind in driven)
    card = networks.card(system, name)
    if card is not None:
        if card.kind not in driven:
            raise InputError(
                f'VM "{name}" is in a network, and its image has no driver of a card',
                where=system.at(system.vm(name), "app"),
                mend="choose CONFIG_LIB_TENON_INET=y in its config, or an application with it",
            )
        yield card
    disk = disks.of_image(system, name)
    if disk is not None:
        if disk.kind not in driven:
            raise InputError(
                f'VM "{name}" has a disk, and its image has no driver of one',
                where=system.at(system.vm(name), "app"),
                mend="use tenon/disk-log in its application, or choose"
                " CONFIG_LIB_TENON_LINUX_DISK=y in its config, for programs of Linux",
            )
        yield disk


def _all(system: System) -> Sequence[str]:
    """The devices of the board; of pages of transports those with a card behind them."""
    used = {device for _, _, device, _ in system.attached}
    board = system.board.devices
    return [name for name in board if name in used or board[name].kind not in DMA]


def _owned(system: System, name: str) -> Sequence[str]:
    """The devices of a VM."""
    return next((vm.devices for vm in system.guests if vm.name == name), ())


def _effective(tree: Tree, demand: Assignment, configs: Sequence[Config]) -> None:
    """Assign -D in every image it applies to; refuse it if it applies to none."""
    if not any(tree.holds(demand, config) for config in configs):
        raise InputError(
            f"CONFIG_{demand.symbol}={demand.value} has no effect in any image",
            where=demand.where,
            mend="see ./tenon config for what it depends on",
        )


@dataclass(frozen=True)
class Need:
    """A capability that a system requires of Mortise, with its reason and place."""

    symbol: str
    who: str
    where: str


_OF_VM = {
    "direct": "CAP_VIRT_IRQ_DIRECT",
    "shared": "CAP_VIRT_IRQ_SHARED",
}
"""Capability of Mortise for each interrupt mode of VMs."""


_OF_PROCESSES = ("packages", "files", "program", "arguments", "environment")
"""Keys of a VM with processes."""


def _has_programs(vm: Vm) -> bool:
    """Whether a VM has programs of Linux as processes, which want random numbers."""
    return any(getattr(vm, key) for key in _OF_PROCESSES)


def _with_cards(system: System) -> list[Vm]:
    """The VMs with PCI devices."""
    devices = system.board.devices
    return [vm for vm in system.vms if any(devices[name].kind == PCIE for name in vm.devices)]


def needs(system: System) -> Iterator[Need]:
    """The capabilities that a system requires of Mortise."""
    for vm in system.vms:
        yield Need(_OF_VM[vm.interrupts], f'VM "{vm.name}"', system.at(vm, "interrupts"))
    for vm in [vm for vm in system.vms if vm.kind != "tenon" or _has_programs(vm)][:1]:
        yield Need("CAP_VIRT_ENTROPY", f'VM "{vm.name}"', system.at(vm, "kind"))
    for native in system.natives[:1]:
        where = system.where("native", native.index)
        yield Need("CAP_VIRT_NATIVE", f'native task "{native.name}"', where)
    if system.mode == "dynamic":
        yield Need("CAP_VIRT_DISPATCH", "a dynamic system", system.where("mode"))
    if system.reserve is not None:
        yield Need("CAP_VIRT_LIFECYCLE", "the reserve", system.where("reserve"))
    for vm in [vm for vm in system.vms if vm.colours][:1]:
        yield Need("CAP_VIRT_CACHE_COLOURING", f'VM "{vm.name}"', system.at(vm, "colours"))
    for vm in _with_cards(system):
        yield Need("CAP_VIRT_DMA", f'VM "{vm.name}"', system.at(vm, "devices"))
    if system.regulation is not None:
        yield Need("CAP_VIRT_BANDWIDTH", "the regulation", system.where("regulation"))
    for vm in system.vms:
        if vm.manages is not None:
            yield Need("CAP_VIRT_LIFECYCLE", f'VM "{vm.name}"', system.at(vm, "manages"))
        if vm.detach:
            yield Need("CAP_VIRT_DETACH", f'VM "{vm.name}"', system.at(vm, "detach"))
    for disk in system.memory_disks[:1]:
        yield Need("CAP_VIRT_DISK", "a disk in memory", system.where("disk", disk.index))
    for disk in system.drives[:1]:
        yield Need("CAP_VIRT_DRIVE", f'disk "{disk.name}"', system.where("disk", disk.index))
    for network in system.virtual_networks[:1]:
        where = system.where("network", network.index)
        yield Need("CAP_VIRT_SWITCH", f'network "{network.name}"', where)
    for channel in system.channels[:1]:
        where = system.where("channel", channel.index)
        yield Need("CAP_IPC_CHANNEL", f'channel "{channel.name}"', where)
    for vlib in system.vlibs[:1]:
        where = system.where("vlib", vlib.index)
        yield Need("CAP_VIRT_VLIB", f'vLib "{vlib.name}"', where)


def mortise_providers(tree: Tree, symbol: str) -> list[str]:
    """The libraries of Mortise that provide a capability; Tenon may have a counterpart."""
    return [name for name in tree.providers(symbol) if name.startswith("LIB_MORTISE_")]


def _capable(system: System, tree: Tree, config: Config) -> None:
    """Check that Mortise has the required capabilities; name the missing library otherwise."""
    for need in needs(system):
        if config[need.symbol]:
            continue
        providers = mortise_providers(tree, need.symbol)
        mend = f"add CONFIG_{providers[0]}=y to mortise.config" if providers else None
        raise InputError(
            f"{need.who} needs {capability(need.symbol)} of Mortise",
            where=need.where,
            mend=mend or "nothing in the pool provides it",
        )
