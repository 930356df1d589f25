"""The llm planner, where models and servers mean harm: one clear error, or what holds anyway.

What they say is put where a reply has text; that of it which is not the objective's own words must
reach no configuration, and nothing that a terminal would obey may reach a message.
"""

import json

import pytest
from replies import GOOD, LOOP, NUMBERS, TEXT, VMS, claim, reply, vm
from stubs import Script, chat, served

from tenonos import cli
from tenonos.errors import WorkError
from tenonos.plan.compose import compose
from tenonos.plan.llm.reader import Llm
from tenonos.plan.llm.reply import LONGEST, Unusable, parse
from tenonos.system import board

TEXTS = {
    "bidirectional": "\u202eevil\u2066\u200f",
    "zero width": "evil\u200b\ufeff",
    "climbing path": "../../etc/evil",
    "absolute path": "/etc/evil",
    "NUL": "evil\0.toml",
    "lines": 'evil"\n[[vm]]\nname = "evil',
    "carriage return": "evil\r# all is well",
    "terminal": "\x1b[2Jevil\x9b31m\x07",
    "half a pair": "evil\ud800",
    "separators": "evil\u2028\u2029\x85",
    "symbol": "CONFIG_APP_EVIL=y",
    "shell": "$(touch evil); `evil` && evil",
    "template": "{{ evil }} {0.__class__} %(evil)s",
    "long": "evil" * 1_000,
    "not ours": "\U000e0001evil\U0010ffff\ufffe",
}
"""What a hostile model may write where a reply has text."""

PLACES = {
    "handle": lambda text: reply(
        [vm("motor loop", name=text), VMS[1]], [each | {"vm": text} for each in (LOOP, *NUMBERS)]
    ),
    "words of a VM": lambda text: reply([*VMS, vm(text, name="c")], GOOD["demands"]),
    "VM of a claim": lambda text: _with(claim("capability", "motor", "shell", vm=text)),
    "capability": lambda text: _with(claim("capability", "motor", text)),
    "prohibition": lambda text: _with(claim("forbid", "motor", text, vm=None)),
    "board": lambda text: _with(claim("board", "motor", text, vm=None)),
    "utility": lambda text: _with(claim("utility", "motor", text, vm=None)),
    "words": lambda text: _with(claim("capability", text, "shell")),
    "words of a number": lambda text: _with(claim("cores", text, vm=None)),
    "words that are missing": lambda text: GOOD | {"missing": [{"from": text, "why": "so"}]},
    "words that are ignored": lambda text: GOOD | {"ignored": [{"from": text, "why": "so"}]},
    "reason": lambda text: GOOD | {"ignored": [{"from": "beside", "why": text}]},
}
"""A reply that is good but for a text at one place."""


def _with(wrong):
    return GOOD | {"demands": [*GOOD["demands"], wrong]}


def read(pool, said):
    return Llm(Script(said)).plan(TEXT, board.load("qemu-virt"), pool)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_text_of_the_models_changes_no_demand_and_harms_no_message(pool, capsys, place, text):
    try:
        plan = read(pool, PLACES[place](text))
    except WorkError as refused:
        assert text == TEXTS["half a pair"]
        assert str(refused).isprintable()
        return
    good = read(pool, GOOD)
    assert (plan.items, plan.guests) == (good.items, good.guests)
    assert plan.missing == []
    assert all(remark.why.isprintable() for remark in plan.ignored)
    assert all(line.isprintable() and len(line) < 400 for line in told(capsys))


VMS_TOO = ("handle", "words of a VM", "VM of a claim")
"""Where the reply is another one if a VM has the text for its handle."""
VALID = [name for name in TEXTS if name != "half a pair"]


@pytest.fixture(scope="module")
def good(pool):
    return configuration(compose(TEXT, pool=pool, using=Llm(Script(GOOD))))


def configuration(answer):
    return {name: text for name, text in answer.files.items() if name != "explain.json"}


