"""Runs of the system `detach`: programs of Linux on its own cores and on the core that it lends."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tenonos import build, system
from tenonos.build import Built
from tenonos.linux import tools
from tenonos.run import RunOptions, Session, Target
from tenonos.run.plugin import Passage, Record
from tools.bench import overlay
from tools.bench.reading import Setting

SYSTEM, LINUX = "detach", "linux"
ENVIRONMENT = "mortise-static+linux"
SETTING = Setting(SYSTEM, ENVIRONMENT)


def built(lines: Iterable[str], programs: Iterable[str]) -> Built:
    """The system with these lines as Linux's start script, and with these programs."""
    shared = system.load(SYSTEM)
    files = {f"bin/{name}": tools.program(name).content for name in programs}
    files["etc/start"] = ("#!/bin/sh\n" + "".join(lines)).encode()
    root = overlay.folder(shared, shared.vm(LINUX), files)
    vms = tuple(replace(vm, files=str(root)) if vm.name == LINUX else vm for vm in shared.vms)
    return build.build(replace(shared, vms=vms))


def watched(built: Built, core: int, patience: float) -> tuple[str, list[Passage]]:
    """Linux's console output, and the passages between marks that were counted on `core`.

    Linux must have booted within `patience` host seconds.
    """
    passages: list[Passage] = []

    def take(record: Record) -> None:
        if isinstance(record, Passage) and record.vcpu == core:
            passages.append(record)

    plan = ("marks", "blocks")
    options = RunOptions(seconds=1, deterministic=True, plan=plan, count=take, boot_limit=patience)
    session = Session(Target.of(built), options, [])
    session.run()
    return session.transcripts[LINUX].text, passages
