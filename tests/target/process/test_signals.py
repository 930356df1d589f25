"""Signals, process groups and waits for children, as on Debian's kernel, beside a 1 kHz loop."""

import subprocess

import pytest
from conftest import SUPPORT, until
from process.test_applets import LINUX, SYSTEM, TENON
from process.test_processes import LOOP, unharmed

SCRIPT = """\
#!/bin/busybox sh
signals
echo "status $?"
trap 'echo trapped USR1' USR1
trap 'echo trapped TERM; exit 3' TERM
trap 'echo end' EXIT
kill -USR1 $$
(trap 'echo inner; exit 4' INT; busybox sh -c 'kill -INT $PPID'; exit 5)
echo "inner $?"
busybox sleep 5 &
busybox sleep 0.1
kill $!
wait $!
echo "killed $?"
busybox sh -c 'kill -STOP $$; echo continued' &
busybox sleep 0.2
kill -CONT $!
wait $!
echo "then $?"
trap '' HUP
busybox sh -c 'kill -HUP $$; echo ignored'
busybox timeout -s KILL 0.1 busybox sleep 5
echo "timeout $?"
trap - USR1
busybox sh -c 'trap "echo by wait" USR1; busybox sleep 0.1 && kill -USR1 $$ & wait; echo waited'
echo yes | busybox head -n 1
busybox yes | busybox head -n 1
echo "signals end"
"""


def built(folder):
    """The program of C with its libraries in it."""
    (folder / "files/bin").mkdir(parents=True)
    (folder / "files/etc").mkdir()
    sources, program = (SUPPORT / "signals").glob("*.c"), folder / "files/bin/signals"
    options = ["-static", "-O1", "-Wall", "-Wextra", "-Werror", "-Wno-unused-result"]
    command = ["aarch64-linux-gnu-gcc", *options, "-o", program, *sorted(sources)]
    subprocess.run(list(map(str, command)), check=True)
    start = folder / "files/etc/start"
    start.write_text(SCRIPT)
    start.chmod(0o755)


def said(tenon, folder, keys):
    """What the program and the script print."""
    built(folder)
    (folder / "system.toml").write_text(SYSTEM.format(name=folder.name) + keys)
    last = until(folder, programs="signals end")
    outcome = tenon("run", folder, "--headless", "--deterministic", *last)
    lines = [line.rstrip() for line in outcome.said("programs")]
    reports = [line for line in lines if " ended by signal " in line]
    start, end = lines.index("a child's group: 1"), lines.index("signals end")
    own = [line for line in lines[start:end] if line not in reports]
    return outcome, own


@pytest.mark.timeout(600)
def test_signals_are_those_of_linux(tenon, tmp_path):
    outcome, ours = said(tenon, tmp_path / "signals", TENON + LOOP)
    unharmed(outcome)
    _, theirs = said(tenon, tmp_path / "signals-linux", LINUX)
    assert len(theirs) > 120
    assert ours == theirs
