"""First-fit allocator of address ranges."""


def up(value: int, align: int) -> int:
    """`value` rounded up to a multiple of `align`."""
    return -(-value // align) * align


class RangeAllocator:
    """A first-fit allocator over RAM or over a VM's address space."""

    def __init__(self, base: int, end: int, reach: int | None = None) -> None:
        """`reach` is the end for `find`, where it is not that of the space."""
        self.base, self.end = base, end
        self.reach = end if reach is None else reach
        self.taken: list[tuple[int, int, str]] = []

    def claim(self, base: int, size: int) -> str | None:
        """The owner of a taken range that overlaps, if there is one."""
        for start, stop, owner in self.taken:
            if base < stop and start < base + size:
                return owner
        return None

    def take(self, base: int, size: int, owner: str) -> None:
        """Record a range as taken."""
        self.taken = sorted([*self.taken, (base, base + size, owner)])

    def find(self, size: int, align: int) -> int | None:
        """The lowest free range of that size."""
        at = up(self.base, align)
        for start, stop, _ in self.taken:
            if at + size <= start:
                break
            at = max(at, up(stop, align))
        return at if at + size <= self.reach else None

    def find_last(self, size: int, align: int) -> int | None:
        """The highest free range of that size."""
        at = (self.end - size) // align * align
        for start, stop, _ in reversed(self.taken):
            if at >= stop:
                break
            at = min(at, (start - size) // align * align)
        return at if at >= self.base else None
