"""A session around the stand-in for QEMU."""

from pathlib import Path

import pytest

from tenonos.run import RunOptions, Session, Target
from tenonos.run.target import Machine, WatchedChannel, WatchedTask, WatchedVm

FAKE = str(Path(__file__).with_name("fake_qemu.py"))
TASK = WatchedTask("motor", "control", 1_000_000, 1_000_000, 0x4001_0000, 0x1000 + 8192 * 32)


@pytest.fixture
def scenario(tmp_path):
    def make(words, **options):
        image = tmp_path / "image"
        image.write_text(f"scenario: {words}")
        late = "late" in words
        target = Target(
            name="fake",
            board="qemu-virt",
            mode="static",
            image=image,
            machine=Machine("virt", "cortex-a53", (), 4, 0x4000_0000, 1 << 20),
            vms=(
                WatchedVm(0, "motor", "tenon", (3,), 0x4000_1000, range(0), (TASK,)),
                WatchedVm(1, "linux", "linux", (0, 1, 2), 0x4000_2000, range(0)),
            ),
            mortise_text=range(0),
            console="motor",
            slots=(0x4000_3000, 0x4000_4000) if late else (),
            channels=(WatchedChannel("jobs", 0x4000_5000, 0x4000_5008),) if late else (),
        )
        return Session(target, RunOptions(binary=FAKE, **options), [])

    return make
