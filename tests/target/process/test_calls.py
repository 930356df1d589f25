"""System calls of programs of C, each with the same results on Tenon and on Debian's kernel."""

import re
import shutil
import subprocess
from difflib import unified_diff

import pytest
from conftest import SUPPORT, assert_well, until
from process.test_applets import LINUX, SYSTEM, TENON
from process.test_processes import LOOP, unharmed

PROGRAMS = (
    "entropy",
    "events",
    "credentials",
    "resources",
    "processes",
    "sockets",
    "vfork",
    "scheduling",
    "locks",
    "fifos",
    "inheritance",
    "clocks",
    "deadlines",
    "notices",
    "ipc",
    "queues",
    "owners",
    "descriptors",
    "paths",
    "creation",
    "copies",
    "submission",
    "watches",
    "execution",
    "handles",
    "privileges",
    "leases",
)


def built(source, program):
    """Compiles a static program with glibc."""
    options = ["-static", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread"]
    command = ["aarch64-linux-gnu-gcc", *options, "-o", program, source]
    subprocess.run(list(map(str, command)), check=True)


def printed(tenon, folder, keys, programs=PROGRAMS, config=""):
    """The outcome of a run, and what each program printed."""
    files = folder / "files"
    (files / "etc").mkdir(parents=True)
    lines = ["#!/bin/busybox sh"]
    for name in programs:
        built(SUPPORT / f"calls/{name}.c", files / name)
        lines.append(f'echo "== {name}"; /{name}; echo "-- $?"')
    start = files / "etc/start"
    start.write_text("\n".join([*lines, "echo calls end", ""]))
    start.chmod(0o755)
    (folder / "system.toml").write_text(SYSTEM.format(name=folder.name) + keys)
    if config:
        (folder / "programs.config").write_text(config)
    last = until(folder, programs="calls end")
    outcome = tenon("run", folder, "--headless", "--deterministic", *last)
    shutil.rmtree(files)
    text = "\n".join(outcome.said("programs"))
    return outcome, dict(re.findall(r"^== (.*)\n((?:.*\n)*?-- \d+)$", text, re.MULTILINE))


@pytest.mark.timeout(600)
def test_calls_have_the_results_that_they_have_on_linux(tenon, tmp_path):
    outcome, ours = printed(tenon, tmp_path / "calls", TENON + LOOP)
    unharmed(outcome)
    outcome, theirs = printed(tenon, tmp_path / "calls-linux", LINUX)
    assert_well(outcome)
    assert set(theirs) == set(PROGRAMS)
    assert_same(ours, theirs)


def assert_same(ours, theirs):
    """Asserts that each program printed the same."""
    differences = [
        f"{name} {line}"
        for name, text in theirs.items()
        for line in unified_diff(text.splitlines(), ours.get(name, "").splitlines(), n=1)
    ]
    assert not differences, "\n".join(differences)


@pytest.mark.timeout(600)
def test_calls_of_sockets_of_ipv4_have_the_results_that_they_have_on_linux(tenon, tmp_path):
    config = "CONFIG_LIB_TENON_LINUX_INET=y\n"
    outcome, ours = printed(tenon, tmp_path / "inet", TENON + LOOP, ("inet",), config)
    unharmed(outcome)
    outcome, theirs = printed(tenon, tmp_path / "inet-linux", LINUX, ("inet",))
    assert_well(outcome)
    assert set(theirs) == {"inet"}
    assert_same(ours, theirs)
