"""Content of a Linux VM's initramfs, by the keys of its system."""

import shutil
from dataclasses import replace

import pytest
from descriptions import described, linux
from test_initramfs import read

from tenonos import system as systems
from tenonos.errors import InputError, WorkError
from tenonos.linux import boot, deb, modules, tools
from tenonos.setup import debian
from tenonos.setup.initramfs import DIRECTORY, FILE, LINK, PROGRAM, Entry


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


def with_root(tmp_path, **keys):
    """A system with a folder as the root file system of its Linux VM."""
    (tmp_path / "root/proc").mkdir(parents=True)
    init = tmp_path / "root/init"
    init.write_text("#!/bin/sh")
    init.chmod(0o755)
    text = described("own", linux(cpus=[0], initramfs="root", **keys))
    (tmp_path / "system.toml").write_text(text)
    return systems.load(tmp_path)


def test_a_folder_is_the_root_file_system(tmp_path):
    system = with_root(tmp_path)
    (tmp_path / "root/sbin").symlink_to("bin")
    found = archives(boot.initramfs(system, system.vms[0]))
    assert list(found) == ["proc", "init", "sbin"]
    assert found["init"] == (PROGRAM, b"#!/bin/sh")
    assert (found["proc"][0], found["sbin"]) == (DIRECTORY, (LINK, b"bin"))
    assert system.vms[0].ready == "as init process"


def test_a_root_file_system_without_its_first_program_is_refused(tmp_path):
    system = with_root(tmp_path)
    (tmp_path / "root/init").chmod(0o644)
    with pytest.raises(InputError, match='folder "root" has no executable file /init') as refused:
        boot.initramfs(system, system.vms[0])
    assert refused.value.where.endswith("system.toml:10")


def test_an_empty_file_is_refused(tmp_path):
    system = with_root(tmp_path)
    shutil.rmtree(tmp_path / "root")
    (tmp_path / "root").touch()
    with pytest.raises(InputError, match='initramfs "root" is empty') as refused:
        boot.initramfs(system, system.vms[0])
    assert refused.value.where.endswith("system.toml:10")


def test_the_first_program_is_the_one_of_the_command_line(tmp_path):
    system = with_root(tmp_path, cmdline="console=ttyAMA0 rdinit=/sbin/mine")
    with pytest.raises(InputError, match="no executable file /sbin/mine"):
        boot.initramfs(system, system.vms[0])
