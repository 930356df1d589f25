"""Cost of messages between Linux and Tenon: round trips through `/dev/tenon`.

In `echo` Linux's init lets `tenonctl` send messages to a Tenon VM, which returns each. Both own a
core, and one waits while the other works, so that the emulator's clock, one instruction per
nanosecond, counts the whole round trip: two system calls and a wait in Linux, Tenon's thread, two
doorbells. A message costs half of that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from tenonos import build, system
from tenonos.errors import WorkError
from tenonos.run import RunOptions, Session, Target
from tools.bench import overlay
from tools.bench.reading import Setting
from tools.bench.row import Kinds, Row

SYSTEM, LINUX = "echo", "linux"
ENVIRONMENT = "mortise-static+linux"
SETTING = Setting(SYSTEM, ENVIRONMENT)
SIZE = 64
"""Bytes of a message sent by `tenonctl`."""

START = b"#!/bin/sh\n(sleep 0.3; tenonctl ping requests replies) &\n"

_SECONDS = 3
"""Seconds of guest time after Linux is ready: a pause, a thousand round trips, a result line."""

_TRIPS = re.compile(r"(\d+) round trips: (\d+) ns least, (\d+) median, (\d+) 99 of 100, (\d+) most")


def rows(tell: Callable[[str], None]) -> Iterator[Row]:
    """The row for Linux's end of a channel."""
    tell(SYSTEM)
    shared = system.load(SYSTEM)
    files = overlay.folder(shared, shared.vm(LINUX), {"etc/start": START})
    vms = tuple(replace(vm, files=str(files)) if vm.name == LINUX else vm for vm in shared.vms)
    built = build.build(replace(shared, vms=vms))
    session = Session(Target.of(built), RunOptions(seconds=_SECONDS, deterministic=True), [])
    session.run()
    yield told(session.transcripts[LINUX].text)


def told(text: str) -> Row:
    """The row from Linux's output."""
    trips = _TRIPS.search(text)
    if trips is None:
        raise WorkError("Linux and Tenon exchanged no messages", mend="see ./tenon run echo")
    count, *times = (int(number) for number in trips.groups())
    least, median, p99, most = (time // 2 for time in times)
    params = {"size": SIZE, "ends": LINUX}
    row = SETTING.row(("channel", "message"), params, [median], Kinds())
    return replace(row, samples=count, min=least, p99=p99, max=most)
