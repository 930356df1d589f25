"""The MCP server: composes, builds, runs and measures a system."""

import asyncio
import sys

import pytest
from conftest import ROOT
from mcp import Client, StdioServerParameters

OBJECTIVE = "a 1 kHz control loop"
SIZE = {"suites": ["size"]}


async def calls(folder):
    """The answers to a client that makes all calls in this order."""
    command = [str(ROOT / "orchestrator"), "mcp", "-C", str(folder)]
    server = StdioServerParameters(command=sys.executable, args=command)
    async with Client(server, mode="legacy") as agent:
        return [
            await agent.call_tool("compose", {"objective": OBJECTIVE, "output": "loop"}),
            await agent.call_tool("build", {"system": "loop"}),
            await agent.call_tool("run", {"system": "loop", "seconds": 0.1}),
            await agent.call_tool("bench", SIZE),
        ]


@pytest.mark.timeout(600)
def test_an_agent_composes_builds_runs_and_measures(tmp_path):
    answers = asyncio.run(calls(tmp_path))
    for answer in answers:
        assert not answer.is_error, answer.content
    composed, built, run, rows = (answer.structured_content for answer in answers)
    assert composed["objective"] == OBJECTIVE
    assert any(str(file).endswith("system.img") for file in built.values())
    (task,) = run["periodic"]
    assert task["released"] == task["completed"] >= 100
    assert any(row["name"] == "mortise_static" for row in rows["result"])
