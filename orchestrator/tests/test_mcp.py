"""The server for coding agents, spoken to by a client over its stdin and stdout."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import asynccontextmanager

import anyio
import pytest
from mcp import Client, StdioServerParameters

from tenonos import cli
from tenonos.errors import InputError, WorkError
from tenonos.paths import ROOT
from tenonos.serve import work as working
from tenonos.serve.served_folder import Project
from tenonos.serve.tools import TOOLS, asked
from tenonos.serve.work import work

SERVER = [str(ROOT / "orchestrator"), "mcp"]
LOOP = "a 1 kHz control loop"


def test_ctrl_c_ends_it_on_a_terminal():
    """Although a thread waits for a line there."""
    terminal, end = os.openpty()
    line = [sys.executable, *SERVER]
    server = subprocess.Popen(line, stdin=end, stdout=end, stderr=subprocess.PIPE, text=True)
    assert server.stderr is not None
    assert server.stderr.readline().endswith("Ctrl-C ends it\n")
    time.sleep(1)
    server.send_signal(signal.SIGINT)
    assert server.wait(60) == 130
    assert "interrupted" in server.stderr.read()
    os.close(terminal)
    os.close(end)


@asynccontextmanager
async def client(folder, *options, mode="legacy"):
    """A client that has shaken hands with a server for the folder."""
    server = StdioServerParameters(
        command=sys.executable, args=[*SERVER, "-C", str(folder), *options]
    )
    async with Client(server, mode=mode) as connected:
        yield connected


def spoken(script):
    """What a script of calls answers, within a minute."""
    return asyncio.run(asyncio.wait_for(script(), 60))


def said(answer):
    return [content.text for content in answer.content]


def test_a_client_lists_composes_explains_and_is_refused(tmp_path):
    async def script():
        async with client(tmp_path) as agent:
            assert agent.server_info.name == "tenon"
            tools = {tool.name: tool for tool in (await agent.list_tools()).tools}
            return tools, [
                await agent.call_tool("compose", {"objective": LOOP, "output": "loop"}),
                await agent.call_tool("explain", {"folder": "loop"}),
                await agent.call_tool("tree", {"system": "loop"}),
                await agent.call_tool("list", {"what": "boards"}),
                await agent.call_tool("compose", {"objective": "a loop that talks on a CAN bus"}),
                await agent.call_tool("compose", {"objective": LOOP, "output": "../loop"}),
                await agent.call_tool("compose", {"objective": LOOP, "board": "toaster"}),
            ]

    tools, answers = spoken(script)
    assert set(tools) == set(TOOLS)
    assert tools["compose"].input_schema["required"] == ["objective"]
    composed, explained, tree, boards, *refused = answers
    assert not any(answer.is_error for answer in (composed, explained, tree, boards))
    assert (tmp_path / "loop" / "system.toml").is_file()
    assert composed.structured_content["objective"] == LOOP
    assert json.loads(said(composed)[0]) == composed.structured_content
    assert {row["image"] for row in explained.structured_content["result"]} <= set(
        composed.structured_content["images"]
    )
    assert set(tree.structured_content) <= set(composed.structured_content["images"])
    assert "qemu-virt" in {entry["board"] for entry in boards.structured_content["result"]}

    assert all(answer.is_error for answer in refused)
    unmet, outside, board = refused
    assert unmet.structured_content["missing"]
    assert "\n" not in said(unmet)[0]
    assert said(outside)[0].startswith(f"output: ../loop leads out of {tmp_path}; ")
    assert not (tmp_path.parent / "loop").exists()
    assert "toaster" in said(board)[0]


def test_an_answer_is_what_the_command_prints(tmp_path, capsys):
    async def script():
        async with client(tmp_path, mode="auto") as agent:
            return await agent.call_tool("compose", {"objective": LOOP})

    answer = spoken(script)
    assert cli.run(["compose", LOOP, "--json"]) == 0
    assert answer.structured_content == json.loads(capsys.readouterr().out)
    assert not list(tmp_path.iterdir())


def test_a_call_ends_when_its_time_is_up(tmp_path):
    async def script():
        async with client(tmp_path, "--limit", "0.01") as agent:
            return await agent.call_tool("list", {"what": "libraries"})

    answer = spoken(script)
    assert answer.is_error
    assert said(answer) == [
        "list: stopped after the time limit of 0.01 s;"
        " ask for less, or start the server with a longer --limit"
    ]


def test_nothing_that_a_call_started_outlives_it(tmp_path, monkeypatch):
    began, outlived = tmp_path / "began", tmp_path / "outlived"
    monkeypatch.setattr(working, "ROOT", tmp_path)
    monkeypatch.setattr(working, "GRACE", 0.2)
    started = f"import time; open({str(began)!r}, 'w'); time.sleep(4)"
    started += f"; open({str(outlived)!r}, 'w')"
    (tmp_path / "orchestrator").write_text(
        "import signal, subprocess, sys, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        f"subprocess.Popen([sys.executable, '-c', {started!r}])\n"
        "time.sleep(60)\n"
    )
    with pytest.raises(WorkError, match="stopped after the time limit of 2 s"):
        anyio.run(work, "build", [], Project(tmp_path), 2)
    assert began.exists()
    time.sleep(max(0, 5 - (time.time() - began.stat().st_mtime)))
    assert not outlived.exists()


@pytest.mark.parametrize(
    ("name", "arguments", "complaint"),
    [
        ("brew", {}, 'no tool "brew"; there are compose,'),
        ("compose", {}, "compose.objective: Field required;"),
        ("compose", {"objective": 7}, "compose.objective: Input should be a valid string;"),
        ("compose", {"objective": LOOP, "shell": "sh"}, "compose.shell: Extra inputs"),
        ("run", {"system": "motor-linux", "seconds": -1}, "run.seconds: Input should be greater"),
        ("run", {"system": "motor-linux", "seconds": float("nan")}, "run.seconds: "),
        ("bench", {"suites": []}, "bench.suites: List should have at least 1 item"),
        ("list", {"what": "secrets"}, "list.what: Input should be 'boards'"),
    ],
)
def test_arguments_of_another_kind_are_one_line(name, arguments, complaint):
    with pytest.raises(InputError) as refused:
        asked(name, arguments)
    assert str(refused.value).startswith(complaint)


def test_a_callers_argument_is_never_an_option(tmp_path):
    project = Project(tmp_path)
    (tmp_path / "--pristine").mkdir()
    (tmp_path / "--pristine" / "system.toml").touch()
    for name, arguments in (
        ("compose", {"objective": "--help", "board": "--json"}),
        ("explain", {"folder": "--help", "symbol": "--help"}),
        ("build", {"system": "--pristine", "define": ["--help"]}),
        ("bench", {"suites": ["--full"], "environments": ["--full"]}),
    ):
        line = asked(name, arguments).line(project)
        own = line[: line.index("--")]
        assert not {"--help", "--pristine", "--full"} & set(own)
        assert own.count("--json") + own.count("--json=-") == 1


@pytest.mark.parametrize(
    ("name", "arguments", "what"),
    [
        (
            "build",
            {"system": "hello", "pristine": True, "define": ["CONFIG_A=y"]},
            "tenonos.build.build",
        ),
        ("run", {"system": "hello", "seconds": 0.5}, "tenonos.build.build"),
        ("bench", {"suites": ["size"], "environments": ["bare"]}, "tools.bench.run"),
    ],
)
def test_the_command_line_takes_what_a_tool_makes(monkeypatch, capsys, name, arguments, what):
    def reached(*_, **__):
        raise WorkError("reached")

    monkeypatch.setattr(what, reached)
    assert cli.run([name, *asked(name, arguments).line(Project(ROOT))]) == 1
    assert capsys.readouterr().err.splitlines()[-1] == "tenon: reached"


@pytest.mark.parametrize("way", ["..", "/etc", "link", "link/below", "loop/../.."])
def test_no_path_leads_out_of_the_project(tmp_path, way):
    project = tmp_path / "project"
    project.mkdir()
    (project / "link").symlink_to("/etc")
    for name, arguments in (
        ("compose", {"objective": LOOP, "output": way}),
        ("explain", {"folder": way}),
        ("build", {"system": way}),
        ("run", {"system": way}),
        ("tree", {"system": way}),
    ):
        with pytest.raises(InputError, match="leads out of"):
            asked(name, arguments).line(Project(project))


def test_a_system_elsewhere_is_not_reached_through_a_link_in_the_project(tmp_path):
    elsewhere, project = tmp_path / "system.toml", tmp_path / "project"
    elsewhere.touch()
    (project / "loop").mkdir(parents=True)
    (project / "loop" / "system.toml").symlink_to(elsewhere)
    with pytest.raises(InputError, match="leads out of"):
        Project(project).system("loop")


def test_systems_of_the_clone_are_known_by_name(tmp_path):
    assert Project(tmp_path).system("motor-linux") == "motor-linux"
    with pytest.raises(InputError, match='no system "'):
        Project(tmp_path).system("nowhere")


def test_a_limit_that_is_none_is_refused():
    line = [sys.executable, *SERVER, "--limit", "0"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert done.stderr == "tenon: --limit: not a length of time: 0; give more than 0\n"


HANDSHAKE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "a test", "version": "1"},
}
SLOW = """
import os, sys, time
open('pid', 'w').write(str(os.getpid()))
time.sleep(60)
"""
SERVE = """
import sys
from pathlib import Path
from tenonos.serve import serve, work
work.ROOT = Path.cwd()
serve(Path.cwd(), 60)
"""


@pytest.mark.parametrize("end", ["cancelled", "left"])
def test_an_abandoned_call_is_ended(tmp_path, end):
    (tmp_path / "orchestrator").write_text(SLOW)
    server = subprocess.Popen(
        [sys.executable, "-c", SERVE],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT / "orchestrator")},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )

    def say(method, params, **more):
        line = {"jsonrpc": "2.0", "method": method, "params": params, **more}
        server.stdin.write(json.dumps(line) + "\n")
        server.stdin.flush()

    say("initialize", HANDSHAKE, id=1)
    assert json.loads(server.stdout.readline())["result"]["serverInfo"]["name"] == "tenon"
    say("notifications/initialized", {})
    say("tools/call", {"name": "list", "arguments": {"what": "boards"}}, id=2)
    pid = tmp_path / "pid"
    soon(lambda: pid.exists() and pid.read_text())
    if end == "cancelled":
        say("notifications/cancelled", {"requestId": 2})
        soon(lambda: not running(pid.read_text()))
    server.stdin.close()
    assert server.wait(20) == 0
    server.stdout.close()
    assert not running(pid.read_text())


def running(pid):
    return os.path.exists(f"/proc/{pid}")


def soon(fact):
    """Wait until something is so, for as long as a busy machine may need."""
    end = time.monotonic() + 20
    while not fact():
        assert time.monotonic() < end
        time.sleep(0.05)
