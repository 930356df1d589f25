"""Programs of Linux that a user brings: what they are, and why some are refused."""

import subprocess
from pathlib import Path

import pytest

from tenonos import new, system
from tenonos.errors import InputError
from tenonos.linux import program
from tenonos.plan import compose
from tenonos.plan.explain import Explainer
from tenonos.plan.pool import Pool
from tenonos.setup.initramfs import FILE, LARGE, LINK, PAGE, PROGRAM, Entry, archive
from tenonos.system import board

SOURCE = """\
void _start(void)
{
	register long status __asm__("x0") = 0;
	register long number __asm__("x8") = 94;
	__asm__ volatile("svc 0" : : "r"(number), "r"(status));
}
"""


@pytest.fixture(scope="module")
def machine():
    return board.load("qemu-virt")


@pytest.fixture
def linked(tmp_path):
    """Links a small program for AArch64 with more options."""

    def link(*options):
        source, made = tmp_path / "exit.c", tmp_path / "exit"
        source.write_text(SOURCE)
        command = ["aarch64-linux-gnu-gcc", "-nostdlib", "-O1", *options, "-o", made, source]
        subprocess.run(list(map(str, command)), check=True)
        return made

    return link


def test_a_static_program_and_its_calls(linked, machine):
    found = program.examined(linked("-static"), machine)
    assert (found.interpreter, found.needed, found.sites) == (None, (), 1)
    assert found.calls == {94} <= program.served()
    assert found.kind == "static, 1 svc"
    assert found.unknown == 0


