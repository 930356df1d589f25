"""Systems that answer on ports of the host: a free port, and a run until a line is written."""

import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager

from conftest import ROOT


def free_port():
    """A port of the host that is free for datagrams and connections."""
    with socket.socket() as stream, socket.socket(type=socket.SOCK_DGRAM) as datagrams:
        stream.bind(("127.0.0.1", 0))
        port = stream.getsockname()[1]
        datagrams.bind(("127.0.0.1", port))
        return port


@contextmanager
def running(folder, line, patience, seconds=200):
    """As `started`; the value is the match alone."""
    with started(folder, line, patience, seconds) as (_, found):
        yield found


@contextmanager
def started(folder, line, patience, seconds=200):
    """Runs a system for at most `seconds` of its time, or of the host's without periodic tasks. The
    value, once it has written `line`, which takes at most `patience` seconds, is the process of the
    run and the match of that; `folder / "log"` has all that it writes."""
    log = folder / "log"
    command = [sys.executable, ROOT / "orchestrator", "run", folder, "--headless"]
    command += ["--seconds", str(seconds)]
    with log.open("w") as text:
        run = subprocess.Popen(command, cwd=ROOT, stdout=text, stderr=text)
        try:
            end = time.monotonic() + patience
            while not (found := re.search(line, log.read_text())):
                said = log.read_text()[-3000:]
                assert run.poll() is None and time.monotonic() < end, said
                time.sleep(0.2)
            yield run, found
        finally:
            run.send_signal(signal.SIGINT)
            run.wait(30)
