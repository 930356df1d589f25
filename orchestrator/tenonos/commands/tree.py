"""`./tenon tree`: dependencies between the libraries of each image."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tenonos.options import AsJson, SystemArgument

if TYPE_CHECKING:
    from rich.tree import Tree

    from tenonos.generate.image import Image
    from tenonos.pool.library import Index, Library


def command(
    system: SystemArgument = None,
    as_json: AsJson = False,
) -> None:
    """Show the libraries of each image as a tree of dependencies.

    Example: ./tenon tree motor-linux
    """
    from rich.tree import Tree

    from tenonos import system as systems
    from tenonos import ui
    from tenonos.build.images import images
    from tenonos.pool.library import Index

    loaded = systems.load(system or "motor-linux")
    top = Tree(loaded.name)
    answer: dict[str, Any] = {}
    for image in images(loaded):
        index = Index(image.libraries)
        answer[image.name] = {
            library.id: [needed.id for needed in index.pool_dependencies(library)]
            for library in image.libraries
        }
        branch = top.add(f"{image.name} ({image.kind})")
        seen: set[str] = set()
        for library in _tops(image, index):
            _grow(branch, library, index, seen)
    if as_json:
        ui.print_json(answer)
    else:
        ui.out().print(top)


def _tops(image: Image, index: Index) -> list[Library]:
    """The libraries nothing else in the image needs."""
    needed = {lib.id for library in image.libraries for lib in index.pool_dependencies(library)}
    return [library for library in image.libraries if library.id not in needed]


def _grow(branch: Tree, library: Library, index: Index, seen: set[str]) -> None:
    """Add a library and, the first time it appears, what it needs."""
    needed = index.pool_dependencies(library)
    again = library.id in seen and bool(needed)
    leaf = branch.add(library.id + (" …" if again else ""))
    seen.add(library.id)
    if not again:
        for other in needed:
            _grow(leaf, other, index, seen)
