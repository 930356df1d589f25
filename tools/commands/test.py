"""`./tenon test`: all the project's tests, or some of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tenonos.options import AsJson

if TYPE_CHECKING:
    from tools.testing import Selection, Suite


def command(
    which: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SUITE|PATH",
            help="Suites (host, python, target, bootstrap, all), folders, files or FILE::TEST.",
        ),
    ] = None,
    words: Annotated[
        str, typer.Option("-k", metavar="WORD", help="Only tests whose name matches.")
    ] = "",
    full: Annotated[
        bool, typer.Option("--full", help="Every test, as often as the documents state: for hours.")
    ] = False,
    since: Annotated[
        str | None,
        typer.Option(metavar="COMMIT", help="Run the long tests of what changed since COMMIT."),
    ] = None,
    as_json: AsJson = False,
    soak: Annotated[
        bool,
        typer.Option(
            "--soak", help="In place of the tests, judge each release of a day of virtual time."
        ),
    ] = False,
) -> None:
    """Run the tests (default: all suites but bootstrap, without long tests of unchanged parts).

    Example: ./tenon test pool/core/sched, or ./tenon test target -k hostile
    """
    import time

    if soak:
        return _soak(as_json)

    from tenonos import ui
    from tenonos.errors import InputError
    from tenonos.settings import SETTINGS
    from tools.testing import Count

    chosen, selection = _chosen(which or [], words, full, since)
    total = Count()
    results = {}
    for suite in chosen:
        started = time.monotonic()
        with ui.activity(f"{suite.name}: {suite.purpose}") as show:
            found = suite.run(show, SETTINGS.parallel, selection)
        seconds = time.monotonic() - started
        ui.message(f"{suite.name}: {found.line} ({suite.purpose}, {seconds:.0f} s)")
        for failure in found.failures:
            ui.err().print(f"  failed: {failure}", style="red", markup=False, soft_wrap=True)
        results[suite.name] = {**vars(found), "seconds": round(seconds, 1)}
        total += found
    _tell_left_out(chosen, selection)
    if as_json:
        ui.print_json({"suites": results, "passed": total.passed, "failed": total.failed})
    else:
        ui.data(total.line)
    if words and total == Count():
        raise InputError(f"no test has a name with {words}", "-k", "name a part of one")
    if total.failed or not total.passed:
        raise typer.Exit(1)


def _chosen(
    which: list[str], words: str, full: bool, since: str | None
) -> tuple[list[Suite], Selection]:
    """The suites to run, and which of their tests."""
    from pathlib import Path

    from tenonos.errors import InputError
    from tools.testing import SUITES, Selection, named

    known = [suite.name for suite in SUITES]
    suites = {word for word in which if word in (*known, "all")}
    rest = [word for word in which if word not in suites]
    if unknown := [word for word in rest if word.isidentifier() and not Path(word).exists()]:
        there = ", ".join(known)
        raise InputError(
            f"no tests named {', '.join(unknown)}", mend=f"there are {there}, all, and paths"
        )
    places, tests = named(rest, Path.cwd())
    selection = Selection(places, tests, words, full, since)
    if places:
        chosen = [suite for suite in SUITES if suite.name in suites or suite.holds(selection)]
    else:
        everything = not suites or "all" in suites
        chosen = [suite for suite in SUITES if suite.name in suites or (everything and suite.usual)]
    return chosen, selection


def _tell_left_out(chosen: list[Suite], selection: Selection) -> None:
    from tenonos import ui

    left = [test for suite in chosen for test in suite.left_out(selection)]
    if left:
        minutes = sum(test.seconds for test in left) / 60
        ui.message(
            f"left out: {len(left)} long tests of parts that did not change, "
            f"{minutes:.0f} min of processor time; --full runs them too"
        )


def _soak(as_json: bool) -> None:
    """Releases for hours of virtual time, each one judged."""
    from tenonos import ui
    from tools.testing import soak

    with ui.activity("soaking: 24 h at 10 Hz, 10 min at 1 kHz, of virtual time"):
        rates = soak.run()
    if as_json:
        ui.print_json([vars(rate) | {"well": rate.is_well} for rate in rates])
    for rate in rates:
        (ui.message if as_json else ui.data)(rate.line)
    if not all(rate.is_well for rate in rates):
        raise typer.Exit(1)
