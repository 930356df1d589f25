"""Errata: the scans of linked images, and the table of CPUs."""

import shutil
import struct
import subprocess
from dataclasses import dataclass, replace
from types import SimpleNamespace

import pytest

from tenonos import system as systems
from tenonos.analysis import errata as sequences
from tenonos.analysis.errata import Code
from tenonos.build import cargo, scan, size
from tenonos.build.images import images
from tenonos.errors import WorkError
from tenonos.generate.image import LINKER_SCRIPT
from tenonos.paths import ROOT
from tenonos.setup import rust
from tenonos.system import board, errata

PAGE_END = 0x4008_0FF8
"""An address eight bytes before the end of a page."""


def assembled(tmp_path, text, address=PAGE_END):
    """The code that an assembly text is, at an address."""
    source, made, flat = (tmp_path / name for name in ("code.s", "code.o", "code.bin"))
    source.write_text(f".arch armv8.1-a\n{text}\n")
    subprocess.run(["aarch64-linux-gnu-as", source, "-o", made], check=True)
    subprocess.run(
        ["aarch64-linux-gnu-objcopy", "-O", "binary", "-j", ".text", made, flat], check=True
    )
    content = flat.read_bytes()
    return Code(address, struct.unpack(f"<{len(content) // 4}I", content))


needs_assembler = pytest.mark.skipif(
    shutil.which("aarch64-linux-gnu-as") is None, reason="no assembler for the target"
)


@needs_assembler
@pytest.mark.parametrize(
    "text",
    [
        "ldr x0, [x1]\n madd x2, x3, x4, x5",
        "str x5, [x1]\n madd x2, x3, x4, x5",
        "prfm pldl1keep, [x1]\n madd x2, x3, x4, x5",
        "ldr w0, [x1]\n msub x2, x3, x4, x5",
        "ldp x0, x6, [sp], #16\n smaddl x2, w3, w4, x5",
        "stp x5, x6, [sp, #-16]!\n umsubl x2, w3, w4, x5",
        "ldr q5, [x1]\n umaddl x2, w3, w4, x5",
        "ld1 {v3.16b}, [x1]\n smsubl x2, w3, w4, x5",
        "ldxr x0, [x1]\n madd x2, x3, x4, x5",
        "stxr w3, x0, [x1]\n madd x2, x3, x4, x5",
        "ldr x0, =0x12345678abcdef\n madd x2, x3, x4, x5\n ret\n .ltorg",
        # Only what is loaded holds the second one up, not a written base.
        "ldr x0, [x5], #8\n madd x2, x3, x4, x5",
        "nop\n ldr x0, [x1]\n madd x0, x3, x4, x5",
    ],
)
def test_a_multiply_accumulate_behind_a_memory_operation_is_found(tmp_path, text):
    offset = 4 if text.startswith("nop") else 0
    assert [*sequences.multiply_accumulate(assembled(tmp_path, text))] == [PAGE_END + offset]


@needs_assembler
@pytest.mark.parametrize(
    "text",
    [
        "ldr x0, [x1]\n nop\n madd x2, x3, x4, x5",
        "ldr x0, [x1]\n mul x2, x3, x4",
        "ldr x0, [x1]\n mneg x2, x3, x4",
        "ldr w0, [x1]\n madd w2, w3, w4, w5",
        "ldr x0, [x1]\n umulh x2, x3, x4",
        "ldr x0, [x1]\n smull x2, w3, w4",
        "ldr x5, [x1]\n madd x2, x3, x4, x5",
        "ldr x3, [x1]\n madd x2, x3, x4, x5",
        "ldr w4, [x1, #4]!\n umaddl x2, w3, w4, x5",
        "ldp x0, x5, [sp], #16\n madd x2, x3, x4, x5",
        "ldrsw x5, [x1, x6, lsl #2]\n madd x2, x3, x4, x5",
        "ldaxr x5, [x1]\n madd x2, x3, x4, x5",
        "add x0, x1, x2\n madd x2, x3, x4, x5",
        "b .\n madd x2, x3, x4, x5",
        "madd x2, x3, x4, x5\n ldr x0, [x1]",
        "fmov d0, x1\n madd x2, x3, x4, x5",
    ],
)
def test_any_other_code_with_one_is_not(tmp_path, text):
    assert not [*sequences.multiply_accumulate(assembled(tmp_path, text))]


