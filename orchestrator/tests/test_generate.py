"""The generator's output, and what stops it."""

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from tenonos.build import cargo
from tenonos.errors import InputError
from tenonos.generate import config_rs, image, tables_rs
from tenonos.pool import library
from tenonos.pool.kconfig import Config, Hex
from tenonos.pool.library import Index, Library, Register, Table
from tenonos.system import board

GROUP = Table("hypercall", "group::Group", "group::disjoint", "claim the same function identifier")


def lib(identity: str, *needs: str, **more) -> Library:
    package = identity.replace("/", "-")
    values = {
        "id": identity,
        "path": Path("/pool") / identity,
        "package": package,
        "crate": package.replace("-", "_"),
        "symbol": "LIB_" + package.upper().replace("-", "_"),
        "layer": identity.split("/")[0],
        "description": "",
        "authority": (),
        "registers": (),
        "tables": (),
        "root": None,
        "dependencies": needs,
    }
    return Library(**{**values, **more})


def config(**values) -> Config:
    return Config(values, "")


def registering(identity: str, item: str = "GROUP") -> Library:
    return lib(identity, registers=(Register("hypercall", item),))


CALLS = lib("mortise/hypercall", tables=(GROUP,), crate="group")
PSCI, CONSOLE = registering("mortise/psci"), registering("mortise/console", "calls::KICK")


def test_constants_are_typed():
    text = config_rs.render(
        config(A_BOOL=True, A_HEX=Hex(0x1000), AN_INT=-3, A_TEXT='say "hi"\\\n'),
        board.load("qemu-virt"),
    )
    for line in (
        "pub const A_BOOL: bool = true;",
        "pub const A_HEX: u64 = 0x1000;",
        "pub const AN_INT: usize = -3;",
        'pub const A_TEXT: &str = "say \\"hi\\"\\\\\\u{a}";',
        'pub const NAME: &str = "qemu-virt";',
        "pub const GICD_BASE: usize = 0x8000000;",
        "pub const CPUS: usize = 4;",
        "pub const DEVICES: &[(&str, usize, usize)] = &[];",
    ):
        assert line in text


def test_devices_are_constants_too():
    virt = board.load("qemu-virt")
    text = config_rs.render(config(), virt, [virt.devices["gpio"]])
    assert '&[(&str, usize, usize)] = &[("pl061", 0x9030000, 0x1000)];' in text


def test_tables_golden():
    assert tables_rs.render([CALLS, PSCI, CONSOLE]) == (
        "//! What the libraries of this image register. Generated; do not edit.\n"
        "\n"
        "/// The registrations in table `hypercall`.\n"
        "pub static HYPERCALL: &[&group::Group] = &[\n"
        "    &mortise_psci::GROUP,\n"
        "    &mortise_console::calls::KICK,\n"
        "];\n"
        "const _: () = assert!(\n"
        "    group::disjoint(&mortise_psci::GROUP, &mortise_console::calls::KICK),\n"
        '    "hypercall: mortise/psci and mortise/console claim the same function identifier"\n'
        ");\n"
    )


def test_a_registration_in_place_of_one_of_another_library():
    over = Register("hypercall", "GROUP", over="mortise_psci::GROUP")
    others = (*PSCI.registers, Register("hypercall", "OTHERS"))
    psci = lib("mortise/psci", registers=others)
    rendered = tables_rs.render([CALLS, psci, lib("mortise/other", registers=(over,))])
    assert "    &mortise_psci::OTHERS,\n    &mortise_other::GROUP,\n];\n" in rendered
    assert "mortise_psci::GROUP" not in rendered
    assert "mortise_psci::GROUP" in tables_rs.render([CALLS, PSCI])


def test_a_registration_without_a_table():
    with pytest.raises(InputError, match='mortise/psci registers in "hypercall", a table nothing'):
        tables_rs.render([PSCI])


RUST = """
pub mod group {
    pub struct Group(pub u32);
    pub const fn disjoint(a: &Group, b: &Group) -> bool { a.0 != b.0 }
}
pub mod mortise_psci { pub static GROUP: crate::group::Group = crate::group::Group(1); }
pub mod mortise_console {
    pub mod calls { pub static KICK: crate::group::Group = crate::group::Group(ID); }
}
"""


