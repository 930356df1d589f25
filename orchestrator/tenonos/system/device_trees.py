"""Flattened device trees of VMs, from the same system and layout as Mortise's manifest.

Nothing in them is random, so builds are reproducible.
"""

import fdt

from tenonos.system import detach, disks, networks
from tenonos.system.board import PCIE, SERIAL, Board, Device
from tenonos.system.limits import PAGE
from tenonos.system.memory_map import ChannelEnd, Layout, VlibEnd, VmLayout
from tenonos.system.model import System, Vm
from tenonos.system.node import Node, halves, strings

GIC, CLOCK = 1, 2
"""The phandles of Linux's tree."""

_SPI, _PPI = 0, 1
_EDGE, _LEVEL_HIGH, _LEVEL_LOW = 1, 4, 8
_FIRST_SPI, _FIRST_PPI = 32, 16

_PCI_MEMORY = 0x0200_0000
"""Memory of 32 bits, not prefetched (IEEE 1275, PCI bus binding, 2.2.1.1)."""

_MAGIC = 0xD00D_FEED

RNG_SEED = 32
"""Bytes of the seed of Linux's random numbers: the 256 bits that it needs."""

CMDLINE = "console=ttyAMA0 rdinit=/init"
ROOT_CMDLINE = "console=ttyAMA0 root=LABEL=root"
"""Default command line of Linux."""


def linux(system: System, vm: Vm, layout: Layout) -> bytes:
    """The tree of Linux or of another image: CPUs, memory, virtual GIC, timer and serial port."""
    board, place = system.board, layout.vm(vm.name)
    root = Node("/")
    root.text("compatible", "linux,dummy-virt")
    root.text("model", f"TenonOS VM {vm.name} on {board.name}")
    root.cells("#address-cells", 2)
    root.cells("#size-cells", 2)
    root.cells("interrupt-parent", GIC)
    serial = f"pl011@{board.serial.base:x}"
    _chosen(root.child("chosen"), vm, place, f"/{serial}")
    root.child("aliases").text("serial0", f"/{serial}")
    memory = root.child(f"memory@{place.ipa:x}")
    memory.text("device_type", "memory")
    memory.longs("reg", place.ipa, place.size)
    psci = root.child("psci")
    psci.text("compatible", "arm,psci-1.0", "arm,psci-0.2")
    psci.text("method", "hvc")
    _cpus(root.child("cpus"), board, len(vm.cpus))
    _interrupts(root, board, len(vm.cpus))
    clock = root.child("apb-pclk")
    clock.text("compatible", "fixed-clock")
    clock.cells("#clock-cells", 0)
    clock.cells("clock-frequency", board.serial.clock)
    clock.text("clock-output-names", "clk24mhz")
    clock.cells("phandle", CLOCK)
    _primecell(root.child(serial), "arm,pl011", (board.serial.base, board.serial.size), ())
    uart = root.child(serial)
    uart.cells("interrupts", _SPI, board.serial.interrupt - _FIRST_SPI, _LEVEL_HIGH)
    uart.cells("clocks", CLOCK, CLOCK)
    uart.text("clock-names", "uartclk", "apb_pclk")
    for name in vm.devices:
        if name != SERIAL:
            _device(root, board, name)
    disks.tree(root, vm, layout)
    networks.tree(root, vm, layout)
    for end in place.channels.values():
        _channel(root, system, end)
    detach.tree(root, system, vm, place)
    for served in place.vlibs.values():
        _vlib(root, served)
    return root.blob()


def _channel(root: Node, system: System, end: ChannelEnd) -> None:
    """One end of a channel, for the driver in `linux/`."""
    channel = system.channels[end.channel.number]
    node = root.child(f"channel@{end.ipa:x}")
    node.text("compatible", "tenonos,channel")
    node.longs("reg", *(x for part in end.channel.parts(end.ipa) for x in (part.ipa, part.size)))
    node.cells("interrupts", _SPI, end.interrupt - _FIRST_SPI, _EDGE)
    node.text("tenonos,name", channel.name)
    node.cells("tenonos,number", channel.index)
    node.text("tenonos,role", "producer" if end.produces else "consumer")
    node.cells("tenonos,slots", channel.slots)
    node.cells("tenonos,size", channel.size)


def _vlib(root: Node, end: VlibEnd) -> None:
    """The memory shared with the caller of a vLib and its status page, for the driver in
    `linux/`."""
    memory = end.vlib.memory(end.ipa)
    node = root.child(f"vlib@{memory.ipa:x}")
    node.text("compatible", "tenonos,vlib")
    node.longs("reg", memory.ipa, memory.size, end.ipa, PAGE)
    node.text("tenonos,name", end.vlib.name)
    node.cells("tenonos,number", end.vlib.number)


def own(blob: bytes, vm: Vm, place: VmLayout) -> bytes:
    """A tree supplied with a VM, with the system's values in /chosen.

    ValueError: it is not a device tree.
    """
    if int.from_bytes(blob[:4], "big") != _MAGIC or int.from_bytes(blob[4:8], "big") > len(blob):
        raise ValueError("it has no valid header, or is truncated")
    initramfs = place.payloads.get("initramfs")
    if vm.cmdline is None and initramfs is None:
        return blob
    try:
        tree = fdt.parse_dtb(blob)
    except Exception as error:  # the parser has no exception type of its own
        raise ValueError(str(error)) from None
    if vm.cmdline is not None:
        tree.set_property("bootargs", strings(vm.cmdline), "/chosen")
    if initramfs is not None:
        ends = {"start": initramfs.ipa, "end": initramfs.ipa + initramfs.size}
        for end, address in ends.items():
            tree.set_property(f"linux,initrd-{end}", halves(address), "/chosen")
    return bytes(tree.to_dtb(version=17))


