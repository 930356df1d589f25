"""Seeds and random numbers of an unmodified Linux: KASLR, system calls as short as on the machine
alone, and new seeds at each start."""

import re

import pytest
from conftest import assert_well

SYSTEM = """\
name = "entropy"
board = "qemu-virt"
pool = "0.1"

[[vm]]
name = "linux"
kind = "linux"
cpus = [0]
memory = "256M"
programs = ["getppid.c"]
files = "root"
"""

GETPPID = """\
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint64_t now(void)
{
	uint64_t ticks;

	__asm__ volatile("isb\\n mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
}

int main(void)
{
	enum { CALLS = 20000 };
	uint64_t begin = now();

	for (int i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
	/* A tick of 16 ns is 16 instructions. */
	printf("getppid %lu\\n", (now() - begin) * 16 / CALLS);
	return 0;
}
"""

START = """\
#!/bin/sh
dmesg | grep -E "crng init done|KASLR"
getppid
echo base $(grep -m 1 " _text$" /proc/kallsyms)
[ -e /proc/device-tree/chosen/rng-seed ] && echo "seed $(md5sum < /proc/device-tree/chosen/rng-seed)"
cat /proc/sys/kernel/random/boot_id
"""

ALONE = 512
"""Instructions of getppid of the same kernel alone in QEMU with a seeded tree."""


@pytest.mark.timeout(600)
def test_linux_is_seeded_and_its_system_calls_are_short(tenon, tmp_path):
    (tmp_path / "system.toml").write_text(SYSTEM)
    (tmp_path / "getppid.c").write_text(GETPPID)
    start = tmp_path / "root/etc/start"
    start.parent.mkdir(parents=True)
    start.write_text(START)
    start.chmod(0o755)
    script = tmp_path / "input"
    script.write_text("expect #\nsend reboot -f\nexpect #\nsend poweroff -f\n")
    options = ("--headless", "--deterministic", "--input", f"linux={script}")
    outcome = tenon("run", tmp_path, *options, limit=500)
    assert_well(outcome)
    said = "\n".join(outcome.said("linux"))
    assert said.count("random: crng init done") == said.count("KASLR enabled") == 2
    taken = [int(found) for found in re.findall(r"getppid (\d+)", said)]
    assert len(taken) == 2 and all(abs(each - ALONE) <= 0.03 * ALONE for each in taken)
    # Other seeds at each start.
    bases = re.findall(r"base (\w+)", said)
    assert len(set(bases)) == 2
    assert "no source of entropy" not in outcome.stderr
    again = tenon("run", tmp_path, *options, limit=500)
    assert re.findall(r"base (\w+)", "\n".join(again.said("linux"))) == bases
