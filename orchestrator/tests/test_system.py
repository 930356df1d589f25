"""Every way a `system.toml` can be wrong has one exact line."""

from pathlib import Path

import pytest
from descriptions import described, linux, motor, read, table

from tenonos import system
from tenonos.build.images import space
from tenonos.errors import InputError
from tenonos.system.lines import locate
from tenonos.system.schema import parse
from tenonos.system.write import render

GOOD = described(
    "pair",
    motor(
        table("vm.task", name="control", period="1ms"),
        cpus=[3],
        memory_at="0x58000000",
        devices=["gpio"],
    ),
    linux(cpus=[0, 1, 2], memory="512M", interrupts="shared"),
    console="linux",
)


def load(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> system.System:
    monkeypatch.chdir(folder)
    Path("system.toml").write_text(text)
    return system.load(Path("system.toml"))


def test_a_good_system(tmp_path, monkeypatch):
    pair = load(tmp_path, monkeypatch, GOOD)
    motor, linux = pair.vms
    assert (motor.cpus, motor.memory, motor.memory_at) == ((3,), 16 << 20, 0x5800_0000)
    assert (motor.interrupts, motor.on_fault, motor.wfi) == ("direct", "stop", "pass")
    assert motor.tasks == (system.Task("control", 1_000_000, 1_000_000),)
    assert motor.config == tmp_path / "motor.config"
    assert (linux.interrupts, linux.kernel, linux.initramfs) == (
        "shared",
        "debian-cloud",
        "busybox",
    )
    assert pair.where("vm", 1, "cpus") == "system.toml:21"


def test_a_task_has_the_priority_that_is_stated(tmp_path, monkeypatch):
    stated = GOOD.replace('"1ms"', '"1ms"\npriority = 40')
    pair = load(tmp_path, monkeypatch, stated)
    assert pair.vm("motor").tasks == (system.Task("control", 1_000_000, 1_000_000, 40),)
    given = {one.symbol: (one.value, one.where) for one in space(pair).given("motor")}
    assert given["TENON_PERIODIC_PRIORITIES"] == ("y", "system.toml:17")
    without = {one.symbol for one in space(load(tmp_path, monkeypatch, GOOD)).given("motor")}
    assert "TENON_PERIODIC_PRIORITIES" not in without


# what is changed in GOOD, to what, the whole line of the complaint
WRONG = [
    (
        'board = "qemu-virt"',
        'board = "qemu-vrit"',
        '2: unknown board "qemu-vrit"; did you mean qemu-virt?',
    ),
    ('board = "qemu-virt"', 'board = "toaster"', '2: unknown board "toaster"; known are qemu-'),
    (
        'pool = "0.1"',
        'pool = "7.3"',
        '3: written for pool 7.3, and this is pool 0.1.0; write pool = "0.1.0"',
    ),
    (
        'console = "linux"',
        'console = "lunix"',
        '4: console = "lunix": no such VM; use motor or linux',
    ),
    (
        'console = "linux"',
        'mode = "elastic"',
        '4: unknown mode "elastic"; use "static", "dynamic" or "bare"',
    ),
    ("cpus = [3]", "cpu = [3]", '10: unknown key "cpu" of VM "motor"; did you mean cpus?'),
    (
        "cpus = [3]",
        "zebra = 1\ncpus = [3]",
        '10: unknown key "zebra" of VM "motor"; known are name,',
    ),
    ("cpus = [3]", "cpus = [4]", "10: there is no CPU 4: qemu-virt has 4; use 0 to 3"),
    (
        "cpus = [3]",
        "cpus = [3, 4]",
        "10: there is no CPU 4: qemu-virt has 4, and 5 are asked for in all; use 0 to 3",
    ),
    ("cpus = [3]", "cpus = [3, 3]", "10: CPU 3 is given twice; qemu-virt has 4 in all"),
    ("cpus = [0, 1, 2]", "cpus = [2, 3]", '21: CPU 3 is given to "motor" already; free: 0, 1'),
    ("cpus = [3]", "cpus = []", '10: cpus of VM "motor" is empty; add cpus = [3]'),
    ("cpus = [3]", 'cpus = ["3"]', '10: cpus of VM "motor": input should be a valid integer; for'),
    ("cpus = [3]\n", "", '6: cpus of VM "motor" is missing; add cpus = [3]'),
    (
        'kind = "tenon"',
        'kind = "freertos"',
        '8: unknown VM kind "freertos" of VM "motor"; use "tenon", "linux" or "image"',
    ),
    ('app = "motor"\n', "", '6: Tenon VM "motor" has no app; add app = "NAME"'),
    (
        'app = "motor"',
        'app = "motor"\nkernel = "x"',
        '10: kernel is for Linux VMs, and "motor" is a Tenon VM; remove it',
    ),
    (
        'app = "motor"',
        'app = "motor"\nmodules = ["dm-mod"]',
        '10: modules is for Linux VMs, and "motor" is a Tenon VM; remove it',
    ),
    (
        'interrupts = "shared"',
        'initramfs = "mine.cpio"\nfiles = "root"',
        '24: VM "linux" has files and a file as its initramfs; write initramfs = "busybox", or',
    ),
    (
        'interrupts = "shared"',
        'kernel = "Image"\nmodules = ["virtio_blk"]',
        '24: VM "linux" has modules and a file as its kernel; write kernel = "debian-cloud", or',
    ),
    (
        'interrupts = "shared"',
        'app = "motor"',
        '23: app is for Tenon VMs, and "linux" is a Linux VM; remove it',
    ),
    (
        'interrupts = "shared"',
        'interrupts = "direct"',
        '23: Linux VM "linux" needs shared interrupts: its GIC is virtual; write',
    ),
    ('"16M"', '"16 apples"', '11: memory: "16 apples" is not a size; write "64K", "16M" or "1G"'),
    (
        '"16M"',
        '"1M"',
        '11: memory of VM "motor" is not a multiple of 2 MiB; for example memory = "16M"',
    ),
    (
        '"512M"',
        '"2G"',
        "22: 2064M for VMs do not fit the 1024M of qemu-virt; 1020M are left beside Mortise",
    ),
    (
        '"1ms"',
        '"1 fortnight"',
        '16: period: "1 fortnight" is not a duration; write "1ms", "250us" or "2s"',
    ),
    ('"1ms"', '"0ms"', '16: period: "0ms" is not a whole, positive number of nanoseconds'),
    (
        '"1ms"',
        '"1ms"\ndeadlin = "1ms"',
        '17: unknown key "deadlin" of VM "motor"; did you mean deadline?',
    ),
    (
        '"1ms"',
        '"1ms"\npriority = 64',
        '17: priority of VM "motor": input should be less than or equal to 63; for example '
        "priority = 40",
    ),
    (
        '"1ms"',
        '"1ms"\npriority = 40\n\n[[vm.task]]\nname = "log"\nperiod = "10ms"',
        '20: task "log" of VM "motor" has no priority, but "control" has one; the application '
        "would assign it, rate-monotonic by default; give each task of the VM a priority, or none",
    ),
    ('"0x58000000"', '"zero"', '12: memory_at: "zero" is not an address; write "0x58000000"'),
    (
        '"0x58000000"',
        '"0x58001000"',
        "12: memory_at 0x58001000 is not 2 MiB aligned; 0x58000000 is",
    ),
    (
        '"0x58000000"',
        '"0x40200000"',
        '12: memory of VM "motor" (0x40200000 to 0x411fffff) overlaps Mortise\'s',
    ),
    (
        '"0x58000000"',
        '"0x8000000"',
        '12: memory of VM "motor" (0x8000000 to 0x8ffffff) overlaps the GIC distributor;',
    ),
    (
        '"0x58000000"',
        '"0x7ff00000"',
        "12: memory_at 0x7ff00000 is not 2 MiB aligned; 0x7fe00000 is",
    ),
    (
        '"0x58000000"',
        '"0x80000000"',
        '12: memory of VM "motor" (0x80000000 to 0x80ffffff) is outside of RAM;',
    ),
    (
        'memory = "512M"',
        'memory = "512M"\nmemory_at = "0x50000000"',
        '23: memory of VM "linux" (0x50000000 to 0x6fffffff) overlaps that of VM',
    ),
    ('["gpio"]', '["gpoi"]', '13: qemu-virt has no device "gpoi"; did you mean gpio?'),
    (
        '["gpio"]',
        '["wheel"]',
        '13: qemu-virt has no device "wheel"; it has gpio, rtc, flash, pcie, virtio0, virtio1,'
        " serial",
    ),
    (
        '["gpio"]',
        '["serial"]',
        '13: VM "motor" may not own the serial port, which is the console of others; give it to',
    ),
    (
        '"shared"',
        '"shared"\ndevices = ["serial"]',
        '24: VM "linux" may not own the serial port, which is the console of others; give it to',
    ),
    (
        '"shared"',
        '"shared"\nin_place = true\non_fault = "restart"',
        '24: VM "linux" is loaded in place and cannot be restarted; leave in_place out',
    ),
    (
        '"shared"',
        '"shared"\ndevices = ["gpio"]',
        '24: device "gpio" is given to "motor" already; one VM only',
    ),
    (
        'name = "linux"',
        'name = "motor"',
        '19: two VMs are called "motor" (first in line 7); rename one',
    ),
    (
        'name = "linux"',
        'name = "mortise"',
        '19: "mortise" is the hypervisor\'s own name; rename the VM',
    ),
    (
        'name = "linux"',
        'name = "Big Linux"',
        '19: name: "Big Linux" is not a name; use up to 31 of a-z',
    ),
    (
        'period = "1ms"',
        'period = "1ms"\n[[vm.task]]\nname = "control"\nperiod = "2ms"',
        '18: two tasks of VM "motor" are called "control"; rename one',
    ),
    ('"0.1"', "0.1", '3: pool: input should be a valid string; for example pool = "0.1"'),
    ("[[vm]]\nname", "[[vm]\nname", "6: not valid TOML: "),
]


@pytest.mark.parametrize(("old", "new", "line"), WRONG, ids=[w[2].partition(";")[0] for w in WRONG])
def test_a_wrong_system(tmp_path, monkeypatch, old, new, line):
    assert old in GOOD
    with pytest.raises(InputError) as complaint:
        load(tmp_path, monkeypatch, GOOD.replace(old, new, 1) if new else GOOD.replace(old, "", 1))
    assert str(complaint.value).startswith(f"system.toml:{line}")
    assert complaint.value.status == 2


def test_unknown_system():
    with pytest.raises(InputError, match='no system "nonesuch"; known are detached, '):
        system.load("nonesuch")


@pytest.mark.parametrize("name", system.names())
def test_the_systems_of_the_tree(name):
    assert system.load(name).name == name


@pytest.mark.parametrize("name", system.names())
def test_written_and_read_again(name):
    spec, _ = parse(system.find(name).read_text(), name)
    again, _ = parse(render(spec), name)
    assert again == spec


def test_lines_of_nested_and_continued_values():
    text = 'a = [\n 1, # ]\n "]",\n]\nb = """\nc = 1\n"""\n[t.u]\n"d" = 1\n'
    text += "[[v]]\n[[v.w]]\nx.y = 2\n[[v]]\n[[v.w]]\n[v.z]\nk = 1\n"
    lines = locate(text)
    assert (lines["a",], lines["b",], lines["t", "u", "d"]) == (1, 5, 9)
    assert (lines["v", 0, "w", 0, "x", "y"], lines["v", 1, "w", 0]) == (12, 14)
    assert lines["v", 1, "z", "k"] == 16
    assert ("c",) not in lines


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ({}, "tenon-ready"),
        ({"initramfs": "busybox"}, "tenon-ready"),
        ({"initramfs": "mine.cpio"}, "as init process"),
        ({"cmdline": "console=ttyAMA0 rdinit=/bin/sh"}, "as init process"),
        ({"cmdline": "console=ttyAMA0 rdinit=/init"}, "tenon-ready"),
        ({"initramfs": "mine.cpio", "ready": "login:"}, "login:"),
    ],
)
def test_the_window_opens_at_a_line_of_the_init_that_linux_has(keys, text):
    (vm,) = read(described("l", linux(cpus=[0], **keys))).vms
    assert vm.ready == text


def test_only_a_linux_has_a_line_that_opens_the_window():
    with pytest.raises(InputError, match="ready"):
        read(described("l", motor(cpus=[0], ready="up")))
