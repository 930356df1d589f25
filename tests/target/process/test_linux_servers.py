"""Servers of Debian as processes: clients on the host, through the emulator's router."""

import http.client
import os
import shutil
import socket
import subprocess
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from answering import free_port, running
from conftest import SUPPORT, assert_well

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
environment = ["PATH=/sbin:/bin", "HOME=/", "PYTHONHASHSEED=0"]
files = "files"

[[network]]
device = "virtio0"
forward = [{forward}]
"""

PYTHON = [
    *("python3-minimal", "python3.11-minimal"),
    *("libpython3.11-minimal", "libpython3.11-stdlib"),
]

FILES_START = """
busybox httpd -p 8080 -h /www
python3 -m http.server -d /www 8000 &
busybox mkdir -p /var/lib/nginx /tmp
nginx -c /etc/nginx.conf -e stderr
lighttpd -f /etc/lighttpd.conf
"""

NGINX = """
pid /tmp/nginx.pid;
error_log stderr;
events {}
http {
    access_log off;
    sendfile on;
    tcp_nopush on;
    server { listen 8081; root /www; }
}
"""

LIGHTTPD = """
server.document-root = "/www"
server.port = 8082
server.max-keep-alive-requests = 1000
"""

OTHERS_START = """
busybox mkdir -p /tmp /run/sshd /root/.ssh
busybox cp /etc/key.pub /root/.ssh/authorized_keys
busybox cp /etc/host-key /tmp/host-key
busybox chmod 700 /root/.ssh /root/.ssh/authorized_keys /tmp/host-key
busybox ln -s busybox /bin/sh
seed </etc/seed
redis-server /etc/redis.conf &
dropbearkey -t ed25519 -f /tmp/dropbear-key
dropbear -E -p 2222 -r /tmp/dropbear-key
/sbin/sshd -f /etc/sshd.conf
iperf3 -s -p 5201 &
"""
OTHERS = ["busybox-static", "redis-server", "redis-tools"]
OTHERS += ["dropbear-bin", "openssh-server", "iperf3"]

REDIS = """
bind 0.0.0.0
protected-mode no
dir /tmp
save ""
enable-debug-command yes
"""

SSHD = """
Port 2223
HostKey /tmp/host-key
UsePAM no
"""

USERS = """root:x:0:0:root:/root:/bin/sh
sshd:x:100:65534::/run/sshd:/bin/sh
nobody:x:65534:65534::/:/bin/sh
"""

SMALL = b"a line\n"
LARGE = bytes(at % 251 for at in range(300_000))


def system(folder, packages, start, ports, contents):
    """Writes a system; its first process executes `start`. Returns the host's port of each."""
    files = folder / "files"
    (files / "etc").mkdir(parents=True)
    (files / "www").mkdir()
    (files / "www/small").write_bytes(SMALL)
    (files / "www/large").write_bytes(LARGE)
    for name, content in contents.items():
        (files / "etc" / name).write_text(content)
    script = files / "etc/start"
    # In the second in which the time is 0, nginx has no text for it.
    lines = ["#!/bin/busybox sh", "busybox date -s @1700000000", start, "echo servers started"]
    script.write_text("\n".join([*lines, "busybox sleep 9999", ""]))
    script.chmod(0o755)
    found = {port: free_port() for port in ports}
    forward = ", ".join(f'"{at}:{port}/tcp"' for port, at in found.items())
    text = SYSTEM.format(memory="256M", packages=packages, forward=forward)
    (folder / "system.toml").write_text(text)
    (folder / "programs.config").write_text("CONFIG_LIB_TENON_LINUX_INET=y\n")
    return found


@contextmanager
def serving(folder):
    """Runs a system until its servers are started; the value is the log."""
    with running(folder, "servers started", patience=200, seconds=400):
        yield folder / "log"


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


def keeps_connections(port):
    """50 requests by one connection."""
    peer = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    peer.request("GET", "/small")
    made = peer.sock
    for _ in range(50):
        assert peer.getresponse().read() == SMALL
        peer.request("GET", "/small")
        assert peer.sock is made
    assert peer.getresponse().read() == SMALL
    peer.close()


@pytest.mark.timeout(1200)
def test_servers_of_files_answer_clients_on_the_host(tenon, tmp_path):
    packages = ["busybox-static", *PYTHON, "nginx", "lighttpd"]
    ports = (8080, 8000, 8081, 8082, 8083)
    contents = {"nginx.conf": NGINX, "lighttpd.conf": LIGHTTPD}
    contents |= {"passwd": USERS, "group": "nogroup:x:65534:\n"}
    ports = system(tmp_path, packages, FILES_START, ports, contents)
    assert_well(tenon("build", tmp_path, json_file=False, limit=1000))
    with serving(tmp_path) as log:
        for port in (8080, 8000, 8081, 8082):
            serves_files(ports[port])
        keeps_connections(ports[8081])
        keeps_connections(ports[8082])
        assert is_closed(ports[8083])
        serves_files(ports[8080])
    assert "panicked" not in log.read_text()


