"""The example `historian`: what it has synced is on the disk whenever the power is cut."""

import shutil

import power
import pytest
from conftest import ROOT

pytestmark = pytest.mark.long(60, "pool/tenon/disk-log", "pool/tenon/fs-fat", "pool/tenon/block")


@pytest.mark.timeout(1800)
def test_acknowledged_records_survive_power_cuts(tmp_path):
    folder = tmp_path / "historian"
    ignored = shutil.ignore_patterns("disk.img", ".gitignore")
    shutil.copytree(ROOT / "examples/systems/historian", folder, ignore=ignored)
    power.survives(folder, cuts=(0, 0.37, 1.61))


FULL = """\
timeout 240
expect it is full
"""


@pytest.mark.timeout(900)
def test_a_full_disk_is_told_by_a_line(tenon, tmp_path):
    text = (ROOT / "examples/systems/historian/system.toml").read_text()
    (tmp_path / "system.toml").write_text(text)
    disk = tmp_path / "disk.img"
    disk.write_bytes(power.fat.image({"BIG": bytes(power.fat.CLUSTER * 8190)}))
    (tmp_path / "until").write_text(FULL)
    script = f"historian={tmp_path / 'until'}"
    outcome = tenon("run", tmp_path, "--headless", "--input", script, limit=600)
    said = outcome.said("historian")
    assert any("temperature.csv is not written any more: it is full" in line for line in said)
