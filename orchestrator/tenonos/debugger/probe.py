"""The probe: code for a second gdb, which has the image of one VM.

It writes what it finds to a file. There is no machine behind that gdb: it reads debugging
information, and stacks from a core file.
"""

from __future__ import annotations

import contextlib
import json
import re
from pathlib import Path

import gdb

THREAD = "tenon_kernel::thread::Thread"
KERNEL = "tenon_kernel::kernel::Kernel"
MUTEX = "tenon_kernel::wait::Mutex"
THREAD_FIELDS = (
    *("id", "name", "priority", "state.priority", "smp.priority", "wait_reason"),
    *("queue", "blocked_on", "stack_pointer", "joiners"),
)
CONTEXTS = {"switch_integers": 96, "switch_with_fp": 176, "switch_selective": 176}
"""The size of a context by the function that saves it: `tenon_machine::context_switch`."""
FRAMES = 64
LARGE = 1024
"""Size from which the place of an object in a static is shown as an offset, without a path."""
SLOTS = "TENON_PTHREAD_SLOTS::PLACES"
NAMES = "TENON_PTHREAD_NAMES::PLACES"
"""The tables of an image with pthreads; the second one if it names threads."""
OBJECTS = ("tenon_kernel::wait::WaitQueue", MUTEX)
_HASH = re.compile(r"::h[0-9a-f]{16}")
_VARIABLE = re.compile(r"^\d+:\s.* ([\w:]+)(?:\[\d+\])*;$", re.MULTILINE)
_KERNEL_SOURCE = re.compile(r"/(pool/(tenon|core|hw)|library/core)/")


def layout(file: str) -> None:
    """Write the layout of the image's threads and kernels."""
    gdb.execute("set language c")
    listed = gdb.execute("info variables -q -n", to_string=True)
    gdb.execute("set language rust")
    thread, kernel = gdb.lookup_type(THREAD), gdb.lookup_type(KERNEL)
    mutex = gdb.lookup_type(MUTEX)
    storage: list[int] = []
    kernels: list[int] = []
    tables = {}
    for name in dict.fromkeys(_VARIABLE.findall(listed)):
        with contextlib.suppress(gdb.error):
            symbols = gdb.lookup_static_symbols(name) or [gdb.lookup_global_symbol(name)]
            for value in (symbol.value() for symbol in symbols if symbol is not None):
                if value.address is None:  # the compiler split it
                    continue
                address = int(value.address)
                storage += _places(value.type, THREAD, address)
                kernels += _places(value.type, KERNEL, address)
                if name.endswith((SLOTS, NAMES)):
                    tables[name[name.rindex("TENON") :]] = value
    fields = {name: _field(thread, name) for name in THREAD_FIELDS}
    reason = next(f.type for f in thread.fields() if f.name == "wait_reason")
    waits = next(t for t in _inside(reason) if t.code == gdb.TYPE_CODE_ENUM)
    values = {
        "size": thread.sizeof,
        "thread": fields,
        "mutex": {"state.owner": _field(mutex, "state.owner")},
        "current": _field(kernel, "scheduler.current")[0],
        "waits": {f.enumval: f.name.rpartition("::")[2] for f in waits.fields()},
        "storage": sorted(set(storage)),
        "kernels": sorted(set(kernels)),
        "context": _context(),
        "slots": _table(tables, SLOTS, ("thread", "number", "joiners", "result")),
        "names": _table(tables, NAMES, ("owner", "text")),
    }
    Path(file).write_text(json.dumps(values))


def symbols(file: str, addresses: list[int]) -> None:
    """Write the symbols at addresses: of functions, and of statics."""
    Path(file).write_text(json.dumps({address: _symbol(address) for address in addresses}))


def places(file: str, addresses: list[int]) -> None:
    """Write where each thread of the core file is, and the symbols at addresses."""
    found = {}
    for thread in gdb.selected_inferior().threads():
        thread.switch()
        found[thread.ptid[1]] = _place()
    names = {address: _symbol(address) for address in addresses}
    Path(file).write_text(json.dumps({"places": found, "names": names}))


def backtrace(file: str, full: str) -> None:
    """Write the backtrace of the only thread of the core file."""
    text = gdb.execute(f"backtrace {full} -64".strip() if full else "backtrace 64", to_string=True)
    lines = text.splitlines()
    # A thread starts with a link register of zero, which gdb shows as one more frame.
    kept = [line for line in lines if not re.match(r"#\d+ +0x0+ in \?\?|Backtrace stopped:", line)]
    Path(file).write_text(json.dumps("\n".join(kept)))