@pytest.mark.skipif(shutil.which("rustc") is None, reason="no rustc")
@pytest.mark.parametrize("number", [1, 2])
def test_a_duplicate_hypercall_names_both(tmp_path, number):
    tables = tables_rs.render([CALLS, PSCI, CONSOLE]).replace("//! ", "// ")
    (tmp_path / "lib.rs").write_text(
        RUST.replace("ID", str(number)) + "use self::group as _g;\n" + tables
    )
    done = subprocess.run(
        ["rustc", "--crate-type=lib", "--emit=metadata", "--error-format=json", "lib.rs"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    errors = [m for m in map(json.loads, done.stderr.splitlines()) if m.get("level") == "error"]
    if number == 2:
        assert (done.returncode, errors) == (0, [])
        return
    made = made_of(PSCI, root=lib("mortise/partition"))
    what, where = cargo._first(made, errors[0])
    assert what == (
        "mortise: hypercall: mortise/psci and mortise/console claim the same function identifier"
    )
    assert where is None


def made_of(
    *libraries: Library, root: Library, app: Library | None = None, **values
) -> image.Image:
    return image.Image(
        name="mortise",
        kind="mortise" if app is None else "tenon",
        board=board.load("qemu-virt"),
        config=config(**values),
        libraries=libraries,
        root=root,
        app=app,
    )


def test_an_image_with_processes_avoids_sequences_of_errata_at_once():
    root, app = lib("tenon/kernel", root="tenon"), lib("apps/hello")
    avoiding = made_of(root, root=root, app=app).board.errata.compiler
    assert avoiding
    assert not set(avoiding) & set(made_of(root, root=root, app=app).flags)
    assert set(avoiding) <= set(made_of(root, root=root, app=app, LIB_TENON_PROCESS=True).flags)
    assert set(avoiding) <= set(made_of(root, root=root).flags)


def test_a_crate_is_written_once(tmp_path):
    root = lib("mortise/partition", root="mortise")
    made = made_of(CALLS, PSCI, root, root=root)
    image.write(made, tmp_path)
    times = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*") if file.is_file()}
    assert {str(f.relative_to(tmp_path)) for f in times} == {
        *("Cargo.toml", "build.rs", "src/main.rs", "src/config.rs", "src/tables.rs")
    }
    image.write(made, tmp_path)
    assert times == {file: file.stat().st_mtime_ns for file in times}
    manifest = (tmp_path / "Cargo.toml").read_text()
    assert "\n[workspace]\n" in manifest
    assert re.search(r'mortise-psci = \{ path = ".*/pool/mortise/psci" \}', manifest)
    assert "[patch" not in manifest
    assert (
        "mortise_partition::image! {\n    config: crate::config,"
        in (tmp_path / "src/main.rs").read_text()
    )
    assert "--defsym=IMAGE_BASE=0x40200000" in (tmp_path / "build.rs").read_text()


def test_what_runs_at_a_start_is_made_for_size(tmp_path):
    root = lib("mortise/partition", root="mortise")
    parser = lib("core/manifest", startup=("core-manifest", "reader"))
    image.write(made_of(parser, root, root=root), tmp_path)
    profile = tomllib.loads((tmp_path / "Cargo.toml").read_text())["profile"]["release"]
    assert profile["opt-level"] == 2, "Mortise's"
    assert profile["package"] == {
        "core-manifest": {"opt-level": "s"},
        "reader": {"opt-level": "s"},
    }


def test_the_least_code_is_not_for_what_a_start_takes_longest_for(tmp_path):
    def profile(root, app=None):
        parser = lib("core/manifest", startup=("core-manifest",))
        libraries = (parser, lib("core/paging"), root, *filter(None, [app]))
        made = made_of(*libraries, root=root, app=app, OPTIMISE_SIZE=True)
        image.write(made, tmp_path / root.package)
        manifest = (tmp_path / root.package / "Cargo.toml").read_text()
        return tomllib.loads(manifest)["profile"]["release"]

    mortise = profile(lib("mortise/partition", root="mortise"))
    app = lib("apps/mine", path=tmp_path / "mine", crate="mine")
    tenon = profile(lib("tenon/thread", root="tenon"), app)
    assert (mortise["opt-level"], tenon["opt-level"]) == ("z", "s")
    assert mortise["package"] == {"core-paging": {"opt-level": "s"}}
    assert {known.package for known in library.index().libraries} >= image._LONG_LOOPS


def test_an_outside_app_gets_the_pool_by_version(tmp_path):
    root, api = lib("tenon/thread", root="tenon"), lib("tenon/api", package="tenon-api")
    app = lib("apps/mine", "tenon-api", path=tmp_path / "mine", crate="mine")
    made = made_of(root, api, app, root=root, app=app)
    assert made.base == 0x4008_0000
    image.write(made, tmp_path / "out")
    manifest = (tmp_path / "out" / "Cargo.toml").read_text()
    patch = manifest.partition("[patch.crates-io]")[2].partition("[profile")[0]
    assert re.search(r'^tenon-api = \{ path = ".*/pool/tenon/api" \}$', patch, re.MULTILINE)
    assert "tenon-thread" not in patch
    assert "    main: mine::main," in (tmp_path / "out" / "src/main.rs").read_text()


def test_what_c_alone_calls_is_linked(tmp_path):
    (tmp_path / "calls" / "include").mkdir(parents=True)
    root, calls = lib("tenon/thread", root="tenon"), lib("tenon/calls", path=tmp_path / "calls")
    app = lib("apps/mine", path=tmp_path / "mine", crate="tenon_posix", sources=(Path("main.c"),))
    made = made_of(root, calls, app, root=root, app=app)
    assert made.for_c == (calls,)
    image.write(made, tmp_path / "out")
    main = (tmp_path / "out" / "src/main.rs").read_text()
    assert "tenon_posix::process!" in main and "\nuse tenon_calls as _;\n" in main


def test_what_is_needed_is_chosen():
    timer, clock = lib("core/timer", "hw-clock"), lib("hw/clock")
    index = Index((clock, timer))
    assert image.choose(index, config(LIB_CORE_TIMER=True, LIB_HW_CLOCK=True)) == (
        clock,
        timer,
    )
    with pytest.raises(InputError, match=r"core/timer needs hw/clock, and its Kconfig does not"):
        image.choose(index, config(LIB_CORE_TIMER=True))


def test_a_crate_above_its_layer_is_refused_before_building(tmp_path, monkeypatch):
    folder = tmp_path / "clock"
    folder.mkdir()
    (folder / "Cargo.toml").write_text(
        '[package]\nname = "hw-clock"\n[dependencies]\ncore-timer = {}\n'
    )
    clock, timer = lib("hw/clock", "core-timer", path=folder), lib("core/timer")
    monkeypatch.chdir(folder)
    with pytest.raises(InputError) as error:
        image.choose(Index((clock, timer)), config(LIB_HW_CLOCK=True))
    assert str(error.value) == (
        "Cargo.toml:4: hw/clock reaches above its layer: it depends on core/timer; hw may use hw"
    )
