"""Servers of Debian as processes: clients on the host, through the emulator's router."""

import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from conftest import ROOT, assert_well

pytestmark = pytest.mark.long(90, "pool/tenon/linux-inet", "pool/tenon/inet")

SYSTEM = """\
name = "servers"
board = "qemu-virt"
pool = "0.1"
mode = "bare"
console = "programs"

[[vm]]
name = "programs"
kind = "tenon"
app = "programs"
cpus = [0]
memory = "{memory}"
packages = {packages}
program = "/bin/busybox"
arguments = ["sh", "/etc/start"]
environment = ["PATH=/usr/sbin:/usr/bin:/bin", "HOME=/", "PYTHONHASHSEED=0"]
files = "files"

[[network]]
device = "virtio0"
forward = [{forward}]
"""

PYTHON = [
    *("python3-minimal", "python3.11-minimal"),
    *("libpython3.11-minimal", "libpython3.11-stdlib"),
]

SMALL = b"a line\n"
LARGE = bytes(at % 251 for at in range(300_000))


def free_port():
    """A port of the host that is free for connections."""
    with socket.socket() as stream:
        stream.bind(("127.0.0.1", 0))
        return stream.getsockname()[1]


def system(folder, packages, start, ports, memory="64M"):
    """Writes a system whose first process executes `start`; returns the host's port of each."""
    files = folder / "files"
    (files / "etc").mkdir(parents=True)
    (files / "www").mkdir()
    (files / "www/small").write_bytes(SMALL)
    (files / "www/large").write_bytes(LARGE)
    script = files / "etc/start"
    script.write_text(f"#!/bin/busybox sh\n{start}\necho servers started\nbusybox sleep 9999\n")
    script.chmod(0o755)
    found = {port: free_port() for port in ports}
    forward = ", ".join(f'"{at}:{port}/tcp"' for port, at in found.items())
    text = SYSTEM.format(memory=memory, packages=packages, forward=forward)
    (folder / "system.toml").write_text(text)
    (folder / "programs.config").write_text("CONFIG_LIB_TENON_LINUX_INET=y\n")
    return found


@contextmanager
def running(folder):
    """Runs a system whose servers are started; the value is the log."""
    log = folder / "log"
    line = [sys.executable, ROOT / "orchestrator", "run", folder, "--headless", "--seconds", "400"]
    with log.open("w") as text:
        run = subprocess.Popen(line, cwd=ROOT, stdout=text, stderr=text)
        try:
            end = time.monotonic() + 200
            while not re.search(r"servers started", log.read_text()):
                assert run.poll() is None and time.monotonic() < end, log.read_text()[-3000:]
                time.sleep(0.2)
            yield log
        finally:
            run.send_signal(signal.SIGINT)
            run.wait(30)


def fetched(port, name):
    """What a server of HTTP has under a name."""
    url = f"http://127.0.0.1:{port}/{name}"
    with urllib.request.urlopen(url, timeout=60) as answer:
        return answer.read()


def first(port, name):
    """As `fetched`, once the server is there."""
    end = time.monotonic() + 60
    while True:
        try:
            return fetched(port, name)
        except OSError:
            assert time.monotonic() < end
            time.sleep(0.5)


def serves_files(port):
    """100 requests one after the other, several at once, and more bytes than any buffer has."""
    assert first(port, "small") == SMALL
    for _ in range(100):
        assert fetched(port, "small") == SMALL
    assert fetched(port, "large") == LARGE
    with ThreadPoolExecutor(6) as at_once:
        names = ["small", "large", "small"] * 8
        contents = at_once.map(lambda name: fetched(port, name), names)
        for name, content in zip(names, contents, strict=True):
            assert content == (SMALL if name == "small" else LARGE)


def is_closed(port):
    """Whether nothing accepts a connection, which the router makes and then ends."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as peer:
        try:
            return peer.recv(1) == b""
        except ConnectionResetError:
            return True


@pytest.mark.timeout(1200)
def test_servers_of_files_answer_clients_on_the_host(tenon, tmp_path):
    start = "busybox httpd -p 8080 -h /www\npython3 -m http.server -d /www 8000 &"
    ports = system(tmp_path, ["busybox-static", *PYTHON], start, (8080, 8000, 8081), "192M")
    assert_well(tenon("build", tmp_path, json_file=False, limit=1000))
    with running(tmp_path) as log:
        serves_files(ports[8080])
        serves_files(ports[8000])
        assert is_closed(ports[8081])
        serves_files(ports[8080])
    assert "panicked" not in log.read_text()
