"""The plugin is built for the interface of the QEMU that loads it."""

import subprocess
from dataclasses import replace

import pytest

from tenonos import logs
from tenonos import system as systems
from tenonos.errors import InputError, WorkError
from tenonos.paths import ROOT
from tenonos.run import plugin, qemu
from tenonos.run.target import cpu_of
from tenonos.settings import SETTINGS


def emulator(folder, version, models=()):
    """A QEMU that only states its version and CPU models."""
    folder.mkdir()
    script = folder / qemu.BINARY
    told = "".join(f"  {model}\n" for model in models)
    script.write_text(f"#!/bin/sh\necho 'QEMU emulator version {version}\n{told}'\n")
    script.chmod(0o755)
    return str(folder)


@pytest.mark.parametrize(
    ("version", "interface"),
    [("7.2.22", 1), ("8.2.2", 1), ("9.0.0", 2), ("10.0.2", 2), ("11.1", 2), ("", 1)],
)
def test_the_interface_follows_from_the_version(version, interface):
    assert plugin.api(version) == interface


def test_another_qemu_on_the_path_has_a_plugin_of_its_own(tmp_path, monkeypatch):
    built = []

    def run(command, env, **_):
        built.append(env["TENON_PLUGIN_API"])
        return subprocess.CompletedProcess(command, 0, "", "")

    folders = [
        emulator(tmp_path / "old", "7.2.22 (Debian 1:7.2)"),
        emulator(tmp_path / "new", "10.0.2 (Debian 1:10.0.2)"),
    ]
    states = []
    for folder in folders:
        monkeypatch.setenv("PATH", folder)
        states.append(qemu.version())
    assert states == ["7.2.22", "10.0.2"]

    monkeypatch.setattr(plugin.rust, "cargo", lambda *words: (list(words), {}))
    monkeypatch.setattr(plugin.subprocess, "run", run)
    libraries = []
    for folder in folders:
        monkeypatch.setenv("PATH", folder)
        libraries.append(plugin.build())
    assert built == ["1", "2"]
    assert len({*libraries}) == 2, "neither run replaces the other's"


def test_without_qemu_the_doctor_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(WorkError, match="not installed"):
        qemu.version()


def test_a_board_that_this_qemu_lacks_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", emulator(tmp_path / "old", "7.2.22"))
    qemu.require(None, "qemu-virt")
    qemu.require("7.2", "qemu-virt")
    with pytest.raises(WorkError, match=r"QEMU 7\.2\.22 has no qemu-raspi4b.*9\.0 or newer"):
        qemu.require("9.0", "qemu-raspi4b")


MODELS = ("arm926", "cortex-a15", "cortex-a53", "cortex-a55", "cortex-a7", "max", "neoverse-n1")


def test_the_emulators_cpu_is_one_that_this_qemu_has(tmp_path, monkeypatch):
    monkeypatch.setattr(SETTINGS, "cpu", None)
    monkeypatch.setenv("PATH", emulator(tmp_path / "any", "10.0.2", models=MODELS))
    with pytest.raises(InputError, match=r"QEMU 10\.0\.2 has no CPU cortex-a56") as refused:
        qemu.set_cpu("cortex-a56")
    assert "it has cortex-a53, cortex-a55, max, neoverse-n1" in str(refused.value)
    assert qemu.emulator() == "QEMU 10.0.2"
    qemu.set_cpu("cortex-a55")
    assert qemu.emulator() == "QEMU 10.0.2, cortex-a55"
    qemu.set_cpu(None)
    assert SETTINGS.cpu is None


def test_another_cpu_has_the_counter_of_the_board(monkeypatch):
    # Those of Armv8.6, max too, count at 1 GHz by themselves: sixteen releases in the time of one.
    chosen = systems.load(ROOT / "examples/systems/motor-linux")
    monkeypatch.setattr(SETTINGS, "cpu", None)
    assert cpu_of(chosen.board) == "cortex-a53"
    monkeypatch.setattr(SETTINGS, "cpu", "max")
    assert cpu_of(chosen.board) == "max,cntfrq=62500000"


def test_linux_is_refused_where_this_qemu_delivers_no_virtual_interrupts(tmp_path, monkeypatch):
    linux = systems.load(ROOT / "tests/systems/motor-imx8mp")
    (motor,) = (vm for vm in linux.vms if vm.name == "motor")
    alone = replace(linux, vms=(motor,))
    monkeypatch.setenv("PATH", emulator(tmp_path / "backports", "10.0.2"))
    qemu.require_for(alone)
    with pytest.raises(WorkError, match=r"10\.0\.2 has no virtual interrupts.*10\.0\.3") as refused:
        qemu.require_for(linux)
    assert "Debian 12" not in str(refused.value), "its backports have this one"
    monkeypatch.setenv("PATH", emulator(tmp_path / "debian-13", "10.0.13"))
    qemu.require_for(linux)


def test_a_plugin_that_does_not_build_is_one_line_and_all_of_it_a_log(tmp_path, monkeypatch):
    said = "warning: one\nerror[E0425]: cannot find value `x`\n --> src/lib.rs:1:1\n"
    monkeypatch.setattr(logs, "LOG", tmp_path / "log")
    monkeypatch.setattr(plugin.qemu, "version", lambda: "7.2.22")
    monkeypatch.setattr(plugin.rust, "cargo", lambda *words: (["cargo", *words], {}))
    failed = subprocess.CompletedProcess([], 101, "", said)
    monkeypatch.setattr(plugin.subprocess, "run", lambda *_, **__: failed)
    with pytest.raises(WorkError) as refused:
        plugin.build()
    log = tmp_path / "log" / logs.LIBRARIES
    what = "the counting plugin does not build: error[E0425]: cannot find value `x`"
    assert str(refused.value) == f"{what}; all of it is in {log}"
    assert log.read_text().endswith(said)
