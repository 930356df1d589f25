"""The images a system needs, each with its evaluated configuration.

What the system says (the kind of image, the board, the application) is assigned
first, then the image's fragment, then `-D` from the command line.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tenonos.errors import InputError
from tenonos.generate.image import Image, choose, root_of
from tenonos.paths import APPS, ROOT
from tenonos.pool import library
from tenonos.pool.kconfig import Assignment, Config, Tree, capability, define, fragment, load
from tenonos.pool.library import Index, Library
from tenonos.system.model import System, Vm


@dataclass(frozen=True)
class Space:
    """What a system's images are chosen from: the index and the tree, with its own applications."""

    system: System
    index: Index
    tree: Tree
    apps: dict[str, Library]

    def given(self, image: str) -> list[Assignment]:
        """What the system says of an image: its kind, its board, and what it is there for."""
        if image == "mortise":
            roots = [lib.symbol for lib in self.index.libraries if lib.root == "mortise"]
            names = ["IMAGE_MORTISE", *roots]
        else:
            names = ["IMAGE_TENON", self.apps[image].symbol]
        names.append(self.system.board.symbol)
        return [Assignment(name, "y", self.system.shown) for name in names]

    def fragment_file(self, image: str) -> Path | None:
        """The fragment an image is configured by."""
        if image == "mortise":
            return self.system.mortise_config
        return self.system.vm(image).config

    def evaluate(self, image: str, demands: Sequence[Assignment] = ()) -> Config:
        """An image's configuration: every line of its fragment holds, `demands` where they can."""
        file = self.fragment_file(image)
        lines = [*self.given(image), *(fragment(file) if file else ())]
        config = self.tree.evaluate(lines)
        return self.tree.evaluate([*lines, *demands], strict=False) if demands else config


def space(system: System) -> Space:
    """What the images of `system` are chosen from."""
    index = library.index()
    apps: dict[str, Library] = {}
    for vm in system.vms:
        if vm.kind == "tenon":
            folder = app_folder(system, vm)
            index = index.with_app(folder)
            apps[vm.name] = next(lib for lib in index.libraries if lib.path == folder)
    outside = [app.path / "Kconfig" for app in apps.values() if not app.path.is_relative_to(ROOT)]
    return Space(system, index, load(list(dict.fromkeys(outside))), apps)


def images(system: System, defines: Sequence[str] = ()) -> list[Image]:
    """Mortise's image, then one for each Tenon VM."""
    choices = space(system)
    demands = [define(text) for text in defines]
    mortise = choices.evaluate("mortise", demands)
    _capable(system, choices.tree, mortise)
    made = [_image(choices, "mortise", mortise, system.shown)]
    for vm in system.vms:
        if vm.kind == "tenon":
            config = choices.evaluate(vm.name, demands)
            made.append(_image(choices, vm.name, config, system.where("vm", vm.index, "app")))
    for demand in demands:
        _effective(choices.tree, demand, [image.config for image in made])
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


def _image(choices: Space, name: str, config: Config, where: str) -> Image:
    kind = "mortise" if name == "mortise" else "tenon"
    libraries = choose(choices.index, config)
    return Image(
        name=name,
        kind=kind,
        package=f"{choices.system.name}-{name}",
        board=choices.system.board,
        config=config,
        libraries=libraries,
        root=root_of(libraries, kind, where),
        app=choices.apps.get(name),
    )


def _effective(tree: Tree, demand: Assignment, configs: Sequence[Config]) -> None:
    """-D goes to every image it applies to; to none of them, it is a mistake."""
    if not any(tree.holds(demand, config) for config in configs):
        raise InputError(
            f"CONFIG_{demand.symbol}={demand.value} has no effect in any image",
            where=demand.where,
            mend="see ./tenon config for what it depends on",
        )


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