@pytest.fixture(scope="module")
def others(tenon, tmp_path_factory):
    """A running system with servers of other protocols: its ports, its folder and its log."""
    folder = tmp_path_factory.mktemp("others")
    contents = {"redis.conf": REDIS, "sshd.conf": SSHD, "passwd": USERS}
    if shutil.which("ssh"):
        for name in ("key", "host-key"):
            line = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name]
            subprocess.run(list(map(str, line)), check=True)
        contents |= {name: (folder / name).read_text() for name in ("key.pub", "host-key")}
    ports = system(folder, OTHERS, OTHERS_START, (6379, 2222, 2223), contents)
    files = folder / "files"
    (files / "etc/seed").write_bytes(os.urandom(64))
    (files / "bin").mkdir()
    line = ["aarch64-linux-gnu-gcc", "-static", "-O1", "-Wall", "-Wextra", "-Werror", "-o"]
    subprocess.run([*line, str(files / "bin/seed"), str(SUPPORT / "seed.c")], check=True)
    assert_well(tenon("build", folder, json_file=False, limit=1000))
    with serving(folder) as log:
        yield ports, folder, log
    assert "panicked" not in log.read_text()


class Redis:
    """A client of Redis: commands and replies of its protocol RESP 2."""

    def __init__(self, port):
        self.stream = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.replies = self.stream.makefile("rb")

    def send(self, *words):
        """Sends a command."""
        words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
        parts = [b"$%d\r\n%s\r\n" % (len(word), word) for word in words]
        self.stream.sendall(b"*%d\r\n%s" % (len(words), b"".join(parts)))

    def reply(self):
        """A number, a status, or bytes."""
        line = self.replies.readline().removesuffix(b"\r\n")
        kind, text = line[:1], line[1:]
        if kind == b"$":
            return self.replies.read(int(text) + 2)[:-2]
        assert kind in (b":", b"+"), line
        return int(text) if kind == b":" else text

    def __call__(self, *words):
        self.send(*words)
        return self.reply()


def redis(port):
    """A client, once the server is there."""
    end = time.monotonic() + 60
    while True:
        try:
            client = Redis(port)
            assert client("PING") == b"PONG"
        except (OSError, AssertionError):
            assert time.monotonic() < end
            time.sleep(0.5)
        else:
            return client


@pytest.mark.timeout(1200)
def test_redis_answers_pipelines_and_saves_by_a_child(others):
    port = others[0][6379]
    client = redis(port)
    assert client("SET", "one", 1) == b"OK"
    assert [client("INCR", "one"), client("GET", "one")] == [2, b"2"]
    for number in range(1000):
        client.send("SET", f"key {number}", number)
    assert all(client.reply() == b"OK" for _ in range(1000))
    assert client("SET", "large", LARGE) == b"OK"
    assert client("EVAL", "return redis.call('incrby', 'one', ARGV[1])", 0, 5) == 7
    assert client("BGSAVE") == b"Background saving started"
    end = time.monotonic() + 60
    while b"rdb_bgsave_in_progress:1" in client("INFO", "persistence"):
        assert time.monotonic() < end
        time.sleep(0.1)
    assert b"rdb_last_bgsave_status:ok" in client("INFO", "persistence")
    # What was saved is read again.
    assert client("SET", "one", 99) == b"OK"
    assert client("DEBUG", "RELOAD", "NOSAVE") == b"OK"
    assert [client("GET", "one"), client("DBSIZE")] == [b"7", 1002]
    assert client("GET", "large") == LARGE
    many = [Redis(port) for _ in range(20)]
    for _ in range(10):
        for one in many:
            one.send("INCR", "two")
        assert all(one.reply() > 0 for one in many)
    assert client("GET", "two") == b"200"


def over_ssh(others, port, command, content=b""):
    """What a command in the VM prints for a content of its standard input, and its status."""
    ports, folder, _ = others
    options = ["StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "BatchMode=yes"]
    line = ["ssh", "-i", folder / "key", "-p", ports[port], "-F", "none", "-o", "LogLevel=ERROR"]
    line += [word for option in options for word in ("-o", option)]
    line += ["root@127.0.0.1", command]
    done = subprocess.run(
        list(map(str, line)), input=content, capture_output=True, check=False, timeout=100
    )
    return done.stdout, done.returncode


@pytest.mark.skipif(shutil.which("ssh") is None, reason="no ssh here")
@pytest.mark.parametrize("port", [2222, 2223], ids=["dropbear", "openssh"])
@pytest.mark.timeout(1200)
def test_a_shell_is_reached_by_ssh(others, port):
    printed, status = over_ssh(others, port, "busybox id; exit 7")
    assert (printed, status) == (b"uid=0(root) gid=0 groups=0\n", 7), others[2].read_text()[-3000:]
    assert over_ssh(others, port, "busybox cat", LARGE) == (LARGE, 0)
    count = "busybox seq 1000 | busybox wc -l"
    with ThreadPoolExecutor(3) as at_once:
        results = list(at_once.map(lambda _: over_ssh(others, port, count), range(3)))
    assert results == [(b"1000\n", 0)] * 3


@pytest.mark.skipif(shutil.which("ssh") is None, reason="no ssh here")
@pytest.mark.timeout(1200)
def test_clients_in_the_vm_reach_servers_by_the_loopback(others):
    line = "redis-benchmark -c 20 -n 400 -t set,get -q"
    printed, status = over_ssh(others, 2222, line)
    assert (printed.count(b"requests per second"), status) == (2, 0), printed
    printed, status = over_ssh(others, 2222, "iperf3 -c 127.0.0.1 -p 5201 -n 1M")
    assert (b"iperf Done" in printed, status) == (True, 0), printed
