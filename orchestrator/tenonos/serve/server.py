"""Server of the Model Context Protocol: list of tools, results of calls."""

from __future__ import annotations

import inspect
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import anyio
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
)
from mcp_types import Tool as Offer

from tenonos import __version__
from tenonos.errors import TenonError
from tenonos.serve.served_folder import Project
from tenonos.serve.tools import TOOLS, Tool, asked
from tenonos.serve.work import GRACE, Outcome, work

INSTRUCTIONS = (
    "TenonOS composes a real-time system from an objective, builds, boots and measures it."
    " compose with an output folder, then build or run that folder; explain says why a library"
    " is in it. An error is one line: what, where, how to correct it."
)

Context = ServerRequestContext[Any]

INTERRUPTED = 130
"""The status of a process that ends at Ctrl-C."""


class Desk:
    """Handles calls for one project; builds are serialised."""

    def __init__(self, project: Project, limit: float) -> None:
        self._project, self._limit = project, limit
        self._building = anyio.Lock()
        self.running = 0
        """The number of commands that run."""

    async def offers(self, _: Context, __: PaginatedRequestParams | None) -> ListToolsResult:
        """The tools, with schemas of arguments and results."""
        return ListToolsResult(tools=[_offer(name, tool) for name, tool in TOOLS.items()])

    async def call(self, _: Context, params: CallToolRequestParams) -> CallToolResult:
        """The output of a tool's command, or its one-line error."""
        try:
            tool = asked(params.name, params.arguments or {})
            line = tool.line(self._project)
            if not tool.alone:
                return _answer(tool, await self._work(params.name, line))
            async with self._building:
                return _answer(tool, await self._work(params.name, line))
        except TenonError as error:
            return CallToolResult(content=[TextContent(text=str(error))], is_error=True)

    async def _work(self, name: str, line: list[str]) -> Outcome:
        self.running += 1
        try:
            return await work(name, line, self._project, self._limit)
        finally:
            self.running -= 1


def _offer(name: str, tool: type[Tool]) -> Offer:
    given: dict[str, Any] = {"type": "object"}
    if tool.many:
        rows = {"type": "array", "items": {"type": "object"}}
        given |= {"properties": {"result": rows}, "required": ["result"]}
    return Offer(
        name=name,
        description=inspect.cleandoc(tool.__doc__ or ""),
        input_schema=tool.model_json_schema(),
        output_schema=given,
    )


def _answer(tool: Tool, outcome: Outcome) -> CallToolResult:
    """The JSON as structure and as text; an array is wrapped as `result` of an object."""
    printed = outcome.printed
    structure = {"result": printed} if isinstance(printed, list) else printed
    said = [] if structure is None else [json.dumps(structure, ensure_ascii=False)]
    if outcome.complaint is not None:
        said.insert(0, outcome.complaint)
    if outcome.messages and tool.alone:
        said.append("\n".join(outcome.messages))
    return CallToolResult(
        content=[TextContent(text=text) for text in said],
        structured_content=structure,
        is_error=outcome.complaint is not None,
    )


async def _serve(desk: Desk) -> None:
    server = Server(
        "tenon",
        version=__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=desk.offers,
        on_call_tool=desk.call,
    )
    async with stdio_server() as (requests, answers):
        await server.run(requests, answers, server.create_initialization_options())


def serve(folder: Path, limit: float) -> None:
    """Serve on stdin and stdout until the client disconnects."""

    desk = Desk(Project(folder), limit)

    async def main() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(_end_at_interrupt, desk, group.cancel_scope)
            await _serve(desk)
            group.cancel_scope.cancel()

    anyio.run(main)


async def _end_at_interrupt(desk: Desk, scope: anyio.CancelScope) -> None:
    """End at Ctrl-C. The thread that reads stdin returns with the next line only, so it ends with
    the process, as soon as no command runs."""
    with anyio.open_signal_receiver(signal.SIGINT) as signals:
        async for _ in signals:
            threading.Thread(target=_leave, args=[desk], daemon=True).start()
            scope.cancel()


def _leave(desk: Desk) -> None:
    """End the process once its commands have ended, at the latest after their grace."""
    latest = time.monotonic() + GRACE + 1
    while desk.running and time.monotonic() < latest:
        time.sleep(0.05)
    sys.stderr.write("tenon: interrupted\n")
    os._exit(INTERRUPTED)
