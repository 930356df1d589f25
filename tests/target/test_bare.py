"""The same Tenon image, without Mortise: it finds out at boot where it is."""

import json
import subprocess
import time
from pathlib import Path

import pytest
from conftest import assert_well


@pytest.fixture(scope="module")
def hello(tenon):
    built = tenon("build", "hello", "--json", json_file=False)
    assert_well(built)
    return json.loads(built.stdout)["flats"]["hello"]


@pytest.mark.parametrize("level", ["EL1", "EL2"])
def test_a_bare_image_says_hello(hello, level, tmp_path):
    machine = "virt,gic-version=3" + (",virtualization=on" if level == "EL2" else "")
    serial = tmp_path / "serial"
    command = [
        *(
            "qemu-system-aarch64",
            "-M",
            machine,
            "-cpu",
            "cortex-a53",
            "-smp",
            "4",
            "-m",
            "1G",
        ),
        *("-nodefaults", "-nic", "none", "-display", "none"),
        *("-serial", f"file:{serial}", "-kernel", hello),
    ]
    machine = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 60
        while time.monotonic() < end and "5 of 5" not in said(serial):
            time.sleep(0.1)
    finally:
        machine.kill()
        machine.wait()
    assert "hello from Tenon, 5 of 5" in said(serial)


def said(serial: Path) -> str:
    return serial.read_text(errors="replace") if serial.exists() else ""
