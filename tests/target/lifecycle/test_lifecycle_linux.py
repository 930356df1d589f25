"""Life cycles by Debian's Linux: `tenonctl`, the module, images supplied at run time."""

import re
import shutil
import struct
import subprocess

import pytest
from conftest import ROOT, SUPPORT, assert_well, vm_image
from descriptions import CONTROL, described, linux, motor, section

pytestmark = pytest.mark.long(40, "pool/mortise/lifecycle", "linux")

CYCLES = 100

VMS = """\
name = "{name}"
board = "qemu-virt"
pool = "0.1"
{rest}
"""

JOB = """\
[[vm]]
name = "job"
kind = "tenon"
app = "tick"
cpus = [2]
memory = "4M"
"""

LIFE_SYSTEM = described(
    "life",
    section("reserve", memory="16M", cpus=[2], vms=2),
    motor(CONTROL, cpus=[3], interrupts="direct"),
    linux(
        section("vm.manages", vms=["*"], memory="16M", cpus=[2]),
        cpus=[0, 1],
        files="root",
    ),
    mode="dynamic",
)

BEFORE = f"""\
#!/bin/sh
free() {{ tenonctl list | tail -n 1; }}
before=$(free)
echo "CYCLES from $before"
i=0
while [ $i -lt {CYCLES} ]; do
    tenonctl create --start /root/job.vm >/dev/null || echo "CYCLES failed at $i"
    tenonctl destroy job >/dev/null || echo "CYCLES failed at $i"
    i=$((i + 1))
done
[ "$before" = "$(free)" ] && echo "CYCLES {CYCLES} and all is free"
"""

LIFE = """\
# The steps of a life and the state after each.
state() { tenonctl list | awk '$1 == "job" { print $3 }'; }
# The last line may still be buffered.
ticks() { tenonctl console --now job | sed '$d' | tail -n 1; }
step() { echo "STEP $1: $(shift; "$@" 2>&1 | tr '\\n' ' ')"; }
step create tenonctl create /root/job.vm
step created state
step twice tenonctl create /root/job.vm
step early tenonctl pause job
step start tenonctl start job
usleep 60000
step running state
step first ticks
step pause tenonctl pause job
step paused state
# Its last output is delayed by up to 10 ms.
usleep 20000
tenonctl console --now job >/dev/null
usleep 60000
step silent tenonctl console --now job
step resume tenonctl resume job
usleep 60000
step second ticks
step restart tenonctl restart job
usleep 60000
step again tenonctl console --now job
step stats tenonctl stats job
step foreign tenonctl pause motor
step wrong tenonctl create /etc/start
step large tenonctl create /root/large.vm
step cpu tenonctl create /root/cpu.vm
rmmod tenon && echo "STEP unloaded: $(ls /dev/tenon 2>/dev/null)"
usleep 60000
insmod /lib/modules/tenon.ko
step survived state
step lost tenonctl restart job
step destroy tenonctl destroy job
step destroyed state
tenonctl create --start /root/job.vm
tenonctl console job | tail -n 3
step off state
/root/poke
step last tenonctl destroy job
dmesg | grep -E "BUG|WARNING|Oops" && echo "STEP WRONG: the kernel complains"
echo "STEP over: yes"
"""

INPUT = """\
timeout 300
expect tenon-ready
expect #
send sh /root/life.sh
expect STEP over
"""


def compile_c(name, target):
    source = SUPPORT / "linux" / f"{name}.c"
    include = [f"-I{ROOT / 'linux/include'}", f"-I{ROOT / 'linux/include/uapi'}"]
    command = ["aarch64-linux-gnu-gcc", "-static", "-s", "-O1", "-Wall", *include, "-o", target]
    subprocess.run([*command, source], check=True)


def changed(content, at, value):
    return content[:at] + value + content[at + len(value) :]


