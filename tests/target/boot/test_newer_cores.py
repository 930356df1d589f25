"""Linux and Tenon on cores of newer architectures, of which they see what Mortise switches."""

import newer_qemu
import pytest
from conftest import assert_well

SCRIPT = """\
timeout 240
expect tenon-ready cpus=3
expect #
send sleep 1; grep -m 1 Features /proc/cpuinfo
expect Features
expect #
"""

pytestmark = pytest.mark.long(25, "pool/mortise/vcpu", "pool/mortise/sysregs", "pool/hw/arch")


@pytest.mark.timeout(600)
@pytest.mark.parametrize("cpu", ["neoverse-n1", "neoverse-v1", "neoverse-n2", "max"])
def test_linux_boots_without_sve_and_the_loop_has_its_core(tenon, tmp_path, monkeypatch, cpu):
    newer_qemu.put_on_path(monkeypatch)
    (tmp_path / "script").write_text(SCRIPT)
    typed = ("--input", f"linux={tmp_path / 'script'}")
    outcome = tenon(
        "run", "motor-linux", "--headless", "--deterministic", "--cpu", cpu, *typed, limit=550
    )
    assert_well(outcome)
    (features,) = (line for line in outcome.said("linux") if line.startswith("Features"))
    assert {"fp", "asimd", "atomics"} <= {*features.split()}
    # Registers of SVE and SME are of no VM's context, so that no VM is told of them.
    assert not [name for name in features.split() if name.startswith(("sve", "sme"))]
    motor = outcome.vm("motor")
    assert (motor["exits_in_window"], motor["el2_instructions_in_window"]) == (0, 0)
    assert outcome.task["released"] == outcome.task["completed"] > 800
