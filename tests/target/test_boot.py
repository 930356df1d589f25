"""Linux with the board's serial port, loaded where it runs."""

import os
import threading
from dataclasses import replace

from tenonos import build, paths, system
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
