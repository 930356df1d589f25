"""Skeletons of applications, systems, boards and libraries that build, run and have tests.

The current folder decides the place: inside the clone in the tree, elsewhere a separate folder that
names the pool's version.
"""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from string import Template

from tenonos import catalogue, inputs, ui
from tenonos.build import cargo_paths
from tenonos.errors import InputError
from tenonos.outputs import writing
from tenonos.paths import BOARDS, POOL, ROOT, command, shown
from tenonos.pool.library import LAYERS, Index, Library, index, read
from tenonos.system import board as boards
from tenonos.system.units import duration_text, size_text

LIBOS = "tenon"
"""The default layer of a library."""

Made = tuple[Path, list[Path]]
"""The created folder and its files."""

SKELETONS = Path(__file__).parent / "skeletons"
"""A folder per skeleton with `FILE.in`, in which variables such as `$name` are replaced."""


TASK = '\n[[vm.task]]\nname = "{name}"\nperiod = "{period}"\n'
"""A periodic task of an application, in a system."""


def app(name: str, here: Path, language: str = "rust") -> Made:
    """A new application, with a system that runs it when outside the tree."""
    _named(name, r"[a-z][a-z0-9-]{0,30}")
    inside = here.is_relative_to(ROOT)
    pool = index()
    taken = pool.by_package.get(name)
    if taken and (inside or not taken.is_of_clone):
        raise InputError(f'"{name}" is {taken.id} of the pool', mend="choose another name")
    _usable(pool, name)
    folder = POOL / "apps" / name if inside else here / name
    if language == "c":
        parts = ["app-c"] if inside else ["app-c", "app-c-outside", "system"]
        return _write(folder, parts, _values(name) | {"app": ".", "task": ""})
    values = _values(name) | {
        "version": _version(),
        "cargo_paths": cargo_paths.text([index().by_package["tenon-api"]]),
        "app": ".",
        "task": TASK.format(name="count", period="10ms"),
    }
    return _write(
        folder, ["app", "app-inside"] if inside else ["app", "app-outside", "system"], values
    )


def program(name: str, here: Path, origin: str | None, packages: list[str]) -> Made:
    """A system with a program of Linux as its first process: a file, or of Debian's packages."""
    from tenonos.linux import program as programs

    _named(name, r"[a-z][a-z0-9-]{0,30}")
    found = programs.brought(origin, packages, boards.load("qemu-virt"))
    folder = ROOT / catalogue.SYSTEMS[0] / name if here.is_relative_to(ROOT) else here / name
    values = _values(name) | {
        "program": found.path,
        "memory": size_text(found.memory),
        "settings": found.settings,
        "keys": "".join(f"{key} = {json.dumps(value)}\n" for key, value in found.keys.items()),
    }
    ui.message(found.note)
    folder, made = _write(folder, ["program"], values)
    with writing(folder):
        made += found.write(folder)
    return folder, made


def system(name: str, here: Path) -> Made:
    """A new system: one Tenon VM with the application of that name, or else the smallest one."""
    _named(name, r"[a-z][a-z0-9-]{0,30}")
    folder = ROOT / catalogue.SYSTEMS[0] / name if here.is_relative_to(ROOT) else here / name
    apps = catalogue.apps(ROOT)
    app = name if name in apps else "hello"
    values = {"app": app, "task": _tasks(read(apps[app], "apps"))}
    return _write(folder, ["system", "system-alone"], _values(name) | values)


