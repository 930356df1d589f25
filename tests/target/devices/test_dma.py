"""PCI cards of an unmodified Linux behind an SMMUv3 reach its memory and no other."""

import os
import re
import shutil

import newer_qemu
import pytest
from conftest import ROOT, assert_well

from tenonos.run import qemu

MORTISE, MOTOR, SMMU = 0x4020_0000, 0x7008_0000, 0x0905_0000
"""Addresses of code of the hypervisor and of the neighbour, and of registers."""

CARDS = f"""\
timeout 150
expect tenon-ready
expect #
send dma; dma {MORTISE:#x}; dma {MOTOR:#x}; dma {SMMU:#x}
expect tried to write {SMMU:#x}
send mke2fs /dev/vda >/dev/null 2>&1; mkdir d; mount /dev/vda d; echo ke''pt > d/f
expect #
send umount d; echo un''mounted
expect unmounted
send devmem {SMMU + 0x20:#x} 32 0
expect Bus error
send reboot -f
expect tenon-ready
expect #
send mkdir d; mount /dev/vda d; cat d/f; dmesg | grep 'enabling device'
expect kept
send find /proc/device-tree/ -name '*mmu*'
send ifconfig eth0 10.0.2.15 up; ping -c 1 10.0.2.2; dma
expect own memory is reached
expect #
"""


STAGE_2 = """\
#!/bin/sh
# The emulator, with an SMMU that has stage 2 alone: the machine of version 9.0 leaves that open.
count=$#
while [ $count -gt 0 ]; do
    option=$1
    shift
    case $option in virt,*) option=virt-9.0,${option#virt,} ;; esac
    set -- "$@" "$option"
    count=$((count - 1))
done
exec %s -global arm-smmuv3.stage=2 "$@"
"""


@pytest.mark.timeout(600)
def test_cards_reach_the_memory_of_their_linux_alone(tenon, tmp_path):
    """The SMMU of the installed emulator has stage 1 before version 9.2."""
    assert_cards_are_contained(tenon, tmp_path)


@pytest.mark.long(30, "pool/hw/iommu-smmuv3", "pool/mortise/smmu", "pool/core/paging")
@pytest.mark.timeout(600)
def test_cards_are_contained_by_an_smmu_with_both_stages(tenon, tmp_path, monkeypatch):
    newer_qemu.put_on_path(monkeypatch)
    assert_cards_are_contained(tenon, tmp_path)


@pytest.mark.long(30, "pool/hw/iommu-smmuv3", "pool/mortise/smmu", "pool/core/paging")
@pytest.mark.timeout(600)
def test_cards_are_contained_by_an_smmu_without_stage_1(tenon, tmp_path, monkeypatch):
    newer_qemu.put_on_path(monkeypatch)
    script = tmp_path / "stage-2" / qemu.BINARY
    script.parent.mkdir()
    script.write_text(STAGE_2 % shutil.which(qemu.BINARY))
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}{os.pathsep}{os.environ['PATH']}")
    assert_cards_are_contained(tenon, tmp_path)


def assert_cards_are_contained(tenon, tmp_path):
    (tmp_path / "cards").write_text(CARDS)
    outcome = tenon(
        "run",
        ROOT / "tests/systems/pci-cards",
        "--headless",
        "--input",
        f"linux={tmp_path / 'cards'}",
    )
    assert_well(outcome)
    said = outcome.said("linux")
    # The card does reach Linux's memory, before and after the restart.
    assert said.count("dma: own memory is reached") == 2
    for aim in (MORTISE, MOTOR, SMMU):
        assert f"dma: {aim:#x} is not read" in said
    told = re.findall(
        r"linux: PCI device 3\.0 was denied a (read from|write to) (0x\w+) \((\d+) so far\)",
        outcome.stderr,
    )
    aims = [int(address, 16) for _, address, _ in told]
    assert {address & ~0xFFF for address in aims} <= {MORTISE, MOTOR, SMMU}, told
    assert told[0][:2] == ("read from", f"{MORTISE:#x}")
    assert [count for *_, count in told] == sorted({c for *_, c in told}, key=int)
    # An access by a process of Linux itself to the SMMU is a bus error there.
    assert "Bus error" in said and "linux stopped" not in outcome.stderr
    # Disk and network were disabled before Linux restarted, which enables them again.
    # Debian 13's Linux prints these lines on its console too, before the shell does.
    listed = said[said.index("kept") :]
    assert sum("enabling device (0000 -> 0002)" in line for line in listed) == 2
    assert any("1 packets received" in line for line in said), said[-12:]
    assert not [line for line in said if line.startswith("/proc/device-tree/")]
    # The neighbour: its code was a target of the card's writes.
    assert "fault" not in outcome.vm("motor") and outcome.vm("motor")["state"] == "running"
    assert outcome.task["completed"] == outcome.task["released"] > 100
    assert outcome.vm("linux")["restarts"] == 1
