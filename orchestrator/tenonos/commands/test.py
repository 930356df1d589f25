"""`./tenon test`: all the project's tests."""

from __future__ import annotations

from typing import Annotated

import typer


def command(
    suites: Annotated[
        list[str] | None, typer.Argument(help="host, python, target, bootstrap or all.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
    soak: Annotated[
        bool, typer.Option("--soak", help="Soak instead: a day of virtual time.")
    ] = False,
) -> None:
    """Run the tests (default: all but bootstrap)."""
    import time

    if soak:
        return _soak(as_json)

    from tenonos import ui
    from tenonos.errors import InputError
    from tenonos.settings import SETTINGS
    from tenonos.testing import SUITES, Count

    asked = set(suites or ["all"])
    known = [suite.name for suite in SUITES]
    if unknown := asked - {*known, "all"}:
        names = ", ".join(sorted(unknown))
        raise InputError(f"no tests named {names}", mend=f"there are {', '.join(known)}, all")
    total = Count()
    results = {}
    for suite in SUITES:
        if suite.name not in asked and not ("all" in asked and suite.usual):
            continue
        started = time.monotonic()
        with ui.activity(f"{suite.name}: {suite.purpose}") as show:
            found = suite.run(show, SETTINGS.parallel)
        seconds = time.monotonic() - started
        ui.message(f"{suite.name}: {found.line} ({suite.purpose}, {seconds:.0f} s)")
        for failure in found.failures:
            ui.err().print(f"  failed: {failure}", style="red", markup=False, soft_wrap=True)
        results[suite.name] = {**vars(found), "seconds": round(seconds, 1)}
        total += found
    if as_json:
        ui.print_json({"suites": results, "passed": total.passed, "failed": total.failed})
    else:
        ui.data(total.line)
    if total.failed or not total.passed:
        raise typer.Exit(1)


def _soak(as_json: bool) -> None:
    """Releases for hours of virtual time, each one judged."""
    from tenonos import ui
    from tenonos.testing import soak

    with ui.activity("soaking: 24 h at 10 Hz, 10 min at 1 kHz, of virtual time"):
        rates = soak.run()
    if as_json:
        ui.print_json([vars(rate) | {"well": rate.is_well} for rate in rates])
    for rate in rates:
        (ui.message if as_json else ui.data)(rate.line)
    if not all(rate.is_well for rate in rates):
        raise typer.Exit(1)
