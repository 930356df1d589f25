"""Setup: from Debian with only git to a running system.

One machine per combination of release and Rust; the tests of a machine run in order and depend
on each other, like the first steps of a user.
"""

import json
import shutil
import time
from pathlib import Path

import pytest

from tenonos.setup import rust

pytestmark = pytest.mark.timeout(2400)

DEMO = "./tenon demo --headless --seconds 2 --json out.json"


def in_clone(command):
    return f"cd tenonos && {command}"


def demo(machine, **how):
    """The main job: setup, build and run."""
    done = machine.run(in_clone(DEMO), **how)
    assert done.returncode == 0, done.stderr[-2000:]
    home = "root" if how.get("user", "root") == "root" else f"home/{how['user']}"
    report = json.loads((machine.root / home / "tenonos/out.json").read_text())
    assert {vm["state"] for vm in report["vms"]} == {"running"}


def counted(machine, **how):
    """What needs the counting plugin, which is built for the release's QEMU."""
    options = "--headless --deterministic --seconds 1 --json counted.json"
    done = machine.run(in_clone(f"./tenon run motor-linux {options}"), **how)
    assert done.returncode == 0, done.stderr[-2000:]
    home = "root" if how.get("user", "root") == "root" else f"home/{how['user']}"
    report = json.loads((machine.root / home / "tenonos/counted.json").read_text())
    motor = next(vm for vm in report["vms"] if vm["name"] == "motor")
    assert (motor["exits_in_window"], motor["el2_instructions_in_window"]) == (0, 0)
    done = machine.run(in_clone("./tenon bench irq --environment bare --json rows.json"), **how)
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads((machine.root / home / "tenonos/rows.json").read_text())


def first_steps(machine, **how):
    """The ten minutes of README, and a few tests of each kind."""
    home = "/root" if how.get("user", "root") == "root" else f"/home/{how['user']}"
    tenon = f"{home}/tenonos/tenon"
    vm = '[[vm]]\\nname = "linux"\\nkind = "linux"\\ncpus = [1, 2, 3]\\nmemory = "512M"\\n'
    for line in (
        f"{tenon} new app blinker",
        f"{tenon} run blinker --headless --seconds 3",
        "(cd blinker && cargo test)",
        f"sed -i s/10ms/1ms/ blinker/system.toml && printf '\\n{vm}' >>blinker/system.toml",
        f"{tenon} run blinker --headless --deterministic --seconds 3",
        in_clone("./tenon test orchestrator/tests/run/test_plugin.py"),
        in_clone("./tenon test tests/target/tools/test_counting.py"),
    ):
        done = machine.run(line, **how)
        assert done.returncode == 0, done.stderr[-2000:]


@pytest.fixture(scope="module")
def debian12(machines):
    return machines(12)


@pytest.fixture(scope="module")
def debian12_with_rustup(machines):
    rustup = shutil.which("rustup", path=rust.search_path())
    if rustup is None:
        pytest.skip("needs a rustup to take along")
    machine = machines(12)
    machine.run("apt-get -q update && apt-get -q install -y ca-certificates")
    # The program installs itself when called by this name.
    shutil.copy(Path(rustup).resolve(), machine.root / "usr/local/bin/rustup-init")
    done = machine.run("rustup-init -y --profile minimal --default-toolchain stable")
    assert done.returncode == 0, done.stderr[-2000:]
    machine.clone()
    return machine


@pytest.fixture(scope="module")
def debian13(machines):
    """A desktop system with an ordinary user that sudo permits everything."""
    machine = machines(13)
    machine.run("apt-get -q update && apt-get -q install -y --no-install-recommends sudo")
    machine.run("useradd --create-home someone")
    (machine.root / "etc/sudoers.d/someone").write_text("someone ALL=(ALL) NOPASSWD: ALL\n")
    machine.clone("home/someone", "someone")
    return machine


class TestDebian12WithItsOwnRust:
    """Rust from the distribution: the images' `core` is built too."""

    def test_without_root_it_says_what_root_must_do(self, debian12):
        debian12.run("useradd --create-home someone")
        debian12.clone("home/someone", "someone")
        done = debian12.run(in_clone("./tenon doctor"), user="someone")
        assert done.returncode == 1
        last = done.stderr.splitlines()[-1]
        assert "as root: apt-get install --no-install-recommends python3" in last
        assert not (debian12.root / "home/someone/tenonos/.tenon/venv").exists()

    def test_the_doctor_comes_out_of_nothing(self, debian12):
        debian12.clone()
        done = debian12.run(in_clone("./tenon doctor"))
        assert done.returncode == 0, done.stderr[-2000:]
        assert "MB to fetch" in done.stderr
        assert "core built with each image" in done.stdout

    def test_the_second_start_is_instant(self, debian12):
        started = time.monotonic()
        done = debian12.run(in_clone("./tenon --version"))
        assert done.returncode == 0 and done.stderr == ""
        assert time.monotonic() - started < 2

    def test_the_demo(self, debian12):
        demo(debian12)

    def test_what_is_counted(self, debian12):
        counted(debian12)

    def test_the_first_steps(self, debian12):
        first_steps(debian12)

    def test_the_demo_again_without_a_network(self, debian12):
        demo(debian12, network=False)
        demo(debian12, network=False)

    def test_an_ordinary_user_where_the_packages_are(self, debian12):
        done = debian12.run(in_clone("./tenon doctor --json"), user="someone")
        assert done.returncode == 0, done.stderr[-2000:]
        assert json.loads(done.stdout)["healthy"]
        assert "as root" not in done.stderr

    def test_the_demo_of_an_ordinary_user(self, debian12):
        demo(debian12, user="someone")

    def test_an_interrupted_set_up_goes_on(self, debian12):
        done = debian12.run(
            in_clone(
                "rm -r .tenon/venv .tenon/ready && { timeout -s INT 3 ./tenon --version; :; }"
                " && ./tenon --version"
            )
        )
        assert done.returncode == 0, done.stderr[-2000:]
        assert done.stdout.endswith("tenon 0.1.0\n")


class TestDebian12WithRustup:
    """Rust from rustup, installed as its users do; the bare-metal targets are added."""

    def test_the_doctor_adds_the_targets(self, debian12_with_rustup):
        done = debian12_with_rustup.run(in_clone("./tenon doctor"))
        assert done.returncode == 0, done.stderr[-2000:]
        # A release may lack the targets; then rustup brings core's source instead.
        assert "targets by rustup" in done.stdout or "core built with each" in done.stdout
        assert "rustc-web" not in done.stderr

    def test_the_demo(self, debian12_with_rustup):
        demo(debian12_with_rustup)

    def test_the_demo_again_without_a_network(self, debian12_with_rustup):
        demo(debian12_with_rustup, network=False)


class TestDebian13:
    """The newer release, with its own Rust, by an ordinary user with sudo."""

    def test_the_doctor_comes_out_of_nothing(self, debian13):
        done = debian13.run(in_clone("./tenon doctor"), user="someone")
        assert done.returncode == 0, done.stderr[-2000:]

    def test_the_demo(self, debian13):
        demo(debian13, user="someone")

    def test_what_is_counted(self, debian13):
        counted(debian13, user="someone")

    def test_the_first_steps(self, debian13):
        first_steps(debian13, user="someone")

    def test_the_demo_again_without_a_network(self, debian13):
        demo(debian13, user="someone", network=False)
