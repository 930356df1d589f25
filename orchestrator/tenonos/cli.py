"""The command line: one lazily loaded module per command, one line per error."""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import inspect
import os
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from tenonos import __version__, completion, host, paths, ui, usage
from tenonos.errors import InputError, TenonError
from tenonos.settings import SETTINGS

COMMANDS = (
    *("demo", "compose", "explain", "new", "build", "run", "config", "graph", "bench", "size"),
    *(
        "check",
        "test",
        "list",
        "tree",
        "measure",
        "mutants",
        "train",
        "explore",
        "report",
        "docs",
        "mcp",
        "doctor",
        "clean",
    ),
)
"""In the order of the help; a command without a module is not listed."""

HOMES = ("tenonos.commands", "tools.commands")
"""The packages with a module for each command."""

INTERRUPTED = 130
HELP = {"help_option_names": ["-h", "--help"]}
ENTRY: dict[str, Any] = {
    "prog_name": "./tenon",
    "standalone_mode": False,
    "complete_var": completion.VARIABLE,
}


def _set(name: str, value: Any) -> Any:
    if value not in (None, False):
        setattr(SETTINGS, name, value)
    return value


def _enter(folder: Path | None) -> Path | None:
    if folder is not None:
        try:
            os.chdir(folder)
        except OSError as error:
            raise InputError(f"cannot enter {folder}: {error.strerror}", "-C") from None
    return folder


def _option(kind: Any, field: str, names: tuple[str, ...], text: str, **more: Any) -> Any:
    action = more.pop("callback", functools.partial(_set, field))
    return Annotated[
        kind,
        typer.Option(*names, callback=lambda value: action(value), help=text, **more),
    ]


GLOBAL_OPTIONS: dict[str, Any] = {
    "_directory": _option(
        Path | None,
        "",
        ("-C",),
        "Change to DIR first.",
        metavar="DIR",
        callback=_enter,
        is_eager=True,
    ),
    "_quiet": _option(bool, "quiet", ("-q", "--quiet"), "Print errors only."),
    "_verbose": _option(bool, "verbose", ("-v", "--verbose"), "Print more messages."),
    "_yes": _option(bool, "yes", ("--yes",), "Answer every question with yes."),
    "_offline": _option(
        bool, "offline", ("--offline",), "Use no network; fail where something must be fetched."
    ),
    "_locked": _option(bool, "locked", ("--locked",), "Fail where a lock file would change."),
    "_jobs": _option(
        int,
        "jobs",
        ("-j", "--jobs"),
        "Number of parallel jobs (0: one per core).",
        metavar="N",
        min=0,
        show_default=False,
    ),
}


def _with_global_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command's function with the global options added to its signature."""

    @functools.wraps(command)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return command(*args, **{k: v for k, v in kwargs.items() if k not in GLOBAL_OPTIONS})

    signature = inspect.signature(command, eval_str=True)
    defaults: dict[str, Any] = {"_directory": None, "_jobs": 0}
    extra = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=defaults.get(name, False),
            annotation=annotation,
        )
        for name, annotation in GLOBAL_OPTIONS.items()
    ]
    parameters = [*signature.parameters.values(), *extra]
    wrapper.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    wrapper.__annotations__ = {p.name: p.annotation for p in parameters}
    return wrapper


class LazyCommands(TyperGroup):
    """The group that imports a command's module when the command is named."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The commands that exist, in the order of the help."""
        return [name for name in COMMANDS if _module(name)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of that name, or None."""
        name = _module(cmd_name) if cmd_name in COMMANDS else None
        if name is None:
            return None
        module = importlib.import_module(name)
        if hasattr(module, "app"):
            return typer.main.get_command(module.app)
        app = typer.Typer(add_completion=False, rich_markup_mode=None, context_settings=HELP)
        app.command(cmd_name)(_with_global_options(module.command))
        return usage.as_documented(typer.main.get_command(app))


def _module(name: str) -> str | None:
    """The module of a command: of the orchestrator, or of the developers' tools."""
    packages = [place for place in HOMES if importlib.util.find_spec(place.partition(".")[0])]
    found = (f"{package}.{name}" for package in packages)
    return next((module for module in found if importlib.util.find_spec(module)), None)


def _version(value: bool) -> None:
    if value:
        sys.stdout.write(f"tenon {__version__}\n")
        raise typer.Exit


def _completion(shell: completion.Shell | None) -> None:
    if shell is not None:
        sys.stdout.write(f"{completion.script(shell)}\n")
        raise typer.Exit


app = typer.Typer(
    name="./tenon",
    cls=LazyCommands,
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    context_settings=HELP,
    epilog="Exit status: 0 done, 1 the work failed, 2 the input is wrong.",
)


def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    shell: Annotated[
        completion.Shell | None,
        typer.Option(
            "--completion",
            callback=_completion,
            is_eager=True,
            help="Print the completion script of a shell.",
        ),
    ] = None,
) -> None:
    """TenonOS: one pool of micro-libraries, two kernels, composed from an objective."""


app.callback()(_with_global_options(_root))


def _complain(line: str) -> None:
    with contextlib.suppress(OSError, TenonError):
        sys.stdout.flush()
    with contextlib.suppress(OSError):
        sys.stderr.write(f"tenon: {usage.as_typed(line)}\n")


def _report(error: BaseException) -> str:
    """One line about an internal error, with the log file that has the details."""
    what = f"{type(error).__name__}: {error}".splitlines()[0]
    try:
        log = paths.ensure(paths.LOG) / f"error-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.log"
        log.write_text(f"{sys.argv}\n\n{''.join(traceback.format_exception(error))}")
    except OSError:
        return f"internal error: {what}"
    return f"internal error: {what} (details in {paths.shown(log)})"


def run(arguments: list[str] | None = None) -> int:
    """Run one command line; the exit status."""
    try:
        completion.prepare()
        status = app(arguments, **ENTRY) or 0
        sys.stdout.flush()
        return status
    except TenonError as error:
        _complain(str(error))
        return error.status
    except (KeyboardInterrupt, typer.Abort):
        _complain("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        # The pipe's other end is closed; a flush at exit must not fail again.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (1, 2):
            os.dup2(nowhere, stream)
        return 1
    except Exception as error:
        if (trouble := host.trouble(error)) is not None:
            _complain(str(trouble))
            return trouble.status
        if hasattr(error, "format_message"):  # typer's usage errors
            words = sys.argv[1:] if arguments is None else arguments
            _complain(usage.explained(error.format_message(), words, COMMANDS))
            return 2
        _complain(_report(error))
        return 1


def _named(arguments: list[str]) -> str:
    """The command of a command line, as its long waits name it."""
    return next((word for word in arguments if word in COMMANDS), "tenon")


def main() -> None:
    """The process's entry point."""
    if not host.connect():
        _complain("stdout: it is closed; redirect it, for example to /dev/null")
        sys.exit(1)
    ui.WAITS.watch()
    with ui.awaiting(_named(sys.argv[1:])):
        status = run()
    host.disconnect()
    sys.exit(status)
