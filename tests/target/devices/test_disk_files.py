"""Files of processes on a FAT disk: busybox changes them, and the image has what was synced."""

import hashlib

import fat
import pytest
from conftest import assert_well
from descriptions import CONTROL, motor

pytestmark = pytest.mark.long(60, "pool/tenon/linux-disk", "pool/tenon/fs-fat", "pool/tenon/block")

SYSTEM = """\
name = "disk-files"
board = "qemu-virt"
pool = "0.1"
mode = "bare"
console = "programs"

[[vm]]
name = "programs"
kind = "tenon"
app = "programs"
cpus = [0]
memory = "64M"
packages = ["busybox-static"]
program = "/bin/busybox"
arguments = ["sh", "/etc/start"]
environment = ["PATH=/bin", "HOME=/"]
files = "files"

[[disk]]
device = "virtio0"
file = "disk.img"
keep = true
"""

# Each run has the steps that follow from what is on the disk, so that one image serves all.
START = """\
synced() { busybox dd if=/dev/null of=$1 conv=notrunc,fsync 2> /dev/null; }
first() {
    cd /data
    busybox cat OLD DOCS/READ.ME
    busybox cp OLD "a copy with a long name"
    busybox mkdir -p new/below
    busybox seq 20000 > new/below/numbers
    busybox mv DOCS/READ.ME new/readme
    busybox rm GONE
    busybox sync
    echo more >> OLD
    busybox ln -s OLD link
    synced OLD || echo links are refused
    busybox rm link
    synced OLD && echo OLD is synced
    busybox dd if=/dev/zero of=big bs=1M count=33 2>&1 | busybox grep -o "No space left on device"
    busybox rm big
    busybox cp /bin/busybox big && echo there is room again
    busybox rm big
    echo lost > lost
}
second() {
    busybox ls -1 /data
    busybox md5sum < /data/new/below/numbers
    busybox mount -t vfat /dev/vda /data || echo mounted once
    busybox umount /data && busybox rmdir /data && echo empty
}
busybox mkdir /data
if ! busybox mount -t vfat /dev/vda /data; then
    busybox sync
    busybox rmdir /data && echo not mounted
elif busybox test -e /data/new; then
    second
else
    first
fi
# A loop beside has a thousand releases of 1 ms, however fast the host is.
busybox sleep 1
echo steps are done
busybox sleep 9999
"""

NUMBERS = b"".join(b"%d\n" % number for number in range(1, 20001))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("disk")
    (folder / "files/etc").mkdir(parents=True)
    (folder / "files/etc/start").write_text(START)
    (folder / "system.toml").write_text(SYSTEM)
    (folder / "programs.config").write_text("CONFIG_LIB_TENON_LINUX_DISK=y\n")
    (folder / "until").write_text("timeout 240\nexpect steps are done\n")
    return folder


def run(tenon, folder):
    """The lines that the steps print."""
    script = f"programs={folder / 'until'}"
    outcome = tenon("run", folder, "--headless", "--input", script, limit=1000)
    assert_well(outcome)
    return outcome.said("programs")


@pytest.mark.timeout(1800)
def test_what_a_shell_syncs_is_on_the_disk_and_is_there_in_the_next_run(tenon, folder):
    disk = folder / "disk.img"
    disk.write_bytes(
        fat.image({"OLD": b"an old file\n", "DOCS/READ.ME": b"read me\n", "GONE": b"x" * 9000})
    )
    said = run(tenon, folder)
    for line in (
        "an old file",
        "read me",
        "links are refused",
        "OLD is synced",
        "No space left on device",
        "there is room again",
    ):
        assert line in said, said
    expected = {
        "/OLD": b"an old file\nmore\n",
        "/DOCS": None,
        "/a copy with a long name": b"an old file\n",
        "/new": None,
        "/new/below": None,
        "/new/below/numbers": NUMBERS,
        "/new/readme": b"read me\n",
    }
    assert fat.files(disk.read_bytes()) == expected
    said = run(tenon, folder)
    digest = hashlib.md5(NUMBERS).hexdigest()
    for line in ("a copy with a long name", f"{digest}  -", "mounted once", "empty"):
        assert line in said, said
    assert "lost" not in said
    assert fat.files(disk.read_bytes()) == expected


@pytest.mark.timeout(900)
def test_a_damaged_disk_is_refused_with_a_line(tenon, folder):
    content = bytearray(fat.image({"OLD": b"x" * 9000}))
    content[fat.SECTOR + 4 : fat.SECTOR + 6] = b"\0\0"
    disk = folder / "disk.img"
    disk.write_bytes(content)
    said = run(tenon, folder)
    assert "disk: its file system is damaged: mend it by fsck.fat" in said
    assert "not mounted" in said
    assert disk.read_bytes() == content


PARTITION = """
[[disk]]
name = "main"
device = "virtio0"
file = "disk.img"
keep = true

[[disk]]
vm = "programs"
on = "main"
at = "1M"
size = {size}
"""


@pytest.mark.timeout(1800)
def test_a_vm_beside_a_loop_has_its_files_on_a_partition(tenon, folder, tmp_path):
    content = fat.image({"OLD": b"an old file\n", "DOCS/READ.ME": b"read me\n", "GONE": b"x"})
    text = SYSTEM.partition("[[disk]]")[0].replace('mode = "bare"', 'mode = "static"')
    text = text.replace("cpus = [0]", 'cpus = [0]\ninterrupts = "shared"')
    text += motor(CONTROL, cpus=[1]) + PARTITION.format(size=len(content))
    (tmp_path / "system.toml").write_text(text)
    for name in ("programs.config", "until"):
        (tmp_path / name).write_text((folder / name).read_text())
    (tmp_path / "files").symlink_to(folder / "files")
    before = b"in front".ljust(1 << 20)
    disk = tmp_path / "disk.img"
    disk.write_bytes(before + content + b"behind".ljust(512))
    script = f"programs={tmp_path / 'until'}"
    outcome = tenon("run", tmp_path, "--headless", "--input", script, limit=1000)
    assert_well(outcome)
    said = outcome.said("programs")
    assert "OLD is synced" in said and "No space left on device" in said, said
    after = disk.read_bytes()
    assert after[: 1 << 20] == before and after.endswith(b"behind".ljust(512))
    found = fat.files(after[1 << 20 : -512])
    assert found["/OLD"] == b"an old file\nmore\n" and found["/new/below/numbers"] == NUMBERS
    assert outcome.task["released"] == outcome.task["completed"] > 1000
