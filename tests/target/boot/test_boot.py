"""Boot of systems, and messages of failed boots."""

import os
import shutil
import threading
from dataclasses import replace

import pytest

from tenonos import build, catalogue, paths, system
from tenonos.run import Target, qemu
from tenonos.run.memory import RunFolder


def test_who_owns_the_port_is_heard_and_ends_once():
    booting = system.load("bench-boot")
    (linux,) = booting.vms
    built = build.build(replace(booting, vms=(replace(linux, files=None),)))
    target = Target.of(built)
    with RunFolder(target.machine.ram_size, paths.RUN) as folder:
        machine = qemu.Qemu(qemu.command_line(target, deterministic=True), folder)
        watchdog = threading.Timer(200, machine.process.kill)
        watchdog.start()
        try:
            until(machine, "# ")
            machine.type(b"echo $((6 * 7)) typed\n")
            until(machine, "42 typed")
            machine.type(b"reboot -f\n")
            until(machine, "linux is off: it cannot restart itself")
            machine.check()
        finally:
            watchdog.cancel()
            machine.stop()


def until(machine, text):
    said = b""
    while text.encode() not in said:
        more = os.read(machine.output.fileno(), 1 << 16)
        assert more, f"the machine ended before `{text}`: {said.decode(errors='replace')}"
        said += more


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("CONFIG_MORTISE_VMS=1", "vms: more than there is room for: raise MORTISE_VMS"),
        ("CONFIG_MORTISE_LOG_RINGS=n", "motor: it has a log ring, and MORTISE_LOG_RINGS is n"),
    ],
)
def test_what_its_image_has_no_room_for_is_one_line(tenon, tmp_path, line, why):
    folder = tmp_path / "motor-linux"
    shutil.copytree(catalogue.systems()["motor-linux"], folder)
    with (folder / "mortise.config").open("a") as config:
        config.write(f"{line}\n")
    outcome = tenon("run", folder, "--headless", "--seconds", "1")
    assert outcome.status == 1
    said = [each for each in outcome.stderr.splitlines() if why in each]
    assert said and said[-1].startswith("tenon: Mortise started no VM"), outcome.stderr
