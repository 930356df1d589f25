"""The memory map: nothing overlaps, whatever the sizes; what is asked for is honoured."""

from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenonos import system
from tenonos.errors import InputError
from tenonos.paths import ROOT
from tenonos.system.layout import lay_out
from tenonos.system.limits import BLOCK, PAGE
from tenonos.system.memory_map import MANIFEST_MOST, STATUS_SIZE, Content
from tenonos.system.schema import SystemSpec, TaskSpec, VmSpec

MIB = 1 << 20


def make(*vms: VmSpec) -> system.System:
    spec = SystemSpec(name="s", board="qemu-virt", pool="0.1", vm=list(vms))
    return system.from_spec(spec, ROOT / "s" / "system.toml", "s/system.toml", {(): 1})


def tenon(name, cpu, memory=16 * MIB, at=None, tasks=1):
    task = [TaskSpec(name=f"t{n}", period="1ms") for n in range(tasks)]
    return VmSpec(
        name=name, kind="tenon", app="motor", cpus=[cpu], memory=memory, memory_at=at, task=task
    )


def linux(cpus=(0,), memory=256 * MIB, at=None, in_place=False):
    return VmSpec(
        name="linux",
        kind="linux",
        cpus=list(cpus),
        memory=memory,
        memory_at=at,
        in_place=in_place,
    )


def tenon_content(size=50_000, total=60_000):
    return Content({"image": size, "header": 4096}, 0, total)


def linux_content(kernel=30 * MIB, total=32 * MIB, initramfs=MIB, offset=0):
    return Content({"kernel": kernel, "initramfs": initramfs, "tree": 16 << 10}, offset, total)


def ranges(layout):
    """Everything that is in RAM, with what it is."""
    yield layout.image_base, layout.image_size, "system image"
    for vm in layout.vms.values():
        yield vm.pa, vm.size, vm.name
        if vm.log_pa is not None:
            yield vm.log_pa, vm.log_size, f"{vm.name} log"
        for task in vm.tasks.values():
            yield task.pa, task.size, f"{vm.name} {task.name}"


def assert_sound(layout):
    for (a, size_a, x), (b, size_b, y) in combinations(ranges(layout), 2):
        assert a + size_a <= b or b + size_b <= a, f"{x} overlaps {y}"
    for base, size, _ in ranges(layout):
        assert base % PAGE == 0
        assert layout.ram_base <= base
        assert base + size <= layout.ram_base + layout.ram_size
    inside = [(layout.manifest_pa, layout.manifest_size)]
    for vm in layout.vms.values():
        assert vm.pa % BLOCK == 0
        inside += [(vm.status_pa, STATUS_SIZE)]
        inside += [(p.pa, p.size) for p in vm.payloads.values()]
        targets = sorted((p.ipa, p.size) for p in vm.payloads.values())
        for (a, size), (b, _) in pairwise(targets):
            assert a + size <= b
        for ipa, size in targets:
            assert vm.ipa <= ipa
            assert ipa + size <= vm.ipa + vm.size
        views = sorted((area.ipa, area.size) for area in (*vm.shared, *vm.areas))
        for (a, size), (b, _) in pairwise(views):
            assert a + size <= b
    for (a, size), (b, _) in zip(sorted(inside), sorted(inside)[1:], strict=False):
        assert a % PAGE == 0
        assert a + size <= b
    for base, size in inside:
        assert layout.image_base <= base
        assert base + size <= layout.image_base + layout.image_size


