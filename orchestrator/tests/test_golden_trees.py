"""The trees the kernels' own tests parse are the ones written here.

`pool/core/manifest/tests/golden.rs` reads the same files. After a change of the layout or of the
trees, write them anew:

    PYTHONPATH=orchestrator python orchestrator/tests/test_golden_trees.py
"""

import pytest

from tenonos import system
from tenonos.paths import ROOT
from tenonos.system import trees
from tenonos.system.layout import Content, lay_out

GOLDEN = ROOT / "pool/core/manifest/tests/golden"
CONTENTS = {
    "motor": Content({"image": 50_000, "tree": 16 << 10}, 0, 60_000),
    "linux": Content({"kernel": 30 << 20, "initramfs": 1 << 20, "tree": 16 << 10}, 0, 32 << 20),
}


def written() -> dict[str, bytes]:
    demo = system.load("motor-linux")
    layout = lay_out(demo, 100_000, CONTENTS)
    return {
        "system.dtb": trees.manifest(demo, layout),
        "guest.dtb": trees.guest(demo.vm("motor"), layout),
    }


@pytest.mark.parametrize("name", ["system.dtb", "guest.dtb"])
def test_the_kernels_parse_these_bytes(name):
    assert written()[name] == (GOLDEN / name).read_bytes(), "is it to be written anew?"


if __name__ == "__main__":
    for name, blob in written().items():
        (GOLDEN / name).write_bytes(blob)