def _context() -> int:
    """The size of a context: the linker kept the switch function of the image alone."""
    for name, size in CONTEXTS.items():
        if name in gdb.execute(f"info functions -q {name}", to_string=True):
            return size
    raise gdb.error("no function that switches threads")


def _table(tables: dict[str, gdb.Value], name: str, fields: tuple[str, ...]) -> dict | None:
    """Address, number and size of the elements of a table, and places of fields in an element."""
    if name not in tables:
        return None
    value = tables[name]
    element = value.type.strip_typedefs().target()
    return {
        "address": int(value.address),
        "count": value.type.sizeof // element.sizeof,
        "size": element.sizeof,
        "fields": {field: _field(element, field) for field in fields},
    }


def _field(kind: gdb.Type, path: str) -> tuple[int, int]:
    """Offset and size of a field, by the path to it."""
    offset = 0
    for name in path.split("."):
        field = next(f for f in kind.strip_typedefs().fields() if f.name == name)
        offset, kind = offset + field.bitpos // 8, field.type
    return offset, kind.sizeof


def _places(kind: gdb.Type, wanted: str, address: int) -> list[int]:
    """The addresses of all values of a type inside a value at an address."""
    kind = kind.strip_typedefs()
    if kind.name == wanted:
        return [address]
    if kind.code == gdb.TYPE_CODE_ARRAY:
        element = kind.target()
        low, high = kind.range()
        inside = _places(element, wanted, 0)
        count = high - low + 1 if inside else 0
        return [address + index * element.sizeof + at for index in range(count) for at in inside]
    if kind.code != gdb.TYPE_CODE_STRUCT:
        return []
    found = []
    for field in kind.fields():
        if hasattr(field, "bitpos") and field.type.sizeof:
            found += _places(field.type, wanted, address + field.bitpos // 8)
    return found


def _inside(kind: gdb.Type) -> list[gdb.Type]:
    """A type and the types of its fields, at all depths."""
    kind = kind.strip_typedefs()
    found = [kind]
    if kind.code == gdb.TYPE_CODE_STRUCT:
        for field in kind.fields():
            found += _inside(field.type)
    return found


def _place() -> str:
    """Where a thread is: its innermost frame outside the kernel and its libraries, or else its
    outermost."""
    place, frames = "", 0
    with contextlib.suppress(gdb.error):
        frame = gdb.newest_frame()
        while frame is not None and frames < FRAMES:
            line, frames = frame.find_sal(), frames + 1
            if line.symtab is not None and frame.name():
                name = re.sub(r"<.*>", "<…>", frame.name())
                place = f"{name} at {line.symtab.filename}:{line.line}"
                if not _KERNEL_SOURCE.search(line.symtab.fullname()):
                    return place
            frame = frame.older()
    return place


def _symbol(address: int) -> str:
    """The static at an address, with the path to the object in it; nothing if there is none."""
    with contextlib.suppress(gdb.error):
        text = gdb.execute(f"info symbol {address}", to_string=True)
        name, _, rest = _HASH.sub("", text).partition(" in section")
        if not rest:
            return ""
        name, _, offset = name.strip().partition(" + ")
        symbols = gdb.lookup_static_symbols(name) or [gdb.lookup_global_symbol(name)]
        if symbols[0] is None:
            return name + (f"+{offset}" if offset else "")
        path = re.sub(r"(\.__\d+)*\.$", "", _path(symbols[0].type, int(offset or 0)))
        is_large = symbols[0].type.sizeof > LARGE
        return name + (path or (f"+{offset}" if offset and is_large else ""))
    return ""


def _path(kind: gdb.Type, offset: int) -> str:
    """The path to the queue or mutex at an offset of a value; nothing if there is none."""
    kind = kind.strip_typedefs()
    if kind.name in OBJECTS and offset == 0:
        return "."
    if kind.code == gdb.TYPE_CODE_ARRAY and kind.target().sizeof:
        index, within = divmod(offset, kind.target().sizeof)
        rest = _path(kind.target(), within)
        return f"[{index}]{rest}" if rest else ""
    if kind.code != gdb.TYPE_CODE_STRUCT:
        return ""
    for field in kind.fields():
        within = offset - field.bitpos // 8 if hasattr(field, "bitpos") else -1
        if 0 <= within < field.type.sizeof and (rest := _path(field.type, within)):
            return f".{field.name}{rest}"
    return ""
