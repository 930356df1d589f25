"""Whether an application needs what it has: its libraries taken away, one at a time.

First the configuration of an image is told to do without a library that it has for what its
sentence demands. Then, whatever the Kconfig of its application says, a crate of the same name with
nothing in it stands in the library's place: the image has to fail as it is built, or else the
system as it is asked for its answer.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from tenonos import build, paths, system
from tenonos.bench.row import Row
from tenonos.bench.verdicts import HOST, SUITE
from tenonos.build import images
from tenonos.build.images import Space
from tenonos.errors import InputError, TenonError
from tenonos.plan.models import Composition
from tenonos.pool import kconfig
from tenonos.pool.library import Library
from tenonos.system.model import System

ANSWERS = "answers"
"""The outcome that there must not be: the library was not needed."""


@dataclass(frozen=True)
class Taken:
    """A library taken away from an image of an application, and what that was noticed by."""

    application: str
    image: str
    library: str
    configured: bool = False
    """Whether the image could be configured without it."""
    fails: str = ANSWERS
    """What fails where nothing is in its place: `build`, or `answer`."""
    fault: str = ""


def providers(answer: Composition, space: Space) -> list[tuple[str, str]]:
    """The images of a composition and the symbols that each has for a demanded capability."""
    found = set()
    for item in answer.plan:
        linux = item.image in answer.images and answer.images[item.image].kind == "linux"
        if item.kind != "capability" or linux or not isinstance(item.value, str):
            continue
        if "/" in item.value:
            wanted = [space.index.by_id[item.value].symbol]
        else:
            wanted = space.tree.providers(kconfig.symbol_of(item.value))
        for name, image in answer.images.items():
            if image.kind != "linux" and item.image in (None, name):
                enabled = space.evaluate(name).enabled
                found |= {(name, symbol) for symbol in wanted if symbol in enabled}
    return sorted(found)


def refused(loaded: System, image: str, symbol: str) -> bool:
    """Whether a system whose image is told to do without a library cannot be configured."""
    fragment = loaded.folder / f"{image}.config"
    had = fragment.read_text() if fragment.exists() else ""
    kept = "".join(line for line in had.splitlines(True) if f"CONFIG_{symbol}=" not in line)
    try:
        fragment.write_text(f"{kept}CONFIG_{symbol}=n\n")
        images.images(loaded)
    except InputError:
        return True
    finally:
        fragment.write_text(had)
    return False


def each(
    name: str, answer: Composition, folder: Path, ask: Callable[[build.Built], str]
) -> Iterator[Taken]:
    """Every such library of the composition in `folder`, taken away.

    `ask` says what is wrong with the answer of a system, and nothing if it is right.
    """
    loaded = system.load(folder)
    space = images.space(loaded)
    made = {image.name: image for image in images.images(loaded)}
    for image, symbol in providers(answer, space):
        library = next(lib for lib in made[image].libraries if lib.symbol == symbol)
        taken = Taken(name, image, library.id, configured=not refused(loaded, image, symbol))
        if library is made[image].app:
            yield replace(taken, fails="build", fault="there is no application")
        else:
            yield _hollow(taken, loaded, library, ask)


def _hollow(
    taken: Taken, loaded: System, library: Library, ask: Callable[[build.Built], str]
) -> Taken:
    """What becomes of an application where a library is a crate with nothing in it."""
    place = build.folder(loaded) / taken.image
    override = paths.ensure(place / ".cargo") / "config.toml"
    stamp = place / "built"
    try:
        # Cargo takes this crate for the one of that name, whoever depends on it.
        override.write_text(f"paths = [{str(_crate(library, place / 'hollow'))!r}]\n")
        stamp.unlink(missing_ok=True)
        built = build.build(loaded)
    except TenonError as error:
        return replace(taken, fails="build", fault=str(error))
    else:
        fault = ask(built)
        return replace(taken, fails="answer" if fault else ANSWERS, fault=fault)
    finally:
        override.unlink()
        stamp.unlink(missing_ok=True)


def _crate(library: Library, folder: Path) -> Path:
    """A crate of a library's name, version and features, with nothing in it."""
    workspace = tomllib.loads((paths.ROOT / "Cargo.toml").read_text())["workspace"]
    features = tomllib.loads((library.path / "Cargo.toml").read_text()).get("features", {})
    lines = [
        "[package]",
        f'name = "{library.package}"',
        f'version = "{workspace["package"]["version"]}"',
        f'edition = "{workspace["package"]["edition"]}"',
        "[features]",
        *(f"{name} = []" for name in features),
        "[workspace]",
    ]
    paths.ensure(folder / "src").joinpath("lib.rs").write_text("#![no_std]\n")
    (folder / "Cargo.toml").write_text("\n".join([*lines, ""]))
    return folder


def counted(taken: Sequence[Taken], params: Mapping[str, str]) -> Iterator[Row]:
    """How many libraries were taken away, and where that was noticed."""
    fails = Counter(one.fails for one in taken)
    counts = {
        "taken": len(taken),
        "taken_refused": sum(not one.configured for one in taken),
        "taken_not_built": fails["build"],
        "taken_no_answer": fails["answer"],
    }
    for name, count in counts.items():
        options = {"taken": [asdict(one) for one in taken]} if name == "taken" else {}
        values = {"unit": "count", "environment": HOST, "system": params["set"]}
        yield Row(
            SUITE, name, dict(params), 1, count, count, count, count, options=options, **values
        )
