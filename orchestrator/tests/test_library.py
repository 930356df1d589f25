"""The pool's index: what crates say of themselves, and the order of the layers."""

import pytest

from tenonos.errors import InputError
from tenonos.pool import library, renamed

MANIFEST = """\
[package]
name = "{name}"
description = "a crate"

[package.metadata.tenon]
authority = ["mmio"]
{meta}
[dependencies]
{dependencies}
"""


@pytest.fixture
def pool(tmp_path, monkeypatch):
    """A tree to which crates are added: `add("core/timer", "hw-clock")`."""
    monkeypatch.chdir(tmp_path)

    def add(path: str, *needs: str, meta: str = "", dev: str = ""):
        folder = tmp_path / "pool" / path
        folder.mkdir(parents=True)
        dependencies = "".join(f'{name} = {{ path = "x" }}\n' for name in needs)
        name = path.replace("/", "-").removeprefix("apps-")
        text = MANIFEST.format(name=name, meta=meta, dependencies=dependencies)
        (folder / "Cargo.toml").write_text(
            text + (f"[dev-dependencies]\n{dev} = {{}}\n" if dev else "")
        )

    add.root = tmp_path
    return add


def test_the_description_of_a_crate(pool):
    pool(
        "core/timer", "hw-clock", meta='[[package.metadata.tenon.registers]]\ntable="t"\nitem="A"\n'
    )
    pool("hw/clock", dev="core-timer")
    pool("apps/motor", "core-timer")
    index = library.index(pool.root)
    assert [lib.id for lib in index.libraries] == ["hw/clock", "core/timer", "apps/motor"]
    timer = index.by_id["core/timer"]
    assert (timer.package, timer.crate, timer.symbol) == (
        "core-timer",
        "core_timer",
        "LIB_CORE_TIMER",
    )
    assert timer.registers == (library.Register("t", "A"),)
    assert timer.authority == ("mmio",)
    assert index.by_id["apps/motor"].symbol == "APP_MOTOR"
    assert index.pool_dependencies(timer) == [index.by_id["hw/clock"]]
    assert library.breaches(index) == []


@pytest.mark.parametrize(
    ("low", "high", "line"),
    [
        (
            "hw/clock",
            "core/timer",
            "pool/hw/clock/Cargo.toml:9: hw/clock reaches above its layer: ",
        ),
        ("core/timer", "mortise/vcpu", "pool/core/timer/Cargo.toml:9: core/timer reaches above "),
        ("mortise/vcpu", "tenon/thread", "pool/mortise/vcpu/Cargo.toml:9: mortise/vcpu reaches"),
        ("tenon/thread", "mortise/vcpu", "pool/tenon/thread/Cargo.toml:9: tenon/thread reaches"),
        ("tenon/thread", "apps/motor", "pool/tenon/thread/Cargo.toml:9: tenon/thread reaches"),
    ],
)
def test_a_crate_above_its_layer(pool, low, high, line):
    pool(high)
    pool(low, high.replace("/", "-").removeprefix("apps-"))
    (breach,) = library.breaches(library.index(pool.root))
    assert str(breach).startswith(line)
    assert f"it depends on {high}; {low.split('/')[0]} may use " in str(breach)
    assert breach.status == 2


def test_an_unknown_authority(pool):
    pool("hw/clock")
    file = pool.root / "pool/hw/clock/Cargo.toml"
    file.write_text(file.read_text().replace("mmio", "root"))
    with pytest.raises(InputError, match='unknown authority "root"; known are sysreg, mmio'):
        library.index(pool.root)


def test_a_driver_declares_its_authority(pool):
    pool("hw/clock", meta='drives = ["pl031"]')
    assert library.index(pool.root).by_id["hw/clock"].drives == ("pl031",)
    file = pool.root / "pool/hw/clock/Cargo.toml"
    file.write_text(file.read_text().replace('"mmio"', '"sysreg"'))
    with pytest.raises(InputError, match='needs access to its registers; add "mmio" to authority'):
        library.index(pool.root)


def test_the_tree_keeps_its_layers():
    assert library.breaches(library.index()) == []


def _own(folder, manifest):
    folder.mkdir()
    (folder / "Cargo.toml").write_text(manifest)
    (folder / "Kconfig").write_text("")
    return folder


def test_a_library_outside_the_tree_has_the_layer_it_declares(tmp_path):
    own = _own(
        tmp_path / "gate",
        '[package]\nname = "gate"\n[package.metadata.tenon]\nlayer = "mortise"\n',
    )
    added = library.index().with_library(own).by_package["gate"]
    assert (added.symbol, added.layer, added.is_outside) == ("LIB_MORTISE_GATE", "mortise", True)


@pytest.mark.parametrize(
    ("name", "meta", "said"),
    [
        ("gate", "", "a library outside the pool must declare its layer"),
        ("gate", 'layer = "apps"', "a library outside the pool must declare its layer"),
        ("core-ring", 'layer = "core"', 'the pool has a package "core-ring" too'),
    ],
)
def test_errors_of_a_library_outside_the_tree_are_reported(tmp_path, name, meta, said):
    own = _own(tmp_path / "gate", f'[package]\nname = "{name}"\n[package.metadata.tenon]\n{meta}\n')
    with pytest.raises(InputError, match=said):
        library.index().with_library(own)


def test_a_former_name_of_a_library_leads_to_the_new_one(tmp_path):
    manifest = (
        '[package]\nname = "mine"\ndescription = "x"\n'
        '[package.metadata.tenon]\nlayer = "core"\n[dependencies]\ncore-native = "0.1"\n'
    )
    (tmp_path / "Cargo.toml").write_text(manifest)
    with pytest.raises(InputError, match="core-native is core-bare now") as caught:
        library.index().with_library(tmp_path)
    assert caught.value.where.endswith("Cargo.toml:7")


def test_new_names_of_libraries_exist():
    packages = library.index().by_package
    assert set(renamed.PACKAGES.values()) <= packages.keys()
    assert not renamed.PACKAGES.keys() & packages.keys()
