"""Paths of the pool's crates for `cargo` and editors, in projects outside the clone."""

import tomllib

import pytest

from tenonos import new, system
from tenonos.build import cargo_paths, images
from tenonos.paths import POOL


@pytest.fixture
def project(tmp_path):
    folder, _ = new.app("pump", tmp_path)
    return folder


def refresh(folder):
    made = images.images(system.load(folder))
    cargo_paths.refresh(library for image in made for library in image.libraries)
    return (folder / cargo_paths.FILE).read_text()


def use(folder, crate):
    manifest = folder / "Cargo.toml"
    text = manifest.read_text()
    manifest.write_text(text.replace("[dependencies]\n", f'[dependencies]\n{crate} = "0.1"\n'))
    kconfig = folder / "Kconfig"
    symbol = f"LIB_{crate.upper().replace('-', '_')}"
    kconfig.write_text(kconfig.read_text().replace("\thelp", f"\tselect {symbol}\n\thelp", 1))


def patched(text):
    return tomllib.loads(text)["patch"]["crates-io"]


def test_a_crate_that_is_added_is_found_after_a_build(project):
    assert list(patched(refresh(project))) == ["tenon-api"]
    use(project, "tenon-channel")
    found = patched(refresh(project))
    assert list(found) == ["tenon-api", "tenon-channel"]
    assert found["tenon-channel"]["path"] == str(POOL / "tenon" / "channel")


def test_the_place_of_another_clone_is_replaced(project):
    file = project / cargo_paths.FILE
    made = file.read_text()
    file.write_text(made.replace(str(POOL), "/former/pool"))
    assert refresh(project) == made
    file.unlink()
    assert refresh(project) == made


def test_a_file_of_the_users_own_is_left_alone(project):
    file = project / cargo_paths.FILE
    file.write_text("[build]\n")
    assert refresh(project) == "[build]\n"


def test_nothing_is_written_in_the_clone():
    folder = system.find("tickets").parent
    made = images.images(system.load(folder))
    cargo_paths.refresh(library for image in made for library in image.libraries)
    assert not [*folder.rglob("config.toml")]
