"""`./tenon explain`: reasons for the choice of a composition."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tenonos import completion
from tenonos.options import AsJson

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tenonos.plan.explain import Explanation, Step


def command(
    folder: Annotated[Path, typer.Argument(help="Folder that compose wrote.", metavar="DIR")],
    symbol: Annotated[
        str | None,
        typer.Argument(
            autocompletion=completion.symbols,
            help="Library, capability or CONFIG symbol (default: all).",
            metavar="SYMBOL",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show why a library is in or out: words of the objective, path, dependency, cost.

    Example: ./tenon explain loop core/timer
    """
    from tenonos import ui
    from tenonos.plan.explain import Explainer
    from tenonos.plan.pool import Pool
    from tenonos.plan.report import analysis_lines, made_lines

    explainer = Explainer(folder, Pool())
    found = explainer.about(symbol) if symbol else explainer.all()
    if as_json:
        ui.print_json([explanation.json_dict() for explanation in found])
    elif symbol:
        for explanation in found:
            _show(explanation)
    else:
        ui.table(
            ["image", "library", f">{found[0].cost_unit if found else 'cost'}", "because"],
            _rows(found),
        )
        ui.table(
            ["image", "parameter", ">value", "because"],
            [
                *([image, p.symbol, p.value, p.because] for image, p in explainer.parameters()),
                *(
                    [vm, f"priority of task {task}", str(priority), "stated in system.toml"]
                    for vm, task, priority in explainer.task_priorities()
                ),
            ],
        )
        for line in made_lines(explainer.channels(), explainer.templates(), explainer.devices()):
            ui.data(line)
        for line in analysis_lines(explainer.analysis()):
            ui.data(line)


def _rows(found: Sequence[Explanation]) -> Iterator[list[str]]:
    """A row for each, with a ditto mark for the reason of the one above."""
    above = None
    for e in found:
        reason = (e.image, e.because)
        cost = "" if e.cost is None else f"{e.cost:,}"
        because = "″" if reason == above else e.because
        yield [e.image, e.name, cost, because + ("" if e.calls is None else f"; {_calls(e)}")]
        above = reason


def _show(explanation: Explanation) -> None:
    from tenonos import ui

    e = explanation
    ui.data(f"{e.name} is {'in' if e.chosen else 'not in'} {e.image}: {e.because}")
    for one in e.found:
        score = f"score {one.score:.2f}, {one.threshold:.2f} at least"
        ui.data(f"  found    “{one.words}”: {_arrows(one.path)}; {score}")
    if e.path:
        ui.data(f"  path     {_arrows(e.path)}")
    if e.calls is not None:
        ui.data(f"  serves   {_calls(e)}")
    if e.pulls_in:
        ui.data(f"  pulls in {', '.join(e.pulls_in)}")
    if e.cost is not None and (e.chosen or e.measured):
        ui.data(f"  costs    {e.cost:,} {e.cost_unit}{_measured(e)}")


def _calls(e: Explanation) -> str:
    return f"the program calls {', '.join(e.calls)}" if e.calls else "no call of the program"


def _arrows(path: Sequence[Step]) -> str:
    """Relations, each followed in the way it was come to."""
    shown = path[0].source
    for step in path:
        forth = shown.endswith(step.source)
        shown += (
            f" ─{step.relation}→ {step.target}" if forth else f" ←{step.relation}─ {step.source}"
        )
    return shown


def _measured(e: Explanation) -> str:
    """What else its card says, and where that was measured."""
    if e.measured is None:
        return ", estimated by its lines"
    found = [f"{taken} instructions for {name}" for name, taken in sorted(e.instructions.items())]
    found += [f"{e.stack:,} bytes of stack"] if e.stack else []
    return f", {', '.join([*found, f'measured in {e.measured}'])}"
