"""Images for boards without an emulator: they are built, and reported as never run."""

import json

import pytest
from conftest import assert_well

SYSTEM = """\
name = "metal"
board = "{board}"
pool = "0.1"
mode = "static"

[[vm]]
name = "hello"
kind = "tenon"
app = "hello"
cpus = [1]
memory = "2M"
"""


@pytest.mark.long(40, "boards")
@pytest.mark.parametrize(
    ("board", "base"), [("raspberry-pi-4", 0x20_0000), ("rk3568", 0x4020_0000)]
)
def test_an_image_for_metal_is_built_and_said_to_be_untried(tenon, tmp_path, board, base):
    (tmp_path / "system.toml").write_text(SYSTEM.format(board=board))
    built = tenon("build", tmp_path, "--json", json_file=False)
    assert_well(built)
    assert f"warning: no image was ever run on {board}, a hardware board" in built.stderr
    said = json.loads(built.stdout)
    with open(said["elves"]["mortise"], "rb") as elf:
        header = elf.read(64)
    assert int.from_bytes(header[24:32], "little") == base, "where it is entered"
    with open(said["image"], "rb") as image:
        assert image.read(60)[56:] == b"ARM\x64"
    refused = tenon("run", tmp_path, "--headless")
    assert refused.status == 2
    assert f"{board} is a hardware board without an emulator" in refused.stderr
