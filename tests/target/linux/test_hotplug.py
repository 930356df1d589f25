"""Hot-plug of each CPU of Debian's Linux: nothing that begins with a VM begins again."""

import shutil

import pytest
import test_hyplet
from conftest import ROOT, SUPPORT, assert_well, cases, until, vm_image
from descriptions import described, linux, section, table

pytestmark = pytest.mark.long(
    40,
    "pool/mortise/psci",
    "pool/mortise/run",
    "pool/mortise/vlib",
    "pool/mortise/smmu",
    "linux/module",
)

ROUNDS = 6
"""How often each CPU goes off and on; a thousand times in the long form."""

MIB = 1 << 20

TENON = {"kind": "tenon", "cpus": [3], "memory": "4M"}


def the_system(mode):
    """Linux with disks, channels, a lent CPU, a VM that it manages and one that it creates."""
    reserved = section("vm.detach", cpus=[2])
    manages = section("vm.manages", vms=["echo", "*"], memory="4M", cpus=[3])
    return described(
        "hotplug",
        section("reserve", memory="4M", cpus=[3], vms=1),
        table("vm", name="echo", app="echo", interrupts="shared", **TENON),
        linux(
            "\n" + reserved + "\n" + manages,
            cpus=[0, 1, 2],
            files="root",
            modules=["virtio_mmio", "virtio_blk"],
        ),
        table("channel", name="requests", **{"from": "linux"}, to="echo", slots=16, size=64),
        table("channel", name="replies", **{"from": "echo"}, to="linux", slots=16, size=64),
        table("disk", vm="linux", size="2M"),
        table("disk", name="main", device="virtio0", file="main.img"),
        table("disk", vm="linux", on="main", at="1M", size="1M"),
        console="linux",
        mode=mode,
    )


@pytest.fixture(scope="module")
def plugged(tenon, tmp_path_factory, times):
    folder = tmp_path_factory.mktemp("hotplug")
    (folder / "system.toml").write_text(the_system("dynamic"))
    (folder / "main.img").write_bytes(bytes(4 * MIB))
    (folder / "root/bin").mkdir(parents=True)
    test_hyplet.program(folder / "root/bin/plugged")
    (folder / "job").mkdir()
    (folder / "job/system.toml").write_text(
        described("job", table("vm", name="job", app="hello", **TENON))
    )
    shutil.copy(vm_image(tenon, folder / "job", "job"), folder / "root/job.vm")
    rounds = times(ROUNDS)
    script = (SUPPORT / "linux/hotplug.sh").read_text().replace("ROUNDS", str(rounds))
    last = f"PLUG over after {rounds} rounds"
    options = cases(folder, script, last, patience=20 * times(20))
    return tenon("run", folder, "--headless", "--deterministic", *options, limit=800)


@pytest.mark.timeout(900)
def test_every_extension_works_while_and_after_each_cpu_was_off(plugged):
    said = [line for line in plugged.said("linux") if "WRONG" in line]
    assert not said, "\n".join(said)
    assert_well(plugged)


@pytest.mark.timeout(900)
def test_the_vm_begins_once(plugged):
    begun = [line for line in plugged.said("mortise") if line == "linux running"]
    assert len(begun) == 1


CALLED = """\
#!/bin/sh
plugs &
"""


def called(mode, caller):
    """Linux with two CPUs as the vLib of a Tenon VM on this core."""
    own = {"kind": "tenon", "app": "plugger", "cpus": [caller], "memory": "4M"}
    if mode == "dynamic":
        own |= {"interrupts": "shared"}
    return described(
        "plugged-vlib",
        table("vm", name="caller", **own),
        linux(cpus=[0, 1], files="root", programs=["plugs.c"]),
        table("vlib", name="helper", master="caller", server="linux", size="4K", time="real"),
        mode=mode,
    )


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("mode", "caller"), [("static", 3), ("dynamic", 0)], ids=["apart", "one core"]
)
def test_a_vlib_is_stopped_and_continued_while_each_cpu_goes_off_and_on(
    tenon, tmp_path, times, mode, caller
):
    (tmp_path / "system.toml").write_text(called(mode, caller))
    shutil.copytree(SUPPORT / "linux/plugger", tmp_path / "plugger")
    main = tmp_path / "plugger/main.c"
    sizes = f"#define ROUNDS {times(ROUNDS)}\n#define CPUS 2\n"
    main.write_text(sizes + main.read_text())
    shutil.copy(SUPPORT / "linux/plugs.c", tmp_path)
    start = tmp_path / "root/etc/start"
    start.parent.mkdir(parents=True)
    start.write_text(CALLED)
    start.chmod(0o755)
    (tmp_path / "until").mkdir()
    ends = until(tmp_path / "until", caller="plugger: done")
    run = tenon("run", tmp_path, "--headless", "--deterministic", *ends, limit=800)
    assert_well(run)
    said = [*run.said("caller"), *run.said("linux")]
    assert not [line for line in said if "WRONG" in line], said
    (stops,) = [int(line.split()[1]) for line in said if line.endswith(" stops")]
    # In the midst of what each CPU does on its way off and on.
    assert stops > 20 * 4 * times(ROUNDS)


@pytest.mark.timeout(900)
def test_pci_cards_work_while_and_after_each_cpu_was_off(tenon, tmp_path, times):
    system = (ROOT / "tests/systems/pci-cards/system.toml").read_text()
    system = system.replace("cpus = [1]", "cpus = [3]").replace("cpus = [0]", "cpus = [0, 1, 2]")
    (tmp_path / "system.toml").write_text(
        system.replace('programs = ["dma.c"]', 'programs = ["dma.c"]\nfiles = "root"')
    )
    shutil.copy(ROOT / "tests/systems/pci-cards/dma.c", tmp_path)
    rounds = times(ROUNDS)
    script = (SUPPORT / "linux/plug-cards.sh").read_text().replace("ROUNDS", str(rounds))
    last = f"PLUG over after {rounds} rounds"
    options = cases(tmp_path, script, last, patience=20 * times(20))
    run = tenon("run", tmp_path, "--headless", *options, limit=800)
    said = [line for line in run.said("linux") if "WRONG" in line]
    assert not said, "\n".join(said)
    assert_well(run)
