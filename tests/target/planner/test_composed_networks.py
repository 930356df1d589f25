"""Composed systems with a network: each boots and answers, the host or a Linux VM."""

import json
import re
import socket
import urllib.request
from contextlib import contextmanager

import pytest
from answering import free_port, running
from conftest import assert_well

from tenonos.plan.compose import compose
from tenonos.plan.pool import Pool


@pytest.fixture(scope="module")
def pool():
    return Pool()


@contextmanager
def answering(folder, line):
    """Runs a system of the machine's card until it writes a line; the value has the ports of the
    host, by those of the card."""
    file = folder / "system.toml"
    text, ports = file.read_text(), {}
    for forwarded, port in re.findall(r'"(\d+):(\d+)/', text):
        ports[int(port)] = free_port()
        text = text.replace(f'"{forwarded}:', f'"{ports[int(port)]}:')
    file.write_text(text)
    with running(folder, line, patience=300):
        yield ports


def asked(port, datagram):
    """The answer to a datagram, which may be lost."""
    with socket.socket(type=socket.SOCK_DGRAM) as peer:
        peer.settimeout(2)
        peer.connect(("127.0.0.1", port))
        for _ in range(30):
            peer.send(datagram)
            try:
                return peer.recv(2048)
            except TimeoutError:
                continue
    pytest.fail("no answer")


@pytest.mark.long(40, "orchestrator/tenonos/plan", "pool/tenon/inet")
@pytest.mark.timeout(900)
def test_datagrams_of_the_host_are_answered(pool, tmp_path):
    compose("Tenon answers UDP requests, without Linux", pool=pool).write(tmp_path)
    with answering(tmp_path, r"echo at \S+, port 7\b") as ports:
        assert asked(ports[7], b"hello") == b"hello"


@pytest.mark.long(50, "orchestrator/tenonos/plan", "examples/apps/gateway", "pool/tenon/http")
@pytest.mark.timeout(900)
def test_a_loop_of_the_machine_answers_datagrams_and_has_a_page(pool, tmp_path):
    text = "a 500 Hz control loop with a web page of its temperature, which answers UDP requests"
    compose(text, pool=pool).write(tmp_path)
    with answering(tmp_path, r"http://\S+/") as ports:
        values = json.loads(asked(ports[7], b"?"))
        assert values["period_us"] == 2000 and values["releases"] > 0
        url = f"http://127.0.0.1:{ports[80]}/"
        with urllib.request.urlopen(url, timeout=60) as answer:
            page = answer.read().decode()
    assert "every 2,000 µs" in page and "°C</dd>" in page


LINUX = """\
timeout 250
expect tenon-ready
expect #
send for n in $(seq 60); do wget -q -O values http://10.0.0.1/histogram.json && break; done
expect #
send cat values; echo e''nd
expect end
send ping -c 3 10.0.0.1 | tail -2
expect 3 packets received
"""


@pytest.mark.long(50, "orchestrator/tenonos/plan", "pool/mortise/vdev-net", "pool/tenon/http")
@pytest.mark.parametrize(
    ("text", "period_us"),
    [
        ("a 1 kHz control loop beside Linux with a web page that shows its latency", 1000),
        ("Linux and a controller at 200 Hz talk over sockets, with a web page", 5000),
    ],
)
@pytest.mark.timeout(900)
def test_linux_fetches_the_page_of_a_vm(tenon, pool, tmp_path, text, period_us):
    compose(text, pool=pool).write(tmp_path)
    (tmp_path / "script").write_text(LINUX)
    options = ("--headless", "--input", f"linux={tmp_path / 'script'}")
    outcome = tenon("run", tmp_path, *options, limit=600)
    assert_well(outcome)
    page = next(json.loads(line) for line in outcome.said("linux") if line.startswith("{"))
    assert page["period_us"] == period_us and page["releases"] > 0
    task = outcome.task
    assert task["released"] == task["completed"] > 0
