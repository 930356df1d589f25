"""Disks: each VM with files on a disk has one, which is made at the first run and kept."""

import pytest

from tenonos import system
from tenonos.build.images import images

LOOP = "a 100 Hz control loop"


def kinds(answer):
    return {n: i.kind for n, i in answer.images.items() if i.kind != "mortise"}


def loaded(answer, folder):
    assert answer.accepted, (answer.missing, answer.reason)
    answer.write(folder / "composed")
    found = system.load(folder / "composed" / "system.toml")
    assert [*images(found)]
    return found


@pytest.mark.parametrize(
    "text",
    [
        "logs to a disk, survives power cuts",
        "log the temperature to a file on the SD card, nothing synced may be lost at power loss",
        f"{LOOP} that writes its log to an SD card",
        "sampling at 10 Hz into a file on a disk",
    ],
)
def test_an_image_alone_has_the_disk_of_the_machine(composed, tmp_path, text):
    answer = composed(text)
    made = loaded(answer, tmp_path)
    assert kinds(answer) == {"historian": "tenon"} and made.mode == "bare"
    (disk,) = made.disks
    assert (disk.device, disk.format, disk.keep) == ("virtio0", "fat", True)
    assert "fs.block" in answer.images["historian"].capabilities


def test_a_vm_beside_others_has_a_disk_that_mortise_drives(composed, tmp_path):
    answer = composed(f"{LOOP} that logs to a file on a disk, beside Linux")
    made = loaded(answer, tmp_path)
    assert kinds(answer) == {"historian": "tenon", "linux": "linux"}
    whole, part = made.disks
    assert whole.keep and whole.format == "fat" and whole.size == part.size
    assert (part.vm, part.on, part.at) == ("historian", whole.name, 0)
    assert "virt.drive" in answer.images["mortise"].capabilities
    assert not made.vm("historian").devices


def test_processes_have_files_of_their_own(composed, tmp_path):
    answer = composed("a Linux program as a process that keeps its files on a disk")
    made = loaded(answer, tmp_path)
    assert kinds(answer) == {"programs": "tenon"}
    assert "tenon/linux-disk" in answer.images["programs"].libraries
    assert len(made.disks) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{LOOP} with a web page that logs to a disk", "has one disk or one network card"),
        ("Three VMs, each with a control loop that logs to a disk", "Mortise drives 2 disks"),
        (f"{LOOP} that logs to a disk, beside Linux, with cache colouring", "colours of its own"),
    ],
)
def test_what_no_disk_can_do_is_a_conflict(composed, text, said):
    answer = composed(text)
    assert not answer.accepted and answer.conflict
    assert said in answer.reason or answer.reason.startswith("no configuration of")
