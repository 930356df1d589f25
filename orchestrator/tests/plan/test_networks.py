"""Networks: each VM that needs the IP stack has a card in a network that is reached."""

import pytest

from tenonos import system

LOOP = "a 1 kHz control loop"
BARE = {"gateway": [0]}


def kinds(answer):
    return {n: i.kind for n, i in answer.images.items() if i.kind != "mortise"}


def loaded(answer, folder):
    assert answer.accepted, (answer.missing, answer.reason)
    answer.write(folder / "composed")
    return system.load(folder / "composed" / "system.toml")


@pytest.mark.parametrize(
    ("text", "app", "forward"),
    [
        ("Tenon answers UDP requests, without Linux", "udp-echo", ["7007:7/udp"]),
        (f"{LOOP} that answers UDP requests", "gateway", ["7007:7/udp", "8080:80/tcp"]),
        ("a web server", "gateway", ["7007:7/udp", "8080:80/tcp"]),
        (f"{LOOP} with a web page of its latency", "gateway", ["7007:7/udp", "8080:80/tcp"]),
        ("sampling at 100 Hz with UDP", "gateway", None),
        ("A real-time VM, without any Linux, serves its readings over TCP.", "udp-echo", None),
    ],
)
def test_an_image_alone_has_the_card_of_the_machine(composed, tmp_path, text, app, forward):
    answer = composed(text)
    made = loaded(answer, tmp_path)
    assert kinds(answer) == {app: "tenon"} and made.mode == "bare"
    assert made.networks[0].device == "virtio0"
    if forward:
        assert f"forward = {forward}".replace("'", '"') in answer.files["system.toml"]


@pytest.mark.parametrize(
    "text",
    [
        "a Tenon VM with an HTTP page",
        "Linux and the controller talk over sockets",
        f"{LOOP} beside Linux with a web page that shows its latency",
        "a virtual network between Linux and a control loop",
        "A web server in the Tenon VM that shows the state of the 10 Hz control loop",
    ],
)
def test_a_vm_is_in_a_network_with_linux(composed, tmp_path, text):
    answer = composed(text)
    made = loaded(answer, tmp_path)
    assert kinds(answer) == {"gateway": "tenon", "linux": "linux"}
    (network,) = made.virtual_networks
    ports = [(port.vm, port.address) for port in network.ports]
    assert ports == [("gateway", "10.0.0.1/24"), ("linux", "10.0.0.2/24")]
    assert "virt.net" in answer.images["mortise"].capabilities
    assert answer.devices == {} and not made.channels


def test_two_real_time_vms_are_in_a_network(composed, tmp_path):
    text = "Two VMs, each with a control loop at 100 Hz, and a virtual network between them"
    (network,) = loaded(composed(text), tmp_path).virtual_networks
    assert [port.vm for port in network.ports] == ["gateway-1", "gateway-2"]


def test_a_shell_beside_it_has_a_vm_of_its_own(composed, tmp_path):
    answer = composed(f"a shell and {LOOP} that answers UDP requests")
    (network,) = loaded(answer, tmp_path).virtual_networks
    assert [port.vm for port in network.ports] == ["gateway", "linux"]
    assert "terminal" in answer.images


def test_processes_have_sockets_of_their_own(composed, tmp_path):
    answer = composed("a Linux binary as a process that answers TCP requests, without Linux")
    made = loaded(answer, tmp_path)
    assert kinds(answer) == {"programs": "tenon"} and made.mode == "bare"
    assert made.vms[0].program is not None
    assert "tenon/linux-inet" in answer.images["programs"].libraries
    assert '"8080:80/tcp"' in answer.files["system.toml"]


def test_a_channel_beside_a_network_is_kept(composed):
    answer = composed(f"{LOOP} with a web page, which writes to a channel to Linux")
    assert "ipc.channel" in {clash.value for clash in answer.conflict}


@pytest.mark.parametrize(
    ("text", "board", "reason"),
    [
        (f"{LOOP} beside Linux with a web page and cache colouring", None, "colours of its own"),
        (f"{LOOP} beside Linux with a web page", "qemu-zcu102", "qemu-zcu102 lacks"),
        (f"{LOOP} with direct interrupts beside Linux with a web page", None, "has its interrupts"),
    ],
)
def test_a_network_that_cannot_be_is_refused_with_the_reason(composed, text, board, reason):
    answer = composed(text, board)
    assert not answer.accepted and reason in answer.reason


def test_an_image_alone_needs_a_card_of_its_board(composed):
    answer = composed(f"{LOOP} that answers UDP requests", "qemu-zcu102")
    assert [missing.capability for missing in answer.missing] == ["net.ip"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a 1 kHz loop with a template VM per job, which answers UDP requests", "net.ip"),
        ("a real-time VM with a virtual network", "virt.net"),
        (f"{LOOP} that drives GPIO pins and answers UDP requests", None),
    ],
)
def test_what_no_vm_can_have_is_refused(composed, text, name):
    answer = composed(text)
    assert not answer.accepted
    assert name is None or name in {missing.capability for missing in answer.missing}