@given(
    mortise=st.integers(PAGE, 512 << 10),
    sizes=st.lists(st.integers(1, 40), min_size=1, max_size=3),
    image=st.integers(64, 400_000),
    tasks=st.integers(0, 8),
    kernel=st.integers(64, 60 * MIB),
    initramfs=st.integers(1, 20 * MIB),
    offset=st.sampled_from([0, 0x8_0000]),
    fixed=st.one_of(st.none(), st.integers(0x4800_0000 // BLOCK, 0x7000_0000 // BLOCK)),
)
def test_nothing_overlaps(mortise, sizes, image, tasks, kernel, initramfs, offset, fixed):
    at = None if fixed is None else fixed * BLOCK
    vms = [tenon(f"t{n}", n + 1, size * BLOCK, tasks=tasks) for n, size in enumerate(sizes)]
    built = make(*vms, linux(at=at))
    contents = {vm.name: tenon_content(image, image + 5000) for vm in vms}
    contents["linux"] = linux_content(kernel, kernel + MIB, initramfs, offset)
    try:
        layout = lay_out(built, mortise, contents)
    except InputError as error:
        assert at is not None or "no 256M in one piece" in str(error)
        return
    assert_sound(layout)
    if at is not None:
        assert layout.vm("linux").pa == at
    assert lay_out(built, mortise, contents) == layout


def test_the_manifest_has_the_pages_it_needs():
    content = dict.fromkeys("a", tenon_content())
    for size, pages in [(1, 1), (PAGE, 1), (PAGE + 1, 2), (MANIFEST_MOST, 16)]:
        layout = lay_out(make(tenon("a", 1)), 100_000, content, manifest_size=size)
        assert layout.manifest_size == pages * PAGE
        assert_sound(layout)


def test_the_tenon_view():
    layout = lay_out(
        make(tenon("a", 1), tenon("b", 2)), 100_000, dict.fromkeys("ab", tenon_content())
    )
    a, b = layout.vm("a"), layout.vm("b")
    assert (a.ipa, a.entry, a.argument) == (0x4000_0000, 0x4008_0000, 0x4000_0000)
    assert a.shared[0].ipa == 0x8000_0000
    assert [area.flags for area in a.shared] == [0]
    assert [area.flags for area in a.areas] == [1, 1]
    assert (b.ipa, b.entry) == (a.ipa, a.entry)
    assert b.pa != a.pa


def test_the_linux_view():
    layout = lay_out(make(linux()), 100_000, {"linux": linux_content(offset=0)})
    vm = layout.vm("linux")
    assert vm.ipa == vm.pa
    assert vm.entry % BLOCK == 0
    assert vm.argument == vm.payloads["tree"].ipa
    assert vm.shared == ()


def test_what_is_loaded_in_place_is_not_copied():
    contents = {"a": tenon_content(), "linux": linux_content()}
    kept, placed = (
        lay_out(make(tenon("a", 1), linux(in_place=place)), 100_000, contents)
        for place in (False, True)
    )
    assert_sound(kept)
    vm = placed.vm("linux")
    loaded = [range(p.pa, p.pa + p.size) for p in vm.payloads.values()]
    assert [where.start for where in loaded] == [p.ipa for p in vm.payloads.values()]
    assert all(vm.pa <= where.start and where.stop <= vm.pa + vm.size for where in loaded)
    assert placed.image_base + placed.image_size == max(where.stop for where in loaded)
    # The copy of the other one is outside of all VMs' memory, as before.
    (other, *_) = placed.vm("a").payloads.values()
    assert other.pa < placed.vm("a").pa


@pytest.mark.parametrize(
    ("vms", "contents", "complaint"),
    [
        (
            [linux(memory=64 * MIB)],
            {"linux": linux_content(total=62 * MIB)},
            'VM "linux" needs 66M for what it is loaded with; write memory = "66M" or more',
        ),
        (
            [tenon("a", 1, 2 * MIB)],
            {"a": tenon_content(total=2 * MIB)},
            'VM "a" needs 4M for what it is loaded with; write memory = "4M" or more',
        ),
        (
            [tenon("a", 1, at=0x4080_0000), linux()],
            {"a": tenon_content(), "linux": linux_content()},
            'memory of VM "a" at 0x40800000 overlaps the system image; 0x42200000 is free',
        ),
        (
            [tenon("a", 1, at=0x5000_0000), linux(memory=600 * MIB)],
            {"a": tenon_content(), "linux": linux_content(total=40 * MIB)},
            None,
        ),
        (
            [tenon("a", 1, at=0x6000_0000), linux(memory=600 * MIB)],
            {"a": tenon_content(), "linux": linux_content()},
            'no 600M in one piece are left for VM "linux"; make a VM smaller',
        ),
    ],
)
def test_what_does_not_fit(vms, contents, complaint):
    if complaint is None:
        assert_sound(lay_out(make(*vms), 100_000, contents))
        return
    with pytest.raises(InputError) as error:
        lay_out(make(*vms), 100_000, contents)
    assert complaint in str(error.value)


def test_a_tenon_with_the_serial_port_has_no_log_ring():
    vm = system.load("bench-min")
    place = lay_out(vm, 100_000, {"hello": tenon_content()}).vm("hello")
    assert (place.log_ipa, place.log_pa, place.log_size) == (None, None, 0)
    (status,) = place.shared
    assert (status.ipa, status.pa, status.flags) == (place.status_ipa, place.status_pa, 0)
    assert place.window == range(status.ipa, status.ipa + STATUS_SIZE)
