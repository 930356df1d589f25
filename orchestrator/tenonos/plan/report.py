"""Texts about a composition: one line for a refusal, tables for an answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tenonos.errors import InputError
from tenonos.plan.models import (
    NO_DEMAND,
    Analysis,
    Assumption,
    Channel,
    Composition,
    Item,
    Resource,
    Template,
    Verdict,
)
from tenonos.system.units import duration_text, size_text

SHOWN = 8
QUESTIONS = 3
"""The most questions about an objective."""
DOUBTFUL = 0.75
"""A reading of more confidence is not asked about."""
LONGEST = 120
"""The most characters of the user's words in a line."""
EXAMPLE = "state what is to run, for example “a 1 kHz control loop beside Linux”"
DEMAND = ("demand", "value", "of", "from")
"""The heads of a table of `demand` lines."""


def refusal(answer: Composition, alone: str = "") -> InputError:
    """The reason why an objective is refused, in one line; `alone` says how it was read."""
    if not answer.objective.strip():
        return InputError("empty", "objective", EXAMPLE)
    if answer.missing:
        words = [
            _quoted(m.source) + (f" ({m.capability})" if m.capability else "")
            for m in answer.missing
        ]
        what = f"nothing in the pool provides {_list(words)}"
        if all(m.capability is None for m in answer.missing) and not _understood(answer):
            what = f"not understood: {_list(words)}"
    else:
        words = [_quoted(c.source) for c in answer.conflict]
        verb = "cannot be met" if len(set(words)) == 1 else "cannot be met together"
        what = f"{_list(words)} {verb}: {answer.reason}"
    known = _understood(answer)
    mend = f"understood: {', '.join(known)}" if known else EXAMPLE
    if alone and any(missing.capability is None for missing in answer.missing):
        mend += f"; {alone}"
    return InputError(what, "objective", mend)


def meanings(plan: Iterable[Item]) -> dict[tuple[int, int], list[str]]:
    """The demands that words of the objective became, by the words' place."""
    found: dict[tuple[int, int], list[str]] = {}
    for item in plan:
        if item.span:
            found.setdefault(item.span, []).append(f"{item.kind} {value_text(item)}")
    return found


def value_text(item: Item) -> str:
    """A demand's value in the usual notation."""
    if isinstance(item.value, int) and item.unit == "ns":
        return duration_text(item.value)
    if isinstance(item.value, int) and item.unit == "bytes":
        return size_text(item.value)
    return str(item.value)


def demand(item: Item) -> list[str]:
    """A demand or default as a table row, with its origin."""
    source = f"“{item.source}”" if item.source else f"rule {item.rule}"
    return [_kind(item), value_text(item), item.image or "system", source]


def _kind(item: Item) -> str:
    """The kind of a demand: `cores` is a number, or an index if the unit says so."""
    return "on CPU" if item.unit == "cpu" else item.kind


def analysis_lines(analysis: Analysis) -> list[str]:
    """The guarantees, their assumptions, and the use of the board."""
    return [
        *map(_verdict, analysis.tasks),
        *(f"  if {assumption}" for assumption in analysis.assumptions if _any(analysis)),
        *([f"takes {'; '.join(map(_resource, analysis.resources))}"] if analysis.resources else []),
    ]


def made_lines(
    channels: Sequence[Channel],
    templates: Sequence[Template],
    devices: Mapping[str, Sequence[str]],
) -> list[str]:
    """Channels and VMs created on demand with the words that ask for them; devices."""
    owned = [f"device {name}: assigned to {vm}" for vm, names in devices.items() for name in names]
    return [*map(_channel, channels), *map(_template, templates), *owned]


def assumption_lines(assumptions: Sequence[Assumption]) -> list[str]:
    """What is likely and not certain, each with its alternative."""
    return [
        f"assumed: {_quoted(each.source)} is {each.taken_as}, not {each.instead_of} "
        f"({100 * each.confidence:.0f} % sure)"
        for each in assumptions
    ]