SECOND = [
    "ldr x1, [x2]",
    "str x0, [x2, #8]",
    "ldrsb w1, [x0]",
    "ldr q0, [x2, x3]",
    "stp x1, x2, [sp]",
    "stp x1, x0, [x3, #16]!",
    "stnp q1, q2, [x0]",
    "st1 {v0.16b}, [x2]",
    "st1 {v0.16b}, [x2], #16",
    "st1 {v0.b}[1], [x2]",
    "stur w1, [x2, #-1]",
    "str x1, [x2], #8",
    "ldxr x1, [x2]",
    "stlr x0, [x2]",
]


@needs_assembler
@pytest.mark.parametrize("second", SECOND)
@pytest.mark.parametrize("offset", [0, 4])
@pytest.mark.parametrize(
    "rest",
    [
        "ldr x3, [x0, #8]",
        "str w3, [x0]",
        "ldr q3, [x0, #16]",
        "add x5, x6, x7\n strb w5, [x0, #1]",
        "ldr x5, [x0, #8]\n ldrb w5, [x6]",
        "mov x5, x0\n ldr x5, [x0, #8]",
    ],
)
def test_a_page_address_at_the_end_of_a_page_is_found(tmp_path, second, offset, rest):
    text = f"nop\n adrp x0, 0x40000000\n {second}\n {rest}"
    code = assembled(tmp_path, text, PAGE_END + offset - 4)
    assert [*sequences.page_address(code)] == [PAGE_END + offset]


@needs_assembler
@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ("adrp x0, 0x40000000\n ldr x1, [x2]\n ldr x3, [x0, #8]", -4),
        ("adrp x0, 0x40000000\n ldr x1, [x2]\n ldr x3, [x0, #8]", 8),
        ("adr x0, .\n ldr x1, [x2]\n ldr x3, [x0, #8]", 0),
        ("adrp x0, 0x40000000\n add x1, x1, x2\n ldr x3, [x0, #8]", 0),
        ("adrp x0, 0x40000000\n ldr x0, [x2]\n ldr x3, [x0, #8]", 0),
        ("adrp x0, 0x40000000\n ldr x1, [x0], #8\n ldr x3, [x0, #8]", 0),
        ("adrp x0, 0x40000000\n stp x1, x2, [x0, #16]!\n ldr x3, [x0, #8]", 0),
        ("adrp x0, 0x40000000\n ldp x1, x2, [x4]\n ldr x3, [x0, #8]", 0),
        ("adrp x0, 0x40000000\n ld1 {v0.16b}, [x4]\n ldr x3, [x0, #8]", 0),
        ("adrp x0, 0x40000000\n stxr w0, x1, [x4]\n ldr x3, [x0, #8]", 0),
        ("adrp x0, 0x40000000\n ldr x1, [x2]\n ldr x3, [x4, #8]", 0),
        ("adrp x0, 0x40000000\n ldr x1, [x2]\n ldr x3, [x0, x5]", 0),
        ("adrp x0, 0x40000000\n ldr x1, [x2]\n b .\n ldr x3, [x0, #8]", 0),
        ("adrp x0, 0x40000000\n ldr x1, [x2]\n cbz x1, .\n ldr x3, [x0, #8]", 0),
        ("adrp x0, 0x40000000\n ldr x1, [x2]\n nop\n nop\n ldr x3, [x0, #8]", 0),
        ("adrp x0, 0x40000000\n ldr x1, [x2]", 0),
    ],
)
def test_any_other_page_address_is_not(tmp_path, text, offset):
    assert not [*sequences.page_address(assembled(tmp_path, text, PAGE_END + offset))]