def test_the_calls_of_a_program_are_those_of_its_image(linked, tmp_path, machine, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder, _ = new.program("exact", tmp_path, str(linked("-static")), [])
    (vm,) = system.load(folder).vms
    assert vm.first.calls == (94,)
    assert "CONFIG_TENON_PROCESS_THREADS=1\n" in (folder / "exact.config").read_text()
    # The number of this call is that of a register, as in `syscall`.
    unknown = SOURCE.replace("= 94", "= (long)__builtin_frame_address(0)")
    source, made = tmp_path / "unknown.c", tmp_path / "unknown"
    source.write_text(unknown)
    command = ["aarch64-linux-gnu-gcc", "-nostdlib", "-O1", "-static", "-o", made, source]
    subprocess.run(list(map(str, command)), check=True)
    assert program.examined(made, machine).unknown == 1
    # Two numbers come to one call.
    several = "#include <stdlib.h>\nvoid _start(void) { __asm__ volatile("
    several += '"mov x8, #1\\ncbz x0, 1f\\nmov x8, #94\\n1: svc 0"); }\n'
    source.write_text(several)
    subprocess.run(list(map(str, command)), check=True)
    found = program.examined(made, machine)
    assert (found.unknown, found.calls) == (1, {94})
    folder, _ = new.program("inexact", tmp_path, str(made), [])
    (vm,) = system.load(folder).vms
    assert vm.first.calls is None
    assert "SIZE" not in (folder / "inexact.config").read_text()


def test_a_composition_states_the_calls_of_each_library(linked, tmp_path, machine):
    made = program.brought(str(linked("-static")), [], machine)
    objective = "runs my existing Linux binary without Linux"
    answer = compose.compose(objective, program=made)
    answer.write(tmp_path / "binary")
    explainer = Explainer(tmp_path / "binary", Pool())
    calls = {one.name: one.calls for one in explainer.all() if one.image != "mortise"}
    assert calls["tenon/linux-abi"] == ("exit_group",)
    assert calls["tenon/linux-socket"] == ()
    assert calls["tenon/frames"] is None


def test_a_call_that_there_is_not_is_refused(linked, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder, _ = new.program("exact", tmp_path, str(linked("-static")), [])
    file = folder / "system.toml"
    file.write_text(file.read_text().replace('"exit_group"', '"exit_grup"'))
    with pytest.raises(InputError, match='no system call "exit_grup"; write "exit_group"'):
        system.load(folder)


def test_a_dynamic_program_names_its_loader_and_libraries(linked, machine):
    found = program.examined(linked("-pie", "-Wl,--no-as-needed", "-lc"), machine)
    assert found.interpreter == "/lib/ld-linux-aarch64.so.1"
    assert found.needed == ("libc.so.6",)
    assert found.kind == "dynamic, by /lib/ld-linux-aarch64.so.1, with libc.so.6"


@pytest.mark.parametrize("address", ["0x9000000", "0x80000000", "0x8000"])
def test_an_address_that_a_process_has_not_is_refused(linked, machine, address):
    made = linked("-static", f"-Wl,-Ttext-segment={address}", "-Wl,-z,max-page-size=4096")
    with pytest.raises(InputError) as error:
        program.examined(made, machine)
    assert f"it is linked to {address} to" in str(error.value)
    assert "a process has 0x10000 to 0x8000000 and 0x100000000 to 0x8000000000" in str(error.value)


def test_a_high_address_is_taken(linked, machine):
    made = linked("-static", "-Wl,-Ttext-segment=0x200000000")
    assert program.examined(made, machine).sites == 1


def test_a_program_of_another_machine_is_refused(tmp_path, machine):
    made = tmp_path / "other"
    source = tmp_path / "other.c"
    source.write_text("void _start(void) {}\n")
    subprocess.run(["cc", "-nostdlib", "-static", "-o", made, source], check=True)
    with pytest.raises(InputError, match="it is a program for X86_64, and Tenon runs those for"):
        program.examined(made, machine)


def test_what_is_no_program_is_refused(tmp_path, linked, machine):
    text = tmp_path / "text"
    text.write_text("#!/bin/sh\n")
    with pytest.raises(InputError, match="it is no program: "):
        program.examined(text, machine)
    with pytest.raises(InputError, match="it is no program: it is not linked"):
        program.examined(linked("-c"), machine)
    with pytest.raises(InputError, match="cannot read it: No such file"):
        program.examined(tmp_path / "none", machine)
    cut = tmp_path / "cut"
    cut.write_bytes(linked("-static").read_bytes()[:70])
    with pytest.raises(InputError):
        program.examined(cut, machine)


FILES = {
    name: Entry(name, mode, content)
    for name, mode, content in (
        ("bin/tool", PROGRAM, b""),
        ("bin/other", LINK, b"tool"),
        ("etc/tool", FILE, b""),
    )
}


def test_the_program_of_a_package():
    assert program.of_package(FILES, "tool-static") == "/bin/tool"
    assert program.of_package(FILES, "tools", "/bin/other") == "/bin/other"
    one = {"bin/tool": FILES["bin/tool"]}
    assert program.of_package(one, "tools") == "/bin/tool"
    with pytest.raises(InputError, match="not one program of its name; its programs: /bin/other, "):
        program.of_package(FILES, "tools")
    with pytest.raises(InputError, match="no program /bin/none; its programs: /bin/other, "):
        program.of_package(FILES, "tools", "/bin/none")


def test_a_new_app_has_the_program(linked, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder, files = new.program("greeting", tmp_path, str(linked("-static")), [])
    assert Path(folder / "files/bin/exit") in files
    (vm,) = system.load(folder).vms
    assert (vm.app, vm.program, vm.files) == ("programs", "/bin/exit", "files")
    assert vm.first.arguments == ("exit",)
    assert (folder / "files/bin/exit").stat().st_mode & 0o111
    assert "CONFIG_TENON_PROCESS_ENDS_VM=y" in (folder / "greeting.config").read_text()


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(InputError, match='no file "none"'):
        new.program("greeting", tmp_path, "none", [])


def test_large_programs_are_at_pages_of_the_archive():
    files = [
        Entry("a", FILE, b"text"),
        Entry("bin/large", PROGRAM, b"\x7fELF" + bytes(LARGE)),
        Entry("bin/small", PROGRAM, b"\x7fELF2" + bytes(99)),
        Entry("lib/other", PROGRAM, b"\x7fELF1" + bytes(LARGE)),
    ]
    content = archive(files, pages=True)
    for entry in (files[1], files[3]):
        assert content.index(entry.content) % PAGE == 0
    assert content.index(files[2].content) % PAGE != 0
    names = [part[104 : part.index(b"\0", 104)] for part in content.split(b"070701")[1:-1]]
    assert [name.decode() for name in names if name != b"."] == [entry.name for entry in files]
    assert archive(files).count(b"070701") == len(files) + 1
