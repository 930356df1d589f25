"""Packages, modules and files in the initramfs of a Linux VM."""

import os
import shutil
import subprocess

import pytest
from test_initramfs import read

from tenonos.errors import InputError, WorkError
from tenonos.linux import deb, modules, overlay, userland
from tenonos.setup import debian
from tenonos.setup.initramfs import FILE, LINK, PROGRAM, Entry, archive

cross = pytest.mark.skipif(
    not shutil.which("aarch64-linux-gnu-gcc") or not shutil.which("dpkg-deb"),
    reason="needs a cross compiler and dpkg",
)


@pytest.fixture
def pool(tmp_path, monkeypatch):
    """A Debian of three packages: a program, the library it is linked with, a bystander."""
    monkeypatch.setattr(debian.paths, "CACHE", tmp_path / "cache")
    trees = {name: tmp_path / "tree" / name for name in ("tool", "libnear1", "libfar2")}
    for tree in trees.values():
        (tree / "usr/lib/aarch64-linux-gnu").mkdir(parents=True)
    near = trees["libnear1"] / "usr/lib/aarch64-linux-gnu/libnear.so.1.2"
    link = ["aarch64-linux-gnu-gcc", "-nostdlib", "-shared", "-xc", "-"]
    subprocess.run(
        [*link, "-Wl,-soname,libnear.so.1", "-o", near],
        input="int near(void) { return 1; }",
        text=True,
        check=True,
    )
    (near.parent / "libnear.so.1").symlink_to("libnear.so.1.2")
    (near.parent / "libother.so.9").write_bytes(b"not wanted")
    (trees["tool"] / "usr/bin").mkdir()
    subprocess.run(
        [*link, "-Wl,--no-as-needed", "-o", trees["tool"] / "usr/bin/tool", "-xnone", near],
        input="int near(void); int tool(void) { return near(); }",
        text=True,
        check=True,
    )
    (trees["tool"] / "usr/share/doc/tool").mkdir(parents=True)
    (trees["tool"] / "usr/share/doc/tool/README").write_text("much")
    packages = {}
    for name, wishes in (
        ("tool", "libfar2, libnear1 (>= 1) | other"),
        ("libnear1", ""),
        ("libfar2", ""),
    ):
        (trees[name] / "DEBIAN").mkdir()
        control = f"Package: {name}\nVersion: 1\nArchitecture: arm64\nMaintainer: x <x@x>\n"
        control += f"Depends: {wishes}\n" if wishes else ""
        (trees[name] / "DEBIAN/control").write_text(control + "Description: x\n")
        packages[name] = tmp_path / f"{name}_1_arm64.deb"
        subprocess.run(
            ["dpkg-deb", "--build", trees[name], packages[name]], check=True, capture_output=True
        )
    return packages


@cross
def test_a_program_brings_the_libraries_it_is_linked_with_and_nothing_else(pool):
    asked = []

    def get(name):
        asked.append(name)
        return pool[name]

    found = read(userland.programs(["tool"], get))
    assert asked == ["tool", "libnear1"], "the likely one is asked first, the rest not at all"
    assert found["bin/tool"][0] == PROGRAM
    assert found["lib/aarch64-linux-gnu/libnear.so.1"] == (LINK, b"libnear.so.1.2")
    assert found["lib/aarch64-linux-gnu/libnear.so.1.2"][1][:4] == b"\x7fELF"
    assert found["usr/bin"] == (LINK, b"../bin")
    assert not [name for name in found if "doc" in name or "other" in name]


@cross
def test_a_library_that_no_package_has_is_reported(pool):
    pool["libnear1"] = pool["libfar2"]
    with pytest.raises(WorkError, match=r"tool_1_arm64.deb depends on has libnear.so.1"):
        userland.programs(["tool"], pool.__getitem__)


@cross
def test_an_archive_is_made_once_for_the_versions_it_is_of(pool, monkeypatch):
    first = userland.programs(["tool"], pool.__getitem__)
    monkeypatch.setattr(userland, "closure", lambda *_: pytest.fail("made again"))
    assert userland.programs(["tool", "tool"], pool.__getitem__) == first


def module(depends):
    return b"\x7fELF...license=GPL\0depends=" + depends + b"\0intree=Y\0"


@pytest.fixture
def kernel(monkeypatch, tmp_path):
    path = "lib/modules/6.1/kernel/drivers"
    files = {
        f"{path}/virtio.ko": module(b""),
        f"{path}/virtio_ring.ko": module(b"virtio"),
        f"{path}/virtio-blk.ko": module(b"virtio_ring,virtio"),
        "lib/modules/6.1/modules.builtin": b"kernel/fs/ext4/ext4.ko\n",
    }
    entries = {name: Entry(name, FILE, content) for name, content in files.items()}
    monkeypatch.setattr(debian, "kernel_packages", lambda name: [tmp_path / "linux-image.deb"])
    monkeypatch.setattr(deb, "files", lambda package: entries)
    monkeypatch.setattr(debian.paths, "CACHE", tmp_path / "cache")


@pytest.mark.usefixtures("kernel")
def test_modules_come_after_what_they_depend_on():
    own = Entry("lib/modules/tenon.ko", FILE, b"ours")
    found = read(modules.modules(["virtio_blk", "ext4", "virtio"], "x:1", [own]))
    assert found[modules.LIST][1].decode().split() == [
        f"/lib/modules/{name}.ko" for name in ("virtio", "virtio_ring", "virtio_blk", "tenon")
    ]
    assert found["lib/modules/virtio_ring.ko"] == (FILE, module(b"virtio"))


@pytest.mark.usefixtures("kernel")
def test_an_unknown_module_is_wrong_input():
    with pytest.raises(InputError) as wrong:
        modules.modules(["virtio_block"], "system.toml:9")
    assert str(wrong.value) == (
        'system.toml:9: Debian\'s kernel has no module "virtio_block"; did you mean virtio_blk?'
    )
    assert modules.modules([], "x:1") == b"", "no module, no archive"


def test_files_keep_their_mode_and_links_stay_links(tmp_path):
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/start").write_text("#!/bin/sh\n")
    (tmp_path / "etc/start").chmod(0o755)
    (tmp_path / "etc/words").write_text("a b\n")
    os.symlink("words", tmp_path / "etc/same")
    found = read(overlay.overlay(tmp_path))
    assert found["etc/start"][0] == PROGRAM
    assert found["etc/words"] == (FILE, b"a b\n")
    assert found["etc/same"] == (LINK, b"words")


def test_archives_end_where_the_kernel_looks_for_the_next():
    assert len(archive([Entry("a", FILE, b"x")])) % 512 == 0


@cross
def test_packages_are_those_that_files_are_taken_of(pool):
    found = userland.packages(["tool", "tool"], pool.__getitem__)
    assert [deb.name_and_version(package) for package in found] == [
        ("libnear1", "1"),
        ("tool", "1"),
    ]
    assert userland.packages([], pool.__getitem__) == []
