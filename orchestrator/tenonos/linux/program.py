"""Programs of Linux that a user brings, as ELF files: what they are, and why one cannot run."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path, PurePosixPath

from tenonos.errors import InputError
from tenonos.linux import userland
from tenonos.paths import POOL
from tenonos.setup import debian
from tenonos.setup.initramfs import LINK, PROGRAM, Entry
from tenonos.system.board import Board
from tenonos.system.calls import call_names
from tenonos.system.limits import BLOCK

LEAST, KERNEL_END, END = 0x1_0000, 1 << 32, 1 << 39
"""Addresses of a process: from the first on, without those of the kernel below the second."""
SVC = 0xD400_0001
"""`svc #0` (Arm ARM, C6.2.373)."""
NEAR = 16
"""Instructions before a `svc` that may set its number."""
_MOVES = {0x5280_0000: 0xFFE0_0000, 0xD280_0000: 0xFFE0_0000}
"""`mov` of a number to a 32-bit and a 64-bit register, with the bits that are fixed."""
_BRANCHES = (
    (0x1400_0000, 0x7C00_0000, 0, 26),
    (0x5400_0000, 0xFF00_0000, 5, 19),
    (0x3400_0000, 0x7E00_0000, 5, 19),
    (0x3600_0000, 0x7E00_0000, 5, 14),
)
"""`b` and `bl`, `b.cond`, `cbz` and `cbnz`, `tbz` and `tbnz`: fixed bits and their mask, place and
width of the offset (Arm ARM, C4.1.92)."""
_NUMBER = 8
"""The register with the number of a system call."""
_CALL = re.compile(r"\bCall\((\d+),")
EXECUTES, CREATES = frozenset((221, 281)), frozenset((220, 435))
"""System calls that start programs (`execve`, `execveat`), processes and threads (`clone`)."""
HANDLES, RETURNS = frozenset((134,)), frozenset((139,))
"""System calls that set handlers of signals (`rt_sigaction`) and return from such."""
SMALL = 512 << 10
"""Bytes of a program with which an image optimised for size is within reach of its addresses."""
LEAST_MEMORY, LIBRARIES = 16 << 20, 8 << 20
"""Memory of a VM with a program, and what the libraries of a dynamic one take of it at most."""
FOLDERS = ("bin", "sbin")
"""Folders of a package in which its programs are, without /usr."""


@dataclass(frozen=True)
class Elf:
    """A program: where its content comes from, and what it needs to run."""

    shown: str
    content: bytes
    interpreter: str | None
    """The dynamic loader, of a dynamic program."""
    needed: tuple[str, ...]
    calls: frozenset[int]
    """The numbers of the system calls that its own code makes, as far as they are constants."""
    sites: int
    """The number of `svc` instructions of its own code."""
    unknown: int = 0
    """How many of them have a number that is no constant."""

    @property
    def kind(self) -> str:
        """What it is, in words."""
        if self.interpreter is None:
            return f"static, {self.sites} svc"
        return f"dynamic, by {self.interpreter}, with {', '.join(self.needed) or 'no library'}"


def examined(path: Path, board: Board) -> Elf:
    """A program of the host's files; an `InputError` if it cannot run."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read it: {error.strerror}", str(path)) from None
    return elf(content, str(path), board)


def elf(content: bytes, shown: str, board: Board) -> Elf:
    """A program with that content; an `InputError` if it cannot run."""
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    try:
        file = ELFFile(BytesIO(content))
        _check_machine(file, shown)
        segments = [(s.header, s.data()) for s in file.iter_segments() if s["p_type"] == "PT_LOAD"]
        interpreter = next(
            (s.get_interp_name() for s in file.iter_segments() if s["p_type"] == "PT_INTERP"), None
        )
    except (ELFError, ValueError, UnicodeDecodeError, struct.error) as error:
        raise InputError(f"it is no program: {error}", shown, "give an ELF file") from None
    if not segments:
        raise InputError("it is no program: it has nothing to load", shown, "link it")
    if file["e_type"] == "ET_EXEC":
        starts = [header["p_vaddr"] for header, _ in segments]
        ends = [header["p_vaddr"] + header["p_memsz"] for header, _ in segments]
        _check_addresses(min(starts), max(ends), shown, board)
    code = [data for header, data in segments if header["p_flags"] & 1]
    sites, calls, unknown = _system_calls(code)
    needed = tuple(userland.needed(Entry("program", PROGRAM, content)))
    return Elf(shown, content, interpreter, needed, calls, sites, unknown)


