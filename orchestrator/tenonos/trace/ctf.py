"""Traces in the Common Trace Format 1.8, which Trace Compass and babeltrace open.

One folder per VM: `metadata` describes the events in TSDL, `coreN` holds one packet with the
recorded events, each with its subject's name.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path

from tenonos.trace import hypervisor
from tenonos.trace.collect import CoreTrace, VmTrace
from tenonos.trace.descriptions import Descriptions, priorities
from tenonos.trace.ring import Event, Gap
from tenonos.trace.timeline import merged

_MAGIC = 0xC1FC1FC1
_PACKET = struct.Struct("<IIQQQQQI")
_EVENT = struct.Struct("<BQQ")

_METADATA = """/* CTF 1.8 */
typealias integer {{ size = 8; align = 8; signed = false; }} := uint8_t;
typealias integer {{ size = 32; align = 8; signed = false; }} := uint32_t;
typealias integer {{ size = 64; align = 8; signed = false; }} := uint64_t;
trace {{
    major = 1; minor = 8; byte_order = le;
    packet.header := struct {{ uint32_t magic; uint32_t stream_id; }};
}};
env {{ domain = "kernel"; tracer_name = "tenon"; hostname = "{vm}"; }};
clock {{ name = counter; description = "system counter"; freq = {hertz}; }};
typealias integer {{
    size = 64; align = 8; signed = false; map = clock.counter.value;
}} := ticks_t;
typealias integer {{ size = 64; align = 8; signed = false; base = hex; }} := subject_t;
stream {{
    id = 0;
    packet.context := struct {{
        ticks_t timestamp_begin; ticks_t timestamp_end;
        uint64_t content_size; uint64_t packet_size;
        uint64_t events_discarded; uint32_t cpu_id;
    }};
    event.header := struct {{ uint8_t id; ticks_t timestamp; }};
}};
"""
_DESCRIPTION = """event {{
    id = {number}; name = "{name}"; stream_id = 0;
    fields := struct {{ subject_t subject; string name; }};
}};
"""


def write(traces: Iterable[VmTrace], folder: Path) -> None:
    """Write a folder with one trace per VM."""
    for trace in traces:
        own = folder / trace.name
        own.mkdir(parents=True, exist_ok=True)
        hertz = next((core.hertz for core in trace.cores), 1)
        described = "".join(
            _DESCRIPTION.format(number=event.value, name=event.name.lower()) for event in Event
        )
        text = _METADATA.format(vm=trace.name, hertz=hertz) + described
        (own / "metadata").write_text(text)
        described = Descriptions(trace.statics)
        for _, number, event in merged(trace.cores):
            described.take(number, event)
        for core in trace.cores:
            (own / f"core{core.core}").write_bytes(_packet(trace, described, core))


def _packet(trace: VmTrace, described: Descriptions, core: CoreTrace) -> bytes:
    """The events of a core as one packet."""
    body = bytearray()
    times = [event.ticks for _, event in core.events if not isinstance(event, Gap)]
    for _, event in core.events:
        if isinstance(event, Gap):
            continue
        body += _EVENT.pack(event.event, event.ticks, event.subject)
        body += _name(trace, described, event.event, event.subject).encode() + b"\0"
    bits = 8 * (_PACKET.size + len(body))
    first, last = (times[0], max(times)) if times else (0, 0)
    return _PACKET.pack(_MAGIC, 0, first, last, bits, bits, core.lost, core.core) + bytes(body)


def _name(trace: VmTrace, described: Descriptions, event: Event, subject: int) -> str:
    if event is Event.PRIORITY:
        block, found = priorities(subject)
        thread = _name(trace, described, Event.RUN, block)
        return f"{thread}: base {found.base}, effective {found.effective}"
    if event is Event.SYMBOL:
        return trace.statics.function(subject)
    if event in (Event.ENTER, Event.LEAVE):
        return trace.interrupts.get(subject, "")
    if event in (Event.VALUE, Event.DESCRIBE, Event.KIND, Event.TEXT):
        return ""
    if event in hypervisor.SPOKEN:
        return hypervisor.words(trace, event, subject)
    if event is Event.WAIT:
        return described.object(subject & ~1)
    known = described.names.get(described.thread(subject)) or trace.threads.get(subject)
    return known or described.object(subject)
