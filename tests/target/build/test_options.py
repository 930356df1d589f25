"""Link-time options: constants of the image, folded by the linker."""

import json
import re

import pytest
from conftest import ROOT, assert_well
from elftools.elf.elffile import ELFFile

SOURCE = ROOT / "pool/tenon/machine/src/options.rs"
OPTIONS = re.findall(r"^    \w+: \w+ = (\w+), on_the_host", SOURCE.read_text(), re.M)


@pytest.mark.long(37, "orchestrator/tenonos/pool", "orchestrator/tenonos/generate")
@pytest.mark.parametrize("cores", [1, 4])
def test_an_option_is_folded_into_what_it_switches(tenon, cores):
    setting = f"CONFIG_TENON_THREAD_CORES={cores}"
    built = tenon("build", "hello", "-D", setting, "--json", json_file=False)
    assert_well(built)
    elves = json.loads(built.stdout)["elves"]
    symbols = symbols_of(elves["hello"])
    assert "tenon_main" in symbols
    # The linker drops a constant without loads; a loaded one keeps its symbol.
    assert "TENON_THREAD_CORES" in OPTIONS
    assert symbols.isdisjoint(OPTIONS)
    mortise = symbols_of(elves["mortise"])
    assert "mortise_main" in mortise and "MORTISE_TRACE" not in mortise


def symbols_of(elf):
    with open(elf, "rb") as file:
        table = ELFFile(file).get_section_by_name(".symtab")
        return {symbol.name for symbol in table.iter_symbols()}