def board(name: str, here: Path, origin: str) -> Made:
    """A new board, as a copy of another one: of the clone by name, or of a folder."""
    _named(name, r"[a-z][a-z0-9-]{0,30}")
    if name in boards.names():
        raise InputError(f'"{name}" is a board of the clone', mend="choose another name")
    path = here / origin
    is_folder = origin not in boards.names() and (path / "board.toml").is_file()
    source = boards.load(origin, "--from", {origin: path} if is_folder else None)
    title = f"{_values(name)['title']}, made from {source.name}"
    symbol = "BOARD_" + name.upper().replace("-", "_")
    selected = re.findall(r"^\tselect .*\n", (source.folder / "Kconfig").read_text(), re.MULTILINE)
    values = {
        **_values(name),
        "title": title,
        "symbol": symbol,
        "selected": "".join(selected),
        "origin": source.name,
        "toml": _renamed(inputs.text(source.folder / "board.toml"), name, title),
        "command": command(),
    }
    return _write(BOARDS / name if here.is_relative_to(ROOT) else here / name, ["board"], values)


def _renamed(text: str, name: str, title: str) -> str:
    """A `board.toml` with another name and title, without the comment that it opens with."""
    text = re.sub(r"\A(#.*\n|\n)+", "", text)
    for key, value in (("name", name), ("title", title)):
        line = f"{key} = {json.dumps(value)}"
        text = re.sub(
            rf"^{key} = .*$", lambda _, line=line: line, text, count=1, flags=re.MULTILINE
        )
    return text


def library(name: str, here: Path) -> Made:
    """A new micro-library, `core/filter`; without a layer, one of the LibOS."""
    layer, _, short = name.rpartition("/")
    layer = layer or LIBOS
    if layer not in LAYERS:
        raise InputError(
            f'"{name}" names no layer',
            mend=f"write LAYER/NAME, with {', '.join(LAYERS[:-1])} or {LAYERS[-1]}",
        )
    _named(short, r"[a-z][a-z0-9-]{0,40}")
    image = {"mortise": "\tdepends on IMAGE_MORTISE\n", "tenon": "\tdepends on IMAGE_TENON\n"}
    values = _values(f"{layer}-{short}") | {"layer": layer, "depends": image.get(layer, "")}
    if here.is_relative_to(ROOT):
        return _write(POOL / layer / short, ["library", "library-inside"], values)
    known = index()
    taken = known.by_symbol.get(f"LIB_{values['symbol']}") or known.by_package.get(short)
    if taken:
        raise InputError(f'"{short}" is {taken.id} of the pool', mend="choose another name")
    _usable(known, short)
    own = values | _values(short) | {"symbol": values["symbol"]}
    return _write(here / short, ["library", "library-outside"], own)


def _tasks(app: Library) -> str:
    """The tasks of an application, with their default periods."""
    return "".join(
        TASK.format(name=name, period=duration_text(period)) for name, period in app.tasks.items()
    )


def _usable(pool: Index, package: str) -> None:
    if what := pool.unusable(package):
        raise InputError(f'"{package}" is {what}', mend="choose another name")


def _named(name: str, form: str) -> None:
    if not re.fullmatch(form, name):
        raise InputError(f'"{name}" is not a name', mend="use a-z, 0-9 and -, a letter first")


def _values(name: str) -> dict[str, str]:
    crate = name.replace("-", "_")
    words = name.replace("-", " ")
    return {
        "name": name,
        "crate": crate,
        "symbol": crate.upper(),
        "title": words[:1].upper() + words[1:],
        "pool": _version(),
    }


def _version() -> str:
    """The pool's version in a project: major and minor."""
    values = tomllib.loads((ROOT / "Cargo.toml").read_text())
    return ".".join(str(values["workspace"]["package"]["version"]).split(".")[:2])


def _write(folder: Path, parts: list[str], values: dict[str, str]) -> Made:
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise InputError(f"{shown(folder)} exists already", mend="choose another name")
    with writing(folder):
        return folder, [*_filled(folder, parts, values)]


def _filled(folder: Path, parts: list[str], values: dict[str, str]) -> Iterator[Path]:
    for part in parts:
        for source in sorted((SKELETONS / part).rglob("*.in")):
            name = str(source.relative_to(SKELETONS / part)).removesuffix(".in")
            file = folder / name.replace("NAME", values["name"])
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(Template(source.read_text()).substitute(values))
            yield file
