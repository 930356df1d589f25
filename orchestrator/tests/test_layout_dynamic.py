"""The memory map of what comes, goes and talks: nothing overlaps, each end sees its own part."""

from itertools import combinations, cycle, pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tenonos import system
from tenonos.errors import InputError
from tenonos.paths import ROOT
from tenonos.system import channels
from tenonos.system.layout import lay_out
from tenonos.system.limits import BLOCK, PAGE
from tenonos.system.manifest import areas
from tenonos.system.memory_map import SLOT_SIZE, WRITABLE, Content, Layout
from tenonos.system.schema import parse

HEAD = 'name = "s"\nboard = "qemu-virt"\npool = "0.1"\nmode = "dynamic"\n'
MIB = 1 << 20
ENDS = [("a", "l"), ("l", "t"), ("t", "a"), ("l", "a")]
"""The ends of the channels, in turn."""


def text(reserve: int, vms: int, tasks: int, shapes: list[tuple[int, int]]) -> str:
    """A system of a Tenon VM, a Linux and a template, and channels around the three."""
    parts = [HEAD, f'[reserve]\nmemory = "{reserve * 2}M"\ncpus = [2]\nvms = {vms}\n']
    parts.append('[[vm]]\nname = "a"\nkind = "tenon"\napp = "motor"\ncpus = [1]\nmemory = "4M"\n')
    parts.append('[[vm]]\nname = "l"\nkind = "linux"\ncpus = [0]\nmemory = "128M"\n')
    parts.append('[[template]]\nname = "t"\napp = "motor"\ncpus = [2]\nmemory = "2M"\n')
    parts += [f'[[template.task]]\nname = "k{n}"\nperiod = "1ms"\n' for n in range(tasks)]
    for number, (slots, size) in enumerate(shapes):
        one, other = ENDS[number % len(ENDS)]
        parts.append(
            f'[[channel]]\nname = "c{number}"\nfrom = "{one}"\nto = "{other}"\n'
            f"slots = {1 << slots}\nsize = {size}\n"
        )
    return "".join(parts)


def made(source: str) -> tuple[system.System, Layout]:
    spec, lines = parse(source, "s")
    loaded = system.from_spec(spec, ROOT / "s" / "system.toml", "s", lines)
    tenon = Content({"image": 50_000, "header": PAGE}, 0, 60_000)
    linux = Content({"kernel": 30 * MIB, "initramfs": MIB, "tree": 16 << 10}, 0, 32 * MIB)
    return loaded, lay_out(loaded, 100_000, {"a": tenon, "l": linux, "t": tenon})


@given(
    reserve=st.integers(1, 20),
    vms=st.integers(1, 8),
    tasks=st.integers(0, 4),
    shapes=st.lists(st.tuples(st.integers(0, 8), st.integers(1, 4096)), max_size=6),
)
@example(reserve=1, vms=1, tasks=0, shapes=[(0, 1), (8, 4096), (8, 4096)])
def test_nothing_overlaps_and_every_end_sees_its_own(reserve, vms, tasks, shapes):
    try:
        loaded, layout = made(text(reserve, vms, tasks, shapes))
    except InputError as refused:
        assert 'the channels of template "t" have more than 2 MiB' in str(refused)
        assert _of_template(shapes) > BLOCK * 3 // 4
        return
    held = layout.reserve
    assert held is not None
    ranges = [(layout.image_base, layout.image_size), (held.pa, held.size)]
    ranges.append((held.slots_pa, vms * SLOT_SIZE))
    ranges += [(vm.pa, vm.size) for vm in layout.vms.values()]
    ranges += [(place.pa, place.size) for place in layout.channels.values()]
    for (one, size), (other, more) in combinations(ranges, 2):
        assert one + size <= other or other + more <= one
    assert held.pa % BLOCK == 0
    for channel in loaded.channels:
        _assert_channel(loaded, layout, channel)
    for name in ("a", "t"):
        _assert_window(layout, name)
    template = layout.templates["t"]
    # What is Mortise's and the channels' is in the first block, what is its own behind it.
    assert all(end.ipa + end.channel.size <= 0x8020_0000 for end in template.channels.values())
    assert all(task.ipa >= 0x8020_0000 for task in template.tasks.values())
    assert areas(template) == (BLOCK + tasks * 0x20_1000 if tasks else 0x1_2000)


def _of_template(shapes):
    """Bytes of the items of the template's channels, without what lies around them."""
    ends = zip(shapes, cycle(ENDS), strict=False)
    return sum((1 << slots) * size for (slots, size), pair in ends if "t" in pair)


def _assert_channel(loaded, layout, channel):
    place = layout.channels[channel.name]
    assert place.producer_size >= channels.HEADER + channel.slots * (channels.LENGTH + channel.size)
    writable = {}
    for name in (channel.origin, channel.to):
        end = layout.guest(name).channels[channel.name]
        assert sum(area.size for area in end.areas) == place.size
        writable[name] = [(a.pa, a.size) for a in end.areas if a.flags == WRITABLE]
        if loaded.vm(name).kind == "linux":
            assert all(area.ipa == area.pa for area in end.areas)
    assert writable == {
        channel.origin: [(place.pa, place.producer_size)],
        channel.to: [(place.pa + place.size - PAGE, PAGE)],
    }


def _assert_window(layout, name):
    place = layout.guest(name)
    spans = [(place.status_ipa, PAGE), (place.log_ipa, 0x1_1000)]
    spans += [(task.ipa, task.size) for task in place.tasks.values()]
    spans += [(end.ipa, end.channel.size) for end in place.channels.values()]
    for (one, size), (other, _) in pairwise(sorted(spans)):
        assert one + size <= other
    assert place.window.start == place.status_ipa
    assert place.window.stop == max(start + size for start, size in spans)


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        (text(1, 1, 0, [(8, 16384)] * 2), 'the channels of template "t" have more than 2 MiB;'),
        (text(1, 1, 0, [(16, 65536)]), 'no room for channel "c0"; give it fewer or smaller'),
        (
            text(128, 1, 0, []).replace('"128M"', '"760M"'),
            "no 256M in one piece are left for the reserve; make it smaller",
        ),
    ],
)
def test_what_does_not_fit(source, complaint):
    with pytest.raises(InputError) as error:
        made(source)
    assert complaint in str(error.value)
