"""The configuration space: what is asked for takes effect, or is refused with its place."""

import os

import pytest

from tenonos.errors import InputError
from tenonos.pool import kconfig, renamed

TREE = """\
choice IMAGE
	prompt "image"
config IMAGE_MORTISE
	bool "m"
config IMAGE_TENON
	bool "t"
endchoice
config CAP_NET_IP
	bool
config LIB_CORE_TIMER
	bool "timer"
	select LIB_HW_CLOCK
config LIB_HW_CLOCK
	bool "clock"
config LIB_TENON_NET
	bool "net"
	depends on IMAGE_TENON
	select CAP_NET_IP
config CORE_TIMER_SLOTS
	int "slots"
	default 8
	range 1 64
	depends on LIB_CORE_TIMER
config CORE_TIMER_BASE
	hex "base"
	default 0x1000
config CORE_TIMER_NAME
	string "name"
	default "a"
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    root = tmp_path_factory.mktemp("tree")
    (root / "pool").mkdir()
    (root / "pool" / "Kconfig").write_text(TREE)
    return kconfig.load(root=root)


def evaluate(tree, *lines):
    return tree.evaluate([kconfig.define(line) for line in lines])


def test_values_are_typed(tree):
    config = evaluate(tree, "CONFIG_LIB_CORE_TIMER=y", 'CONFIG_CORE_TIMER_NAME="b\\"c"')
    assert config["CORE_TIMER_SLOTS"] == 8
    assert config["CORE_TIMER_BASE"] == 0x1000
    assert config["CORE_TIMER_NAME"] == 'b"c'
    assert config.libraries == ["LIB_CORE_TIMER", "LIB_HW_CLOCK"]
    assert evaluate(tree)["CORE_TIMER_SLOTS"] == 0


def test_evaluations_do_not_leak(tree):
    evaluate(tree, "CONFIG_LIB_CORE_TIMER=y", "CONFIG_IMAGE_TENON=y", "CONFIG_LIB_TENON_NET=y")
    config = evaluate(tree, "CONFIG_IMAGE_MORTISE=y")
    assert config.libraries == []
    assert config.capabilities == []


def test_capabilities(tree):
    config = evaluate(tree, "CONFIG_IMAGE_TENON=y", "CONFIG_LIB_TENON_NET=y")
    assert config.capabilities == ["net.ip"]
    assert kconfig.symbol_of("virt.cache-colouring") == "CAP_VIRT_CACHE_COLOURING"
    assert kconfig.capability("CAP_VIRT_CACHE_COLOURING") == "virt.cache-colouring"


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        (["CONFIG_LIB_CORE_TIMR=y"], "-D: unknown CONFIG_LIB_CORE_TIMR; did you mean"),
        (["CONFIG_ZZZZ=y"], "-D: unknown CONFIG_ZZZZ; see ./tenon config"),
        (["CONFIG_LIB_CORE_TIMER=1"], "-D: CONFIG_LIB_CORE_TIMER=1: it is a bool; write y or n"),
        (["CONFIG_CORE_TIMER_BASE=12"], "-D: CONFIG_CORE_TIMER_BASE=12: it is a hexadecimal"),
        (["CONFIG_CORE_TIMER_NAME=x"], "-D: CONFIG_CORE_TIMER_NAME=x: it is a text"),
        (
            ["CONFIG_LIB_CORE_TIMER=y", "CONFIG_CORE_TIMER_SLOTS=65"],
            "-D: CONFIG_CORE_TIMER_SLOTS=65: it is from 1 to 64",
        ),
        (
            ["CONFIG_CORE_TIMER_SLOTS=4"],
            "-D: CONFIG_CORE_TIMER_SLOTS=4 has no effect: it depends on LIB_CORE_TIMER",
        ),
        (
            ["CONFIG_IMAGE_MORTISE=y", "CONFIG_LIB_TENON_NET=y"],
            "-D: CONFIG_LIB_TENON_NET=y has no effect: it depends on IMAGE_TENON",
        ),
        (
            ["CONFIG_LIB_CORE_TIMER=y", "CONFIG_LIB_HW_CLOCK=n"],
            "-D: CONFIG_LIB_HW_CLOCK=n has no effect: LIB_CORE_TIMER needs it",
        ),
        (["CONFIG_CAP_NET_IP=y"], "-D: CONFIG_CAP_NET_IP=y has no effect: it is derived"),
        (
            ["LIB_CORE_TIMER"],
            '-D: "LIB_CORE_TIMER" is not an assignment; write -D CONFIG_NAME=value',
        ),
    ],
)
def test_refusals(tree, lines, complaint):
    with pytest.raises(InputError) as error:
        evaluate(tree, *lines)
    assert str(error.value).startswith(complaint)


def test_a_fragment_names_its_lines(tree, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "motor.config"
    file.write_text("# a comment\n\nCONFIG_LIB_CORE_TIMER=y\n# CONFIG_LIB_TENON_NET is not set\n")
    assert [a.symbol for a in kconfig.fragment(file)] == ["LIB_CORE_TIMER", "LIB_TENON_NET"]
    file.write_text("\nCONFIG_LIB_CORE_TIMERS=y\n")
    with pytest.raises(InputError, match=r"motor.config:2: unknown CONFIG_LIB_CORE_TIMERS; did"):
        tree.evaluate(kconfig.fragment(file))
    file.write_text("LIB_CORE_TIMER=y\n")
    with pytest.raises(
        InputError, match=r'motor.config:1: "LIB_CORE_TIMER=y" is not an assignment'
    ):
        kconfig.fragment(file)
    assert kconfig.fragment(tmp_path / "none.config") == []


def test_minimal_reads_back(tree):
    config = evaluate(tree, "CONFIG_LIB_CORE_TIMER=y", "CONFIG_CORE_TIMER_SLOTS=3")
    again = tree.evaluate([kconfig.define(line) for line in config.minimal.splitlines()])
    assert again.values == config.values
    assert "HW_CLOCK" not in config.minimal


def test_the_environment_stays_out(monkeypatch):
    monkeypatch.setenv("srctree", "/nowhere")
    monkeypatch.setenv("CONFIG_", "WRONG_")
    tree = kconfig.load()
    assert os.environ["srctree"] == "/nowhere"
    assert "LIB_HW_ARCH" in tree.symbols
    assert tree.warnings == []


def test_a_broken_tree_is_one_line(tmp_path):
    (tmp_path / "pool").mkdir()
    (tmp_path / "pool" / "Kconfig").write_text("config A\n\tbool\n\tnonsense\n")
    with pytest.raises(InputError, match="Kconfig:3"):
        kconfig.load(root=tmp_path)


def test_an_outside_application_joins(tmp_path):
    (tmp_path / "Kconfig").write_text('config APP_MINE\n\tbool "mine"\n\tselect LIB_HW_ARCH\n')
    tree = kconfig.load([tmp_path / "Kconfig"])
    assert "LIB_HW_ARCH" in evaluate(tree, "CONFIG_APP_MINE=y").libraries


@pytest.mark.parametrize("line", ["select LIB_HW_ARCHE", "depends on LIB_HW_ARCHE"])
def test_an_outside_application_needs_symbols_that_there_are(tmp_path, line):
    text = f'config APP_MINE\n\tbool "mine"\n\t{line}\n\thelp\n\t  If ALL are there.\n'
    (tmp_path / "Kconfig").write_text(text)
    with pytest.raises(InputError, match=r"Kconfig:1: APP_MINE needs LIB_HW_ARCHE, which") as told:
        kconfig.load([tmp_path / "Kconfig"])
    assert told.value.mend == "did you mean LIB_HW_ARCH?"


def test_a_former_name_of_a_symbol_leads_to_the_new_one(tmp_path):
    with pytest.raises(InputError, match="unknown CONFIG_LIB_TENON_VLIB_C") as caught:
        evaluate(kconfig.load(), "CONFIG_LIB_TENON_VLIB_C=y")
    assert "CONFIG_TENON_C_API_VLIB" in caught.value.mend
    file = tmp_path / "Kconfig"
    file.write_text('config APP_MINE\n\tbool "mine"\n\tselect LIB_TENON_VM_C\n')
    with pytest.raises(InputError, match="LIB_TENON_VM_C is TENON_C_API_VM now"):
        kconfig.load([file])


def test_new_names_of_symbols_exist():
    tree = kconfig.load()
    assert set(renamed.SYMBOLS.values()) <= tree.symbols.keys()
    assert not renamed.SYMBOLS.keys() & tree.symbols.keys()


def test_a_kconfig_of_the_users_own_that_is_wrong_has_a_place_and_a_remedy(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "Kconfig"
    file.write_text('config APP_OWN\n\tbool "own"\n= 3\n')
    with pytest.raises(InputError) as refused:
        kconfig.load([file])
    line = str(refused.value)
    assert line.startswith("Kconfig:3: not valid Kconfig: couldn't parse '= 3'")
    assert line.endswith("; write it as the one that ./tenon new makes")
