"""Dynamic VMs, by their status pages."""

import struct

from tenonos.run.dynamic_vms import DynamicVms
from tenonos.run.formats import State

PAGES = (0x1000, 0x2000)


class Pages:
    """Memory with a status page in each place."""

    def __init__(self) -> None:
        self.pages = dict.fromkeys(PAGES, bytes(4096))

    def read(self, address: int, size: int) -> bytes:
        """A page."""
        return self.pages[address][:size]

    def put(self, slot: int, name: str, state: State) -> None:
        """Set the status page of a place."""
        page = struct.pack("<4sI32sI", b"TNST", 1, name.encode(), state) + bytes(4)
        self.pages[PAGES[slot]] = page.ljust(4096, b"\0")


def seen(late: DynamicVms) -> list[tuple[str, int, State]]:
    return [(name, vm.slot, vm.status.state) for name, vm in late.seen.items()]


def test_nothing_is_seen_before_anything_is_made():
    late = DynamicVms(PAGES)
    late.read(Pages())
    assert seen(late) == []


def test_one_that_came_and_went_between_two_looks_is_seen():
    memory, late = Pages(), DynamicVms(PAGES)
    memory.put(0, "job", State.DESTROYED)
    late.read(memory)
    assert seen(late) == [("job", 0, State.DESTROYED)]


def test_a_vm_is_destroyed_when_its_slot_has_another():
    memory, late = Pages(), DynamicVms(PAGES)
    memory.put(0, "a", State.RUNNING)
    late.read(memory)
    memory.put(0, "b", State.CREATED)
    late.read(memory)
    assert seen(late) == [("a", 0, State.DESTROYED), ("b", 0, State.CREATED)]


def test_one_that_came_back_elsewhere_is_where_it_is_now():
    memory, late = Pages(), DynamicVms(PAGES)
    memory.put(0, "job", State.RUNNING)
    late.read(memory)
    memory.put(0, "job", State.DESTROYED)
    memory.put(1, "job", State.RUNNING)
    for _ in range(2):
        late.read(memory)
        assert seen(late) == [("job", 1, State.RUNNING)]
