"""Runs that end by a power cut: the emulator is killed, and the disk has what it has then."""

import os
import re
import signal
import time
from pathlib import Path

import fat
from answering import started

RECORD = 20
"""Bytes of a record of `pool/apps/historian`."""
_OPENED = re.compile(r"temperature\.csv has (\d+) records")
_SYNCED = re.compile(r"(\d+) records are on the disk, 0 are lost")


def cut(folder, syncs, after):
    """Runs a system with `historian`, and kills the emulator `after` seconds behind a number of
    syncs. The numbers of the records that were there at the boot, and that were acknowledged."""
    line = rf"(?s)(?:{_SYNCED.pattern}.*?){{{syncs}}}"
    with started(folder, line, patience=900, seconds=300) as (run, _):
        time.sleep(after)
        os.kill(_emulator(run.pid), signal.SIGKILL)
        run.wait(60)
    said = (folder / "log").read_text()
    (opened,) = _OPENED.findall(said)
    return int(opened), int(_SYNCED.findall(said)[-1])


def _emulator(pid):
    """The process of the emulator below another one."""
    below = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    for child in below:
        if b"qemu-system" in Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")[0]:
            return child
    return next(filter(None, map(_emulator, below)), None)


def records(disk):
    """The number of records on a disk after a power cut: each is whole, and none is missing."""
    content = fat.files(disk.read_bytes(), cut=True)["/temperature.csv"]
    assert len(content) % RECORD == 0
    lines = content.decode().splitlines()
    for number, line in enumerate(lines):
        assert re.fullmatch(rf"{number:>10}, +\d+\.\d{{3}}", line), (number, line)
    return len(lines)


def survives(folder, cuts):
    """Cuts the power of a system with `historian` at several instants. Each acknowledged record is
    on the disk, and the next boot appends behind it."""
    before = 0
    for after in cuts:
        opened, acknowledged = cut(folder, 2, after)
        assert opened == before and acknowledged > opened
        before = records(folder / "disk.img")
        assert before >= acknowledged
