"""`./tenon check`: the rules of the code base."""

from __future__ import annotations

from typing import Annotated

import typer

from tenonos.options import AsJson


def command(
    rules: Annotated[
        list[str] | None,
        typer.Argument(
            help="Rules to check (default: all; CONTRIBUTING.md lists them).", metavar="RULE"
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check the rules of the code base: layer order, authority, formatting, lints.

    Example: ./tenon check field-words
    """
    from tenonos import ui
    from tenonos.errors import InputError
    from tools.check import RULES, Breach, Context, Skipped, tree

    unknown = set(rules or ()) - {rule.name for rule in RULES}
    if unknown:
        known = ", ".join(rule.name for rule in RULES)
        raise InputError(f"no rule named {', '.join(sorted(unknown))}", mend=f"there are {known}")
    context = Context()
    breaches: list[Breach] = []
    skipped: dict[str, str] = {}
    chosen = [rule for rule in RULES if not rules or rule.name in rules]
    for rule in chosen:
        try:
            with ui.awaiting(f"rule {rule.name}"):
                found = list(rule.find(context))
        except Skipped as reason:
            skipped[rule.name] = str(reason)
            ui.message(f"· {rule.name}: skipped, {reason}", "yellow")
            continue
        breaches += found
        ui.message(f"{'✗' if found else '✓'} {rule.name}: {rule.gist}", "red" if found else None)
        if not as_json:
            for breach in found:
                ui.data(str(breach))
    counts = tree.unsafe_count(context)
    broken = {breach.rule for breach in breaches}
    if as_json:
        ui.print_json(
            {
                "rules": [rule.name for rule in chosen],
                "skipped": skipped,
                "breaches": [vars(breach) for breach in breaches],
                "unsafe": {name: {"code": c, "unsafe": u} for name, (c, u) in counts.items()},
            }
        )
    elif not rules:
        rows = [(name, code, unsafe) for name, (code, unsafe) in counts.items() if unsafe]
        rows.append(
            ("all of the pool", *(sum(pair) for pair in zip(*counts.values(), strict=True)))
        )
        ui.table(["crate with unsafe code", ">lines of code", ">of them unsafe"], rows)
    ui.message(
        f"{len(chosen) - len(broken) - len(skipped)} rules kept, {len(broken)} broken"
        + (f", {len(skipped)} skipped" if skipped else "")
    )
    if breaches:
        raise typer.Exit(1)
