"""The skeletons: they are what the pool takes, and what their first lines promise."""

import shutil
import tomllib
from dataclasses import replace

import pytest
from descriptions import described, linux, motor, table

from tenonos import new, paths, system
from tenonos.build import images
from tenonos.errors import InputError
from tenonos.pool import kconfig, library
from tenonos.system import board


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """An empty tree that counts as the clone."""
    for name in ("POOL", "ROOT"):
        below = getattr(paths, name).relative_to(paths.ROOT)
        monkeypatch.setattr(new, name, tmp_path / below)
    shutil.copy(paths.ROOT / "Cargo.toml", tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_an_app_of_ones_own_is_taken(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder, files = new.app("blinker", tmp_path)
    assert folder == tmp_path / "blinker"
    assert all("$" not in file.read_text() for file in files)
    loaded = system.load(folder)
    space = images.space(loaded)
    config = space.evaluate("blinker")
    assert "APP_BLINKER" in config.enabled
    assert "LIB_TENON_API" in config.enabled
    assert space.apps["blinker"].path == folder
    assert [task.name for task in loaded.vms[0].tasks] == ["count"]
    assert 'tenon-api = "0.1"' in (folder / "Cargo.toml").read_text()


def test_a_program_in_c_of_ones_own_is_taken(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder, files = new.app("blinker", tmp_path, "c")
    assert {file.name for file in files} >= {"main.c", "Kconfig", "system.toml", "README.md"}
    space = images.space(system.load(folder))
    assert space.evaluate("blinker").enabled >= {"APP_BLINKER", "CAP_API_POSIX"}
    assert space.apps["blinker"].sources == (folder / "main.c",)


def test_a_program_in_c_is_without_what_runs_in_guests(tmp_path):
    """Each of these has a `main` of its own."""
    folder, _ = new.app("blinker", tmp_path, "c")
    second, _ = new.app("second", folder, "c")
    for name in ("peer.c", "more/timer.c", "root/usr/src/main.c", "own/src/a.c"):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("int main(void) { return 0; }\n")
    (folder / "own/init").write_text("#!/bin/sh\n")
    (folder / "own/init").chmod(0o755)
    guests = [
        linux(cpus=[1], programs=["peer.c"], files="root"),
        linux(cpus=[2], name="other", initramfs="own"),
        table("vm", name="next", kind="tenon", app="second", cpus=[3], memory="16M"),
    ]
    with (folder / "system.toml").open("a") as text:
        text.write("\n".join(["", *guests]))
    apps = images.space(system.load(folder)).apps
    assert apps["blinker"].sources == (folder / "main.c", folder / "more/timer.c")
    assert apps["next"].sources == (second / "main.c",)


def test_a_folder_with_files_of_guests_only_is_refused(tmp_path):
    folder, _ = new.app("blinker", tmp_path, "c")
    with (folder / "system.toml").open("a") as text:
        text.write("\n" + linux(cpus=[1], programs=["main.c"]))
    with pytest.raises(InputError, match="each C file of the application is one of another VM's"):
        images.space(system.load(folder))


def test_an_application_that_is_not_there_is_refused_with_close_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder, _ = new.app("blinker", tmp_path, "c")
    text = (folder / "system.toml").read_text()
    (folder / "system.toml").write_text(text.replace('app = "."', 'app = "rotor"'))
    with pytest.raises(InputError, match='no application "rotor"; did you mean "motor"') as refused:
        images.space(system.load(folder))
    assert len(str(refused.value)) < 200
    (folder / "system.toml").write_text(text)
    (folder / "main.c").unlink()
    says = r"system.toml:10: folder blinker has no application: no Cargo.toml and no C file; write"
    with pytest.raises(InputError, match=says):
        images.space(system.load(folder))


def test_a_program_in_c_needs_a_name(tmp_path):
    (tmp_path / "main.c").write_text("int main(void) { return 0; }\n")
    with pytest.raises(InputError, match="no Kconfig with a config APP_NAME beside the C files"):
        library.read(tmp_path)


@pytest.mark.parametrize(
    ("name", "what"),
    [
        *(
            ("spin", "a crate that the pool uses"),
            ("core", "a crate of Rust's or of this project's"),
        ),
        *((name, "a crate of Rust's or of this project's") for name in ("tenon", "mortise")),
        ("loop", "a keyword of Rust"),
    ],
)
def test_a_name_that_rust_would_mix_up_is_refused(tmp_path, monkeypatch, name, what):
    monkeypatch.chdir(tmp_path)
    says = f'"{name}" is {what}; '
    for make in (
        lambda: new.app(name, tmp_path),
        lambda: new.app(name, tmp_path, "c"),
        lambda: new.library(f"core/{name}", tmp_path),
    ):
        with pytest.raises(InputError, match=f"^{says}choose another name$"):
            make()
    folder, _ = new.app("blinker", tmp_path)
    file = folder / "Cargo.toml"
    file.write_text(file.read_text().replace('name = "blinker"', f'name = "{name}"'))
    with pytest.raises(InputError, match=f"{says}give this one another name"):
        images.space(system.load(folder))


def test_an_app_of_the_tree(tree):
    folder, _ = new.app("blinker", tree)
    assert folder == tree / "pool" / "apps" / "blinker"
    app = library.read(folder)
    assert (app.symbol, app.dependencies) == ("APP_BLINKER", ("tenon-api",))
    folder, _ = new.system("blinker", tree)
    assert folder == tree / "examples" / "systems" / "blinker"
    vm = tomllib.loads((folder / "system.toml").read_text())["vm"][0]
    assert (vm["app"], vm["task"]) == ("blinker", [{"name": "count", "period": "10ms"}])


def test_the_command_is_named_as_one_would_type_it(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.chdir(paths.ROOT)
    assert paths.command() == "./tenon"
    monkeypatch.chdir(tmp_path)
    assert paths.command() == str(paths.ROOT / "tenon")
    monkeypatch.setenv("PATH", str(paths.ROOT))
    assert paths.command() == "tenon"


def test_a_system(tmp_path):
    folder, _ = new.system("stand", tmp_path)
    loaded = system.load(folder)
    assert [vm.app for vm in loaded.vms] == ["hello"]
    assert loaded.vms[0].tasks == ()
    assert images.space(loaded).evaluate("stand").enabled >= {"APP_HELLO", "LIB_TENON_API"}


@pytest.mark.parametrize(
    ("name", "symbol"),
    [
        ("core/fir", "LIB_CORE_FIR"),
        ("mortise/x", "LIB_MORTISE_X"),
        ("canbus", "LIB_TENON_CANBUS"),
    ],
)
def test_a_library(tree, name, symbol):
    folder, _ = new.library(name, tree)
    made = library.read(folder)
    assert made.id == (name if "/" in name else f"tenon/{name}")
    (tree / "pool" / "Kconfig").write_text(f'source "pool/{made.id}/Kconfig"\n')
    assert made.symbol in kconfig.load(root=tree).symbols
    assert made.symbol == symbol


def test_a_library_of_ones_own_is_taken(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder, files = new.library("core/smoothing", tmp_path)
    assert folder == tmp_path / "smoothing"
    assert all("$" not in file.read_text() for file in files)
    app, _ = new.app("meter", tmp_path)
    for file, line, added in (
        (app / "system.toml", 'pool = "0.1"\n', 'libraries = ["../smoothing"]\n'),
        (app / "Kconfig", "select LIB_TENON_API\n", "\tselect LIB_CORE_SMOOTHING\n"),
    ):
        text = file.read_text()
        assert line in text
        file.write_text(text.replace(line, line + added))
    space = images.space(system.load(app))
    assert "LIB_CORE_SMOOTHING" in space.evaluate("meter").enabled
    assert not (paths.POOL / "core/smoothing").exists()
    with pytest.raises(InputError, match='"timer" is core/timer of the pool; choose another name'):
        new.library("core/timer", tmp_path)


def test_refusals(tree):
    with pytest.raises(InputError, match='"dsp/fir" names no layer; write LAYER/NAME, with hw'):
        new.library("dsp/fir", tree)
    with pytest.raises(InputError, match='"Blinker" is not a name; use a-z'):
        new.app("Blinker", tree)
    new.app("blinker", tree)
    with pytest.raises(InputError, match="apps/blinker exists already; choose another name"):
        new.app("blinker", tree)


def test_a_name_of_the_pool_is_not_ones_own(tmp_path):
    with pytest.raises(InputError, match='"core-timer" is core/timer of the pool; choose another'):
        new.app("core-timer", tmp_path)
    folder, _ = new.app("drive", tmp_path)
    manifest = folder / "Cargo.toml"
    text = manifest.read_text()
    manifest.write_text(text.replace('name = "drive"', 'name = "core-timer"'))
    with pytest.raises(InputError, match='the pool has a package "core-timer" too, core/timer'):
        images.space(system.load(folder))


@pytest.mark.parametrize("language", ["rust", "c"])
def test_an_app_of_ones_own_may_have_the_name_of_one_in_the_clone(
    tmp_path, monkeypatch, capsys, language
):
    monkeypatch.chdir(tmp_path)
    folder, _ = new.app("motor", tmp_path, language)
    space = images.space(system.load(folder))
    assert space.apps["motor"].path == folder
    assert [lib.path for lib in space.index.libraries if lib.symbol == "APP_MOTOR"] == [folder]
    # Nothing of the clone's, which has a task and a channel's end.
    assert len(space.tree.symbols["APP_MOTOR"].nodes) == 1
    assert ("LIB_TENON_API" in space.evaluate("motor").enabled) == (language == "rust")

    (tmp_path / "system.toml").write_text(described("one", motor(cpus=[1])))
    beside = system.load(tmp_path)
    assert images.space(beside).apps["motor"].path == folder
    images.images(beside)
    told = capsys.readouterr().err
    assert f'system.toml:8: "motor" is the application in {folder}, not the clone' in told


def test_two_applications_of_one_name_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    new.app("motor", tmp_path)
    new.app("hostile", tmp_path)
    (tmp_path / "motor").rename(tmp_path / "own")
    for first, second, says in (
        ("./own", "motor", r'"motor" names two applications of this system: that of "a" is in own'),
        ("motor", "./own", r'"motor" names two .* is in .*apps/motor, and this one in own; give'),
        ("random-exit-fuzzer", "hostile", '"hostile" names two'),
        ("hostile", "random-exit-fuzzer", '"hostile" names two'),
    ):
        vms = [
            table("vm", name=name, kind="tenon", app=app, cpus=[cpu], memory="16M")
            for name, app, cpu in (("a", first, 1), ("b", second, 2))
        ]
        (tmp_path / "system.toml").write_text(described("one", *vms))
        with pytest.raises(InputError, match=says):
            images.space(system.load(tmp_path))


def project(tmp_path, boards='["board-x"]'):
    """A system on a board of one's own."""
    text = described("one", motor(cpus=[1]), board="board-x")
    text = text.replace("pool =", f"boards = {boards}\npool =")
    (tmp_path / "system.toml").write_text(text)
    return tmp_path


@pytest.mark.parametrize("origin", board.names())
def test_a_board_of_ones_own_is_taken(tmp_path, monkeypatch, origin):
    monkeypatch.chdir(tmp_path)
    folder, _ = new.board("board-x", tmp_path, origin)
    made = system.load(project(tmp_path)).board
    assert made.folder == folder == tmp_path / "board-x"
    model = board.load(origin)
    assert made == replace(model, name="board-x", title=made.title, folder=folder)
    assert origin in made.title
    loaded = system.load(tmp_path)
    if loaded.board.gic.direct_only is False:
        space = images.space(loaded)
        for image in ("mortise", "motor"):
            enabled = space.evaluate(image).enabled
            assert "BOARD_BOARD_X" in enabled and board.load(origin).symbol not in enabled


def test_a_board_selects_what_its_origin_selects(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    new.board("board-x", tmp_path, "raspberry-pi-4")
    config = images.space(system.load(project(tmp_path))).evaluate("mortise")
    assert {"BOARD_BOARD_X", "BOARD_HAS_GICV2"} <= config.enabled
    new.board("board-y", tmp_path, "board-x")
    assert 'name = "board-y"' in (tmp_path / "board-y/board.toml").read_text()


def test_folder_name_and_kconfig_of_a_board_must_agree(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder, _ = new.board("board-x", tmp_path, "zcu102")
    project(tmp_path)
    file, kconfig_file = folder / "board.toml", folder / "Kconfig"
    good, good_kconfig = file.read_text(), kconfig_file.read_text()
    for text, kconfig_text, says in (
        (
            good.replace('"board-x"', '"other"'),
            good_kconfig,
            r"board.toml:2: .*\"other\" in the fo",
        ),
        (good, good_kconfig.replace("_X", "_Y"), "no config BOARD_BOARD_X, but BOARD_BOARD_Y"),
        (good, "", "no config BOARD_BOARD_X; write"),
        (good.replace("cpus = 4", 'cpus = "x"'), good_kconfig, r"board.toml:4: cpus: "),
    ):
        file.write_text(text)
        kconfig_file.write_text(kconfig_text)
        with pytest.raises(InputError, match=says):
            system.load(tmp_path)


def test_folders_of_boards_are_checked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    new.board("board-x", tmp_path, "zcu102")
    (tmp_path / "b").mkdir()
    shutil.copytree(paths.BOARDS / "zcu102", tmp_path / "b/zcu102")
    for boards, says in (
        ('["nowhere"]', r'system.toml:3: no board in "nowhere"; give the folder of a board.toml'),
        ('["b/zcu102"]', '"zcu102" is a board of the clone; rename'),
        ('["board-x", "board-x"]', '"board-x" is named twice'),
        ("[]", 'unknown board "board-x"'),
    ):
        with pytest.raises(InputError, match=says):
            system.load(project(tmp_path, boards))
    for name, origin, says in (
        ("zcu102", "zcu102", "is a board of the clone; choose another name"),
        ("board-y", "zcu103", r'--from: unknown board "zcu103"; did you mean zcu102'),
        ("board-x", "zcu102", "exists already"),
    ):
        with pytest.raises(InputError, match=says):
            new.board(name, tmp_path, origin)
