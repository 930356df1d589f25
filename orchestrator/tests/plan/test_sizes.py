"""The size of the emulated machine that a composition states: what demands need, if it is free."""

import pytest

from tenonos import system

GIB = 1 << 30
SMALL = "4 cores and 1 GiB"


@pytest.mark.parametrize(
    ("objective", "cores", "gibibytes", "words"),
    [
        ("Linux on cores 0 to 5", 6, 1, "on cores 0 to 5"),
        ("Linux with 2 GiB", 4, 3, "2 GiB"),
        ("Linux with 8 GiB beside a 1 kHz control loop", 4, 9, "8 GiB"),
        ("Linux with 1 GiB beside a 1 kHz control loop", 4, 2, "1 GiB"),
        ("six control loops at 1 kHz, each with its own core", 6, 1, "control loops"),
        ("a 1 kHz control loop beside Linux on six cores", 6, 1, "six cores"),
        ("Linux with five cores and 2 GiB, a 1 kHz control loop", 6, 3, "five cores"),
        ("a cache-coloured control loop beside Linux with 900 MiB", 4, 2, "900 MiB"),
    ],
)
def test_the_machine_is_as_large_as_the_demands(
    composed, tmp_path, objective, cores, gibibytes, words
):
    answer = composed(objective)
    assert answer.accepted, answer.reason
    assert answer.board == "qemu-virt"
    (size,) = (said for said in answer.assumptions if said.instead_of == SMALL)
    assert size.taken_as == f"on qemu-virt with {cores} cores and {gibibytes} GiB"
    assert size.source == words
    text = answer.files["system.toml"]
    assert (f"cores = {cores}\n" in text) == (cores != 4)
    assert (f'ram = "{gibibytes}G"\n' in text) == (gibibytes != 1)
    answer.write(tmp_path / "large")
    board = system.load(tmp_path / "large").board
    assert (board.cpus, board.ram.size) == (cores, gibibytes * GIB)


def test_what_the_default_size_suffices_for_has_it(composed):
    answer = composed("a 1 kHz control loop beside Linux")
    assert "[machine]" not in answer.files["system.toml"]
    assert not [said for said in answer.assumptions if said.instead_of == SMALL]


@pytest.mark.parametrize(
    ("objective", "reason"),
    [
        ("Linux with 16 GiB", "16384 MiB for VMs, and qemu-virt has room for 16286"),
        ("Linux on cores 0 to 8", "9 cores for VMs (linux 9), and qemu-virt has 8"),
        ("a 1 kHz loop on six cores", "6 cores for motor, and a real-time VM has 4 at most"),
        ("a control loop with 2 GiB", "motor has 2048 MiB, and a real-time VM 1024 at most"),
        (
            "Linux on six cores, a 1 kHz control loop on the same core",
            "6 cores, and there are 4: ask for fewer",
        ),
        ("nine control loops at 1 kHz", "9 VMs, and a system has 8 at most"),
    ],
)
def test_what_no_size_suffices_for_is_refused_with_the_reason(composed, objective, reason):
    assert composed(objective).reason.startswith(reason)


@pytest.mark.parametrize(
    ("objective", "board"),
    [
        ("Linux with 2 GiB", "qemu-virt"),
        ("Linux with 2 GiB beside a 1 kHz control loop, on qemu-virt", None),
        ("five control loops at 1 kHz, each with a core of its own, on qemu-virt", None),
        ("Linux gets all four cores, and the control loop a core of its own", None),
        ("Linux with four cores, a 1 kHz loop on a core of its own, on a quad-core board", None),
    ],
)
def test_a_machine_of_a_stated_size_stays_as_it_is(composed, objective, board):
    answer = composed(objective, board)
    assert answer.conflict and not answer.accepted
    assert any(words in answer.reason for words in ("room for 926", "has 4", "there are 4"))


def test_cores_that_vms_share_are_among_the_first(composed, tmp_path):
    answer = composed("four 1 kHz control loops, and Linux that can pause them")
    assert answer.accepted, answer.reason
    answer.write(tmp_path / "pausing")
    made = system.load(tmp_path / "pausing")
    assert (made.board.cpus, made.reserve.cpus) == (5, (0,))
    answer = composed("Linux on five cores, and a 1 kHz control loop that it can pause")
    assert not answer.accepted, "the core of the reserve would be the fifth"
