"""Kconfig trees of others: read for what they say, and nothing they ask for is run."""

import json

import pytest

from tenonos import cli
from tenonos.errors import InputError
from tenonos.plan.retrieval.graph import lib_graph
from tenonos.pool import foreign

TOP = """\
mainmenu "a tree"
ran := $(shell,touch ran)
config MODULES
	bool "modules"
	modules
	help
	Parts that are loaded later.
config NET
	bool "net"
	imply IPV6
	select LIST if MODULES
config LIST
	bool
config FAST
	def_bool $(shell,true && echo y)
source "arch/$(SRCARCH)/Kconfig"
"""
ARCH = 'config IPV6\n\ttristate "ipv6"\n\tdepends on NET && !FAST\n'


@pytest.fixture
def tree(tmp_path, monkeypatch):
    monkeypatch.setenv("SRCARCH", "arm64")
    folder = tmp_path / "tree"
    (folder / "arch/arm64").mkdir(parents=True)
    (folder / "Kconfig").write_text(TOP)
    (folder / "arch/arm64/Kconfig").write_text(ARCH)
    return folder


def test_a_tree_of_others_is_a_graph(tree):
    graph = lib_graph(foreign.load(tree).kconf)
    edges = {(a, data["relation"], b) for a, b, data in graph.edges(data=True)}
    assert edges == {
        ("MODULES.help", "describes", "MODULES"),
        ("NET", "implies", "IPV6"),
        ("NET", "selects", "LIST"),
        ("IPV6", "depends_on", "NET"),
        ("IPV6", "depends_on", "FAST"),
    }
    assert graph.nodes["NET"]["prompt"] == "net"


def test_nothing_is_run_and_no_answer_is_no(tree):
    read = foreign.load(tree)
    assert not (tree / "ran").exists()
    assert read.symbols["FAST"].str_value == "n"
    assert read.kconf.modules.name == "MODULES"


def test_what_is_required_is_a_capability(tmp_path):
    (tmp_path / "Kconfig").write_text(
        'config CAP_NET\n\tbool\nconfig LIB_A\n\tbool "a"\n\tdepends on CAP_NET\n'
    )
    graph = lib_graph(foreign.load(tmp_path).kconf)
    assert [data["relation"] for *_, data in graph.edges(data=True)] == ["requires"]


def test_a_variable_that_is_missing_is_named_with_its_mend(tree, monkeypatch):
    monkeypatch.delenv("SRCARCH")
    with pytest.raises(InputError) as refused:
        foreign.load(tree)
    assert "'arch//Kconfig' not found" in refused.value.what
    assert "SRCARCH=arm64" in refused.value.mend
    assert str(tree.parent) not in refused.value.what


@pytest.mark.parametrize("outside", ["../other", "link"])
def test_a_file_outside_of_the_tree_is_not_read(tree, outside):
    (tree.parent / "other").write_text("config SECRET\n\tbool\n")
    (tree / "link").symlink_to(tree.parent / "other")
    (tree / "Kconfig").write_text(f'source "{outside}"\n')
    with pytest.raises(InputError, match="outside of the tree"):
        foreign.load(tree)


def test_a_folder_without_a_tree_is_refused(tmp_path):
    with pytest.raises(InputError, match="there is no Kconfig"):
        foreign.load(tmp_path)


def test_the_command_counts_or_lists_all(tree, capsys):
    assert cli.run(["graph", "--kconfig", str(tree)]) == 0
    assert "implies" in capsys.readouterr().out
    assert cli.run(["graph", "--kconfig", str(tree), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {"from": "NET", "to": "LIST", "relation": "selects"} in told["edges"]
    assert cli.run(["graph", "--json"]) == 0
    assert any(
        node["id"] == "LIB_CORE_TIMER" for node in json.loads(capsys.readouterr().out)["nodes"]
    )
