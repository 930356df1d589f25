"""The images a system needs, each with its evaluated configuration.

What the system says (the kind of image, the board, the application) is assigned
first, then the image's fragment, then `-D` from the command line.
"""

import tomllib
from collections.abc import Sequence
from pathlib import Path

from tenonos.errors import InputError
from tenonos.generate.image import Image, choose, root_of
from tenonos.paths import APPS, ROOT
from tenonos.pool import library
from tenonos.pool.kconfig import Assignment, Config, Tree, capability, define, fragment, load
from tenonos.pool.library import Index, Library
from tenonos.system.model import System, Vm


def images(system: System, defines: Sequence[str] = ()) -> list[Image]:
    """Mortise's image, then one for each Tenon VM."""
    index = library.index()
    apps: dict[str, Library] = {}
    for vm in system.vms:
        if vm.kind == "tenon":
            folder = app_folder(system, vm)
            index = index.with_app(folder)
            apps[vm.name] = next(lib for lib in index.libraries if lib.path == folder)
    outside = [app.path / "Kconfig" for app in apps.values() if not app.path.is_relative_to(ROOT)]
    tree = load(list(dict.fromkeys(outside)))
    demands = [define(text) for text in defines]
    _known(tree, demands)
    made = [_mortise(system, index, tree, demands)]
    made += [
        _tenon(system, index, tree, vm, apps[vm.name], demands)
        for vm in system.vms
        if vm.kind == "tenon"
    ]
    return made


def app_folder(system: System, vm: Vm) -> Path:
    """The crate of a Tenon VM's application: under `apps/`, or beside the system."""
    assert vm.app is not None
    for folder in (APPS / vm.app, system.folder / vm.app):
        if (folder / "Cargo.toml").is_file():
            return folder.resolve()
    known = ", ".join(sorted(file.parent.name for file in APPS.glob("*/Cargo.toml")))
    raise InputError(
        f'no application "{vm.app}"',
        where=system.where("vm", vm.index, "app"),
        mend=f"known are {known}, or give the folder of one",
    )


def _known(tree: Tree, demands: Sequence[Assignment]) -> None:
    """-D goes to every image it can apply to, so that it must exist in the tree at least."""
    tree.evaluate(demands, strict=False)


def _mortise(system: System, index: Index, tree: Tree, demands: Sequence[Assignment]) -> Image:
    roots = [lib for lib in index.libraries if lib.root == "mortise"]
    given = _given(system, "IMAGE_MORTISE", *(root.symbol for root in roots))
    where = system.mortise_config
    config = _evaluate(tree, [*given, *fragment(where)], demands)
    _capable(system, tree, config)
    libraries = choose(index, config, system.shown)
    root = root_of(libraries, "mortise", system.shown)
    return Image(
        name="mortise",
        kind="mortise",
        package=f"{system.name}-mortise",
        board=system.board,
        config=config,
        libraries=libraries,
        root=root,
        app=None,
    )


def _tenon(
    system: System, index: Index, tree: Tree, vm: Vm, app: Library, demands: Sequence[Assignment]
) -> Image:
    given = _given(system, "IMAGE_TENON", app.symbol)
    lines = fragment(vm.config) if vm.config else []
    config = _evaluate(tree, [*given, *lines], demands)
    where = system.where("vm", vm.index, "app")
    libraries = choose(index, config, where)
    return Image(
        name=vm.name,
        kind="tenon",
        package=f"{system.name}-{vm.name}",
        board=system.board,
        config=config,
        libraries=libraries,
        root=root_of(libraries, "tenon", where),
        app=app,
    )


def _given(system: System, *symbols: str) -> list[Assignment]:
    names = (*symbols, system.board.symbol)
    return [Assignment(name, "y", system.shown) for name in names]


def _evaluate(tree: Tree, assignments: list[Assignment], demands: Sequence[Assignment]) -> Config:
    """A configuration in which every line of the fragment holds, and -D where it can."""
    tree.evaluate(assignments)
    return tree.evaluate([*assignments, *demands], strict=False)


NEEDS = {
    "direct": "CAP_VIRT_IRQ_DIRECT",
    "shared": "CAP_VIRT_IRQ_SHARED",
    "linux": "CAP_GUEST_LINUX",
}
"""What Mortise must be able to do for a VM of that interrupt mode or kind."""


def _capable(system: System, tree: Tree, config: Config) -> None:
    """Mortise can do what each VM asks for; otherwise the library that could is named."""
    for vm in system.vms:
        for key, value in (("interrupts", vm.interrupts), ("kind", vm.kind)):
            symbol = NEEDS.get(value)
            if symbol is None or config[symbol]:
                continue
            providers = tree.providers(symbol)
            mend = f"add CONFIG_{providers[0]}=y to mortise.config" if providers else None
            raise InputError(
                f'VM "{vm.name}" needs {capability(symbol)} of Mortise',
                where=system.where("vm", vm.index, key),
                mend=mend or "nothing in the pool provides it",
            )


def pool_version() -> str:
    """The version of this pool."""
    values = tomllib.loads((ROOT / "Cargo.toml").read_text())
    return str(values["workspace"]["package"]["version"])
