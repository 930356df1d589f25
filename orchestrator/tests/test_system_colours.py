"""What a system may say of page colours, and which memory it gets for it."""

from dataclasses import replace
from itertools import combinations

import pytest
from descriptions import CONTROL, described, linux, motor, read
from hypothesis import given, settings
from hypothesis import strategies as st

from tenonos.build.images import space
from tenonos.errors import InputError
from tenonos.system import colours, manifest
from tenonos.system.layout import lay_out
from tenonos.system.limits import BLOCK, PAGE
from tenonos.system.memory_map import ColouredMemory, Content
from tenonos.system.schema import parse
from tenonos.system.write import render

COLOURS = 16
"""Of `qemu-virt`: 1 MiB in 16 ways."""

COLOURED = described(
    "coloured",
    motor(CONTROL, cpus=[1], memory="8M", colours=4),
    linux(cpus=[0], memory="192M", colours=12),
)


def laid_out(loaded):
    tenon = Content({"image": 50_000, "header": PAGE}, 0, 60_000)
    linux = Content({"kernel": 30 << 20, "initramfs": 1 << 20, "tree": 16 << 10}, 0, 32 << 20)
    contents = {vm.name: linux if vm.kind == "linux" else tenon for vm in loaded.vms}
    return lay_out(loaded, 500_000, contents)


def places(layout, vm):
    """The physical address of each page that a VM has beside its tables."""
    place = layout.vm(vm.name)
    ranges = [(place.pa, place.size), (place.status_pa, PAGE)]
    ranges += [(area.pa, area.size) for area in (*place.shared, *place.areas)]
    pages = {at for start, size in ranges for at in range(start, start + size, PAGE)}
    return {layout.coloured.place(page) for page in pages}


def test_it_is_understood_and_written_back():
    assert [vm.colours for vm in read(COLOURED).vms] == [4, 12]
    spec, _ = parse(COLOURED, "system.toml")
    assert parse(render(spec), "again")[0] == spec


def test_all_that_a_vm_has_is_of_its_colours():
    loaded = read(COLOURED)
    layout = laid_out(loaded)
    seen = {}
    for vm in loaded.vms:
        own = places(layout, vm)
        found = {page // PAGE % COLOURS for page in own}
        assert len(found) == vm.colours
        assert not set(seen) & own
        assert all(layout.image_base + layout.image_size <= page for page in own)
        seen |= dict.fromkeys(own, vm.name)
        # So much of its colours is left that all its tables find room.
        left = [p for p in layout.coloured.tables if p % PAGE == 0 and p // PAGE % COLOURS in found]
        assert len(left) > colours.frames(loaded, vm) >= vm.memory // BLOCK
    assert layout.vm("linux").ipa == loaded.board.ram.base, "scattered, it cannot be 1:1"


def test_mortise_is_reported():
    loaded = read(COLOURED)
    layout = laid_out(loaded)
    (told,) = manifest.read(manifest.write(loaded, layout))["colouring"]
    assert told["memory"] == {"start": layout.coloured.base, "size": layout.coloured.size}
    tables = layout.coloured.tables
    assert told["tables"] == {"start": tables.start, "size": len(tables)}
    assert told["colours"] == COLOURS
    assert told["parts"][:2] == [0x000F, 0xFFF0]
    plain = read(without(COLOURED))
    assert not manifest.read(manifest.write(plain, laid_out(plain)))["colouring"]


def test_who_asks_for_it_gets_the_library():
    mortise = [space(read(text)).evaluate("mortise") for text in (COLOURED, without(COLOURED))]
    assert [config["LIB_MORTISE_COLOURING"] for config in mortise] == [True, False]


def without(text):
    return "".join(line for line in text.splitlines(True) if not line.startswith("colours"))


DYNAMIC = COLOURED.replace('pool = "0.1"\n', 'pool = "0.1"\nmode = "dynamic"\n')
RESERVE = '\n[reserve]\nmemory = "16M"\ncpus = [3]\n\n[[vm]]'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (COLOURED.replace("= 12", "= 13"), 'VM "linux" asks for 13 colours, and 12 of 16 are left'),
        (COLOURED.replace("= 4", "= 17"), 'VM "motor" asks for 17 colours, and 16 of 16 are left'),
        (COLOURED.replace("= 4", "= 16"), 'VM "linux" asks for 12 colours, and all 16 are given'),
        (COLOURED.replace("= 4", "= 0"), "colours"),
        (COLOURED.replace("= 4", '= "4"'), "colours"),
        (COLOURED + 'devices = ["virtio0"]\n', 'device "virtio0", which reaches memory without'),
        (
            COLOURED + '\n[[vm]]\nname = "x"\nkind = "image"\nimage = "u-boot"\ncpus = [2]\n'
            'memory = "16M"\ncolours = 1\n',
            "all 16 are given",
        ),
        (
            COLOURED.replace("= 12", "= 11")
            + '\n[[vm]]\nname = "x"\nkind = "image"\nimage = "u-boot"\ncpus = [2]\n'
            'memory = "16M"\ncolours = 1\n',
            'VM "x" has colours and an image of any kind',
        ),
        (
            COLOURED + 'in_place = true\non_fault = "stop"\n',
            'VM "linux" has colours and a boot loader to fill it',
        ),
        (COLOURED + 'memory_at = "0x50000000"\n', "a place for its memory"),
        (
            DYNAMIC.replace("\n[[vm]]", RESERVE, 1)
            + '[vm.manages]\nvms = ["*"]\nmemory = "16M"\ncpus = [3]\n',
            'VM "linux" has colours and others to manage',
        ),
        (
            COLOURED
            + '[[channel]]\nname = "c"\nfrom = "motor"\nto = "linux"\nslots = 4\nsize = 64\n',
            'VM "motor" has colours and channel "c"',
        ),
        (
            COLOURED + '[[vlib]]\nname = "v"\nmaster = "motor"\nserver = "linux"\nsize = "4K"\n',
            'VM "motor" has colours and vLib "v"',
        ),
        (
            COLOURED.replace("cpus = [0]", "cpus = [0, 2]") + "[vm.detach]\ncpus = [2]\n",
            'VM "linux" has colours and cores to lend',
        ),
    ],
)
def test_what_cannot_be_is_refused(text, said):
    with pytest.raises(InputError, match=said) as refused:
        read(text)
    assert refused.value.where.startswith("system.toml:")


