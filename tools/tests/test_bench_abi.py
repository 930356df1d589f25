"""The suite of system calls: what the program prints becomes rows."""

import pytest

from tenonos import system
from tenonos.errors import WorkError
from tools.bench import abi, charts
from tools.bench.figures import figures
from tools.bench.reading import Setting

SAID = [
    "[    0.100000] Run /init as init process",
    "abi null_syscall 1000 122000 123000 121000",
    "abi pread size=4096 100 1920000 1930000",
    "abi signal_self absent 38",
    "abi unix_stream size=64 absent 9",
    "abi end",
]


def test_a_line_is_a_row_of_means(capsys):
    rows = list(abi.measured(SAID, Setting("bench-abi", "linux")))
    assert [(row.name, row.params, row.environment) for row in rows] == [
        ("null_syscall", {}, "linux"),
        ("pread", {"size": 4096}, "linux"),
    ]
    first, second = rows
    assert (first.samples, first.min, first.median, first.max) == (3, 121.0, 122.0, 123.0)
    assert (second.min, second.max) == (19200.0, 19300.0)
    lacks = capsys.readouterr().err
    assert "linux: not served: signal_self (error 38), unix_stream size=64 (error 9)" in lacks


def test_the_plot_has_percent_of_linux():
    theirs = abi.measured(SAID, Setting("bench-boot", "linux"))
    ours = abi.measured(["abi null_syscall 1000 61000"], Setting("bench-abi", "mortise-static"))
    plot = charts.linux_calls([*ours, *theirs])
    assert plot is not None
    assert "null_syscall" in plot
    assert "50 %" in plot
    assert "pread" not in plot
    assert charts.linux_calls([]) is None


def test_nothing_measured_is_an_error():
    with pytest.raises(WorkError, match="measured nothing in environment linux"):
        list(abi.measured(["Kernel panic", "abi stat absent 38"], Setting("bench-abi", "linux")))


def test_the_program_has_the_names_of_the_suite():
    text = abi.SOURCE.read_text()
    names = (
        "null_syscall clock_vdso write_null pipe_same pipe_pingpong futex_pingpong "
        "fork_exit_wait vfork_exec_wait page_fault mmap_munmap signal_self thread_create_join "
        "open_close stat epoll_ready"
    ).split()
    assert all(f'measure("{name}", ' in text for name in names)
    sized = ("pread size=4096", "pwrite size=65536", "unix_stream size=64")
    assert all(f'measure("{name}", ' in text for name in sized)


def test_the_system_has_the_program_or_the_load():
    described = abi.tenon(b"\x7fELF", "fork")
    (vm,) = described.vms
    assert (vm.program, vm.arguments) == ("/bin/abi", ("fork",))
    assert (abi.tenon(b"\x7fELF").vms[0].first.arguments) == ("abi",)
    assert system.load("bench-abi").vms[0].tasks[0].name == "control"


def test_a_goal_concerns_tenon_alone():
    said = ["abi fork_exit_wait 10 450000"]
    (ours,) = abi.measured(said, Setting("bench-abi", "mortise-static"))
    (theirs,) = abi.measured(said, Setting("bench-boot", "linux"))
    figure = figures().of(ours)
    assert figure is not None and figure.met(ours)
    assert figures().of(theirs) is None
