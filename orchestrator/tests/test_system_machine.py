"""The size of the emulated machine, which a system may state: `[machine]`."""

import pytest
from descriptions import described, linux, motor, read, section

from tenonos.build.images import space
from tenonos.deploy import boot_files
from tenonos.errors import InputError
from tenonos.system import board as boards
from tenonos.system import manifest
from tenonos.system.layout import lay_out
from tenonos.system.memory_map import Content
from tenonos.system.schema import parse
from tenonos.system.write import render

CONTENTS = {
    "motor": Content({"image": 50_000, "header": 4096}, 0, 60_000),
    "linux": Content({"kernel": 30 << 20, "initramfs": 1 << 20, "tree": 16 << 10}, 0, 32 << 20),
}
GIB = 1 << 30


def large(memory="2G", board="qemu-virt", **more):
    size = {"cores": 6, "ram": "3G"} | more
    tables = section("machine", **size), motor(cpus=[5]), linux(cpus=[0, 1, 2, 3, 4], memory=memory)
    return described("large", *tables, board=board)


@pytest.mark.parametrize("board", ["qemu-virt", "qemu-virt-gicv2"])
def test_a_board_has_the_size_that_its_system_states(board):
    system = read(large(board=board))
    assert (system.board.cpus, system.board.ram.size) == (6, 3 * GIB)
    constants = system.board.constants()
    assert (constants["CPUS"], constants["RAM_SIZE"]) == (6, 3 * GIB)
    default = boards.load(board)
    assert (default.cpus, default.ram.size) == (4, GIB), "that of the board file stays"
    if board == "qemu-virt":
        assert constants["GICR_SIZE"] == 6 * default.gic.stride


def test_either_key_may_be_left_out():
    system = read(described("one", section("machine", ram="2G"), linux(cpus=[3], memory="1G")))
    assert (system.board.cpus, system.board.ram.size) == (4, 2 * GIB)
    system = read(described("one", section("machine", cores=1, ram="256M"), motor(cpus=[0])))
    assert (system.board.cpus, system.board.ram.size) == (1, 256 << 20)


def test_memory_up_to_the_last_address_is_given_to_vms():
    system = read(large(memory="2900M"))
    layout = lay_out(system, 1 << 20, CONTENTS)
    place = layout.vm("linux")
    assert place.pa + place.size <= layout.ram_base + layout.ram_size == 4 * GIB
    (vm, *_) = manifest.read(manifest.write(system, layout))["vms"]
    assert vm["cpus"] == [5]


def test_it_is_written_and_read_back():
    spec, _ = parse(large(), "")
    assert '[machine]\ncores = 6\nram = "3G"\n' in render(spec)
    assert parse(render(spec), "")[0] == spec


def test_a_larger_machine_has_more_translation_tables_where_they_are_not_counted():
    channel = '\n[[channel]]\nname = "a"\nfrom = "motor"\nto = "linux"\nslots = 4\nsize = 8\n'
    text = large() + channel

    def frames(text):
        given = space(read(text)).given("mortise")
        (value,) = (int(one.value) for one in given if one.symbol == "MORTISE_PAGE_TABLES")
        return value

    small = described("small", motor(cpus=[3]), linux(cpus=[0, 1, 2])) + channel
    assert frames(small) == 84
    assert frames(text) == 84 + 2 * 17 + 2 * (6 + 2) + 2


def test_the_script_for_the_emulator_has_the_size():
    words = boot_files.of(read(large()))[boot_files.RUN]
    assert " -smp 6 -m 3072M " in words


