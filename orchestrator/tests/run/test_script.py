"""Input scripts: read, played, and refused with the line that is wrong."""

import pytest

from tenonos.errors import InputError, WorkError
from tenonos.run.console import Chunk, Transcript
from tenonos.run.script import Player, parse


def script(tmp_path, text):
    file = tmp_path / "script"
    file.write_text(text)
    return parse(file)


def said(*lines):
    transcript = Transcript()
    for line in lines:
        transcript.add(Chunk("linux", 0, line, begins=True, ends=True))
    return transcript


def test_steps_are_read(tmp_path):
    steps = script(
        tmp_path, "# wait\nexpect ~ #\n\ntimeout 5\nsend echo a\\tb\nsend \\x03\\c\nsend\n"
    )
    assert [(step.verb, step.content) for step in steps] == [
        ("expect", b"~ #"),
        ("send", b"echo a\tb\n"),
        ("send", b"\x03"),
        ("send", b"\n"),
    ]
    assert [step.timeout for step in steps] == [120.0, 5.0, 5.0, 5.0]
    assert steps[1].where.endswith("script:5")


def test_an_escape_is_one_byte_and_other_text_utf_8(tmp_path):
    every = "".join(f"\\x{byte:02x}" for byte in range(256))
    steps = script(tmp_path, f"send \\x41\\xff\\x80\\x42\\c\nsend gerät\nsend {every}\\c\n")
    assert [step.content for step in steps] == [
        b"\x41\xff\x80\x42",
        b"ger\xc3\xa4t\n",
        bytes(range(256)),
    ]


@pytest.mark.parametrize(
    "line", ["say hello", "expect", "expect ", "timeout soon", "timeout -1", "send \\q", "send \\"]
)
def test_a_malformed_line_is_named(tmp_path, line):
    with pytest.raises(InputError) as error:
        script(tmp_path, f"expect ok\n{line}\n")
    assert error.value.where.endswith("script:2")
    assert "\n" not in str(error.value)


def test_a_missing_file_is_wrong_input(tmp_path):
    with pytest.raises(InputError):
        parse(tmp_path / "none")


def test_a_script_is_played(tmp_path):
    sent = []
    steps = script(tmp_path, "expect ready\nsend reboot -f\nexpect ready\nsend ok\n")
    player = Player("linux", steps, lambda vm, data: sent.append((vm, data)))
    transcript = said("booting")
    player.advance(transcript, now=0)
    assert sent == [] and not player.done
    transcript.add(Chunk("linux", 0, "ready", begins=True, ends=True))
    player.advance(transcript, now=1)
    assert sent == [("linux", b"reboot -f\n")]
    player.advance(transcript, now=2)
    assert not player.done, "the second `ready` is another one"
    transcript.add(Chunk("linux", 0, "ready", begins=True, ends=True))
    player.advance(transcript, now=3)
    assert player.done and sent[1:] == [("linux", b"ok\n")]


def test_a_script_ends_with_the_end_of_its_last_line(tmp_path):
    """What the line says after the expected text is read, and a prompt is not waited for long."""
    steps = script(tmp_path, "expect error:\n")
    player = Player("linux", steps, lambda *_: None)
    transcript = said()
    transcript.add(Chunk("linux", 0, "error:", begins=True))
    player.advance(transcript, now=0)
    assert not player.done
    transcript.add(Chunk("linux", 0, " ENOEXEC", begins=False, ends=True))
    player.advance(transcript, now=0.1)
    assert player.done
    prompt = Player("linux", script(tmp_path, "expect $\n"), lambda *_: None)
    transcript.add(Chunk("linux", 0, "$ ", begins=True))
    prompt.advance(transcript, now=5)
    assert not prompt.done
    prompt.advance(transcript, now=6)
    assert prompt.done


def test_waiting_ends_with_the_line_that_waited(tmp_path):
    player = Player("linux", script(tmp_path, "timeout 3\nexpect never\n"), lambda *_: None)
    player.advance(said(), now=10)
    player.advance(said(), now=12.9)
    with pytest.raises(WorkError, match=r"script:2: linux did not say 'never' within 3 s"):
        player.advance(said(), now=13)
