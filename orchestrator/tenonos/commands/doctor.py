"""`./tenon doctor`: what is there and what is missing."""

from __future__ import annotations

from typing import Annotated

import typer


def command(
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Show the state of the machine, and which figures depend on it."""
    from rich.text import Text

    from tenonos import ui
    from tenonos.setup import doctor

    findings = doctor.examine()
    good = doctor.healthy(findings)
    if as_json:
        ui.print_json(doctor.as_json(findings))
    else:
        marks = {"ok": ("✓", "green"), "optional": ("·", "yellow"), "missing": ("✗", "bold red")}
        rows = [
            (
                Text(*marks[finding.state]),
                finding.name,
                finding.version,
                finding.purpose,
                finding.mend or finding.figures,
            )
            for finding in findings
        ]
        ui.table(["", "tool", "version", "for", "figures, or how to mend"], rows)
        ui.message("All that is required is there." if good else "Something required is missing.")
    if not good:
        raise typer.Exit(1)
