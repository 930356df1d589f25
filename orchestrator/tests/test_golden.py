"""What the kernels' own tests parse is what is written here.

`pool/core/manifest/tests/golden.rs` and `pool/core/guest/tests/header.rs` read the same files.
After a change of the layout or of a format, write them anew:

    PYTHONPATH=orchestrator:tests/support python orchestrator/tests/test_golden.py
"""

from pathlib import Path

import pytest
from descriptions import described, linux, motor, section, table

from tenonos import system
from tenonos.paths import ROOT
from tenonos.system import guest_header, manifest
from tenonos.system.layout import lay_out
from tenonos.system.memory_map import Content, Layout
from tenonos.system.schema import parse

GOLDEN = ROOT / "pool/core/manifest/tests/golden"
DYNAMIC = GOLDEN / "dynamic.bin"
SYSTEM = GOLDEN / "system.bin"
OTHERS = {"vlib": "vlib", "lending": "detach", "coloured": "motor-coloured"}
"""What else there can be, by a system that has it."""
GUEST = ROOT / "pool/core/guest/tests/golden.bin"
CONTENTS = {
    "motor": Content({"image": 50_000, "header": 4096}, 0, 60_000),
    "linux": Content({"kernel": 30 << 20, "initramfs": 1 << 20, "tree": 16 << 10}, 0, 32 << 20),
}

ON_CALL = described(
    "on-call",
    section("regulation", event="instructions", limit=100000, interval="1ms"),
    section("reserve", memory="16M", cpus=[2, 3], vms=2),
    motor(
        section("vm.manages", vms=["job", "linux", "*"], memory="8M", cpus=[2]),
        cpus=[3],
        interrupts="shared",
    ),
    linux(cpus=[0, 1, 2]),
    table(
        "template",
        table("template.task", name="work", period="1ms"),
        **{"name": "job", "app": "motor", "cpus": [2], "memory": "4M"},
        **{"start_on": "jobs", "retire": "off"},
    ),
    table("channel", **{"name": "jobs", "from": "linux", "to": "job", "slots": 64, "size": 64}),
    table(
        "channel", **{"name": "results", "from": "job", "to": "motor", "slots": 1024, "size": 1000}
    ),
    mode="dynamic",
)


DISKS = """

[[disk]]
name = "main"
device = "virtio0"
size = "64M"

[[disk]]
vm = "linux"
on = "main"
at = "1M"
size = "8M"

[[disk]]
vm = "linux"
on = "main"
at = "16M"
size = "1M"
"""
"""Parts of a disk, beside those in memory that `tests/systems/disk` has."""


NETWORKS = (
    table("disk", vm="linux", size="1M")
    + table("network", name="lan", vms=["linux", "other", "last"])
    + table("network.port", vm="other", mac="02:00:00:00:00:99", rate="1M")
    + table("network.port", vm="last", isolated=True)
    + table("network", name="field", vms=["other", "linux"])
)
"""A disk and two networks, in addition to the VMs."""


def networks() -> bytes:
    vms = (
        linux(cpus=[0]),
        table("vm", name="other", kind="linux", cpus=[1], memory="256M"),
        table("vm", name="last", kind="linux", cpus=[2], memory="256M"),
    )
    spec, lines = parse(described("networks", *vms, NETWORKS), "networks")
    file = ROOT / "systems/networks/system.toml"
    loaded = system.from_spec(spec, file, "networks", lines)
    contents = dict.fromkeys(("linux", "other", "last"), CONTENTS["linux"])
    return manifest.write(loaded, lay_out(loaded, 100_000, contents))


def disks() -> bytes:
    file = ROOT / "tests/systems/disk/system.toml"
    spec, lines = parse(file.read_text() + DISKS, "disk")
    loaded = system.from_spec(spec, file, "disk", lines)
    return manifest.write(loaded, lay_out(loaded, 100_000, CONTENTS))


def on_call() -> tuple[system.System, Layout]:
    spec, lines = parse(ON_CALL, "on-call")
    loaded = system.from_spec(spec, ROOT / "systems/on-call/system.toml", "on-call", lines)
    return loaded, lay_out(loaded, 100_000, CONTENTS | {"job": CONTENTS["motor"]})


def written() -> dict[Path, bytes]:
    demo = system.load("motor-linux")
    layout = lay_out(demo, 100_000, CONTENTS)
    return {
        SYSTEM: manifest.write(demo, layout),
        DYNAMIC: manifest.write(*on_call()),
        GUEST: guest_header.guest(demo, demo.vm("motor"), layout.vm("motor")),
        GOLDEN / "disk.bin": disks(),
        GOLDEN / "network.bin": networks(),
    } | {GOLDEN / f"{name}.bin": other(of) for name, of in OTHERS.items()}


def other(name: str) -> bytes:
    loaded = system.load(name)
    contents = {vm.name: CONTENTS["motor" if vm.kind == "tenon" else "linux"] for vm in loaded.vms}
    return manifest.write(loaded, lay_out(loaded, 100_000, contents))


@pytest.mark.parametrize("file", written(), ids=lambda file: file.name)
def test_the_kernels_parse_these_bytes(file):
    assert written()[file] == file.read_bytes(), "is it to be written anew?"


if __name__ == "__main__":
    for file, blob in written().items():
        file.write_bytes(blob)
