"""QEMU's ZCU102: RAM at address zero, a GIC-400, a Cadence UART."""

import pytest
from conftest import ROOT, assert_well, until
from descriptions import described, table

HELLO = table("vm", name="hello", kind="tenon", app="hello", cpus=[0], memory="2M")
BARE = described("bare", HELLO, board="qemu-zcu102", mode="bare")

TYPED = """\
timeout 500
expect tenon-ready cpus=3
expect #
send sleep 1; echo $((6 * 7)) typed
expect 42 typed
"""


@pytest.fixture
def bare(tmp_path):
    (tmp_path / "system.toml").write_text(BARE)
    return tmp_path


def test_tenon_has_the_board_to_itself(tenon, bare):
    outcome = tenon("run", bare, "--headless", "--deterministic", *until(bare, hello="hello from"))
    assert_well(outcome)
    assert any(line.endswith("hello from Tenon") for line in outcome.said("hello"))


def test_linux_and_the_motor_run_side_by_side_and_linux_is_typed_to(tenon, tmp_path):
    """Input arrives by the physical UART's interrupt and the virtual UART's registers."""
    script = tmp_path / "typed"
    script.write_text(TYPED)
    outcome = tenon(
        *("run", "motor-zcu102", "--headless", "--deterministic", "--input", f"linux={script}")
    )
    assert_well(outcome)
    motor, linux = outcome.vm("motor"), outcome.vm("linux")
    assert (motor["state"], linux["state"]) == ("running", "running")
    assert (motor["exits_in_window"], motor["el2_instructions_in_window"]) == (0, 0)
    assert outcome.task["released"] == outcome.task["completed"] > 800


ANSWERS = """\
timeout 500
expect tenon-ready cpus=3
expect #
send stty -F /dev/ttyPS0 -echo; echo '[    0.000000001] motor| asked' >/dev/ttyPS0
send read line </dev/ttyPS0; echo got $line | tr a-z A-Z
expect GOT ANSWERED
"""

ASKED = """\
timeout 500
expect motor| asked
send answered
"""


@pytest.mark.timeout(600)
def test_linux_has_the_second_serial_port_for_itself(tenon, tmp_path):
    """Linux's driver sends and receives on the second UART; a forged line there is Linux's own."""
    text = (ROOT / "tests/systems/motor-zcu102" / "system.toml").read_text()
    (tmp_path / "system.toml").write_text(text + 'devices = ["uart1"]\n')
    (tmp_path / "answers").write_text(ANSWERS)
    (tmp_path / "asked").write_text(ASKED)
    scripts = [f"linux={tmp_path / 'answers'}", f"linux.uart1={tmp_path / 'asked'}"]
    options = [option for script in scripts for option in ("--input", script)]
    outcome = tenon("run", tmp_path, "--headless", "--deterministic", *options)
    assert_well(outcome)
    assert outcome.said("linux.uart1") == ["[    0.000000001] motor| asked"]
    assert not any("asked" in line for line in outcome.said("motor"))
