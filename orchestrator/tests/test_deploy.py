"""Folders to deploy: boot files of boards, the bill of materials, and what is written where."""

import hashlib
import json
import re
import struct
import zlib
from dataclasses import replace

import pytest
from descriptions import described, linux, motor, read

from tenonos import deploy, outputs
from tenonos.deploy import boot_files, contents, page, sbom
from tenonos.deploy.contents import Component, Contents
from tenonos.errors import InputError
from tenonos.linux import boot
from tenonos.paths import BOARDS
from tenonos.setup.initramfs import PROGRAM, Entry, archive
from tenonos.system.board import names


def on(board):
    return read(described("one", motor(cpus=[1]), board=board))


def block(board):
    """The indented lines of a board's page: what its firmware is told."""
    text = (BOARDS / board / "README.md").read_text()
    return "".join(re.findall(r"^    (.*\n)", text, re.MULTILINE))


@pytest.mark.parametrize(
    ("board", "name"),
    [("raspberry-pi-4", "config.txt"), ("zcu102", "boot.cmd"), ("rk3568", "boot.cmd")],
)
def test_boot_files_are_what_the_page_of_the_board_says(board, name):
    made = boot_files.of(on(board))
    assert made.pop(name) == block(board)
    assert [*made] == (["boot.scr"] if name == "boot.cmd" else [])


def test_a_script_for_u_boot_has_the_commands_and_two_checksums():
    commands = b"booti 0x200000\n"
    made = boot_files.script(commands)
    head, data = made[:64], made[64:]
    magic, checksum, time, size, _, _, of_data = struct.unpack(">7I", head[:28])
    assert (magic, time, size) == (0x27051956, 0, len(data))
    assert checksum == zlib.crc32(head[:4] + bytes(4) + head[8:])
    assert of_data == zlib.crc32(data)
    assert head[28:32] == bytes((5, 22, 6, 0))
    assert data == len(commands).to_bytes(4, "big") + bytes(4) + commands


@pytest.mark.parametrize("board", names())
def test_each_board_has_boot_files_that_name_the_image(board):
    for content in boot_files.of(on(board)).values():
        wanted = boot_files.IMAGE
        assert (wanted if isinstance(content, str) else wanted.encode()) in content


def test_the_boot_folder_of_a_board_comes_first(tmp_path):
    system = on("raspberry-pi-4")
    folder = tmp_path / "board"
    (folder / "boot/overlays").mkdir(parents=True)
    (folder / "boot/config.txt").write_text("mine\n")
    (folder / "boot/overlays/one.dtbo").write_bytes(b"\xd0\x0d")
    mine = replace(system, board=replace(system.board, folder=folder))
    assert boot_files.of(mine) == {"config.txt": b"mine\n", "overlays/one.dtbo": b"\xd0\x0d"}
    (folder / "boot" / boot_files.IMAGE).touch()
    with pytest.raises(InputError, match="name of the image"):
        boot_files.of(mine)


PARTS = (
    Component("core/list", "library", "core/list", "0.1.0", "MIT"),
    Component("pkg:cargo/spin@0.12.3", "library", "spin", "0.12.3", "MIT", "ab" * 32),
)
FOUND = Contents("0.1.0", {"mortise": PARTS, "motor": PARTS[:1]}, PARTS[:1])


def test_the_bill_of_materials_names_each_part_once():
    text = sbom.document("one", FOUND, {"elf/motor.elf": "cd" * 32})
    made = json.loads(text)
    keys = [part["bom-ref"] for part in made["components"]]
    assert len(keys) == len(set(keys)) == 5
    known = {*keys, made["metadata"]["component"]["bom-ref"]}
    edges = {edge["ref"]: edge["dependsOn"] for edge in made["dependencies"]}
    assert known >= {*edges, *(key for each in edges.values() for key in each)}
    assert edges["image/motor"] == ["core/list"]
    assert {"alg": "SHA-256", "content": "ab" * 32} in made["components"][3]["hashes"]
    assert "timestamp" not in text and "serialNumber" not in made


def test_the_page_of_a_board_has_no_links_into_the_tree():
    for name in names():
        system = on(name)
        assert "](" not in page._board(system.board)
        assert "# " not in page._board(system.board).splitlines()[0]


def test_a_deployment_replaces_an_earlier_one(tmp_path):
    built = {"system.img": b"1", "one.elf": b"2"}
    folder = tmp_path / "out"
    outputs.write_folder(folder, {"boot/a": b"old", "elf/old.elf": b"x", "run.sh": "#!/bin/sh\n"})
    (folder / deploy.SUMS).write_text("12  boot/a\n34  elf/old.elf\n56  ../out2/x\n")
    assert (folder / "run.sh").stat().st_mode & 0o100
    (tmp_path / "out2").mkdir()
    (tmp_path / "out2/x").touch()
    for name in deploy._listed(folder / deploy.SUMS) - {"boot/a"}:
        outputs.remove(folder, name)
    assert not (folder / "elf").exists() and (folder / "boot/a").exists()
    assert (tmp_path / "out2/x").exists()
    # A link in place of a folder is replaced, not followed.
    (folder / "vm").symlink_to(tmp_path / "out2")
    outputs.write_folder(folder, {f"vm/{name}": each for name, each in built.items()})
    assert not (folder / "vm").is_symlink()
    assert [each.name for each in (tmp_path / "out2").iterdir()] == ["x"]
    assert (folder / "vm/one.elf").read_bytes() == b"2"


def test_a_folder_that_cannot_be_is_refused_before_the_build(tmp_path):
    (tmp_path / "file").touch()
    for wrong in (tmp_path / "file", tmp_path / "file/below"):
        with pytest.raises(InputError, match="is no folder; name another one"):
            deploy.check(wrong)
    deploy.check(tmp_path / "new/below")
    deploy.check(None)


@pytest.mark.parametrize("folder", [False, True])
def test_files_of_a_linux_vm_are_components(tmp_path, folder):
    (tmp_path / "Image").write_bytes(b"kernel")
    root = tmp_path / "root"
    if folder:
        root.mkdir()
        (root / "init").write_text("#!/bin/sh\n")
        (root / "init").chmod(0o755)
    else:
        root.write_bytes(archive([Entry("init", PROGRAM, b"")]))
    own = linux(cpus=[0], kernel="Image", initramfs="root")
    system = read(described("one", own), str(tmp_path))
    kernel, initramfs = contents._foreign(system, system.vms[0])
    assert (kernel.type, kernel.name) == ("operating-system", "Image")
    assert kernel.sha256 == hashlib.sha256(b"kernel").hexdigest()
    assert initramfs.name == "root"
    wanted = boot.initramfs(system, system.vms[0])
    assert initramfs.sha256 == hashlib.sha256(wanted).hexdigest()
