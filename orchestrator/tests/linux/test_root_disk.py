"""Root disks: the archive of unpacked packages, and what a system may say."""

import shutil
import subprocess
import tarfile

import pytest

from tenonos import system
from tenonos.errors import InputError, WorkError
from tenonos.linux import root_disk, unpacked
from tenonos.settings import SETTINGS
from tenonos.setup import debian
from tenonos.system.schema import parse

CONTROL = """\
Package: x
Version: 1
Architecture: arm64
Multi-Arch: same
Maintainer: x <x@example>
Description: x
 more of it
"""

SYSTEM = """\
name = "s"
board = "qemu-virt"
pool = "0.1"

[[vm]]
name = "linux"
kind = "linux"
root = "disk"
cpus = [0]
memory = "512M"
devices = ["virtio0"]
"""


@pytest.fixture
def package(tmp_path):
    tree = tmp_path / "tree"
    for folder in ("DEBIAN", "lib/x", "usr/bin", "etc"):
        (tree / folder).mkdir(parents=True)
    (tree / "lib/x/first").write_text("first")
    (tree / "lib/x/again").hardlink_to(tree / "lib/x/first")
    (tree / "usr/bin/x").write_text("program")
    (tree / "etc/x.conf").write_text("setting")
    digest = "0cc175b9c0f1b6a831c399e269772661"
    (tree / "DEBIAN/control").write_text(CONTROL)
    (tree / "DEBIAN/conffiles").write_text("/etc/x.conf\n")
    (tree / "DEBIAN/md5sums").write_text(f"{digest}  etc/x.conf\n")
    (tree / "DEBIAN/triggers").write_text("interest-noawait /usr/lib/x # files\ninterest named\n")
    (tree / "DEBIAN/postinst").write_text("#!/bin/sh\n")
    (tree / "DEBIAN/postinst").chmod(0o755)
    file = tmp_path / "x.deb"
    command = ["dpkg-deb", "--root-owner-group", "--build", tree, file]
    subprocess.run(command, check=True, capture_output=True)
    return file


@pytest.mark.skipif(not shutil.which("dpkg-deb"), reason="needs dpkg")
def test_packages_are_left_as_dpkg_leaves_what_it_has_unpacked(package, tmp_path):
    target = tmp_path / "x.tar"
    unpacked.write(target, [package], {"etc/more": (0o600, "more")})
    with tarfile.open(target) as archive:

        def text(name):
            return archive.extractfile(name).read().decode()

        assert archive.getmember("lib").linkname == "usr/lib"
        assert archive.getmember("usr/bin").isdir()
        assert "lib/x/first" not in archive.getnames()
        assert {text("usr/lib/x/first"), text("usr/lib/x/again")} == {"first"}
        assert text("usr/bin/x") == "program"
        assert archive.getmember("etc/more").mode == 0o600
        info = "var/lib/dpkg/info/x:arm64"
        assert archive.getmember(f"{info}.postinst").mode == 0o755
        assert {"/.", "/etc/x.conf", "/lib/x/first"} <= set(text(f"{info}.list").splitlines())
        status = text("var/lib/dpkg/status")
        assert status.startswith("Package: x\nStatus: install ok unpacked\n")
        assert "Conffiles:\n /etc/x.conf 0cc175b9c0f1b6a831c399e269772661\n" in status
        assert "\n more of it\n" in status
        assert text("var/lib/dpkg/triggers/File") == "/usr/lib/x x:arm64/noawait\n"
        assert text("var/lib/dpkg/triggers/named") == "x:arm64\n"


def test_what_is_no_package_is_refused(tmp_path):
    file = tmp_path / "x.deb"
    file.write_text("no package")
    with pytest.raises(WorkError, match="not a Debian package"):
        unpacked.write(tmp_path / "x.tar", [file], {})


def test_a_disk_is_kept_for_its_packages_and_kernel(tmp_path, monkeypatch):
    made = []

    def make(root, packages, kernel):
        made.append((sorted(packages), kernel))
        root.initramfs.parent.mkdir(parents=True)
        root.initramfs.write_bytes(b"")

    monkeypatch.setattr(root_disk.paths, "CACHE", tmp_path)
    monkeypatch.setattr(root_disk, "_make", make)
    monkeypatch.setattr(
        debian, "fetched_kernel", lambda name: debian.Fetched(name, "1", "", "", None)
    )
    first = root_disk.make(["b", "a"], "one")
    assert root_disk.make(["a", "b"], "one") == first
    assert root_disk.make(["a"], "one") != first != root_disk.make(["a", "b"], "other")
    assert made == [(["a", "b"], "one"), (["a"], "one"), (["a", "b"], "other")]
    monkeypatch.setattr(SETTINGS, "offline", True)
    assert root_disk.make(["a", "b"], "one") == first
    with pytest.raises(WorkError, match="without --offline"):
        root_disk.make(["c"], "one")


def described(text, tmp_path):
    spec, lines = parse(text, "s/system.toml")
    return system.from_spec(spec, tmp_path / "system.toml", "s/system.toml", lines)


def test_the_root_is_the_first_disk_of_its_vm(tmp_path):
    text = SYSTEM + '[[disk]]\ndevice = "virtio0"\nsize = "1M"\n'
    tables = [table for table, *_ in described(text, tmp_path).attached]
    assert tables == ["vm", "disk"]


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ('["virtio0"]', '["gpio"]', r"s/system.toml:8: .*no device behind.*virtio0"),
        ('root = "disk"', 'root = "disk"\nkernel = "Image"', "no kernel of Debian's"),
        ('root = "disk"', 'root = "disk"\ninitramfs = "x"', "a file as its initramfs"),
        ('root = "disk"', 'root = "disk"\nmodules = ["dummy"]', "all modules of its kernel"),
        ('root = "disk"', 'root = "disk"\nfiles = "x"', "files needs an initramfs"),
        ('root = "disk"', 'root = "floppy"', "disk"),
        ('kind = "linux"', 'kind = "tenon"\napp = "motor"', "root is for Linux VMs"),
    ],
)
def test_what_a_root_disk_cannot_be_is_refused(before, after, why, tmp_path):
    with pytest.raises(InputError, match="(?s)" + why):
        described(SYSTEM.replace(before, after), tmp_path)
