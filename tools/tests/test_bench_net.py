"""The suite of the network: what the program prints becomes rows of its passages."""

import pytest

from tenonos.errors import WorkError
from tenonos.run.plugin import Passage
from tools.bench import net
from tools.bench.machine import Trace
from tools.bench.reading import Setting

LINUX = Setting("bench-boot", "linux")
SAID = (
    "net udp_loopback size=64 100 2",
    "net request server=nginx 10 1",
    "net request server=redis absent 111",
    "net end",
)


def passages(*counts):
    return tuple(Passage(0, 0, count, other=1000) for count in counts)


def test_a_line_is_a_row_of_its_passages(capsys):
    rows = list(net.measured(Trace(SAID, passages(99_000, 119_000, 499_000)), LINUX))
    assert [(row.name, row.params, row.min, row.max) for row in rows] == [
        ("udp_loopback", {"size": 64}, 1000.0, 1200.0),
        ("request", {"server": "nginx"}, 50_000.0, 50_000.0),
    ]
    lacks = capsys.readouterr().err
    assert "net, linux: not served: request server=redis (error 111)" in lacks


def test_a_run_that_ends_early_is_an_error():
    with pytest.raises(WorkError, match="ended within a measurement"):
        list(net.measured(Trace(SAID, passages(99_000)), LINUX))
    with pytest.raises(WorkError, match="measured nothing in environment linux"):
        list(net.measured(Trace(("Kernel panic",), ()), LINUX))


def test_the_program_knows_the_servers_of_the_suite():
    text = net.SOURCE.read_text()
    assert all(f"/bin/net request {server}" in net.start("", "").decode() for server in net.SERVERS)
    assert all(f'"{server}") == 0' in text for server in net.SERVERS if server != "sqlite")


def test_the_loop_runs_beside_the_load_alone():
    (measuring,) = net.tenon(b"\x7fELF").vms
    (loaded,) = net.tenon(b"\x7fELF", "flood").vms
    assert measuring.tasks == ()
    assert (loaded.program, loaded.arguments) == ("/bin/net", ("flood",))
    assert loaded.tasks[0].name == "control"
