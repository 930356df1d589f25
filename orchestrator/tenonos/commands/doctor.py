"""`./tenon doctor`: state of the tools on this machine."""

from __future__ import annotations

import typer

from tenonos.options import AsJson


def command(
    as_json: AsJson = False,
) -> None:
    """Show installed and missing tools, and the figures that depend on them.

    Example: ./tenon doctor
    """
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
        ui.table(["", "tool", "version", "for", "affected figures, or remedy"], rows)
        ui.message("All required tools are installed." if good else "A required tool is missing.")
    if not good:
        raise typer.Exit(1)