def _chosen(node: Node, vm: Vm, place: VmLayout, serial: str) -> None:
    if vm.kind == "linux" or vm.cmdline is not None:
        given = ROOT_CMDLINE if vm.root == "disk" else CMDLINE
        node.text("bootargs", given if vm.cmdline is None else vm.cmdline)
    node.text("stdout-path", serial)
    # Room for what Mortise puts there at each start (`mortise/entropy`).
    node.longs("rng-seed", *[0] * (RNG_SEED // 8))
    node.longs("kaslr-seed", 0)
    if initramfs := place.payloads.get("initramfs"):
        node.longs("linux,initrd-start", initramfs.ipa)
        node.longs("linux,initrd-end", initramfs.ipa + initramfs.size)


def _cpus(node: Node, board: Board, count: int) -> None:
    node.cells("#address-cells", 1)
    node.cells("#size-cells", 0)
    for number in range(count):
        cpu = node.child(f"cpu@{number:x}")
        cpu.text("device_type", "cpu")
        cpu.text("compatible", board.cpu)
        cpu.cells("reg", number)
        cpu.text("enable-method", "psci")


def _interrupts(root: Node, board: Board, cpus: int) -> None:
    gic, timer = board.gic, board.timer
    node = root.child(f"intc@{gic.distributor.base:x}")
    node.text("compatible", "arm,gic-v3" if gic.redistributor else "arm,gic-400")
    node.cells("#interrupt-cells", 3)
    node.cells("#address-cells", 2)
    node.cells("#size-cells", 2)
    node.flag("interrupt-controller")
    node.longs("reg", gic.distributor.base, gic.distributor.size, *_own_frames(board, cpus))
    node.cells("phandle", GIC)
    node = root.child("timer")
    node.text("compatible", "arm,armv8-timer")
    node.flag("always-on")
    # The binding's order; Linux at EL1 without EL2 takes the virtual one.
    order = (timer.secure, timer.physical, timer.virtual, timer.hypervisor)
    node.cells("interrupts", *(x for i in order for x in (_PPI, i - _FIRST_PPI, _LEVEL_LOW)))


def _own_frames(board: Board, cpus: int) -> tuple[int, int]:
    """The registers of a VM's CPUs: redistributors, or the page of a GICv2's CPU interface."""
    gic = board.gic
    if gic.redistributor:
        return gic.redistributor.base, cpus * gic.stride
    assert gic.cpu_interface is not None
    return gic.cpu_interface.base, PAGE


def _device(root: Node, board: Board, name: str) -> None:
    """A device passed through. A page of virtio transports is eight devices."""
    device = board.devices[name]
    if device.kind == "virtio-mmio":
        for slot, intid in enumerate(device.interrupts):
            disks.transport(root, device.base + slot * disks.TRANSPORT, intid)
        return
    if device.kind == "cdns-uart":
        node = root.child(f"serial@{device.base:x}")
        node.text("compatible", "xlnx,zynqmp-uart", "cdns,uart-r1p12")
        node.longs("reg", device.base, device.size)
        _raised(node, device.interrupts)
        node.cells("clocks", CLOCK, CLOCK)
        node.text("clock-names", "uart_clk", "pclk")
        return
    node = root.child(f"{device.kind}@{device.base:x}")
    if device.kind == PCIE:
        _root_complex(node, device)
        return
    if device.kind == "cfi-flash":
        node.text("compatible", device.kind)
        node.longs("reg", device.base, device.size)
        node.cells("bank-width", 4)  # two 16-bit chips in parallel
        return
    _primecell(node, f"arm,{device.kind}", (device.base, device.size), device.interrupts)
    node.cells("clocks", CLOCK)
    node.text("clock-names", "apb_pclk")
    if device.kind == "pl061":
        node.flag("gpio-controller")
        node.cells("#gpio-cells", 2)


def _root_complex(node: Node, device: Device) -> None:
    """PCI: devices on bus 0, memory space only, the four interrupts rotated by slot. The IOMMU is
    not in the tree, as the VM doesn't own it."""
    assert device.window is not None
    node.text("compatible", "pci-host-ecam-generic")
    node.text("device_type", "pci")
    node.longs("reg", device.base, device.size)
    node.cells("bus-range", 0, 0)
    node.cells("#address-cells", 3)
    node.cells("#size-cells", 2)
    node.cells("#interrupt-cells", 1)
    window = device.window
    node.cells("ranges", _PCI_MEMORY, *halves(window.base, window.base, window.size))
    node.flag("dma-coherent")
    pins, turned = range(len(device.interrupts)), list[int]()
    for slot in pins:
        for pin in pins:
            spi = device.interrupts[(slot + pin) % len(pins)] - _FIRST_SPI
            where = (slot << 11, 0, 0, pin + 1)
            turned.extend((*where, GIC, 0, 0, _SPI, spi, _LEVEL_HIGH))
    node.cells("interrupt-map-mask", pins[-1] << 11, 0, 0, 0b111)
    node.cells("interrupt-map", *turned)


def _primecell(
    node: Node, kind: str, registers: tuple[int, int], interrupts: tuple[int, ...]
) -> None:
    node.text("compatible", kind, "arm,primecell")
    node.longs("reg", *registers)
    _raised(node, interrupts)


def _raised(node: Node, interrupts: tuple[int, ...]) -> None:
    """Level-triggered interrupts, active high."""
    if interrupts:
        cells = (x for i in interrupts for x in (_SPI, i - _FIRST_SPI, _LEVEL_HIGH))
        node.cells("interrupts", *cells)
