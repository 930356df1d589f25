"""Runs of `detach`: programs of Linux's init beside, and on, the core that Linux lends."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tenonos import build, system
from tenonos.bench import overlay
from tenonos.bench.reading import Setting
from tenonos.build import Built
from tenonos.linux import tools
from tenonos.run import RunOptions, Session, Target
from tenonos.run.plugin import Passage, Record

SYSTEM, LINUX = "detach", "linux"
ENVIRONMENT = "mortise-static+linux"
SETTING = Setting(SYSTEM, ENVIRONMENT)


def built(lines: Iterable[str], programs: Iterable[str]) -> Built:
    """The system whose Linux begins with these lines of a script, and has these programs."""
    shared = system.load(SYSTEM)
    files = {f"bin/{name}": tools.program(name).content for name in programs}
    files["etc/start"] = ("#!/bin/sh\n" + "".join(lines)).encode()
    root = overlay.folder(shared, shared.vm(LINUX), files)
    vms = tuple(replace(vm, files=str(root)) if vm.name == LINUX else vm for vm in shared.vms)
    return build.build(replace(shared, vms=vms))


def watched(built: Built, lent: int, patience: float) -> tuple[str, list[Passage]]:
    """What Linux said, and what was counted between marks on that core.

    Linux is ready behind it all, within so many host seconds.
    """
    passages: list[Passage] = []

    def take(record: Record) -> None:
        if isinstance(record, Passage) and record.vcpu == lent:
            passages.append(record)

    plan = ("marks", "blocks")
    options = RunOptions(seconds=1, deterministic=True, plan=plan, count=take, boot_limit=patience)
    session = Session(Target.of(built), options, [])
    session.run()
    return session.transcripts[LINUX].text, passages
