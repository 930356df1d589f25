"""The part of Mortise's manifest about what comes, goes and talks.

Static systems have none of it; it is parsed only by the libraries that need it
(`core_manifest::Dynamic`).
"""

from tenonos.system import colours, regulation
from tenonos.system.limits import PAGE
from tenonos.system.model import Channel, System, Template, Vlib, Vm
from tenonos.system.node import Node, halves
from tenonos.system.places import LOG_SIZE, GuestLayout, Layout


def write(root: Node, system: System, layout: Layout) -> None:
    """Reserve, managers, templates and channels, below the root of a manifest."""
    if system.reserve is not None and layout.reserve is not None:
        node = root.child("reserve")
        node.longs("memory", layout.reserve.pa, layout.reserve.size)
        node.cells("cpus", *system.reserve.cpus)
        node.longs("slots", layout.reserve.slots_pa, layout.reserve.slots_size)
    if layout.dealt is not None:
        colours.write(root.child("colouring"), layout.dealt)
    if system.regulation is not None:
        regulation.write(root.child("regulation"), system.regulation)
    for vm in system.vms:
        if system.mode == "dynamic":
            _share(root.child("vms").child(vm.name), vm)
        if vm.manages is not None:
            node = root.child("vms").child(vm.name)
            node.text("manages", *vm.manages.vms)
            node.longs("manages-memory", vm.manages.memory)
            node.cells("manages-cpus", *vm.manages.cpus)
            node.cells("manages-priority", vm.manages.priority)
    for template in system.templates:
        node = root.child("templates").child(template.vm.name)
        _template(node, template, layout.templates[template.vm.name])
    for channel in system.channels:
        _channel(root.child("channels").child(channel.name), system, channel, layout)
    for vlib in system.vlibs:
        _vlib(root.child("vlibs").child(vlib.name), vlib, layout)


def _share(node: Node, vm: Vm) -> None:
    share = vm.share
    times = halves(share.budget or 0, share.period or 0)
    node.cells("schedule", share.priority, share.by_deadline, share.background, *times)


def _template(node: Node, template: Template, place: GuestLayout) -> None:
    node.cells("cpus", *template.vm.cpus)
    node.longs("memory", place.ipa, place.size)
    node.longs("window", areas(place))
    node.longs("entry", place.entry)
    node.longs("argument", place.argument)
    node.longs("load", *(x for p in place.payloads.values() for x in (p.ipa, p.pa, p.size)))
    shared: list[int] = []
    for end in place.channels.values():
        for area in end.areas:
            shared += [*halves(area.ipa, area.pa, area.size), area.flags]
    node.cells("shared", *shared)
    _share(node, template.vm)
    if template.start_on is not None:
        node.text("start-on", template.start_on)


def areas(place: GuestLayout) -> int:
    """Bytes from the start of a VM's window to the end of its own areas, channels aside."""
    ends = [task.ipa + task.size for task in place.tasks.values()]
    assert place.log_ipa is not None
    return max(ends, default=place.log_ipa + LOG_SIZE) - place.window.start


def _channel(node: Node, system: System, channel: Channel, layout: Layout) -> None:
    there = layout.channels[channel.name]
    node.cells("shape", channel.slots, channel.size)
    node.longs("parts", *(x for part in there.parts(there.pa) for x in (part.ipa, part.size)))
    node.text("from", channel.origin)
    node.text("to", channel.to)
    ends = (layout.guest(name).channels[channel.name] for name in (channel.origin, channel.to))
    node.cells("interrupts", *(end.interrupt for end in ends))


def _vlib(node: Node, vlib: Vlib, layout: Layout) -> None:
    there = layout.vlibs[vlib.name]
    memory = there.memory(there.pa)
    node.longs("parts", there.pa, PAGE, memory.ipa, memory.size)
    node.text("master", vlib.master)
    node.text("server", vlib.server)
    interrupt = layout.vm(vlib.master).vlibs[vlib.name].interrupt
    assert interrupt is not None
    node.cells("interrupt", interrupt)
    node.text("time", "virtual" if vlib.virtual_time else "real")
