"""Where an image's bytes come from: sections by kind, code by micro-library.

Each byte of code is attributed through the line table to the source file it was
compiled from. Link-time optimisation moves code across crates and inlines it; what
was inlined counts for the library it was written in.
"""

import re
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile

from tenonos.build import Built, elf
from tenonos.build.sloc import count, sources
from tenonos.pool.library import Library

_POOL = re.compile(r"(?:^|/)pool/([^/]+/[^/]+)/")
_APP = re.compile(r"(?:^|/)(apps/[^/]+)/")
_REGISTRY = re.compile(r"/registry/src/[^/]+/((?!compiler_builtins).+?)-\d[^/]*/")
_RUST = re.compile(r"(?:^|/)(?:rustc/[^/]+|library)/|/compiler_builtins-")


@dataclass(frozen=True)
class ImageSize:
    """One image: bytes by kind, and bytes of code by who wrote them."""

    name: str
    sections: dict[str, int]
    owners: dict[str, int]

    @property
    def total(self) -> int:
        """All sections, unpadded."""
        return sum(self.sections.values())


def measure(built: Built) -> dict[str, Any]:
    """The whole answer of `./tenon size`, as its JSON."""
    sizes = []
    for image in built.images:
        sizes.append(_image(image.name, built.elves[image.name], image.libraries))
    libraries: dict[str, Library] = {}
    for image in built.images:
        libraries |= {library.id: library for library in image.libraries}
    return {
        "images": [{"name": size.name, **size.sections, "total": size.total} for size in sizes],
        "libraries": [
            {
                "name": name,
                "sloc": count(library.path),
                "text": sum(size.owners.get(name, 0) for size in sizes),
                "in": [i.name for i in built.images if library in i.libraries],
            }
            for name, library in libraries.items()
        ],
        "third_party": _others(sizes, libraries),
    }


def _others(sizes: list[ImageSize], libraries: dict[str, Library]) -> list[dict[str, Any]]:
    """Code that is not of the pool: crates of the registry, Rust's own, what is generated."""
    names = sorted({name for size in sizes for name in size.owners} - libraries.keys())
    return [
        {
            "name": name,
            "text": sum(size.owners.get(name, 0) for size in sizes),
            "in": [size.name for size in sizes if name in size.owners],
        }
        for name in names
    ]


def _image(name: str, file: Path, libraries: tuple[Library, ...]) -> ImageSize:
    content = file.read_bytes()
    owners = _by_line(content, libraries)
    return ImageSize(name, elf.sections(content), owners)


def _by_line(content: bytes, libraries: tuple[Library, ...]) -> dict[str, int]:
    """Bytes of code by owner."""
    image = ELFFile(BytesIO(content))
    spans = sorted(_spans(image, libraries))
    starts = [start for start, _, _ in spans]
    labels = _labels(image, libraries)
    found: Counter[str] = Counter()
    for section in image.iter_sections():
        if not section["sh_flags"] & 4:  # SHF_EXECINSTR
            continue
        at, end = section["sh_addr"], section["sh_addr"] + section["sh_size"]
        while at < end:
            position = bisect_right(starts, at) - 1
            inside = position >= 0 and at < spans[position][1]
            following = spans[position + 1][0] if position + 1 < len(spans) else end
            stop = min(end, spans[position][1] if inside else following)
            if inside:
                found[spans[position][2]] += stop - at
            else:
                _unlined(found, labels, at, stop)
            at = max(stop, at + 1)
    return dict(found)


def _spans(image: ELFFile, libraries: tuple[Library, ...]) -> list[tuple[int, int, str]]:
    """Address ranges and their owners, from the line tables."""
    spans = []
    outside = {str(lib.path): lib.id for lib in libraries}
    if not image.has_dwarf_info():
        return []
    dwarf = image.get_dwarf_info()
    for unit in dwarf.iter_CUs():
        program = dwarf.line_program_for_CU(unit)
        if program is None:
            continue
        owners: dict[int, str] = {}
        last = None
        for entry in program.get_entries():
            state = entry.state
            if state is None:
                continue
            if last is not None and last.address < state.address and last.address:
                if last.file not in owners:
                    path = f"{_folder(unit)}/{_file_name(program, last.file)}"
                    owners[last.file] = _owner(path, outside)
                spans.append((last.address, state.address, owners[last.file]))
            last = None if state.end_sequence else state
    return spans


def _file_name(program: Any, number: int) -> str:
    """The path of a file of a line program; DWARF 5 counts from 0, DWARF 4 from 1."""
    header = program.header
    shift = 0 if header["version"] >= 5 else 1
    entry = header["file_entry"][number - shift]
    directory = entry["dir_index"] - shift
    folder = header["include_directory"][directory] if directory >= 0 else b""
    return f"{folder.decode()}/{entry.name.decode()}"


def _folder(unit: Any) -> str:
    """Where the compiler ran: what relative paths of a unit are relative to."""
    attribute = unit.get_top_DIE().attributes.get("DW_AT_comp_dir")
    return attribute.value.decode() if attribute else ""


def _owner(path: str, outside: dict[str, str]) -> str:
    """Who wrote a file. The last match counts: an absolute path may follow the unit's folder."""
    for folder, name in outside.items():
        if folder in path:
            return name
    found = [
        (match.start(), match[1] if match.groups() else "rust")
        for pattern in (_POOL, _APP, _REGISTRY, _RUST)
        for match in pattern.finditer(path)
    ]
    return max(found, default=(0, "generated"))[1]


def _labels(image: ELFFile, libraries: tuple[Library, ...]) -> list[tuple[int, str]]:
    """Labels of assembly, which has no lines: (address, owner) by who defines the symbol."""
    written: dict[str, str] = {}
    for library in libraries:
        for file in sources(library.path):
            for label in re.findall(r"""^\s*"?([A-Za-z_]\w*):""", file.read_text(), re.MULTILINE):
                written.setdefault(label, library.id)
    table: Any = image.get_section_by_name(".symtab")
    known = [(s["st_value"], written[s.name]) for s in table.iter_symbols() if s.name in written]
    return sorted(known)


def _unlined(found: Counter[str], labels: list[tuple[int, str]], at: int, stop: int) -> None:
    """Attribute a range without lines by the labels in and before it."""
    position = bisect_right(labels, (at, "\uffff")) - 1
    while at < stop:
        owner = labels[position][1] if position >= 0 else "generated"
        following = labels[position + 1][0] if position + 1 < len(labels) else stop
        end = min(stop, following)
        found[owner] += end - at
        at, position = end, position + 1
