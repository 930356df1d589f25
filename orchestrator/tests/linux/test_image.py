"""Image files: the C that the module and tenonctl share, against a reading of its own."""

import ctypes
import re
import struct
import subprocess

import pytest
from host import library, program
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tenonos import system as systems
from tenonos.build.elf import Flat
from tenonos.build.vm_image import vm_image

VM = struct.Struct("<4sI32sQQQQB8sBBBIQQ152x")
NAME = re.compile(rb"[a-z][a-z0-9-]{0,30}\0+\Z")
BLOCK = 2 << 20


def image(name=b"job", memory=4 << 20, vcpus=1, segments=(), content=b"", reserved=b"", **other):
    fields = {"magic": b"TVM1", "version": 1, "zero": 0, "count": len(segments)} | other
    cpus = b"\2" + 7 * b"\xff"
    places = (0x12000, 0x4008_0000, 0x4000_0000)
    vm = VM.pack(
        *(fields["magic"], fields["version"], name, memory, *places, vcpus, cpus),
        *(32, 0, 0, fields["zero"], 0, 0),
    )
    vm = vm[: 256 - len(reserved)] + reserved
    table = b"".join(struct.pack("<QQQ", *segment) for segment in segments)
    return vm + struct.pack("<II", fields["count"], 0) + table + content


def good(content):
    """Whether this is an image, after docs/formats.md."""
    if len(content) < 264 or len(content) > 64 << 20 or content[:8] != b"TVM1\1\0\0\0":
        return False
    name, memory, vcpus = content[8:40], *struct.unpack_from("<Q24xB", content, 40)
    count, zero = struct.unpack_from("<II", content, 256)
    start = 264 + 24 * count
    if not NAME.match(name) or memory % BLOCK or not BLOCK <= memory <= 512 << 20:
        return False
    if not 1 <= vcpus <= 8 or any(content[84:88]) or any(content[104:256]) or zero:
        return False
    if not 1 <= count <= 8 or len(content) < start:
        return False
    for number in range(count):
        target, offset, size = struct.unpack_from("<QQQ", content, 264 + 24 * number)
        if target % 64 or size % 64 or not size or target + size > 1 << 64:
            return False
        if target + size == 1 << 64:
            return False
        if offset < start or offset + size > len(content):
            return False
        memory -= size
    return memory >= 0


GOOD = image(segments=[(0x4008_0000, 288, 128)], content=bytes(128))


@pytest.fixture(scope="module")
def wrong(tmp_path_factory):
    text = """
        #include <tenon/image.h>
        const char *wrong(const void *content, unsigned long long bytes) {
            struct tenon_image image = { .count = 0 };
            memcpy(&image, content, bytes < sizeof(image) ? bytes : sizeof(image));
            return tenon_image_wrong(&image, bytes);
        }
    """
    function = library(tmp_path_factory.mktemp("image"), text=text).wrong
    function.restype = ctypes.c_char_p
    function.argtypes = [ctypes.c_char_p, ctypes.c_ulonglong]
    return lambda content: function(content, len(content))


COMPLAINTS = {
    b"": b"is too short for a VM image",
    GOOD[:263]: b"is too short for a VM image",
    GOOD[:287]: b"is too short for its segments",
    b"#!/bin/sh\n" * 30: b"is not a VM image",
    image(version=2): b"is a VM image of another version",
    image(name=b"Job"): b"has no proper name (a-z, 0-9 and -, a letter first)",
    image(name=b"a" * 32): b"has no proper name (a-z, 0-9 and -, a letter first)",
    image(memory=3 << 20): b"asks for memory that is not 2 MiB to 512 MiB in whole 2 MiB",
    image(vcpus=9): b"has no vCPU or more than 8",
    image(reserved=b"\1"): b"is not all zero where it must be",
    image(zero=1): b"is not all zero where it must be",
    image(): b"has no segment or more than 8",
    image(count=1 << 31): b"has no segment or more than 8",
    image(segments=[(0, 288, 0)]): b"has an empty segment",
    image(segments=[(0, 0, 64)]): b"has a segment that is not in the file",
    image(segments=[(0, 288, 64)]): b"has a segment that is not in the file",
    image(segments=[(0, 288, (1 << 64) - 64)]): b"has a segment that is not in the file",
    image(segments=[(1, 288, 64)], content=bytes(64)): b"has a segment that is not a multiple of",
    image(segments=[((1 << 64) - 64, 288, 64)], content=bytes(64)): b"has a segment beyond all",
    image(
        memory=BLOCK, segments=[(0, 320, 3 << 19), (0, 320, 3 << 19)], content=bytes((3 << 19) + 64)
    ): b"fills more memory than it asks for",
}


