"""Ablation of libraries: whether an application fails without each library that it was given.

Each library that an image has for a demanded capability is removed in two ways. First its Kconfig
symbol is set to n, and the configuration must be refused. Then an empty crate of the same name
replaces it: the build must fail, or the built system must give no right answer.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from tenonos import build, paths, system
from tenonos.build import images
from tenonos.build.images import Space
from tenonos.errors import InputError, TenonError
from tenonos.plan.models import Composition
from tenonos.pool import kconfig
from tenonos.pool.library import Library
from tenonos.system.model import System
from tools.bench.row import Row
from tools.bench.verdicts import HOST, SUITE

ANSWERS = "answers"
"""The outcome that must not occur: the application answers without the library."""


@dataclass(frozen=True)
class Ablation:
    """A library removed from an image of an application, and what failed then."""

    application: str
    image: str
    library: str
    configured: bool = False
    """Whether the image could be configured without the library."""
    fails: str = ANSWERS
    """What fails with an empty crate in its place: `build` or `answer`."""
    fault: str = ""


def providers(answer: Composition, space: Space) -> list[tuple[str, str]]:
    """Pairs of an image and a symbol that provides a demanded capability in it."""
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
    """Whether the configuration is refused with the symbol of a library set to n in an image."""
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


def ablations(
    name: str, answer: Composition, folder: Path, ask: Callable[[build.Built], str]
) -> Iterator[Ablation]:
    """The ablation of each such library of the composition in `folder`.

    `ask` returns what is wrong with the answer of a system, or nothing.
    """
    loaded = system.load(folder)
    space = images.space(loaded)
    made = {image.name: image for image in images.images(loaded)}
    for image, symbol in providers(answer, space):
        library = next(lib for lib in made[image].libraries if lib.symbol == symbol)
        ablation = Ablation(name, image, library.id, configured=not refused(loaded, image, symbol))
        if library is made[image].app:
            yield replace(ablation, fails="build", fault="there is no application")
        else:
            yield _hollow(ablation, loaded, library, ask)


def _hollow(
    ablation: Ablation, loaded: System, library: Library, ask: Callable[[build.Built], str]
) -> Ablation:
    """The ablation with an empty crate in place of the library."""
    place = build.folder(loaded) / ablation.image
    override = paths.ensure(place / ".cargo") / "config.toml"
    stamp = place / "built"
    try:
        # Cargo resolves each dependency on a package of that name to this crate.
        override.write_text(f"paths = [{str(_crate(library, place / 'hollow'))!r}]\n")
        stamp.unlink(missing_ok=True)
        built = build.build(loaded)
    except TenonError as error:
        return replace(ablation, fails="build", fault=str(error))
    else:
        fault = ask(built)
        return replace(ablation, fails="answer" if fault else ANSWERS, fault=fault)
    finally:
        override.unlink()
        stamp.unlink(missing_ok=True)


def _crate(library: Library, folder: Path) -> Path:
    """An empty crate with the name, version and features of a library."""
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


def rows(ablations: Sequence[Ablation], params: Mapping[str, str]) -> Iterator[Row]:
    """Numbers of removed libraries, by what failed."""
    fails = Counter(one.fails for one in ablations)
    counts = {
        "taken": len(ablations),
        "taken_refused": sum(not one.configured for one in ablations),
        "taken_not_built": fails["build"],
        "taken_no_answer": fails["answer"],
    }
    for name, count in counts.items():
        options = {"taken": [asdict(one) for one in ablations]} if name == "taken" else {}
        values = {"unit": "count", "environment": HOST, "system": params["set"]}
        yield Row(
            SUITE, name, dict(params), 1, count, count, count, count, options=options, **values
        )
