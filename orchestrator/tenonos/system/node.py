"""Writer of flattened device trees, with reproducible output."""

import fdt


def halves(*values: int) -> list[int]:
    """64-bit numbers as cells, the upper half first."""
    return [half for value in values for half in (value >> 32, value & 0xFFFF_FFFF)]


def strings(*values: str) -> bytes:
    """Strings as the value of a property (Devicetree Specification, 2.2.4)."""
    return b"".join(value.encode() + b"\0" for value in values)


class Node:
    """A node; children are created on first use and keep their order."""

    def __init__(self, name: str) -> None:
        self._node = fdt.Node(name)
        self._children: dict[str, Node] = {}

    def child(self, name: str) -> "Node":
        """The child of that name."""
        if name not in self._children:
            self._children[name] = Node(name)
            self._node.append(self._children[name]._node)
        return self._children[name]

    def text(self, name: str, *values: str) -> None:
        """A property of one or more strings, in UTF-8."""
        self._node.append(fdt.PropBytes(name, data=strings(*values)))

    def cells(self, name: str, *values: int) -> None:
        """A property of 32-bit cells; without cells, no property."""
        if values:
            self._node.append(fdt.PropWords(name, *values))

    def longs(self, name: str, *values: int) -> None:
        """A property of 64-bit numbers, two cells each; without numbers, no property."""
        self.cells(name, *halves(*values))

    def flag(self, name: str) -> None:
        """A boolean property: present without a value."""
        self._node.append(fdt.Property(name))

    def blob(self) -> bytes:
        """The tree below this node as a flattened device tree."""
        tree = fdt.FDT()
        tree.root = self._node
        tree.header.version = 17
        return tree.to_dtb(version=17, last_comp_version=16, boot_cpuid_phys=0)
