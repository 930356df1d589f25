"""Check against blocking calls in interrupt handlers.

The kernel records each place that may block and each function that an interrupt calls, in sections
that are not loaded (`pool/tenon/machine/src/analysis_notes.rs`). A call path from the second to the
first in the linked image is an error of the program. Calls through pointers are invisible here; the
kernel checks those at run time.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from tenonos.analysis.graph import Function, Graph
from tenonos.analysis.source_locations import SourceLocations, visible
from tenonos.errors import WorkError

WAITS, HANDLERS = ".tenon.waits", ".tenon.handlers"


@dataclass(frozen=True)
class Way:
    """A call path from a handler to a blocking operation."""

    root: Function
    sites: tuple[int, ...]


def check(graph: Graph, image: str) -> None:
    """Refuse an image in which a handler may block."""
    way = find(graph)
    if way is not None:
        raise _refusal(SourceLocations(graph.elf), way, image)


def find(graph: Graph) -> Way | None:
    """The shortest call path from a handler to a blocking operation."""
    waits = {}
    for (site,) in graph.words(WAITS, 1):
        if function := graph.at(site):
            waits.setdefault(function.start, site)
    roots = [graph.at(site) for (site,) in graph.words(HANDLERS, 1)]
    pending = deque((root, Way(root, ())) for root in roots if root is not None)
    reached = {function.start for function, _ in pending}
    while pending:
        function, way = pending.popleft()
        if function.start in waits:
            return Way(way.root, (*way.sites, waits[function.start]))
        for call in function.calls:
            called = None if call.target is None else graph.at(call.target)
            if called and called.start not in reached and called.start not in graph.panicking:
                reached.add(called.start)
                pending.append((called, Way(way.root, (*way.sites, call.site))))
    return None


def _refusal(locations: SourceLocations, way: Way, image: str) -> WorkError:
    frames = [location for site in way.sites for location in visible(locations.at(site))]
    mend = "give a semaphore or unpark a thread there, and let the thread wait"
    if not frames:
        return WorkError(f"{image}: the handler {way.root.name} may wait", mend=mend)
    names = [frame.name for frame in frames]
    own = [frame for frame in frames if not frame.file.startswith("pool/")]
    through = f" ({' → '.join(names)})" if len(names) > 1 else ""
    return WorkError(
        f"{image}: the interrupt handler {names[0]} may wait{through}",
        where=(own[-1] if own else frames[0]).where,
        mend=mend,
    )
