#!/usr/bin/env python3
"""A stand-in for QEMU: fills memory and talks on the console as a scenario says.

Scenarios are the words after `scenario:` in the kernel file's text.
"""

import mmap
import os
import re
import struct
import sys
import time
from pathlib import Path

arguments = " ".join(sys.argv)
ram_file = re.search(r"mem-path=([^,]+)", arguments)[1]
picture = Path(sys.argv[sys.argv.index("-kernel") + 1])
words = picture.read_text().removeprefix("scenario:").split()

BASE, MS = 0x4000_0000, 1_000_000
SAMPLES = 8192  # more than there are while a busy host does not get to look
STATUS = {"motor": 0x4000_1000, "linux": 0x4000_2000}
TASK = 0x4001_0000

with open(ram_file, "r+b") as file:
    ram = mmap.mmap(file.fileno(), 0)


def put(address, data):
    ram[address - BASE : address - BASE + len(data)] = data


def say(name, text, when=0.0):
    whole, part = divmod(round(when * 1e9), 10**9)
    sys.stdout.write(f"[{whole:05}.{part:09}] {name}| {text}\r\n")
    sys.stdout.flush()


def state(name, number, reason=0):
    put(STATUS[name] + 0x28, struct.pack("<II", number, reason))


for name, vcpus in (("motor", 1), ("linux", 3)):
    put(STATUS[name], b"TNST\x01\0\0\0" + name.encode())
    put(STATUS[name] + 0x34, struct.pack("<I", vcpus))
    put(STATUS[name] + 0x38, struct.pack("<Q", 5000))
    put(STATUS[name] + 0x200, struct.pack("<6Q", 1, 2, 3, 4, 5, 6))
    state(name, 2)
put(TASK, b"TASK\x01\0\0\0control")
put(TASK + 0x28, struct.pack("<QQQ", MS, MS, SAMPLES))

if "fails" in words:
    sys.exit("fake-qemu: no such machine")
if "refuses" in words:
    for name in STATUS:
        state(name, 0)
    say("mortise", "error: linux: its memory overlaps Mortise")
    while "parks" in words:
        time.sleep(1)
    sys.exit(0)
seq = 0


def release(count):
    global seq
    for _ in range(count):
        put(
            TASK + 0x1000 + 32 * (seq % SAMPLES),
            struct.pack("<4Q", seq, seq * MS, seq * MS + 100, 7),
        )
        seq += 1
        put(TASK + 0x40, struct.pack("<Q", seq))


say("mortise", "motor running")
if "silent" not in words:
    say("linux", "tenon-ready cpus=3", 0.0199)
if "panics" in words:
    say("linux", "[    2.1] Kernel panic - not syncing: No working init found.  Try another.")
    say("linux", "[    2.1] CPU: 0 PID: 1 Comm: swapper/0")
if "reboots" in words:
    say("linux", "[    2.2] Rebooting in 1 seconds..")
if "prompt" in words:
    sys.stdout.write("[00001.000000000] linux| => ")
    sys.stdout.flush()
if "dies" in words:
    put(STATUS["motor"] + 0x40, struct.pack("<5Q", 0x92000047, 0xDEAD000, 0, 0x40080000, 5))
    put(STATUS["motor"] + 0x180, b"write to 0xdead000")
    state("motor", 3, 1)
    say("mortise", "motor stopped: write to 0xdead000")
if "off" in words:
    state("motor", 4)
    state("linux", 4)
if "alone" in words:
    state("motor", 4)
if "late" in words:
    for slot, name in enumerate((b"gone", b"job")):
        page = 0x4000_3000 + 0x1000 * slot
        put(page, b"TNST\x01\0\0\0" + name)
        put(page + 0x28, struct.pack("<IIII", 9 if slot == 0 else 2, 0, 0, 1))
        put(page + 0x6C, bytes([2 + slot, 1, 0, 0, 2, *[0xFF] * 7]))
        put(page + 0x200, struct.pack("<6Q", 0, 5, 0, 0, 0, 0))
    put(0x4000_5000, struct.pack("<QQ", 12, 3))
    say("gone", "exit status 0")
if "counted" in words:
    # The plugin's records come one by one, and each before a silence would end the run.
    pipe = int(re.search(r"^pipe (\w+)$", Path("plan").read_text(), re.MULTILINE)[1], 16)
    for number in range(6):
        time.sleep(0.2)
        os.write(pipe, struct.pack("<II4I8Q", 3, 80, 0, 2, 2, 0, 0x4000_0400, number, *[0] * 6))
    sys.exit(0)
if "quits" in words:
    sys.exit(0)
if "echo" in words:
    typed = b""
    while b"reboot -f\n" not in typed:
        typed += sys.stdin.buffer.raw.read(1)
    say("linux", f"heard {typed!r}", 1.0)
    say("linux", "tenon-ready cpus=3", 1.1)
while True:
    if "dies" not in words:
        release(5)
    time.sleep(0.02)