@needs_assembler
def test_translations_of_the_guest_s_stage_1_are_found(tmp_path):
    text = "at s1e1r, x0\n at s1e0w, x1\n at s12e1r, x2\n at s12e0w, x3"
    addresses = [*sequences.translations(assembled(tmp_path, text, 0x4000_0000))]
    assert addresses == [0x4000_0000 + 4 * index for index in range(4)]


@needs_assembler
def test_other_instructions_of_the_system_are_not(tmp_path):
    text = (
        "at s1e2r, x0\n at s1e2w, x0\n dc cvac, x0\n tlbi vmalls12e1is\n ic iallu\n mrs x0, par_el1"
    )
    assert not [*sequences.translations(assembled(tmp_path, text))]


PROGRAM = """
.text
.global first
first:
    ldr x0, [x1]
    nop
    ret
table:
    .word 0xf9400020, 0x9b041462
.global second
second:
    ldr x0, [x1]
    madd x2, x3, x4, x5
    ret
"""


@needs_assembler
def test_a_place_is_named_and_data_is_none(tmp_path):
    """The two words of the table are those of the sequence behind it."""
    (tmp_path / "program.s").write_text(PROGRAM)
    made, linked = tmp_path / "program.o", tmp_path / "program.elf"
    subprocess.run(["aarch64-linux-gnu-as", tmp_path / "program.s", "-o", made], check=True)
    subprocess.run(
        ["aarch64-linux-gnu-ld", "-Ttext=0x40080000", "-e", "first", made, "-o", linked], check=True
    )
    content = linked.read_bytes()
    (place,) = sequences.places(content, sequences.multiply_accumulate)
    assert str(place) == "second at 0x40080014"
    assert len(sequences.places(content, sequences.multiply_accumulate, data=True)) == 2


@dataclass(frozen=True)
class Linked:
    """What a build needs to know of an image."""

    board: board.Board
    kind: str = "tenon"
    name: str = "motor"
    avoids: bool = False

    @property
    def flags(self):
        return self.board.errata.compiler if self.avoids else ()


@pytest.fixture
def links(monkeypatch):
    """The images linked, with what a scan finds in each: no compiler is run."""
    made = []

    def linked(image, _folder, _tell):
        made.append(image)
        return b"avoided" if image.avoids else b"not avoided"

    def found(_image, content):
        place = sequences.Place(0x4008_0000, "main")
        return {"835769": [place, place]} if content in hits else {}

    hits = set()
    monkeypatch.setattr(cargo, "_linked", linked)
    monkeypatch.setattr(scan, "found", found)
    return made, hits


def test_an_image_without_a_sequence_is_compiled_once_and_as_ever(links):
    made, _ = links
    assert cargo._without_errata(Linked(board.load("qemu-virt")), None, str) == b"not avoided"
    assert [image.avoids for image in made] == [False]


def test_an_image_with_a_sequence_is_compiled_without(links):
    made, hits = links
    hits.add(b"not avoided")
    assert cargo._without_errata(Linked(board.load("qemu-virt")), None, str) == b"avoided"
    assert [image.avoids for image in made] == [False, True]


def test_an_image_that_keeps_a_sequence_is_refused(links):
    _, hits = links
    hits |= {b"not avoided", b"avoided"}
    refusal = "the sequence of erratum 835769 in main at 0x40080000, and 1 more; put an"
    with pytest.raises(WorkError, match=refusal):
        cargo._without_errata(Linked(board.load("qemu-virt")), None, str)


def test_each_cpu_of_a_board_is_listed():
    for name in board.names():
        assert board.load(name).errata.known, f"{name}: add its cpu to {errata.FILE}"


def test_the_errata_of_a_board_are_those_of_its_cpu():
    a53, a72 = board.load("zcu102").errata, board.load("raspberry-pi-4").errata
    assert {"835769", "843419"} <= a53.each.keys()
    assert a53.linker == ("--fix-cortex-a53-843419",)
    assert a53.c_compiler == ("-mfix-cortex-a53-835769",)
    assert not a72.linker and not a72.compiler
    assert "speculative-at" in a72.each
    assert not errata.of("arm,cortex-m4").known