@pytest.mark.parametrize("name", VALID)
def test_nothing_a_model_invents_reaches_a_configuration(pool, good, name):
    text = TEXTS[name]
    said = PLACES["handle"](text)
    wrong = [PLACES[place](text) for place in PLACES if place not in VMS_TOO]
    demands = [each for one in wrong for each in one["demands"][len(GOOD["demands"]) :]]
    said["demands"] += [each | {"vm": each["vm"] and text} for each in demands]
    said["ignored"] += [remark for one in wrong for remark in one["ignored"]]
    answer = compose(TEXT, pool=pool, using=Llm(Script(said)))
    assert answer.accepted
    assert configuration(answer) == good


GOOD_TEXT = json.dumps(GOOD)
NOT_JSON = "it is not JSON"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        pytest.param(GOOD_TEXT[: len(GOOD_TEXT) // 2], NOT_JSON, id="cut"),
        pytest.param(GOOD_TEXT[:-1], NOT_JSON, id="its end cut"),
        pytest.param(GOOD_TEXT[:20] + "\ufffd", NOT_JSON, id="cut within a character"),
        pytest.param("{" + GOOD_TEXT, NOT_JSON, id="two braces"),
        pytest.param('{"vms": [], ' + GOOD_TEXT[1:], "“vms” stands there twice", id="key twice"),
        pytest.param(
            GOOD_TEXT.replace('"kind": "linux"', '"kind": "tenon", "kind": "linux"'),
            "“kind” stands there twice",
            id="key twice, within",
        ),
        pytest.param(
            '{"\\u202e\\u001b[2J": 1, "\\u202e\\u001b[2J": 2}', "stands there twice", id="evil key"
        ),
        pytest.param('{"vms": NaN}', "vms: Input should be a valid list", id="NaN"),
        pytest.param('{"vms": -Infinity}', "vms: Input should be a valid list", id="infinity"),
        pytest.param('{"vms": 1e999999}', "vms: Input should be a valid list", id="exponent"),
        pytest.param('{"vms": ' + "1" * 4300 + "}", "vms: Input should be", id="long number"),
        pytest.param('{"vms": ' + "1" * 4301 + "}", NOT_JSON, id="longer number"),
        pytest.param('{"vms": ' + "[" * 400 + "]" * 400 + "}", "vms.0: Input", id="deep"),
        pytest.param('{"vms": ' + "[" * 40_000 + "]" * 40_000 + "}", NOT_JSON, id="deepest"),
        pytest.param('{"a":' * 15_000 + "1" + "}" * 15_000, NOT_JSON, id="deep objects"),
        pytest.param('{"\ud800": 1}', "Input should be a valid string", id="half a pair as a key"),
        pytest.param('{"__class__": {}}', "Extra inputs are not permitted|Field", id="class"),
        pytest.param('{"vms": "\0"}', NOT_JSON, id="NUL"),
        pytest.param(json.dumps([GOOD])[1:-1].replace("true", "1"), None, id="no change"),
        pytest.param(GOOD_TEXT.replace("false", "0", 1), "at_most: Input should be", id="number"),
        pytest.param(GOOD_TEXT.replace("false", '"no"', 1), "at_most: Input should", id="text"),
        pytest.param(
            json.dumps(reply(demands=[LOOP] * 101)), "demands: List should have at most", id="many"
        ),
        pytest.param('{"' + "x" * LONGEST + '": 1}', "characters; a reply has", id="longest"),
        pytest.param("\ufeff\ufeff", "there is no JSON object", id="byte order marks"),
        pytest.param("null", "there is no JSON object", id="null"),
    ],
)
def test_a_reply_that_is_malformed_is_one_clear_complaint(pool, text, complaint):
    if complaint is None:
        assert parse(text) == parse(GOOD_TEXT)
        return
    with pytest.raises(Unusable, match=complaint) as raised:
        parse(text)
    assert str(raised.value).isprintable()
    assert len(str(raised.value)) < 250
    with pytest.raises(WorkError, match="3 replies and no plan") as refused:
        read(pool, text)
    assert str(refused.value).isprintable()


# Servers


def raw(*chunks, length=None):
    """An answer of 200 with an unchanged body."""

    def step(handler):
        handler.send_response(200)
        if length is not None:
            handler.send_header("Content-Length", str(length))
        handler.end_headers()
        for chunk in chunks:
            handler.wfile.write(chunk)

    return step


