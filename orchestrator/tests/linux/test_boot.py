"""Content of a Linux VM's initramfs, by the keys of its system."""

from dataclasses import replace

import pytest
from test_initramfs import read

from tenonos import system as systems
from tenonos.errors import WorkError
from tenonos.linux import boot, deb, modules, tools
from tenonos.setup import debian
from tenonos.setup.initramfs import FILE, PROGRAM, Entry


@pytest.fixture
def built(monkeypatch, tmp_path):
    """Stand-ins for Debian's packages and for the compiler."""
    monkeypatch.setattr(debian.paths, "CACHE", tmp_path)
    (tmp_path / "busybox").write_bytes(b"busybox")
    monkeypatch.setattr(debian, "busybox", lambda: tmp_path / "busybox")
    monkeypatch.setattr(debian, "kernel_packages", lambda name: [tmp_path / "linux-image.deb"])
    monkeypatch.setattr(deb, "files", lambda package: {})
    monkeypatch.setattr(
        tools, "module", lambda kernel: Entry("lib/modules/tenon.ko", FILE, b"module")
    )
    monkeypatch.setattr(tools, "program", lambda name: Entry(f"bin/{name}", PROGRAM, name.encode()))


def archives(content):
    """The archives one after another, as the kernel reads them."""
    found = {}
    while content:
        end = content.index(b"TRAILER!!!") + 14
        end += -end % 512
        found |= read(content[:end])
        content = content[end:]
    return found


@pytest.mark.usefixtures("built")
def test_a_system_that_has_no_use_for_them_has_no_byte_of_them():
    plain = systems.load("motor-linux")
    content = boot.initramfs(plain, plain.vm("linux"))
    assert set(archives(content)) & {"lib", "bin/tenonctl", modules.LIST} == set()


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize("name", ["requests", "replies"])
def test_an_end_of_a_channel_brings_the_module_and_tenonctl(name):
    echo = systems.load("echo")
    one = replace(echo, channels=tuple(c for c in echo.channels if c.name == name))
    found = archives(boot.initramfs(one, one.vm("linux")))
    assert found["lib/modules/tenon.ko"] == (FILE, b"module")
    assert found["bin/tenonctl"] == (PROGRAM, b"tenonctl")
    assert found[modules.LIST][1] == b"/lib/modules/tenon.ko\n"


def test_authority_brings_them_and_a_kernel_of_ones_own_does_not():
    echo = replace(systems.load("echo"), channels=())
    linux = echo.vm("linux")
    assert not boot.has_tools(echo, linux)
    manages = systems.Manages(vms=("*",), memory=1 << 21, cpus=(1,), priority=16)
    assert boot.has_tools(echo, replace(linux, manages=manages))
    assert not boot.has_tools(echo, replace(linux, manages=manages, kernel="Image"))


def test_the_headers_say_what_else_is_needed(monkeypatch, tmp_path):
    wishes = ("linux-base", "linux-headers-6.12-common", "linux-image-6.12", "linux-kbuild-6.12")
    monkeypatch.setattr(deb, "depends", lambda package: wishes)
    assert tools._others(tmp_path) == ("linux-headers-6.12-common", "linux-kbuild-6.12")
    monkeypatch.setattr(deb, "depends", lambda package: wishes[:1])
    with pytest.raises(WorkError, match="does not name"):
        tools._others(tmp_path)