@pytest.fixture(scope="module")
def life(tenon, tmp_path_factory):
    folder = tmp_path_factory.mktemp("life")
    job, root = folder / "job", folder / "root"
    for place in (job, root / "root", root / "etc"):
        place.mkdir(parents=True)
    shutil.copytree(SUPPORT / "linux" / "tick", job / "tick")
    (job / "system.toml").write_text(VMS.format(name="job", rest=JOB))
    image = vm_image(tenon, job, "job").read_bytes()
    (root / "root/job.vm").write_bytes(image)
    # Larger than the reserve, and on a CPU outside of the manager's authority.
    large = changed(image, 0x28, struct.pack("<Q", 64 << 20))
    (root / "root/large.vm").write_bytes(changed(large, 0x08, b"large\0"))
    (root / "root/cpu.vm").write_bytes(changed(changed(image, 0x49, b"\3"), 0x08, b"cpu\0"))
    compile_c("poke", root / "root/poke")
    (root / "etc/start").write_text(BEFORE)
    (root / "etc/start").chmod(0o755)
    (root / "root/life.sh").write_text(LIFE)
    (folder / "input").write_text(INPUT)
    (folder / "system.toml").write_text(LIFE_SYSTEM)
    script = f"linux={folder / 'input'}"
    line = ("run", folder, "--headless", "--deterministic", "--seconds", 4, "--input", script)
    run = tenon(*line, limit=500)
    assert_well(run)
    return run


@pytest.fixture(scope="module")
def steps(life):
    found = [re.fullmatch(r"STEP (\S+):(.*)", line) for line in life.said("linux")]
    return {match[1]: match[2].strip() for match in found if match}


@pytest.mark.timeout(600)
def test_many_lives_leave_the_reserve_as_it_was(life):
    said = life.said("linux")
    assert not [line for line in said if "CYCLES failed" in line]
    assert f"CYCLES {CYCLES} and all is free" in said


@pytest.mark.timeout(600)
def test_an_image_unknown_at_boot_is_made_paused_resumed_and_restarted(steps):
    assert steps["over"] == "yes"
    assert steps["create"] == "job: created"
    assert steps["created"] == "created"
    assert steps["start"] == "job: running"
    assert steps["running"] == "running"
    first = int(steps["first"].removeprefix("tick "))
    assert first > 0
    assert steps["paused"] == "paused"
    assert steps["silent"] == ""
    assert steps["resume"] == "job: running"
    assert int(steps["second"].removeprefix("tick ")) > first
    assert steps["restart"] == "job: restarted"
    assert " tick 1 tick 2 " in f" {steps['again']} ", "from the beginning"
    assert "vcpus      1   memory     4M" in steps["stats"]
    assert steps["destroy"] == "job: destroyed"
    assert steps["destroyed"] == ""


@pytest.mark.timeout(600)
def test_each_refusal_is_one_line(steps):
    assert steps["twice"] == 'tenonctl: /root/job.vm: there is a VM "job" already'
    assert steps["early"].startswith("tenonctl: job: not in its present state")
    assert steps["foreign"].startswith('tenonctl: no VM "motor" that this one manages')
    assert steps["wrong"].startswith("tenonctl: /etc/start: is not a VM image")
    assert steps["large"].startswith("tenonctl: /root/large.vm: ")
    assert "[reserve]" in steps["large"] or "[vm.manages]" in steps["large"]
    assert steps["cpu"].startswith("tenonctl: /root/cpu.vm: denied; [vm.manages]")


@pytest.mark.timeout(600)
def test_what_makes_no_sense_is_refused_and_breaks_nothing(life):
    assert "POKE over" in life.said("linux")
    assert not [line for line in life.said("linux") if "WRONG" in line]


@pytest.mark.timeout(600)
def test_a_vm_ends_by_itself_and_its_console_with_it(life, steps):
    assert "tick done" in life.said("linux")
    assert steps["off"] == "off"
    assert steps["last"] == "job: destroyed"


@pytest.mark.timeout(600)
def test_vms_outlive_the_module(steps):
    assert steps["unloaded"] == ""
    assert steps["survived"] == "running"
    assert steps["lost"].startswith("tenonctl: job: nothing here to do it with")


@pytest.mark.timeout(600)
def test_the_static_neighbour_notices_nothing(life):
    task = life.task
    assert task["released"] == task["completed"] >= 3_900
    assert task["duplicates"] == task["late"] == 0
    motor = life.vm("motor")
    assert motor["exits_in_window"] == 0
    assert motor["el2_instructions_in_window"] == 0
