"""Systems without Mortise: what is built and booted of them, and what is refused."""

import struct

import pytest

from tenonos import system
from tenonos.build.images import images
from tenonos.errors import InputError
from tenonos.plan.compose import compose
from tenonos.run import device_backends
from tenonos.system import fat

BARE = """name = "alone"
board = "qemu-virt"
pool = "0.1"
mode = "bare"

[[vm]]
name = "greeter"
kind = "tenon"
app = "greeter"
cpus = [0]
memory = "4M"
"""


def load(folder, text=BARE):
    (folder / "system.toml").write_text(text)
    return system.load(folder)


def test_nothing_of_mortise_is_built(tmp_path):
    assert [image.name for image in images(load(tmp_path))] == ["greeter"]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ('interrupts = "shared"\n', "interrupts needs Mortise"),
        ('on_fault = "restart"\n', "on_fault needs Mortise"),
        ('[[vm.task]]\nname = "control"\nperiod = "1ms"\n', "task needs Mortise"),
        ('[reserve]\nmemory = "2M"\ncpus = [1]\n', "reserve needs Mortise"),
        ('[[vm]]\nname = "b"\nkind = "tenon"\napp = "hello"\ncpus = [1]\nmemory = "4M"\n', "one"),
    ],
)
def test_what_takes_mortise_is_refused(tmp_path, more, said):
    with pytest.raises(InputError, match=said):
        load(tmp_path, BARE + more)


ECHO = BARE.replace("greeter", "udp-echo")
CARD = '\n[[network]]\ndevice = "virtio1"\nforward = ["7007:7/udp", "80:8080/tcp"]\n'


def test_a_network_card_is_behind_a_transport_of_virtio_1(tmp_path):
    loaded = load(tmp_path, ECHO + CARD)
    line = " ".join(device_backends.arguments(loaded, tmp_path))
    assert line == (
        "-global virtio-mmio.force-legacy=false"
        " -netdev user,id=network0"
        ",hostfwd=udp:127.0.0.1:7007-:7,hostfwd=tcp:127.0.0.1:80-:8080"
        " -device virtio-net-device,netdev=network0,bus=virtio-mmio-bus.8"
    )
    isolated = load(tmp_path, ECHO + CARD.replace('"7007:7/udp", ', ""))
    ports = "restrict=on,hostfwd=tcp:127.0.0.1:80-:8080"
    assert ports in " ".join(device_backends.arguments(isolated, tmp_path))
    (image,) = images(loaded)
    assert [device.base for device in image.devices] == [0x0A00_1000]
    (image,) = images(load(tmp_path, ECHO))
    assert image.devices == ()


def test_an_image_drives_a_disk_whose_file_stays(tmp_path):
    text = ECHO + '[[disk]]\ndevice = "virtio0"\nfile = "disk.img"\nkeep = true\n'
    (tmp_path / "disk.img").write_bytes(bytes(512))
    loaded = load(tmp_path, text)
    options = " ".join(device_backends.arguments(loaded, tmp_path))
    assert options.startswith("-global virtio-mmio.force-legacy=false -drive file=")
    assert "disk.img,format=raw,if=none,id=disk0" in options
    assert options.endswith("-device virtio-blk-device,drive=disk0,bus=virtio-mmio-bus.0")


def test_a_disk_with_a_format_is_made_at_the_first_run_alone(tmp_path):
    text = ECHO + '[[disk]]\ndevice = "virtio0"\nfile = "disk.img"\nkeep = true\n'
    text += 'size = "8M"\nformat = "fat"\n'
    loaded, disk = load(tmp_path, text), tmp_path / "disk.img"
    assert not disk.exists()
    device_backends.arguments(loaded, tmp_path)
    content = bytearray(disk.read_bytes())
    assert len(content) == 8 << 20 and content[510:512] == b"\x55\xaa"
    assert not list(tmp_path.glob(".disk*"))
    content[-1] = 1
    disk.write_bytes(content)
    device_backends.arguments(load(tmp_path, text), tmp_path)
    assert disk.read_bytes() == content


@pytest.mark.parametrize("size", [fat.LEAST, 16 << 20, 100 << 20, fat.MOST])
def test_a_volume_that_is_made_is_an_empty_fat16(tmp_path, size):
    fat.make(tmp_path / "disk", size)
    assert (tmp_path / "disk").stat().st_size == size
    with (tmp_path / "disk").open("rb") as disk:
        head = disk.read(1 << 20)
    cluster, reserved, tables, root, few, table = struct.unpack_from("<BHBHHxH", head, 13)
    sectors = few or struct.unpack_from("<I", head, 32)[0]
    clusters = (sectors - reserved - tables * table - root // 16) // cluster
    assert sectors * 512 == size
    assert 4085 <= clusters < 65_525 and 2 * (clusters + 2) <= table * 512
    first = reserved * 512
    assert head[first : first + 4] == head[first + table * 512 :][:4] == b"\xf8\xff\xff\xff"
    assert not any(head[first + 2 * table * 512 :])


@pytest.mark.parametrize("port", ["7", "7:7", "7:7/icmp", "0:7/udp", "7:65536/tcp", "a:7/udp"])
def test_a_forwarded_port_has_two_numbers_and_a_protocol(tmp_path, port):
    with pytest.raises(InputError, match=rf'15: forward: "{port}" (is not|has) a port'):
        load(tmp_path, ECHO + CARD.replace("7007:7/udp", port))


def test_a_port_of_the_host_leads_to_one_port(tmp_path):
    load(tmp_path, ECHO + CARD.replace("80:8080/tcp", "7007:7/tcp"))
    for again in ("7007:8/udp", "7007:7/udp", "07007:7/udp"):
        text = ECHO + CARD.replace("80:8080/tcp", again)
        said = f'15: "7007:7/udp" and "{again}" have the same port 7007/udp of the host; give one'
        with pytest.raises(InputError, match=said):
            load(tmp_path, text)
    other = CARD.replace('"7007:7/udp", "80', '"81').replace("virtio1", "virtio0")
    load(tmp_path, ECHO + CARD + other)
    with pytest.raises(InputError, match=r"19: .* have the same port 80/tcp of the host"):
        load(tmp_path, ECHO + CARD + other.replace("81", "80"))


def test_an_image_may_have_programs_in_its_own_memory(tmp_path):
    text = ECHO.replace('app = "udp-echo"', 'app = "programs"\nprogram = "/bin/sh"')
    assert text != ECHO
    loaded = load(tmp_path, text)
    (vm,) = loaded.vms
    (image,) = images(loaded)
    end = loaded.board.ram.base + vm.memory
    assert image.config["TENON_THREAD_MEMORY_END"] == end


def test_the_cpus_are_the_first_ones(tmp_path):
    with pytest.raises(InputError, match="start at 0"):
        load(tmp_path, BARE.replace("cpus = [0]", "cpus = [1]"))


def test_what_is_composed_without_a_hypervisor_is_such_a_system(tmp_path):
    answer = compose("a control loop on bare metal, no hypervisor")
    assert list(answer.images) == ["motor"]
    answer.write(tmp_path)
    assert system.load(tmp_path).mode == "bare"


def test_what_only_a_hypervisor_can_do_is_a_conflict_without_one():
    for objective in (
        "two control loops on bare metal",
        "a control loop beside Linux on bare metal",
        "a control loop on bare metal with direct interrupts",
    ):
        answer = compose(objective)
        assert not answer.images
        assert "virt.partition" in {clash.value for clash in answer.conflict}
