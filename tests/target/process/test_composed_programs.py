"""An objective that asks for Linux programs becomes a system that runs one."""

import subprocess

import pytest
from conftest import ROOT, assert_well

from tenonos.setup import debian


@pytest.mark.timeout(300)
def test_a_composed_system_runs_a_program(tenon, tmp_path):
    folder = tmp_path / "binary"
    said = "runs my existing Linux binary without Linux"
    assert_well(tenon("compose", said, "-o", folder, json_file=False))
    outcome = tenon("run", folder, "--headless", "--deterministic", "--seconds", "0.05")
    assert_well(outcome)
    line, end = outcome.said("programs")
    assert line.startswith("Linux ")
    assert "aarch64" in line
    assert end == "busybox has ended"
    assert outcome.vm("programs")["exit_status"] == 0
    assert outcome.task["released"] == outcome.task["completed"] > 0


@pytest.mark.timeout(300)
def test_a_program_of_the_user_is_in_the_composed_system(tenon, tmp_path):
    source, program = tmp_path / "greet.c", tmp_path / "greet"
    source.write_text('#include <stdio.h>\nint main(void) { puts("hello"); return 4; }\n')
    subprocess.run(["aarch64-linux-gnu-gcc", "-static", "-o", program, source], check=True)
    folder = tmp_path / "system"
    said = "my Linux binary as a process, without a Linux kernel"
    composed = tenon("compose", said, "--program", program, "-o", folder, json_file=False)
    assert_well(composed)
    outcome = tenon("run", folder, "--headless", "--deterministic", "--seconds", "0.05")
    assert outcome.said("programs") == ["hello", "greet has ended with 4"]
    assert outcome.vm("programs")["exit_status"] == 4
    assert outcome.status == 1


@pytest.mark.timeout(120)
def test_a_program_needs_a_vm_with_processes(tenon, tmp_path):
    source, program = tmp_path / "greet.c", tmp_path / "greet"
    source.write_text("int main(void) { return 0; }\n")
    subprocess.run(["aarch64-linux-gnu-gcc", "-static", "-o", program, source], check=True)
    asked = ["compose", "a 1 kHz loop", "--program", program, "-o", tmp_path / "loop"]
    loop = tenon(*asked, json_file=False)
    assert loop.status == 2
    assert "nothing in it runs the program" in loop.stderr


SMALL = """\
name = "small"
board = "qemu-virt"
pool = "0.1"
mode = "static"

[[vm]]
name = "small"
kind = "tenon"
app = "programs"
cpus = [0]
memory = "16M"
files = "files"
program = "/bin/hello"
calls = ["exit_group", "ioctl", "set_tid_address", "writev"]
config = "small.config"
"""

SETTINGS = """\
CONFIG_OPTIMISE_SIZE=y
CONFIG_TENON_PROCESS_ENDS_VM=y
CONFIG_TENON_PROCESS_THREADS=1
CONFIG_TENON_PROCESS_COUNT=1
CONFIG_TENON_THREAD_FEW_TIMERS=y
# CONFIG_TENON_THREAD_PANIC_MESSAGE is not set
"""


def link_with_musl(folder, program, source):
    """Links a static program with musl, of Debian's package."""
    package = debian.package("musl-dev")
    subprocess.run(["dpkg-deb", "-x", package, folder], check=True)
    library = folder / "usr/lib/aarch64-linux-musl"
    start = [library / name for name in ("crt1.o", "crti.o")]
    options = ["-Os", "-static", "-no-pie", "-nostdlib", "-s", "-Wl,-z,max-page-size=4096"]
    options.append("-Wl,-z,noseparate-code,-z,norelro,--build-id=none,--gc-sections")
    headers = ["-nostdinc", "-isystem", folder / "usr/include/aarch64-linux-musl"]
    last = ["-L", library, "-lc", "-lgcc", library / "crtn.o"]
    command = ["aarch64-linux-gnu-gcc", *options, *headers, "-o", program, *start, source, *last]
    subprocess.run(command, check=True)


@pytest.mark.long(60, "pool/tenon/process", "pool/tenon/linux-abi", "pool/tenon/linux-tty")
@pytest.mark.timeout(900)
def test_a_hello_of_musl_is_a_small_image(tenon, tmp_path):
    folder = tmp_path / "small"
    program, source = folder / "files/bin/hello", tmp_path / "hello.c"
    program.parent.mkdir(parents=True)
    # What is called beside is no part of the image, and is named.
    source.write_text("""\
#include <stdio.h>
#include <errno.h>
#include <unistd.h>
int main(void) { puts("hello"); return chdir("/") == -1 && errno == ENOSYS ? 0 : 3; }
""")
    link_with_musl(tmp_path / "musl", program, source)
    (folder / "system.toml").write_text(SMALL)
    (folder / "small.config").write_text(SETTINGS)
    outcome = tenon("run", folder, "--headless", "--deterministic", "--seconds", "1")
    assert outcome.said("small")[0] == "hello"
    (unserved,) = outcome.vm("small")["unserved"]
    assert (unserved["program"], unserved["call"]) == ("hello", "chdir")
    images = (ROOT / ".tenon/build").glob("**/small-*/small/small.bin")
    size = max(images, key=lambda image: image.stat().st_mtime).stat().st_size
    assert size <= 160 << 10, size
    assert f"{size >> 10} KiB" in (ROOT / "docs/linux-abi.md").read_text()
