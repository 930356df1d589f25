"""Stack usage of Mortise in the configuration with the smallest stack."""

from elftools.elf.elffile import ELFFile

from tenonos import build
from tenonos import system as systems
from tenonos.run import RunOptions, Session, Target
from tenonos.system.limits import PAGE


class Depth:
    """Reads at the end of a run how deep Mortise's first stack was written."""

    def __init__(self, elf):
        with elf.open("rb") as file:
            (symbol,) = (
                ELFFile(file).get_section_by_name(".symtab").get_symbol_by_name("MORTISE_STACKS")
            )
            self.start, self.size = symbol["st_value"] + PAGE, symbol["st_size"] - PAGE

    def chunk(self, chunk):
        pass

    def tick(self, session):
        pass

    def close(self, session):
        # The emulator's RAM is initially zero, and no code clears a stack.
        self.below = session.memory.at(self.start - PAGE, PAGE)
        self.stack = session.memory.at(self.start, self.size)

    @property
    def deepest(self):
        """Bytes between the top of the stack and the lowest non-zero byte."""
        return len(self.stack.lstrip(b"\0"))


def test_a_quarter_of_the_smallest_stack_stays_unused():
    built = build.build(systems.load("bench-min"))
    depth = Depth(built.elf_files["mortise"])
    Session(Target.of(built), RunOptions(seconds=0.1), [depth]).run()
    assert depth.size == 8192, "one core, and no virtual devices"
    assert not any(depth.below), "the guard page, which is not mapped yet while Mortise starts"
    assert 0 < depth.deepest <= depth.size * 3 // 4
