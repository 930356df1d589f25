"""Content of a Linux VM's initramfs, by the keys of its system."""

import bz2
import gzip
import io
import lzma
import shutil
import tarfile
from dataclasses import replace

import pytest
from descriptions import described, linux
from test_initramfs import read

from tenonos import build
from tenonos import system as systems
from tenonos.errors import InputError, WorkError
from tenonos.linux import boot, deb, file_kind, modules, tools
from tenonos.setup import debian
from tenonos.setup.initramfs import DIRECTORY, FILE, LINK, PROGRAM, Entry, archive


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


def tar(content):
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        member = tarfile.TarInfo("init")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return made.getvalue()


CPIO = archive([Entry("init", PROGRAM, bytes(range(256)) * 64)])
NO_INITRAMFS = {
    "zeros only": (bytes(512), "is zeros only"),
    "ELF": (b"\x7fELF\x02\x01\x01", "is an ELF file"),
    "kernel": (b"MZ".ljust(56, b"\0") + b"ARM\x64", "is a kernel image for arm64"),
    "script": (b"#!/bin/sh\n", "is a script"),
    "text": (b"root/\n", "is text"),
    "noise": (bytes(range(128, 256)), "is of no kind that is known here"),
    "odc": (b"070707" + CPIO[6:], "is a cpio archive in an old format"),
    "tar": (tar(b"init"), "is a tar archive"),
    "tar.gz": (
        gzip.compress(tar(b"init")),
        "is compressed by gzip, and inside it is a tar archive",
    ),
    "tar.xz": (lzma.compress(tar(b"init")), "is compressed by xz, and inside it is a tar archive"),
    "damaged": (b"\x1f\x8b" + bytes(64), "is compressed by gzip, and damaged: "),
    "nothing.gz": (gzip.compress(b""), "is compressed by gzip, and inside it is empty"),
    "ext4": (bytes(1080) + b"\x53\xef" + bytes(512), "is an image of an ext file system"),
    "uImage": (b"\x27\x05\x19\x56" + CPIO, "is an image with a header of U-Boot"),
    "lz4 frame": (b"\x04\x22\x4d\x18", "is compressed by lz4 in a format that Linux does not read"),
}


@pytest.mark.parametrize("name", NO_INITRAMFS)
def test_a_file_that_linux_does_not_unpack_is_refused_by_what_it_is(tmp_path, name):
    content, says = NO_INITRAMFS[name]
    (tmp_path / "system.toml").write_text(described("own", linux(cpus=[0], initramfs="rootfs")))
    (tmp_path / "rootfs").write_bytes(content)
    system = systems.load(tmp_path)
    with pytest.raises(InputError) as refused:
        boot.initramfs(system, system.vms[0])
    assert refused.value.what.startswith(f'initramfs "rootfs" {says}')
    assert refused.value.where.endswith("system.toml:10") and refused.value.mend


@pytest.mark.parametrize(
    "content",
    [
        CPIO,
        bytes(512) + CPIO,
        gzip.compress(CPIO),
        bz2.compress(CPIO),
        lzma.compress(CPIO),
        lzma.compress(CPIO, lzma.FORMAT_ALONE),
        b"\x28\xb5\x2f\xfd zstd",
        b"\x02\x21\x4c\x18 lz4",
    ],
)
def test_an_archive_is_taken_plain_or_compressed(content):
    assert file_kind.no_initramfs(content) is None


def test_a_memory_disk_may_hold_any_file_system(tmp_path):
    command = "console=ttyAMA0 root=/dev/ram0"
    vm = linux(cpus=[0], initramfs="rootfs", cmdline=command)
    (tmp_path / "system.toml").write_text(described("own", vm))
    (tmp_path / "rootfs").write_bytes(b"hsqs")
    system = systems.load(tmp_path)
    assert boot.initramfs(system, system.vms[0]) == b"hsqs"


def test_the_first_program_is_the_one_of_the_command_line(tmp_path):
    system = with_root(tmp_path, cmdline="console=ttyAMA0 rdinit=/sbin/mine")
    with pytest.raises(InputError, match="no executable file /sbin/mine"):
        boot.initramfs(system, system.vms[0])


@pytest.mark.usefixtures("built")
def test_a_program_that_the_shell_would_not_run_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tools, "own", lambda file: Entry(f"bin/{file.stem}", PROGRAM, b"program"))
    names = b"\0[\0[[\0logger\0zcat\0\0other\0\0"
    (tmp_path / "busybox").write_bytes(b"\x7fELF" + names)
    for name in ("logger", "other"):
        (tmp_path / f"{name}.c").touch()
        text = described("own", linux(cpus=[0], programs=[f"{name}.c"]))
        (tmp_path / "system.toml").write_text(text)
        system = systems.load(tmp_path)
        if name == "other":
            assert "bin/other" in archives(boot.initramfs(system, system.vms[0]))
            break
        with pytest.raises(InputError) as refused:
            boot.initramfs(system, system.vms[0])
        assert str(refused.value) == (
            'system.toml:10: program "logger.c" has the name of a busybox command, which the shell'
            " runs instead; rename the file"
        )


def test_a_program_without_a_source_is_refused_before_anything_is_compiled(tmp_path, monkeypatch):
    text = described("own", linux(cpus=[0], programs=["none.c"]))
    (tmp_path / "system.toml").write_text(text)
    monkeypatch.setattr(build, "BUILD", tmp_path)
    monkeypatch.setattr(build, "compiled", None)
    with pytest.raises(InputError, match='no C file "none'):
        build.build(systems.load(tmp_path))


@pytest.mark.usefixtures("built")
def test_a_start_that_would_not_run_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    start = tmp_path / "root/etc/start"
    start.parent.mkdir(parents=True)
    start.write_text("#!/bin/sh\n")
    text = described("own", linux(cpus=[0], files="root"))
    (tmp_path / "system.toml").write_text(text)
    system = systems.load(tmp_path)
    with pytest.raises(InputError) as refused:
        boot.initramfs(system, system.vms[0])
    says = 'system.toml:10: etc/start in folder "root" is not executable, and would not run; '
    assert str(refused.value) == f"{says}chmod +x root/etc/start"
    start.chmod(0o755)
    assert archives(boot.initramfs(system, system.vms[0]))["etc/start"][0] == PROGRAM
