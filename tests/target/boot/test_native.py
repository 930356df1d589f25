"""Native tasks: linked into Mortise, alone at EL1, and alone at EL2."""

import json
import re
import shutil

import pytest
from conftest import SUPPORT, assert_well, bare_with_times

from tenonos import build
from tenonos import system as systems
from tenonos.run import RunOptions, Session, Target
from tenonos.run.console import Demultiplexer, Transcript

GUESTS = SUPPORT / "guests"

FIRST = "waits for 1000 releases, {} ns apart"
LAST = "1000 releases, the latest 0 ns behind its time"

MS = 1_000_000
RELEASES = 1_000


def run(system):
    """A run of a system: its result, and its consoles with the time of each line."""
    session = Session(
        Target.of(build.build(systems.load(system))), RunOptions(deterministic=True), []
    )
    result = session.run()
    assert result.failure is None
    return result, session.transcripts


def assert_kept(transcript, period=MS):
    """Asserts that the task waited for each of its releases, and for no longer.

    A task that does not wait is never late, so that its lines alone do not show that it waited.
    """
    first, last = transcript.lines
    assert (first.text, last.text) == (FIRST.format(period), LAST)
    assert RELEASES * period <= last.time_ns - first.time_ns < RELEASES * period + MS


def test_a_native_task_and_an_image_without_a_kernel_keep_their_releases():
    result, said = run("native")
    assert_kept(said["inside"])
    assert_kept(said["alone"])
    # The machine turns off with the last of both.
    assert said["mortise"].lines[-1].text == "every virtual machine has ended"
    # It starts, writes two lines and ends; its waits are no exits.
    (alone,) = (vm for vm in result.vms if vm.name == "alone")
    assert alone.exits.irq == alone.exits.wfi == alone.exits.sysreg == 0


def test_mortise_without_virtual_machines_runs_the_same_task():
    result, said = run("plain")
    assert_kept(said["beat"])
    assert result.vms == []


@pytest.mark.parametrize("machine", ["gic-version=3", "gic-version=2,virtualization=on"])
def test_the_image_without_a_kernel_starts_on_bare_metal(tenon, machine, tmp_path):
    built = tenon("build", "native", "--json", json_file=False)
    assert_well(built)
    image = shutil.copy(json.loads(built.stdout)["flats"]["alone"], tmp_path)
    lines = bare_with_times(image, tmp_path, LAST, machine=machine)
    alone = Transcript()
    for chunk in Demultiplexer().feed("\n".join([*lines, ""]).encode()):
        assert chunk.name == "alone"
        alone.add(chunk)
    assert_kept(alone)


def test_none_of_them_has_a_scheduler_and_two_of_three_no_hypervisor(tenon):
    native, plain = (
        json.loads(tenon("size", system, "--json", json_file=False).stdout)
        for system in ("native", "plain")
    )
    linked = {
        (size, image["name"]): {
            row["name"] for row in sizes["libraries"] if image["name"] in row["in"] and row["text"]
        }
        for size, sizes in (("native", native), ("plain", plain))
        for image in sizes["images"]
    }
    inside, alone, whole = (
        linked[key] for key in (("native", "mortise"), ("native", "alone"), ("plain", "mortise"))
    )
    assert "mortise/partition" in inside
    for image in (alone, whole):
        assert not {name for name in image if name.startswith(("tenon/", "mortise/"))}
        assert "core/sched" not in image
    assert "core/sched" not in inside


STATED = """
name = "stated"
board = "qemu-virt"
pool = "0.1"

[[native]]
name = "inside"
app = "beat"
cpus = [1]
rights = ["time", "console"]
period = "2ms"

[[vm]]
name = "alone"
kind = "tenon"
app = "beat"
cpus = [0]
memory = "2M"

[[vm.task]]
name = "beat"
period = "2500us"
"""


def test_the_period_is_that_of_the_system(tmp_path):
    (tmp_path / "system.toml").write_text(STATED)
    _, said = run(tmp_path)
    assert_kept(said["inside"], 2 * MS)
    assert_kept(said["alone"], 5 * MS // 2)


DEEP = """
name = "deep"
board = "qemu-virt"
pool = "0.1"
mode = "static"

[[native]]
name = "deep"
app = "{guests}/deep"
cpus = [1]
rights = ["time", "console"]

[[vm]]
name = "hello"
kind = "tenon"
app = "hello"
cpus = [0]
memory = "2M"
"""


def test_a_stack_of_mortise_that_overflows_is_reported_and_ends_the_machine(tenon, tmp_path):
    """The stack of a native task is in Mortise and ends at a guard page."""
    (tmp_path / "system.toml").write_text(DEEP.format(guests=GUESTS))
    outcome = tenon("run", tmp_path, "--headless", "--deterministic")
    assert outcome.said("deep") == ["goes down 1000000 times"]
    report = [line for line in outcome.said("mortise") if "at EL2" in line]
    # A data abort from the same exception level (Arm ARM, ESR_EL2.EC) on the guard page.
    assert len(report) == 1 and re.search(r"exception 0 at EL2: esr=0x96", report[0])
    assert outcome.said("mortise")[-1] == report[0]
