"""What is built is what stands in the folder, after copies, moves, failures and edits back."""

import hashlib
import os
import random
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from tenonos.build import c, sources
from tenonos.errors import WorkError
from tenonos.paths import replace_file
from tenonos.run import verified
from tenonos.run.target import Target

cross = pytest.mark.skipif(shutil.which(c.COMPILER) is None, reason="no cross compiler")
FILES = ("a.c", "b.c", "z.c")


def project(folder):
    folder.mkdir()
    (folder.parent / "shared").mkdir(exist_ok=True)
    (folder.parent / "shared/far.h").write_text('#define FAR "far none"\n')
    (folder / "table.inc").write_text('"inc none"\n')
    for name in FILES:
        (folder / name).write_text(text(name, "none"))
    return folder


def text(name, word):
    """A file with a constant of its own; each includes a file here and one of another folder."""
    return (
        f'#include "../shared/far.h"\nconst char *{name[0]}_word = "{name} {word}";\n'
        f'const char *{name[0]}_inc =\n#include "table.inc"\n;\nconst char *{name[0]}_far = FAR;\n'
    )


def image(folder):
    app = SimpleNamespace(path=folder, package="twin", sources=[folder / name for name in FILES])
    errata = SimpleNamespace(c_compiler=())
    return SimpleNamespace(app=app, for_c=(), board=SimpleNamespace(errata=errata))


def expected(folder):
    """The constants that stand in the folder, by file."""
    common = [(folder / "table.inc"), folder.parent / "shared/far.h"]
    said = [file.read_text().split('"')[1] for file in common]
    return {name: [(folder / name).read_text().split('"')[3], *said] for name in FILES}


def assert_what_stands_there(folder, made):
    objects = {Path(file).name: Path(file).read_bytes() for file in made}
    for name, words in expected(folder).items():
        for word in words:
            assert word.encode() + b"\0" in objects[f"{name}.o"], (folder, name, word)


@cross
def test_a_failed_compilation_leaves_no_object_behind_an_edit_back(tmp_path):
    folder = project(tmp_path / "twin")
    build = tmp_path / "build"
    assert_what_stands_there(folder, c.objects(image(folder), build))
    before = {name: (folder / name).read_text() for name in FILES}
    (folder / "a.c").write_text(text("a.c", "other"))
    (folder / "z.c").write_text("broken\n")
    with pytest.raises(WorkError):
        c.objects(image(folder), build)
    for name, content in before.items():
        (folder / name).write_text(content)
    assert_what_stands_there(folder, c.objects(image(folder), build))


@cross
@pytest.mark.parametrize("seed", range(20))
def test_random_sequences_compile_what_stands_there(tmp_path, seed):
    """Two to four projects of one name, that take each other's places with their times."""
    chosen = random.Random(seed)
    project(tmp_path / "p0")
    folders = [tmp_path / f"p{number}" for number in range(chosen.randrange(2, 5))]
    for other in folders[1:]:
        shutil.copytree(folders[0], other)
    broken = set()
    for step in range(8):
        folder, other = chosen.sample(folders, 2)
        kind = chosen.choice(("edit", "inc", "far", "break", "mend", "copy", "swap", "back"))
        file = folder / chosen.choice(FILES)
        if kind == "edit" and file not in broken:
            file.write_text(text(file.name, f"word {step}"))
        elif kind == "inc":
            (folder / "table.inc").write_text(f'"inc {step}"\n')
        elif kind == "far":
            (tmp_path / "shared/far.h").write_text(f'#define FAR "far {step}"\n')
        elif kind == "break":
            file.write_text("broken\n")
            broken.add(file)
        elif kind in ("mend", "back"):
            for one in [one for one in broken if one.parent == folder]:
                one.write_text(text(one.name, "none" if kind == "back" else f"word {step}"))
                broken.discard(one)
        elif kind == "copy":
            shutil.rmtree(folder)
            shutil.copytree(other, folder)
            broken = {one for one in broken if one.parent != folder} | {
                folder / one.name for one in broken if one.parent == other
            }
        elif kind == "swap":
            aside = tmp_path / "aside"
            folder.rename(aside)
            other.rename(folder)
            aside.rename(other)
            places = {folder: other, other: folder}
            broken = {places.get(one.parent, one.parent) / one.name for one in broken}
        for one in folders:
            if any(file.parent == one for file in broken):
                with pytest.raises(WorkError):
                    c.objects(image(one), tmp_path / "build")
            else:
                assert_what_stands_there(one, c.objects(image(one), tmp_path / "build"))


def crate(folder, word):
    (folder / "src").mkdir(parents=True)
    (folder / "Cargo.toml").write_text('[package]\nname = "twin"\n')
    (folder / "src/lib.rs").write_text(f'pub const WORD: &str = "{word}";\n')
    for file in folder.rglob("*"):
        os.utime(file, (1e9, 1e9))
    return folder


def test_cargo_forgets_a_crate_that_another_one_of_its_times_replaced(tmp_path):
    one, two = crate(tmp_path / "one", "first"), crate(tmp_path / "two", "other")
    known = tmp_path / "target/aarch64/release/.fingerprint"
    library = SimpleNamespace(path=one, package="twin", sources=())
    made = SimpleNamespace(libraries=(library,))

    def compiled():
        for name in ("twin", "twin-more"):
            (known / f"{name}-{hashlib.sha256(b'').hexdigest()[:16]}").mkdir(
                parents=True, exist_ok=True
            )

    def kept():
        sources.forget_replaced(made, tmp_path / "target", [tool])
        return [each.name.rpartition("-")[0] for each in sorted(known.iterdir())]

    tool = tmp_path / "wrapper"
    tool.write_text("first")
    sources.forget_replaced(made, tmp_path / "target", [tool])
    compiled()
    assert kept() == ["twin", "twin-more"]
    shutil.rmtree(one)
    two.rename(one)
    assert kept() == ["twin-more"]
    compiled()
    assert kept() == ["twin", "twin-more"]
    tool.write_text("second")
    assert kept() == ["twin-more"]


def test_a_dependency_by_path_and_a_file_of_any_kind_are_inputs(tmp_path):
    one, helper = crate(tmp_path / "one", "first"), crate(tmp_path / "helper", "second")
    (one / "Cargo.toml").write_text(
        '[package]\nname = "twin"\n[dependencies]\nhelper = { path = "../helper" }\n'
    )
    (one / "src/lib.rs").write_text('const T: &[u8] = include_bytes!("../table.bin");\n')
    (one / "table.bin").write_bytes(b"\0")
    (one / "build.log").write_text("what the build says, written into the project")
    (one / "target").mkdir()
    (one / "target/made.rs").write_text("")
    made = SimpleNamespace(libraries=(SimpleNamespace(path=one, package="twin", sources=()),))
    assert list(sources.folders(made)) == [one, helper]
    assert {file.name for file in sources.files(one)} == {"Cargo.toml", "lib.rs", "table.bin"}


def test_an_image_that_another_build_replaced_is_refused_before_it_runs(tmp_path):
    image = tmp_path / "system.img"
    image.write_bytes(b"one")
    digest = hashlib.sha256(b"one").hexdigest()
    target = Target("twin", "board", "static", image, None, (), range(0), digest=digest)
    held, (descriptor,) = verified.opened(target)
    replace_file(image, b"other")
    assert held.image.read_bytes() == b"one"
    os.close(descriptor)
    with pytest.raises(WorkError, match="is not what was built for twin"):
        verified.opened(target)
