"""The menu: what a person changes ends up in the fragment, and nothing else does."""

import os
import shutil

import pytest

from tenonos import catalogue, system
from tenonos.build.images import space
from tenonos.build.menu import edit
from tenonos.errors import InputError


@pytest.fixture
def demo(tmp_path):
    folder = tmp_path / "motor-linux"
    shutil.copytree(catalogue.systems()["motor-linux"], folder)
    return system.load(folder)


def changing(**values):
    """An editor that sets these symbols and saves."""

    def menu(kconf):
        for name, value in values.items():
            assert kconf.syms[name].set_value(value)
        kconf.write_config(os.environ["KCONFIG_CONFIG"])

    return menu


def test_a_change_is_kept(demo):
    file = edit(demo, "motor", changing(TENON_THREAD_MAIN_STACK="16384"))
    assert file == demo.folder / "motor.config"
    assert file.read_text().splitlines()[1:] == ["CONFIG_TENON_THREAD_MAIN_STACK=16384"]
    assert file.read_text().startswith("# The motor VM")


def test_changing_back_empties_the_fragment(demo):
    edit(demo, "motor", changing(TENON_THREAD_PREEMPTION="n"))
    file = edit(demo, "motor", changing(TENON_THREAD_PREEMPTION="y"))
    assert [line for line in file.read_text().splitlines() if not line.startswith("# The")] == []


def test_leaving_without_a_change(demo):
    before = demo.mortise_config.read_text()
    assert edit(demo, "mortise", lambda kconf: None) is None
    assert demo.mortise_config.read_text() == before


def test_what_a_system_leaves_out_is_not_in_the_fragment(tmp_path):
    folder = tmp_path / "hello"
    shutil.copytree(catalogue.systems()["hello"], folder)
    left_out = {
        line.symbol for line in space(system.load(folder)).given("mortise") if line.value == "n"
    }
    assert "MORTISE_VIRTUAL_DEVICES" in left_out
    assert edit(system.load(folder), "mortise", lambda kconf: None) is None


def test_linux_has_none(demo):
    with pytest.raises(InputError, match='VM "linux" is Linux: it has no configuration here'):
        edit(demo, "linux", lambda kconf: None)
    with pytest.raises(InputError, match='no VM "rotor" in motor-linux; there are motor, linux'):
        edit(demo, "rotor", lambda kconf: None)
    assert "KCONFIG_CONFIG" not in os.environ