def _check_machine(file: object, shown: str) -> None:
    header = file.header  # type: ignore[attr-defined]
    machine, ident = header["e_machine"], header["e_ident"]
    if machine != "EM_AARCH64":
        name = machine.removeprefix("EM_") if isinstance(machine, str) else f"machine {machine}"
        raise InputError(
            f"it is a program for {name}, and Tenon runs those for AARCH64",
            shown,
            "compile it with aarch64-linux-gnu-gcc",
        )
    if ident["EI_CLASS"] != "ELFCLASS64" or ident["EI_DATA"] != "ELFDATA2LSB":
        raise InputError("it is no little-endian program of 64 bits", shown, "compile it as one")
    if header["e_type"] not in ("ET_EXEC", "ET_DYN"):
        raise InputError("it is no program: it is not linked", shown, "link it")


def kernel_start(board: Board) -> int:
    """The lowest address of the kernel in each process: that of the registers that each VM has, or
    of RAM."""
    return min([board.ram.base, *(base for base, _ in board.frames().values())])


def _check_addresses(start: int, end: int, shown: str, board: Board) -> None:
    """Refuse a program that is linked where the kernel is, or where nothing can be."""
    low = kernel_start(board)
    if (start >= LEAST and end <= low) or (start >= KERNEL_END and end <= END):
        return
    raise InputError(
        f"it is linked to {start:#x} to {end:#x}, and a process has {LEAST:#x} to {low:#x} and"
        f" {KERNEL_END:#x} to {END:#x}",
        shown,
        "link it with -static-pie, or with -Ttext-segment=0x400000",
    )


