"""What the console of a VM says of its processes."""

from types import SimpleNamespace

from tenonos.run.processes import exit_status, recorded, unserved


def lines(*texts):
    return SimpleNamespace(lines=[SimpleNamespace(text=text) for text in texts])


def test_recorded_calls_are_those_of_strace():
    transcript = lines(
        '[pid 1] writev(1, [{"hello\\n", 6}], 1) = 6',
        "[pid 2] brk(0) = 0x5000",
        "[pid 1] syscall_0x1f4(0x1, 0x2) = -1 ENOSYS",
        "[pid 1] exit_group(0) = ?",
        "said [pid 9] read(3",
    )
    assert recorded(transcript) == ["brk", "exit_group", "writev"]
    assert recorded(lines("hello")) == recorded(None) == []


def test_the_end_and_what_is_not_served():
    transcript = lines("hello makes system call 57, which no library serves", "hello has ended")
    assert exit_status(transcript) == 0
    assert [(each.program, each.call) for each in unserved(transcript)] == [("hello", "close")]
    assert exit_status(lines("hello was ended by signal 11")) == 139