def test_workarounds_that_are_code_are_linked_where_the_cpu_needs_them():
    a53, a55, a72 = (errata.of(f"arm,cortex-{name}") for name in ("a53", "a55", "a72"))
    assert a53.libraries(firmware=True) == ()
    assert a55.libraries(firmware=True) == ("LIB_HW_REPEAT_TLBI",)
    assert a72.libraries(firmware=True) == ("LIB_MORTISE_WORKAROUNDS",)
    assert a72.libraries(firmware=False) == ()


def with_cpu(name, cpu):
    """A system of the tree, on a board with another CPU."""
    system = systems.load(ROOT / name)
    return replace(system, board=replace(system.board, cpu=cpu))


@pytest.mark.parametrize(
    ("cpu", "mortise", "tenon"),
    [
        ("arm,cortex-a53", set(), set()),
        ("arm,cortex-a55", {"hw-repeat-tlbi"}, {"hw-repeat-tlbi"}),
        ("arm,cortex-a72", {"mortise-workarounds"}, set()),
        (
            "arm,cortex-a76",
            {"hw-repeat-tlbi", "mortise-workarounds"},
            {"hw-repeat-tlbi"},
        ),
    ],
)
def test_images_have_the_workarounds_of_their_cpu(cpu, mortise, tenon):
    for image in images(with_cpu("tests/systems/channels", cpu)):
        names = {library.package for library in image.libraries}
        wanted = mortise if image.kind == "mortise" else tenon
        assert names & {"hw-repeat-tlbi", "mortise-workarounds"} == wanted


def test_mortise_alone_is_scanned_for_translations():
    names = [number for number, _ in scan.scanned(Linked(board.load("qemu-virt")))]
    assert names == ["835769", "843419"]
    hypervisor = Linked(board.load("qemu-virt"), kind="mortise")
    assert "speculative-at" in dict(scan.scanned(hypervisor))


def test_support_lists_each_erratum_with_its_means():
    support = (ROOT / "SUPPORT.md").read_text()
    for name in board.names():
        for number, erratum in board.load(name).errata.each.items():
            assert f"| {number} |" in support and erratum.means in support


def test_the_sizes_of_a_system_name_its_errata():
    images = (
        Linked(board.load("qemu-virt"), "mortise", "mortise"),
        Linked(board.load("qemu-virt")),
    )
    built = SimpleNamespace(
        system=SimpleNamespace(board=board.load("qemu-virt")),
        images=images,
    )
    rows = {row["erratum"]: row for row in size._errata(built)}
    assert rows["843419"]["scanned"] == ["mortise", "motor"]
    assert rows["speculative-at"]["scanned"] == ["mortise"]
    assert all(row["means"] and row["title"] for row in rows.values())


AT_PAGE_END = """
.section .text.first, "ax"
.balign 4096
.space 4088
.global first
first:
    adrp x0, word
    str x1, [x2]
    ldr x3, [x0, :lo12:word]
    ret
.data
word: .quad 0
"""


@needs_assembler
def test_the_linker_s_flag_mends_a_page_address(tmp_path):
    linker = next(rust.toolchain().sysroot.glob("lib/rustlib/*/bin/rust-lld"), None)
    if linker is None:
        pytest.skip("the toolchain has no linker of its own")
    (tmp_path / "program.s").write_text(AT_PAGE_END)
    made = tmp_path / "program.o"
    subprocess.run(["aarch64-linux-gnu-as", tmp_path / "program.s", "-o", made], check=True)
    defined = ("IMAGE_BASE=0x40080000", "IMAGE_OFFSET=0x80000", "TABLES=0")
    command = [linker, "-flavor", "gnu", f"-T{LINKER_SCRIPT}", "-zmax-page-size=4096", "-efirst"]
    command += [f"--defsym={symbol}" for symbol in defined]

    def places(*flags):
        linked = tmp_path / "program.elf"
        subprocess.run([*command, *flags, made, "-o", linked], check=True)
        return sequences.places(linked.read_bytes(), sequences.page_address)

    assert [place.function for place in places()] == ["first"]
    assert places(*board.load("qemu-virt").errata.linker) == []
