"""Tools, their arguments and their command lines.

Values of a caller follow `=` or `--`, so that they cannot be read as options.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tenonos.errors import InputError
from tenonos.serve.served_folder import Project

EXPLANATION = "explain.json"
"""The file that `explain` reads in a composed folder."""

Text = Annotated[str, Field(min_length=1, max_length=4096, pattern=r"^[^\x00]*$")]
System = Annotated[
    Text, Field(description="A name that list gives, or a folder or system.toml of the project.")
]


class Tool(BaseModel):
    """The arguments of one tool; its docstring is the description for callers."""

    model_config = ConfigDict(extra="forbid", strict=True)

    alone: ClassVar[bool] = False
    """Whether it builds, and is serialised with other builds."""

    many: ClassVar[bool] = False
    """Whether the command prints an array."""

    def line(self, project: Project) -> list[str]:
        """The command's arguments."""
        raise NotImplementedError


class Compose(Tool):
    """From an objective in English to a validated system: libraries, settings, memory.

    Writes system.toml, a configuration for each image and the reasons if `output` is given.
    What cannot be met is refused, with the demands that clash or that nothing provides.
    """

    objective: Text = Field(description="What the system is for, in English.")
    output: Text | None = Field(None, description="The folder of the project to write.")
    board: Text | None = Field(None, description="One that list gives (default: qemu-virt).")

    def line(self, project: Project) -> list[str]:
        """`compose --json`."""
        line = ["--json"]
        if self.output is not None:
            line.append(f"--output={project.inside(self.output, 'output')}")
        if self.board is not None:
            line.append(f"--board={self.board}")
        return [*line, "--", self.objective]


class Explain(Tool):
    """Why a library is in a composition, or out: the words, the path, the need, the cost."""

    many = True

    folder: Text = Field(description="A folder of the project that compose wrote.")
    symbol: Text | None = Field(
        None, description="A library, capability or CONFIG symbol (default: all)."
    )

    def line(self, project: Project) -> list[str]:
        """`explain --json`."""
        symbol = [] if self.symbol is None else [self.symbol]
        folder = project.inside(self.folder, "folder")
        project.inside(f"{folder}/{EXPLANATION}", "folder")
        return ["--json", "--", folder, *symbol]


class Build(Tool):
    """Build a system into one image that boots; the answer names the files."""

    alone = True

    system: System
    pristine: bool = Field(False, description="Start from nothing.")
    define: list[Text] = Field([], max_length=64, description="More settings: CONFIG_X=y.")

    def line(self, project: Project) -> list[str]:
        """`build --json`."""
        more = ["--pristine"] if self.pristine else []
        more += [f"-D{setting}" for setting in self.define]
        return ["--json", *more, "--", project.system(self.system)]


class Run(Tool):
    """Build a system, boot it in QEMU, and measure a window of its time.

    The answer has each VM's state, the latency of each periodic task and what channels
    carried; what the consoles said at the end follows it as text.
    """

    alone = True

    system: System
    seconds: float = Field(2.0, gt=0, le=3600, description="The window, in guest time.")
    deterministic: bool = Field(
        True, description="One instruction is one nanosecond, and two runs are equal."
    )

    def line(self, project: Project) -> list[str]:
        """`run --headless --json -`."""
        clock = ["--deterministic"] if self.deterministic else []
        line = ["--headless", "--json=-", f"--seconds={self.seconds}", *clock]
        return [*line, "--", project.system(self.system)]


class Bench(Tool):
    """Measure what operations cost, in instructions of the deterministic emulator."""

    alone = True
    many = True

    suites: list[Text] = Field(
        min_length=1, max_length=32, description="Such as sched, irq, timer, boot, size."
    )
    environments: list[Text] = Field(
        [],
        max_length=8,
        description="bare, mortise-static, mortise-static+linux, mortise-dynamic (default: all).",
    )

    def line(self, project: Project) -> list[str]:
        """`bench --json -`."""
        where = [f"--environment={name}" for name in self.environments]
        return ["--json=-", *where, "--", *self.suites]


class List(Tool):
    """What there is: boards, micro-libraries of the pool, or systems of the clone."""

    many = True

    what: Literal["boards", "libraries", "systems"]

    def line(self, project: Project) -> list[str]:
        """`list --json`."""
        return ["--json", "--", self.what]


class Tree(Tool):
    """Each image's libraries, and which others each of them needs."""

    system: System

    def line(self, project: Project) -> list[str]:
        """`tree --json`."""
        return ["--json", "--", project.system(self.system)]


TOOLS: dict[str, type[Tool]] = {
    tool.__name__.lower(): tool for tool in (Compose, Explain, Build, Run, Bench, List, Tree)
}
"""The tools by command name."""


def asked(name: str, arguments: dict[str, object]) -> Tool:
    """The validated arguments of a call."""
    if name not in TOOLS:
        raise InputError(f'no tool "{name}"', mend=f"there are {', '.join(TOOLS)}")
    try:
        return TOOLS[name].model_validate(arguments)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join((name, *map(str, first["loc"])))
        raise InputError(first["msg"], where, "see the tool's input schema") from None