def test_a_gpio_reaches_no_memory():
    read(COLOURED + 'devices = ["gpio"]\n')


def test_a_board_without_a_cache_has_no_colours():
    loaded = read(COLOURED)
    for cache in (None, loaded.board.cache.model_copy(update={"ways": 256})):
        with pytest.raises(InputError, match="declares no cache with colours"):
            colours.check(replace(loaded, board=replace(loaded.board, cache=cache)))


def test_memory_in_too_few_colours_is_refused():
    text = COLOURED.replace("= 12", "= 2").replace("192M", "256M")
    with pytest.raises(InputError, match='VM "linux" has 2 of 16 and 256M in them') as refused:
        laid_out(read(text))
    assert refused.value.where.startswith("system.toml:")


def test_a_vm_without_colours_causes_a_warning():
    assert list(colours.warnings(read(COLOURED))) == []
    assert list(colours.warnings(read(without(COLOURED)))) == [], "nobody asked for it"
    (warning,) = colours.warnings(read(COLOURED.replace("colours = 4\n", "")))
    assert warning.startswith("system.toml:") and 'VM "motor" has no colours' in warning
    (warning,) = colours.warnings(read(DYNAMIC.replace("\n[[vm]]", RESERVE, 1)))
    assert "the reserve has no colours" in warning


@settings(deadline=None, max_examples=50)
@given(st.permutations(range(16)), st.lists(st.integers(0, 5), max_size=3), st.integers(1, 9))
def test_addresses_of_parts_are_places_of_their_colours(order, widths, rows):
    parts, given_away = [], list(order)
    for width in widths:
        own, given_away = given_away[:width], given_away[width:]
        parts.append(sum(1 << colour for colour in own))
    base = 0x4100_0000
    coloured = ColouredMemory(base, rows * COLOURS * PAGE, range(0), COLOURS, tuple(parts))
    found = []
    for vm, part in enumerate(parts):
        size = rows * part.bit_count() * PAGE
        own = [place for place, _ in coloured.pieces(coloured.part(vm), size)]
        assert {place // PAGE % COLOURS for place in own} == {c for c in range(16) if part >> c & 1}
        assert own == sorted(own)
        found.append(set(own))
    assert not any(a & b for a, b in combinations(found, 2))
    assert coloured.place(base - 1) == base - 1
    assert coloured.place(base + coloured.size + 5) == base + coloured.size + 5