@pytest.mark.parametrize("content", COMPLAINTS, ids=lambda c: COMPLAINTS[c].decode()[:30])
def test_each_way_to_be_wrong_has_its_words(wrong, content):
    assert wrong(content).startswith(COMPLAINTS[content])
    assert not good(content)


def test_an_image_is_one(wrong):
    assert wrong(GOOD) is None
    assert good(GOOD)


def test_what_the_build_writes_is_an_image(wrong):
    servo = systems.load("motor-linux")
    content = vm_image(servo, servo.vm("motor"), {"motor": Flat(0, 70_000, b"code" * 9_999, {})})
    assert wrong(content) is None
    assert good(content)


@settings(max_examples=400)
@given(st.lists(st.tuples(st.integers(0, len(GOOD) - 1), st.integers(0, 255)), max_size=4),
       st.integers(0, len(GOOD)))  # fmt: skip
@example([], len(GOOD))
def test_what_is_changed_is_judged_as_by_another_reader(wrong, changes, length):
    content = bytearray(GOOD)
    for at, value in changes:
        content[at] = value
    content = bytes(content[:length])
    assert (wrong(content) is None) == good(content)


@pytest.fixture(scope="module")
def tenonctl(tmp_path_factory):
    target = program(tmp_path_factory.mktemp("tenonctl"))
    return lambda *arguments: subprocess.run(
        [target, *map(str, arguments)], capture_output=True, text=True, check=False
    )


def test_a_file_that_is_none_is_refused_in_one_line(tenonctl, tmp_path):
    file = tmp_path / "job.vm"
    file.write_bytes(GOOD[:-1])
    done = tenonctl("create", file)
    assert done.returncode == 2
    assert done.stderr == (
        f"tenonctl: {file}: has a segment that is not in the file;"
        " ./tenon build --vm-image makes one\n"
    )
    done = tenonctl("create", tmp_path / "none.vm")
    assert done.returncode == 2 and "No such file" in done.stderr


LINES = {
    (): "no command",
    ("creat", "x"): 'unknown command "creat"',
    ("create",): "an image file is missing",
    ("create", "a", "b"): '"b" is too much',
    ("start",): "a VM's name is missing",
    ("ping", "a"): "the channel that leads back is missing",
    ("ping", "a", "b"): 'no channel "b" here',
    ("list", "x"): '"x" is too much',
    ("instantiate", "a" * 17): "is too long for a template's name",
}


@pytest.mark.parametrize("arguments", LINES, ids=lambda a: " ".join(a)[:20] or "none")
def test_wrong_input_is_one_line_and_status_2(tenonctl, arguments):
    done = tenonctl(*arguments)
    assert done.returncode == 2
    assert LINES[arguments] in done.stderr and done.stderr.count("\n") == 1


def test_without_the_module_the_work_fails_in_one_line(tenonctl, tmp_path):
    (tmp_path / "job.vm").write_bytes(GOOD)
    for arguments in (["create", tmp_path / "job.vm"], ["list"], ["pause", "job"]):
        done = tenonctl(*arguments)
        assert done.returncode == 1
        assert "no /dev/tenon/control" in done.stderr and done.stderr.count("\n") == 1


def test_help_names_every_command(tenonctl):
    done = tenonctl("help")
    assert done.returncode == 0
    for command in ("create", "start", "pause", "resume", "restart", "destroy", "list", "stats",
                    "console", "ping", "instantiate"):  # fmt: skip
        assert f"\n  {command} " in done.stdout
