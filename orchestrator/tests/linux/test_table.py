"""The translation table of a hyplet, against a walk of the architecture's and a model."""

import ctypes
import errno
from contextlib import contextmanager

import pytest
from host import library
from hypothesis import example, given, settings
from hypothesis import strategies as st

PAGE, PAGES = 4096, 400
LIMIT = 1 << 48
WRITE, EXECUTE, DEVICE = 1, 2, 4


class Table(ctypes.Structure):
    _fields_ = (("root", ctypes.c_void_p),)


@pytest.fixture(scope="module")
def c(tmp_path_factory):
    found = library(tmp_path_factory.mktemp("table"), "module/table.c", text="long host_pages;\n")
    found.tenon_table_entry.restype = ctypes.c_uint64
    found.tenon_entry_executes.restype = ctypes.c_bool
    return found


@contextmanager
def table(c, pages=PAGES):
    """An empty one, which has to give back all pages it took."""
    left = ctypes.c_long.in_dll(c, "host_pages")
    left.value, made = pages, Table()
    yield made
    c.tenon_table_free(ctypes.byref(made))
    assert left.value == pages


def put(c, made, address, physical, rights):
    return -c.tenon_table_map(
        ctypes.byref(made), ctypes.c_uint64(address), ctypes.c_uint64(physical), rights
    )


def walk(made, address):
    """As the Arm ARM's D8.2 has it for EL0: (physical address, what it may do), or None."""
    at = made.root
    for shift in (39, 30, 21, 12):
        if not at:
            return None
        entry = (ctypes.c_uint64 * 512).from_address(at)[address >> shift & 511]
        if not entry & 1:
            return None
        assert entry & 2, "no blocks, and pages are pages"
        at = entry & 0x0000_FFFF_FFFF_F000
    assert entry >> 6 & 1, "for EL0"
    assert entry >> 10 & 1 and entry >> 11 & 1, "accessed, and of one ASID"
    assert entry >> 53 & 1, "never executed at EL1"
    assert entry >> 8 & 3 == 3, "coherent with the other cores"
    rights = 0 if entry >> 7 & 1 else WRITE
    rights |= 0 if entry >> 54 & 1 else EXECUTE
    index = entry >> 2 & 7
    assert index in (0, 1)
    return at, rights | (DEVICE if index else 0)


# Few addresses at each level, so that tables are shared and entries meet.
ADDRESS = st.builds(
    lambda a, b, c, d: a << 39 | b << 30 | c << 21 | d << 12,
    *[st.sampled_from([0, 1, 511])] * 4,
)
PHYSICAL = st.integers(0, 2**36 - 1).map(lambda page: page * PAGE)
RIGHTS = st.sampled_from([0, WRITE, EXECUTE, DEVICE, DEVICE | WRITE])


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(ADDRESS, PHYSICAL, RIGHTS), max_size=30), ADDRESS)
@example([(LIMIT - PAGE, 0, 0), (0, 0, 0)], 0)
def test_it_maps_the_requested_ranges_and_nothing_else(c, told, other):
    model = {}
    with table(c) as made:
        for address, physical, rights in told:
            expected = errno.EEXIST if address in model else 0
            assert put(c, made, address, physical, rights) == expected
            model.setdefault(address, (physical, rights))
        beside = ((a + PAGE) % LIMIT for a in model)  # the walk knows no address beyond
        for address in {*model, other, *beside, *(a ^ 1 << 40 for a in model)}:
            assert walk(made, address) == model.get(address)
            entry = c.tenon_table_entry(ctypes.byref(made), ctypes.c_uint64(address + 5))
            assert bool(entry) == (address in model)
            executes = c.tenon_entry_executes(ctypes.c_uint64(entry))
            assert executes == bool(model.get(address, (0, 0))[1] & EXECUTE)


@pytest.mark.parametrize(
    ("address", "physical", "rights"),
    [
        (0, 0, WRITE | EXECUTE),
        (0, 0, DEVICE | EXECUTE),
        (1 << 48, 0, 0),
        (0xFFFF_8000_0000_0000, 0, 0),
        (8, 0, 0),
        (0, 8, 0),
        (0, 1 << 48, 0),
    ],
)
def test_what_no_page_may_have_is_refused(c, address, physical, rights):
    with table(c) as made:
        assert put(c, made, address, physical, rights) == errno.EINVAL
        assert walk(made, address & 0xFFFF_FFFF_F000) is None
        high = ctypes.c_uint64(address | 1 << 48)
        assert c.tenon_table_entry(ctypes.byref(made), high) == 0


@pytest.mark.parametrize("pages", range(5))
def test_exhausted_memory_is_reported_and_freed(c, pages):
    with table(c, pages) as made:
        assert put(c, made, PAGE, PAGE, 0) == (0 if pages == 4 else errno.ENOMEM)
        assert walk(made, PAGE) == ((PAGE, 0) if pages == 4 else None)