def header(*fields, status=200, body=b""):
    """An answer with header fields."""

    def step(handler):
        handler.send_response(status)
        for name, value in fields:
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)

    return step


def wire(data):
    """Bytes in the place of an answer."""
    return lambda handler: handler.wfile.write(data)


NO_CHAT = "its answer is not a chat completion"
WHOLE = chat(GOOD)[1]
ELSEWHERE = "http://127.0.0.1:1/steal\r\n"


@pytest.mark.parametrize(
    ("step", "line"),
    [
        pytest.param(raw(), NO_CHAT, id="empty"),
        pytest.param(header(status=204), "no answer|status 204|no chat", id="no content"),
        pytest.param(raw(b"\xef\xbb\xbf"), NO_CHAT, id="byte order mark alone"),
        pytest.param(raw("{“".encode()[:-1]), NO_CHAT, id="cut within a character"),
        pytest.param(raw(WHOLE[:-5]), NO_CHAT, id="cut"),
        pytest.param(raw(WHOLE[:50], length=len(WHOLE)), NO_CHAT, id="less than it said"),
        pytest.param(raw(b"x", length=-1), "no answer: bad Content-Length", id="negative length"),
        pytest.param(
            header(("Transfer-Encoding", "chunked"), body=b"zz\r\n"), "no answer", id="chunks"
        ),
        pytest.param(header(("Content-Encoding", "gzip"), body=b"\x1f\x8b"), NO_CHAT, id="gzip"),
        pytest.param(wire(b"\xff\xfe\0\r\n\r\n"), "no answer", id="no HTTP"),
        pytest.param(wire(b"HTTP/1.1 9999999 \x1b[2J\r\n\r\n"), "no answer", id="status"),
        pytest.param(wire(b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 200), "no answer", id="header"),
        pytest.param(wire(b"HTTP/1.1 200 " + b"x" * 70_000), "no answer", id="status line"),
        pytest.param(raw(b'{"choices": ' + b"[" * 90_000), NO_CHAT, id="deep"),
        pytest.param(raw(b'{"choices": ' + b"9" * 90_000 + b"}"), NO_CHAT, id="number"),
        pytest.param(raw(b'{"choices": NaN}'), NO_CHAT, id="NaN"),
        pytest.param(raw(b'{"choices": {"0": 1}}'), NO_CHAT, id="no list"),
        pytest.param(raw(b'{"error": {"message": "\\u202e\\u001b[2J"}}'), NO_CHAT, id="error"),
        pytest.param(
            raw(b'{"choices": [{"message": {"content": null, "tool_calls": [{}]}}]}'),
            NO_CHAT,
            id="call of a tool",
        ),
        pytest.param(chat("", 0), "3 replies and no plan", id="nothing said"),
        pytest.param(chat("\ud800\u202e\0", 0), "3 replies and no plan", id="half a pair"),
        pytest.param(chat(GOOD_TEXT[:-1], 10**30), "100 tokens gave no plan", id="tokens"),
        pytest.param((500, "\u202e\x1b[2J\0 ../../etc".encode()), "status 500", id="evil status"),
        *(
            pytest.param(
                header(("Location", target), status=status),
                f"status {status}",
                id=f"{status} {name}",
            )
            for status in (301, 303, 307, 308)
            for name, target in (("file", "file:///etc/passwd"), ("server", "http://127.0.0.1:1/x"))
        ),
    ],
)
def test_a_server_that_means_harm_is_one_printable_line(monkeypatch, capsys, step, line):
    with served(monkeypatch, step):
        options = ["--planner", "llm", "--model", "m", "--tokens", "100", "--seconds", "20"]
        assert cli.run(["compose", TEXT, "--json", *options]) == 1
    (told_once,) = told(capsys)
    assert any(part in told_once for part in line.split("|"))
    assert told_once.isprintable()


def told(capsys):
    """What a command told, line by line; nothing else."""
    shown = capsys.readouterr()
    assert shown.out == ""
    return shown.err.splitlines()