def _system_calls(code: list[bytes]) -> tuple[int, frozenset[int], int]:
    """The number of `svc` instructions, the constants in x8 before them, and how many lack one."""
    sites, calls, unknown = 0, set(), 0
    for data in code:
        words = struct.unpack(f"<{len(data) // 4}I", data[: len(data) // 4 * 4])
        targets = {place + offset for place, word in enumerate(words) if (offset := _branch(word))}
        for place, word in enumerate(words):
            if word != SVC:
                continue
            sites += 1
            for before in range(place - 1, max(0, place - NEAR) - 1, -1):
                if (number := _moved(words[before])) is not None:
                    calls.add(number)
                    # Code that comes from elsewhere may have another number.
                    unknown += not targets.isdisjoint(range(before + 1, place + 1))
                    break
            else:
                unknown += 1
    return sites, frozenset(calls), unknown


def _branch(word: int) -> int:
    """The instructions from a direct branch to its target, or 0 for any other instruction."""
    for fixed, mask, lowest, bits in _BRANCHES:
        if word & mask == fixed:
            offset = word >> lowest & (1 << bits) - 1
            return offset - (1 << bits if offset >> bits - 1 else 0)
    return 0


def _moved(word: int) -> int | None:
    """The number that an instruction moves to x8."""
    if word & 0x1F == _NUMBER and any(word & mask == code for code, mask in _MOVES.items()):
        return word >> 5 & 0xFFFF
    return None


@cache
def served(folder: Path = POOL / "tenon") -> frozenset[int]:
    """The numbers of the system calls that a library serves, or all of the pool."""
    sources = folder.glob("**/src/**/*.rs")
    texts = (file.read_text() for file in sources if file.name != "tests.rs")
    return frozenset(int(number) for text in texts for number in _CALL.findall(text))


def of_package(files: Mapping[str, Entry], package: str, asked: str | None = None) -> str:
    """The path of the program of a package: the one that is asked for, that of its name, or the
    only one."""
    programs = [
        name
        for name, entry in files.items()
        if str(PurePosixPath(name).parent) in FOLDERS and (entry.mode == LINK or entry.mode & 0o111)
    ]
    if asked is not None:
        wanted = [name for name in programs if f"/{name}" == asked]
    else:
        stem = package.removesuffix("-static")
        named = [name for name in programs if PurePosixPath(name).name in (package, stem)]
        wanted = named[:1] or (programs if len(programs) == 1 else [])
    if wanted:
        return f"/{wanted[0]}"
    there = ", ".join(f"/{name}" for name in sorted(programs)[:8]) or "none"
    what = f"no program {asked}" if asked else "not one program of its name"
    raise InputError(
        f"package {package} has {what}; its programs: {there}",
        "--package",
        "name one of them with --program",
    )


@dataclass(frozen=True)
class Brought:
    """A program for the first process of a VM, with the keys and files that it needs."""

    elf: Elf
    path: str
    """Its path in the file tree."""
    packages: tuple[str, ...]
    own: bool
    """Whether it is a file of the user's, and not of a package."""

    @property
    def keys(self) -> dict[str, object]:
        """The keys of its VM."""
        files = {"files": "files"} if self.own else {}
        packages = {"packages": list(self.packages)} if self.packages else {}
        calls = {} if self.calls is None else {"calls": list(self.calls)}
        return packages | files | {"program": self.path} | calls

    @property
    def calls(self) -> tuple[str, ...] | None:
        """The names of all system calls that it can make, if they are known: those of a static
        program with constant numbers, which starts no other program."""
        names = call_names()
        exact = self.elf.interpreter is None and not self.elf.unknown and not self.packages
        if not exact or EXECUTES & self.elf.calls or not self.elf.calls <= names.keys():
            return None
        # The code to which handlers return is the kernel's.
        more = RETURNS if HANDLES & self.elf.calls else frozenset()
        made = (self.elf.calls | more) & served()
        return tuple(names[number] for number in sorted(made))

    @property
    def settings(self) -> str:
        """The settings of the smallest image for it, beside its calls."""
        if self.calls is None or len(self.elf.content) > SMALL:
            return ""
        lines = ["CONFIG_OPTIMISE_SIZE=y"]
        if not CREATES & self.elf.calls:
            lines += ["CONFIG_TENON_PROCESS_COUNT=1", "CONFIG_TENON_PROCESS_THREADS=1"]
        return "".join(f"{line}\n" for line in lines)

    @property
    def note(self) -> str:
        """What it is, and the calls of its own code that no library serves, in one line."""
        names = call_names()
        lacks = sorted(names.get(n, str(n)) for n in self.elf.calls - served())
        rest = f"; no library serves {', '.join(lacks)}, should it call them" if lacks else ""
        return f"{self.elf.shown}: {self.elf.kind}{rest}"

    @property
    def memory(self) -> int:
        """The memory of a VM for it: the image has it too, and libraries of a dynamic one."""
        size = len(self.elf.content) + (0 if self.elf.interpreter is None else LIBRARIES)
        return -(-(2 * size + LEAST_MEMORY) // BLOCK) * BLOCK

    def write(self, folder: Path) -> list[Path]:
        """Write the user's file below `files` of a system's folder."""
        if not self.own:
            return []
        file = folder / f"files{self.path}"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(self.elf.content)
        file.chmod(0o755)
        return [file]


def brought(
    program: str | None,
    packages: list[str],
    board: Board,
    get: Callable[[str], Path] = debian.package,
) -> Brought:
    """The program named by `--program` and `--package`, examined."""
    found = {name: _files(name, get) for name in packages}
    if program is not None and (path := Path(program)).is_file():
        name = re.sub(r"[^A-Za-z0-9._+-]", "-", path.name)
        return Brought(examined(path, board), f"/bin/{name}", tuple(packages), own=True)
    if not packages:
        raise InputError(f'no file "{program}"', "--program", "give the path of a program")
    for package, files in found.items():
        if program is None or program.lstrip("/") in files or package == packages[-1]:
            place = of_package(files, package, program)
            entry = files[place.lstrip("/")]
            while entry.mode == LINK:
                entry = files[str(PurePosixPath(entry.name).parent / entry.content.decode())]
            return Brought(elf(entry.content, place, board), place, tuple(packages), own=False)
    raise AssertionError("the last package answers")


def _files(name: str, get: Callable[[str], Path]) -> dict[str, Entry]:
    from tenonos.linux import deb

    return deb.files(get(name))