WRONG = [
    ({"cores": 9}, "6: qemu-virt with 9 cores; it can have 8 at most"),
    ({"cores": 0}, "6: cores: input should be greater than or equal to 1; for example cores = 6"),
    ({"ram": "20G"}, "7: qemu-virt with 20G of RAM; it can have 16G at most"),
    ({"ram": "1025K"}, "7: 1025K of RAM is not a multiple of 2 MiB above 4M; for example ram ="),
    ({"ram": "4M"}, "7: 4M of RAM is not a multiple of 2 MiB above 4M"),
    ({"ram": "1G"}, "20: 2064M for VMs do not fit the 1024M of qemu-virt; 1020M are left beside"),
    (
        {"cores": 5},
        "13: there is no CPU 5: qemu-virt has 5, and 6 are asked for in all; use 0 to 4",
    ),
    ({"core": 6}, '8: unknown key "core"; did you mean cores?'),
    (
        {"board": "qemu-zcu102"},
        "6: qemu-zcu102 has 4 cores and 1G of RAM, which a system cannot change; leave [machine] "
        "out; qemu-virt and qemu-virt-gicv2 have a free size",
    ),
]


@pytest.mark.parametrize(("keys", "line"), WRONG, ids=[line for _, line in WRONG])
def test_a_wrong_size(keys, line):
    with pytest.raises(InputError) as complaint:
        read(large(**keys))
    assert str(complaint.value).startswith(f"system.toml:{line}")


def test_only_the_first_cores_can_be_shared():
    shared = {"interrupts": "shared"}
    tables = section("machine", cores=6), motor(cpus=[4], **shared), linux(cpus=[0, 4])
    with pytest.raises(InputError) as complaint:
        read(described("shared", *tables, mode="dynamic"))
    line = "system.toml:20: VMs share CPU 4, and only the first 4 can be shared; use 0 to 3 for it"
    assert str(complaint.value) == line
    alone = section("machine", cores=6), motor(cpus=[5], **shared), linux(cpus=[0, 4])
    assert read(described("shared", *alone, mode="dynamic")).board.cpus == 6


def test_a_reserve_of_a_core_that_cannot_be_shared_is_refused():
    reserve = section("reserve", memory="32M", cpus=[5])
    tables = section("machine", cores=6), reserve, motor(cpus=[0])
    with pytest.raises(InputError, match="VMs share CPU 5, and only the first 4 can be shared"):
        read(described("late", *tables, mode="dynamic"))


def test_only_linux_has_memory_beyond_the_kernels_own_maps():
    vm = linux(cpus=[0, 1], memory="6G")
    text = described("far", section("machine", ram="9G"), motor(cpus=[3]), vm)
    system = read(text)
    layout = lay_out(system, 1 << 20, CONTENTS)
    place = layout.vm("linux")
    assert place.pa + place.size == system.board.ram_end == 10 * GIB
    near = layout.vm("motor")
    assert near.pa + near.size < boards.REACH
    assert near.log_pa is not None and near.log_pa < boards.REACH
    assert layout.image_base + layout.image_size < boards.REACH


def test_in_the_default_size_linux_has_the_memory_that_it_had():
    text = described("near", motor(cpus=[3]), linux(cpus=[0, 1]))
    places = [lay_out(read(text), 1 << 20, CONTENTS).vm(name) for name in ("motor", "linux")]
    assert places[0].pa + places[0].size == places[1].pa


@pytest.mark.parametrize(
    ("vm", "line"),
    [
        (
            linux("\n" + section("vm.detach", cpus=[2]), cpus=[0, 1, 2], memory="6G"),
            'no 6144M in one piece are left for VM "linux"; make a VM smaller',
        ),
        (
            linux(cpus=[0, 1], memory="6G", devices=["pcie"]),
            'device "pcie": qemu-virt has it with RAM below 4 GiB only; write ram = "3G" in',
        ),
        (
            motor(cpus=[2], memory_at="0x1_0000_0000", name="second"),
            'memory of VM "second" (0x100000000 to 0x100ffffff) is beyond 4 GiB, where only a '
            "Linux VM without cores to lend, vLibs and virtual disks can be; place it below",
        ),
    ],
)
def test_what_mortise_maps_stays_below_four_gibibytes(vm, line):
    with pytest.raises(InputError) as complaint:
        tables = section("machine", ram="9G"), motor(cpus=[3]), vm
        lay_out(read(described("far", *tables)), 1 << 20, CONTENTS)
    assert line in str(complaint.value)
