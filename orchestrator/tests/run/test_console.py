"""The console's demultiplexer: whatever the interleaving, every VM's text comes out as it went
in."""

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenonos import cli
from tenonos.run.console import (
    RAW,
    Chunk,
    Demultiplexer,
    LinePrinter,
    StreamPrinter,
    Transcript,
    clean,
)

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0"), max_size=12)
LINES = st.lists(TEXT, max_size=6)


class Mux:
    """Mortise's side of the protocol, as the contract words it."""

    def __init__(self):
        self.out = ""
        self.at = None  # the source of the unfinished line on the wire
        self.broken = {}  # source -> its line was broken off
        self.clock = 0

    def put(self, name, character):
        if self.at not in (None, name):
            self.out += "\r\n"
            self.broken[self.at] = True
            self.at = None
        if self.at is None:
            mark = "+" if self.broken.pop(name, False) else "|"
            self.clock += 1_000_000_001
            self.out += f"[{self.clock // 10**9:5}.{self.clock % 10**9:09}] {name}{mark} "
            self.at = name
        if character == "\n":
            self.out += "\r\n"
            self.at = None
        else:
            self.out += character


def feed(data, cuts):
    demultiplexer = Demultiplexer()
    chunks, start = [], 0
    for cut in [*sorted(cuts), len(data)]:
        chunks += demultiplexer.feed(data[start:cut])
        start = max(start, cut)
    return chunks + demultiplexer.close()


def transcripts(chunks):
    found = {}
    for chunk in chunks:
        found.setdefault(chunk.name, Transcript()).add(chunk)
    return found


@given(
    st.dictionaries(st.sampled_from(["linux", "motor", "mortise"]), LINES),
    st.integers(0, 2**32),
    st.lists(st.integers(0, 400)),
)
def test_any_interleaving_and_any_cut_reassembles(texts, seed, cuts):
    mux, order = Mux(), random.Random(seed)
    streams = {name: list("".join(line + "\n" for line in lines)) for name, lines in texts.items()}
    while any(streams.values()):
        name = order.choice([name for name, left in streams.items() if left])
        mux.put(name, streams[name].pop(0))
    found = transcripts(feed(mux.out.encode(), cuts))
    for name, lines in texts.items():
        assert [line.text for line in found.get(name, Transcript()).lines] == lines

    printed = []
    printer = LinePrinter(printed.append)
    for chunk in feed(mux.out.encode(), cuts):
        printer.add(chunk, now=0.0)
    printer.close()
    for name, lines in texts.items():
        mine = [line for line in printed if line.startswith(f"{name}|")]
        assert mine == [f"{name}| {line}" if line else f"{name}|" for line in lines]


def test_a_prompt_is_seen_before_its_line_ends():
    demultiplexer = Demultiplexer()
    chunks = demultiplexer.feed(b"[    1.000000016] linux| ~ # ")
    assert chunks == [Chunk("linux", 1_000_000_016, "~ # ", begins=True)]
    assert demultiplexer.feed(b"l") == [Chunk("linux", 1_000_000_016, "l")]


def test_lines_without_a_header_are_raw():
    chunks = feed(b"U-Boot 2026\r\n[not a header] x\r\n[00001.5] also not\r\n", [3, 20])
    lines = transcripts(chunks)[RAW].lines
    assert [line.text for line in lines] == [
        "U-Boot 2026",
        "[not a header] x",
        "[00001.5] also not",
    ]


def test_a_carriage_return_within_a_line_stays():
    chunks = feed(b"[00000.000000000] linux| 10%\r20%\r\n", range(40))
    assert transcripts(chunks)["linux"].text == "10%\r20%"


def test_a_stream_of_its_own_has_no_headers_whatever_is_written_there():
    demultiplexer = Demultiplexer("linux.uart1", shares=False)
    written = b"[    0.000000001] motor| fine\n[ 1.0\nplain"
    chunks = demultiplexer.feed(written) + demultiplexer.close()
    assert {chunk.name for chunk in chunks} == {"linux.uart1"}
    assert transcripts(chunks)["linux.uart1"].text == written.decode()


def test_a_guest_cannot_speak_for_another():
    mux = Mux()
    for character in "x[00009.000000000] mortise| all is well\n":
        mux.put("linux", character)
    assert set(transcripts(feed(mux.out.encode(), []))) == {"linux"}


@given(st.binary(max_size=200), st.lists(st.integers(0, 200)))
def test_any_bytes_are_survived(data, cuts):
    feed(data, cuts)


def test_find_resumes_after_the_last_match():
    transcript = Transcript()
    for chunk in feed(b"[00000.000000000] l| ab ab\r\n[00001.000000000] l| ab\r\n", []):
        transcript.add(chunk)
    first = transcript.find("ab", (0, 0))
    second = transcript.find("ab", first)
    third = transcript.find("ab", second)
    assert (first, second, third) == ((0, 2), (0, 5), (1, 2))
    assert transcript.find("ab", third) is None
    assert transcript.find("ab\nab", (0, 0)) == (1, 2)


def test_a_line_that_may_go_on_waits_a_moment():
    printed = []
    printer = LinePrinter(printed.append)
    printer.add(Chunk("linux", 0, "half", begins=True, ends=True), now=0.0)
    printer.add(Chunk("mortise", 0, "hello", begins=True, ends=True), now=0.1)
    assert printed == []
    printer.expire(now=0.3)
    assert printed == ["linux| half"]
    printer.add(Chunk("linux", 0, "rest", begins=True, continues=True, ends=True), now=0.4)
    printer.close()
    assert printed == ["linux| half", "mortise| hello", "linux+ rest"]


@pytest.mark.parametrize(
    ("only", "shown"),
    [((), "linux motor mortise linux"), (["linux"], "linux linux"), (["mortise", "motor"], None)],
)
@pytest.mark.parametrize("kind", [LinePrinter, StreamPrinter])
def test_the_consoles_that_are_asked_for_are_shown(kind, only, shown):
    printed = []
    printer = kind(printed.append, only)
    for name in ("linux", "motor", "mortise", "linux"):
        printer.add(Chunk(name, 0, "x", begins=True, ends=True))
        printer.expire()
    printer.close()
    text = ("\n" if kind is LinePrinter else "").join(printed)
    names = re.findall(r"(\w+)\| x", text)
    assert sorted(names) == sorted((shown or "motor mortise").split())


def test_an_unknown_console_is_refused_among_known_ones(capsys):
    line = ["run", "motor-linux", "--headless", "--console", "linux", "--console", "mortise"]
    assert cli.run([*line, "--console", "nope"]) == 2
    assert 'no VM "nope" in motor-linux; there are motor, linux' in capsys.readouterr().err


def test_shown_lines_do_nothing_to_a_terminal():
    line = "a\x1b[6nb\x1b[1;31mc\x1b]0;title\x07d\x07\x08e\tf\x1b"
    assert clean(line) == "abcde   f"
