"""A whole Debian on a disk: systemd, its kernel's modules, a network, and a control loop beside."""

import re

import pytest
from conftest import assert_well

SYSTEM = """\
name = "debian"
board = "qemu-virt"
pool = "0.1"
network = [{ device = "virtio0" }]

[[vm]]
name = "motor"
kind = "tenon"
app = "motor"
cpus = [3]
memory = "16M"

[[vm]]
name = "linux"
kind = "linux"
root = "disk"
cpus = [0, 1, 2]
memory = "512M"
devices = ["virtio0"]
"""

SCRIPT = """\
timeout 1500
expect tenon-ready cpus=3
send true
expect #
send systemctl is-system-running; systemctl --failed --no-legend; findmnt -n -o SOURCE,FSTYPE /
expect #
send networkctl --no-pager status | head -n 20; ping -c 2 10.0.2.2
expect #
send modprobe dummy; lsmod | grep -w -e virtio_net -e dummy
expect #
send dpkg --audit && echo all config''ured
expect #
send cat /etc/os-release; echo said''all
expect saidall
"""


@pytest.mark.long(660, "orchestrator/tenonos/linux", "orchestrator/tenonos/setup")
@pytest.mark.timeout(4000)
def test_debian_with_systemd_runs_from_its_disk_beside_a_loop_without_exits(tenon, tmp_path):
    (tmp_path / "script").write_text(SCRIPT)
    options = ["--headless", "--input", f"linux={tmp_path / 'script'}"]
    (tmp_path / "system.toml").write_text(SYSTEM)
    outcome = tenon("run", tmp_path, *options, limit=3900)
    assert_well(outcome)
    said = outcome.said("linux")
    assert any(line.endswith("systemd running") for line in said), said[-60:]
    assert any(line.endswith("running") and "systemd" not in line for line in said)
    assert any(line.split() == ["/dev/vda", "ext4"] for line in said)
    assert any("2 received" in line for line in said)
    for module in ("virtio_net", "dummy"):
        assert any(re.search(rf"{module} +\d+", line) for line in said)
    assert any("all configured" in line for line in said)
    assert any('NAME="Debian GNU/Linux"' in line for line in said)
    linux = outcome.vm("linux")
    assert linux["state"] == "running"
    assert "restarts" not in linux and "fault" not in linux
    assert outcome.vm("motor")["exits_in_window"] == 0
