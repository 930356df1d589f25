"""The network: datagrams and a connection from the host, through the emulator's router."""

import socket

import pytest
from answering import free_port, running
from conftest import ROOT, assert_well

pytestmark = pytest.mark.long(60, "pool/tenon/inet", "pool/hw/virtio-net")

SYSTEM = ROOT / "examples" / "systems" / "udp-echo"
LARGEST = 96 << 10
"""The most bytes of the image, TCP and DHCP included."""
LINE = r"echo at (\S+), port 7\b"
"""What it writes when it answers, with its address."""
BUDGET = "CONFIG_TENON_THREAD_SERVERS=y\nCONFIG_TENON_INET_BUDGET_US=300\n"


def copy(folder, port, address="", more=""):
    """The example system with a port of its own, and a static address if one is given."""
    text = (SYSTEM / "system.toml").read_text().replace("7007:", f"{port}:")
    (folder / "system.toml").write_text(text)
    config = (SYSTEM / "udp-echo.config").read_text()
    if address:
        config += f'CONFIG_TENON_INET_ADDRESS="{address}"\n'
        config += 'CONFIG_TENON_INET_GATEWAY="10.0.2.2"\n'
    (folder / "udp-echo.config").write_text(config + more)
    return folder


def asked(peer, datagram):
    """The answer to a datagram, which may be lost."""
    for _ in range(20):
        peer.send(datagram)
        try:
            return peer.recv(2048)
        except TimeoutError:
            continue
    pytest.fail(f"no answer to {len(datagram)} bytes")


def datagrams_return(port):
    with socket.socket(type=socket.SOCK_DGRAM) as peer:
        peer.settimeout(2)
        peer.connect(("127.0.0.1", port))
        for length in (1, 2, 3, 64, 500, 1471, 1472):
            datagram = bytes(at % 251 for at in range(length))
            assert asked(peer, datagram) == datagram


def flood(port):
    """More datagrams at once than fit in any buffer; how many return is up to the buffers."""
    with socket.socket(type=socket.SOCK_DGRAM) as peer:
        peer.connect(("127.0.0.1", port))
        for number in range(3000):
            peer.send(number.to_bytes(4, "big") * 100)


def bytes_return(port):
    """A connection carries more bytes than its buffers hold."""
    sent = bytes(at % 249 for at in range(40_000))
    with socket.create_connection(("127.0.0.1", port), timeout=30) as peer:
        received = b""
        for start in range(0, len(sent), 4000):
            peer.sendall(sent[start : start + 4000])
            while len(received) < start + 2000:
                received += peer.recv(4096)
        peer.shutdown(socket.SHUT_WR)
        while piece := peer.recv(4096):
            received += piece
    assert received == sent


@pytest.mark.timeout(900)
def test_datagrams_and_bytes_return_also_after_a_flood(tenon, tmp_path):
    port = free_port()
    built = tenon("build", copy(tmp_path, port), json_file=False, limit=800)
    assert_well(built)
    image = ROOT / built.stdout.splitlines()[-1]
    assert image.stat().st_size <= LARGEST
    with running(tmp_path, LINE, patience=150) as found:
        assert found[1] == "10.0.2.15"
        datagrams_return(port)
        bytes_return(port)
        flood(port)
        datagrams_return(port)
        bytes_return(port)


@pytest.mark.timeout(900)
def test_the_address_may_be_static_and_the_thread_have_a_budget(tenon, tmp_path):
    port = free_port()
    folder = copy(tmp_path, port, "10.0.2.15/24", BUDGET)
    assert_well(tenon("build", folder, json_file=False, limit=800))
    with running(tmp_path, LINE, patience=150) as found:
        assert found[1] == "10.0.2.15"
        datagrams_return(port)
        flood(port)
        datagrams_return(port)


def test_an_invalid_address_is_refused_when_the_image_is_built(tenon, tmp_path):
    outcome = tenon("build", copy(tmp_path, 7007, "10.0.2/24"), json_file=False, limit=800)
    assert outcome.status == 1
    assert "TENON_INET_ADDRESS is not an IPv4 address with a prefix" in outcome.stderr
