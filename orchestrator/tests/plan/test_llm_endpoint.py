"""The endpoint of the llm planner, by a server on this machine, and records of its replies."""

import json
import re
import time

import pytest
from replies import GOOD, TEXT
from stubs import KEY, chat, served

from tenonos import cli, silence, ui
from tenonos.errors import InputError
from tenonos.plan.compose import compose
from tenonos.plan.llm.reader import Llm
from tenonos.plan.llm.reply import schema
from tenonos.plan.llm.tape import Player
from tenonos.plan.planner import Model, planner
from tenonos.silence import Silence


def asked_of(pool, seconds=20, tokens=100):
    return compose(TEXT, pool=pool, using=planner("llm", Model("m", None, None, seconds, tokens)))


def test_the_protocol(pool, monkeypatch):
    with served(monkeypatch, chat("no"), chat(GOOD)) as server:
        assert asked_of(pool).accepted
    path, headers, question = server.asked[0]
    assert path == "/v1/chat/completions"
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert question["model"] == "m"
    assert question["max_tokens"] == 100
    assert question["response_format"]["json_schema"]["schema"] == schema()
    assert server.asked[1][2]["max_tokens"] == 90


def test_a_server_that_knows_less_of_the_protocol_is_asked_plainly(pool, monkeypatch):
    with served(monkeypatch, (400, b"response_format?"), chat(GOOD)) as server:
        assert asked_of(pool).accepted
    assert "response_format" not in server.asked[1][2]


def drip(handler):
    """A byte now and then: no read ever times out."""
    handler.send_response(200)
    handler.end_headers()
    while not handler.server.stop.wait(0.1):
        try:
            handler.wfile.write(b" ")
        except OSError:
            return


def endless(handler):
    handler.send_response(200)
    handler.end_headers()
    try:
        for _ in range(64):
            handler.wfile.write(b" " * 65536)
    except OSError:
        pass


def elsewhere(handler):
    handler.send_response(302)
    handler.send_header("Location", "http://127.0.0.1:1/steal")
    handler.end_headers()


@pytest.mark.parametrize(
    ("step", "line"),
    [
        ((401, b"bad key " + KEY.encode()), "status 401: bad key …; check OPENAI_API_KEY"),
        ((404, b""), "status 404; check OPENAI_BASE_URL and --model"),
        ((500, b"\x00\xff oops"), "status 500"),
        ((400, b"no"), "status 400: no"),
        ((200, b"<html>"), "its answer is not a chat completion"),
        ((200, b'{"choices": []}'), "its answer is not a chat completion"),
        ((200, b"[" * 100_000), "its answer is not a chat completion"),
        (chat("no", 1_000), "100 tokens gave no plan; allow more with --tokens"),
        (lambda handler: handler.connection.close(), "no answer"),
        (endless, "it is larger than 1048576 bytes"),
        (elsewhere, "status 302"),
        (lambda handler: handler.server.stop.wait(60), "no answer in 1 seconds"),
        (drip, "no answer in 1 seconds"),
    ],
)
def test_an_endpoint_that_fails_is_one_line_and_status_1(monkeypatch, capsys, step, line):
    began = time.monotonic()
    with served(monkeypatch, step):
        options = ["--planner", "llm", "--model", "m", "--tokens", "100", "--seconds"]
        slow = "1 seconds" in line
        assert cli.run(["compose", TEXT, "--json", *options, "1" if slow else "20"]) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    assert line in shown.err
    assert KEY not in shown.err
    assert not slow or time.monotonic() - began < 15


def test_an_absent_server_is_one_line_and_status_1(monkeypatch, capsys):
    with served(monkeypatch, (200, b"")):
        pass
    assert cli.run(["compose", TEXT, "--planner", "llm", "--model", "m"]) == 1
    assert "Connection refused; check OPENAI_BASE_URL" in capsys.readouterr().err


@pytest.mark.parametrize("url", ["", "localhost", "file:///etc/passwd", "http://[", "http://a:x"])
def test_an_address_that_is_none_is_status_2(monkeypatch, capsys, url):
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    assert cli.run(["compose", TEXT, "--planner", "llm", "--model", "m"]) == 2
    shown = capsys.readouterr().err
    assert "OPENAI_BASE_URL: it is " in shown
    assert shown.count("\n") == 1


# Records


def test_a_run_is_repeated_from_its_record(pool, monkeypatch, tmp_path, capsys):
    tape = tmp_path / "tape.json"
    command = ["compose", TEXT, "--json", "--planner", "llm"]
    with served(monkeypatch, chat("half \ud800 a pair"), chat(GOOD)):
        assert cli.run([*command, "--model", "m", "--record", str(tape)]) == 0
    first = capsys.readouterr().out
    monkeypatch.delenv("OPENAI_BASE_URL")
    monkeypatch.delenv("OPENAI_API_KEY")
    assert cli.run([*command, "--replay", str(tape)]) == 0
    assert capsys.readouterr().out == first
    written = tape.read_text()
    assert KEY not in written
    assert "127.0.0.1" not in written
    assert len(json.loads(written)["replies"]) == 2


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (None, "cannot read it"),
        ("", "not a record"),
        ("[" * 100_000, "not a record"),
        ('{"objective": 1}', "not a record"),
        ({"objective": "else"}, "another objective"),
        ({"board": "else"}, "another objective or board"),
        ({"replies": ["no"]}, "its 1 replies give no plan"),
    ],
)
def test_a_record_that_is_none_is_status_2(tmp_path, pool, text, line):
    tape = {"objective": TEXT, "board": "qemu-virt", "model": "m", "replies": []}
    file = tmp_path / "tape.json"
    if text is not None:
        file.write_text(json.dumps(tape | text) if isinstance(text, dict) else text)
    with pytest.raises(InputError, match=line):
        compose(TEXT, pool=pool, using=Llm(Player(file)))


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--record", "/nowhere/tape", "--model", "m"], "there is no folder /nowhere"),
        (["--record", "a", "--replay", "b"], "a replay has nothing to record"),
    ],
)
def test_options_that_do_not_go_together(monkeypatch, capsys, options, line):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1")
    assert cli.run(["compose", TEXT, "--planner", "llm", *options]) == 2
    assert line in capsys.readouterr().err


def test_a_slow_reply_is_waited_for_in_words(monkeypatch):
    lines = []
    waits = Silence(lines.append)
    monkeypatch.setattr(silence, "LIMIT", 0.05)
    monkeypatch.setattr(ui, "WAITS", waits)
    waits.watch(0.01)

    def slow(handler):
        handler.server.stop.wait(60)

    with served(monkeypatch, slow):
        assert cli.run(["-q", "compose", TEXT, *"--planner llm --model m --seconds 3".split()]) == 1
    assert lines[0].startswith("waiting for a reply of m at 127.0.0.1: ")
    # What is read before the question counts too.
    ends = r" s so far; --seconds ends it [1-3] s after it began, Ctrl-C at once$"
    assert re.search(ends, lines[0])