def questions(assumptions: Sequence[Assumption]) -> dict[str, str]:
    """At most three questions by capability, the least certain first: those that decide whether a
    system has it."""
    found: dict[str, str] = {}
    for each in sorted(assumptions, key=lambda each: each.confidence):
        name = each.taken_as if each.instead_of == NO_DEMAND else each.instead_of
        asks = NO_DEMAND in (each.taken_as, each.instead_of) and " " not in name
        if asks and each.confidence < DOUBTFUL and len(found) < QUESTIONS:
            found.setdefault(name, f"Does {_quoted(each.source)} demand {name}?")
    return found


def _channel(channel: Channel) -> str:
    said = [f"from “{channel.words}”"] if channel.words else []
    said += [f"rule {channel.rule}"] if channel.rule else []
    return (
        f"channel {channel.name}: {channel.origin} writes, {channel.to} reads, {channel.slots} "
        f"messages of up to {channel.size} bytes, {', '.join(said)}"
    )


def _template(template: Template) -> str:
    name = template.name
    first = f", or by the first message of channel {template.start_on}" if template.start_on else ""
    cores = ", ".join(map(str, template.cpus))
    return (
        f"{name} is created by {template.made_by} (tenonctl instantiate {name}){first}, on core "
        f"{cores}, with {size_text(template.memory)} of {size_text(template.reserve)} in reserve, "
        f"from “{template.words}”"
    )


def _any(analysis: Analysis) -> bool:
    return any(verdict.guaranteed for verdict in analysis.tasks)


def _verdict(verdict: Verdict) -> str:
    if not verdict.guaranteed:
        return f"{verdict.image}: not guaranteed: {verdict.because}"
    begins = f"begins within {duration_text(verdict.latency)} and " if verdict.latency else ""
    completes = f"completes within {duration_text(verdict.response or 0)}"
    return (
        f"{verdict.image}: guaranteed: {begins}{completes} of each release, "
        f"of {duration_text(verdict.deadline or 0)}"
    )


def _resource(resource: Resource) -> str:
    if resource.unit == "bytes":
        return f"{size_text(resource.used)} of {size_text(resource.available)} of memory"
    if resource.unit == "cores":
        return f"{resource.used} of {resource.available} cores"
    whole, part = divmod(resource.used, 10_000)
    return f"{whole}.{part:04d} % of the {resource.name}"


def _understood(answer: Composition) -> list[str]:
    found = [f"{_kind(i)} {value_text(i)}" for i in answer.plan if i.stated]
    unique = list(dict.fromkeys(found))
    return unique[:SHOWN] + (["…"] if len(unique) > SHOWN else [])


def _quoted(words: str | None) -> str:
    """Words of the user, truncated if long."""
    said = " ".join((words or "").split())
    return f"“{said}”" if len(said) <= LONGEST else f"“{said[:LONGEST]}…”"


def _list(words: list[str]) -> str:
    unique = list(dict.fromkeys(words))
    return unique[0] if len(unique) == 1 else f"{', '.join(unique[:-1])} and {unique[-1]}"


def show(answer: Composition) -> None:
    """Print the composition on stdout."""
    from tenonos import ui

    ui.table(
        ["image", "kind", "CPUs", ">memory", ">libraries", "capabilities"],
        (
            [
                name,
                image.kind,
                ",".join(map(str, image.cpus)),
                size_text(image.memory) if image.memory else "",
                str(len(image.libraries) or ""),
                " ".join(image.capabilities),
            ]
            for name, image in answer.images.items()
        ),
    )
    ui.table(
        DEMAND,
        map(demand, answer.plan),
    )
    for line in made_lines(answer.channels, answer.templates, answer.devices):
        ui.data(line)
    for line in analysis_lines(answer.analysis):
        ui.data(line)
    for line in assumption_lines(answer.assumptions):
        ui.data(line)
    for ignored in answer.ignored:
        ui.message(f"ignored “{ignored.source}”: {ignored.why}")
