"""ELF images: flat content for loading, symbols, section sizes."""

from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from tenonos.errors import WorkError

HEADER_MAGIC = b"ARM\x64"
"""At offset 56 of an arm64 Image (Linux, Documentation/arch/arm64/booting.rst)."""


@dataclass(frozen=True)
class Flat:
    """A linked image as it lies in memory: `content` from `base`, zeros up to `end`."""

    base: int
    end: int
    content: bytes
    symbols: dict[str, int]

    @property
    def text(self) -> range:
        """The addresses of its code."""
        return range(self.symbols["__image_start"], self.symbols["__text_end"])


def flatten(file: Path) -> Flat:
    """The image linked into an ELF file."""
    try:
        with file.open("rb") as stream:
            elf = ELFFile(stream)
            symbols = _symbols(elf)
            loads = [s for s in elf.iter_segments("PT_LOAD") if s["p_filesz"]]
            base, end = symbols["__image_start"], symbols["__image_end"]
            content = bytearray()
            for segment in sorted(loads, key=lambda s: s["p_paddr"]):
                offset = segment["p_paddr"] - base
                content = content.ljust(offset, b"\0")
                content[offset : offset + segment["p_filesz"]] = segment.data()
    except (ELFError, KeyError, OSError) as error:
        raise WorkError(f"not a linked image: {error}", where=file.name) from None
    return Flat(base, end, bytes(content), symbols)


def _symbols(elf: ELFFile) -> dict[str, int]:
    table = elf.get_section_by_name(".symtab")
    assert isinstance(table, SymbolTableSection)
    return {s.name: s["st_value"] for s in table.iter_symbols() if s.name.startswith("__")}


def sections(content: bytes) -> dict[str, int]:
    """Bytes of an ELF by kind: text, rodata, data, bss; unpadded."""
    found = dict.fromkeys(("text", "rodata", "data", "bss"), 0)
    for section in ELFFile(BytesIO(content)).iter_sections():
        flags = section["sh_flags"]
        if not flags & 2:  # SHF_ALLOC
            continue
        if section["sh_type"] == "SHT_NOBITS":
            kind = "bss"
        elif flags & 4:  # SHF_EXECINSTR
            kind = "text"
        else:
            kind = "data" if flags & 1 else "rodata"  # SHF_WRITE
        found[kind] += section["sh_size"]
    return found
